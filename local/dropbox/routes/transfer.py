"""files/download_zip and the temporary links, which work without a token."""

import io
import zipfile
from datetime import datetime, timedelta
from typing import Any

from dropbox import files

from local.dropbox import paths
from local.dropbox.calls import Call, Download, route
from local.dropbox.entries import Entry, File, Json, metadata
from local.dropbox.handouts import TemporaryLink, UploadLink, secret_key
from local.dropbox.knobs import Content
from local.dropbox.routes.lookup import found, found_file, located
from local.dropbox.routes.writing import commit
from local.dropbox.wire import RouteError

TEMPORARY = "/temporary/"
UPLOAD = "/upload-link/"

_LINK_LIFETIME = timedelta(hours=4)
_MOST_ZIPPED = 10_000
_LARGEST_ZIP = 20 * 1000**3
_OLDEST_ZIP_TIME = datetime(1980, 1, 1)  # noqa: DTZ001  # zip times have no zone


@route("files", files.download_zip, scope="files.content.read")
def download_zip(call: Call, arg: Any) -> Download:
    if located(call, arg.path, "path") == "":
        raise call.root_refused("path")
    with call.account.lock:
        call.account.notice_outside_edits()
        path_lower, folder = found(call, arg.path, "path")
        if isinstance(folder, File):
            raise RouteError("path/not_folder")
        entries = [entry for _, entry in call.account.tree.walk(path_lower)]
        if len(entries) > _MOST_ZIPPED:
            raise RouteError("too_many_files")
        if sum(entry.size for entry in entries if isinstance(entry, File)) > _LARGEST_ZIP:
            raise RouteError("too_large")
        return Download({"metadata": metadata(folder)}, _zipped(call, entries), ranges=False)


def _zipped(call: Call, entries: list[Entry]) -> bytes:
    """The folder itself is the first member, and the names begin with its own."""
    buffer = io.BytesIO()
    depth = len(entries[0].path_display.split("/")) - 1
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            name = "/".join(entry.path_display.split("/")[depth:])
            if isinstance(entry, File):
                time = max(entry.client_modified.replace(tzinfo=None), _OLDEST_ZIP_TIME)
                member = zipfile.ZipInfo(name, time.timetuple()[:6])
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, call.account.storage.read(entry.content_hash))
            else:
                archive.writestr(zipfile.ZipInfo(name + "/"), b"")
    return buffer.getvalue()


@route("files", files.get_temporary_link, scope="files.content.read")
def get_temporary_link(call: Call, arg: Any) -> Json:
    with call.account.lock:
        path_lower, file = found_file(call, arg.path, "path")
        data = call.account.storage.read(file.content_hash)
    if not call.account.profile.email_verified:
        raise RouteError("email_not_verified")
    if call.account.knobs.content.get(path_lower) is Content.UNSUPPORTED:
        raise RouteError("unsupported_file")
    key, expires = secret_key(), call.account.clock.now() + _LINK_LIFETIME
    name = paths.name_of(file.path_display)
    call.handouts.temporary_links[key] = TemporaryLink(name, data, expires)
    return {"metadata": metadata(file), "link": f"{call.handouts.base_url}{TEMPORARY}{key}"}


@route("files", files.get_temporary_upload_link, scope="files.content.write")
def get_temporary_upload_link(call: Call, arg: Any) -> Json:
    def accept(data: bytes) -> None:
        commit(call, arg.commit_info, data)

    expires = call.account.clock.now() + timedelta(seconds=arg.duration)
    key = secret_key()
    call.handouts.upload_links[key] = UploadLink(accept, expires)
    return {"link": f"{call.handouts.base_url}{UPLOAD}{key}"}
