"""files/copy_reference: from one account of the app into another."""

from datetime import timedelta
from typing import Any

from dropbox import files

from local.dropbox import paths
from local.dropbox.calls import Call, route
from local.dropbox.entries import Entry, File, Json, tagged_metadata, timestamp
from local.dropbox.handouts import CopyReference, secret_key
from local.dropbox.routes.lookup import found, writable
from local.dropbox.wire import RouteError

_WRITE = "files.content.write"
_LIFETIME = timedelta(days=30 * 365)


@route("files", files.copy_reference_get, scope=_WRITE)
def get(call: Call, arg: Any) -> Json:
    with call.account.lock:
        path_lower, entry = found(call, arg.path, "path")
    key = secret_key()
    call.handouts.copy_references[key] = CopyReference(call.account, path_lower)
    return {
        "metadata": tagged_metadata(entry),
        "copy_reference": key,
        "expires": timestamp(call.now() + _LIFETIME),
    }


@route("files", files.copy_reference_save, scope=_WRITE, writes=True)
def save(call: Call, arg: Any) -> Json:
    """A file, or a folder with all that is in it, as it is now where the reference leads."""
    reference = call.handouts.copy_references.get(arg.copy_reference)
    if reference is None:
        raise RouteError("invalid_copy_reference")
    with reference.account.lock:
        entries = [entry for _, entry in reference.account.tree.walk(reference.path_lower)]
    if not entries:
        raise RouteError("not_found")
    with call.changing("path") as tree:
        display = writable(call, arg.path, "path")
        there = tree.get(paths.lower(display))
        if there is not None:
            raise RouteError(f"path/conflict/{'file' if isinstance(there, File) else 'folder'}")
        saved = [_saved(call, reference, entry, display) for entry in entries]
    return {"metadata": tagged_metadata(saved[0])}


def _saved(call: Call, reference: CopyReference, entry: Entry, to: str) -> Entry:
    depth = len(reference.path_lower.split("/"))
    display = "/".join((to, *entry.path_display.split("/")[depth:]))
    if isinstance(entry, File):
        data = reference.account.storage.read(entry.content_hash)
        return call.account.write(display, data, entry.client_modified)
    return call.account.tree.make_folder(display, call.now())
