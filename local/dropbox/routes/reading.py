"""files/get_metadata, download and list_revisions."""

from typing import Any

from dropbox import files

from local.dropbox import paths
from local.dropbox.calls import Call, Download, route
from local.dropbox.entries import File, Json, metadata, tagged_metadata, timestamp
from local.dropbox.knobs import Content
from local.dropbox.routes.lookup import found, found_file, located
from local.dropbox.wire import RouteError

_METADATA = "files.metadata.read"
_CONTENT = "files.content.read"


@route("files", files.get_metadata, scope=_METADATA)
def get_metadata(call: Call, arg: Any) -> Json:
    with call.account.lock:
        if arg.path.startswith("rev:"):
            return tagged_metadata(_revision(call, arg.path)[1])
        path_lower = paths.lower(located(call, arg.path, "path"))
        if path_lower == "":
            raise call.root_refused("path")
        gone = call.account.tree.tombstones.get(path_lower)
        if gone is not None and arg.include_deleted:
            return tagged_metadata(gone)
        shown = tagged_metadata(found(call, arg.path, "path")[1])
        if call.account.knobs.content.get(path_lower) is Content.SYMLINK:
            shown["symlink_info"] = {"target": "/elsewhere"}
        return shown


@route("files", files.download, scope=_CONTENT)
def download(call: Call, arg: Any) -> Download:
    with call.account.lock:
        if arg.path.startswith("rev:"):
            path_lower, file = _revision(call, arg.path)
        else:
            path_lower, file = found_file(call, arg.path, "path")
        shown = metadata(file)
        match call.account.knobs.content.get(path_lower):
            case Content.RESTRICTED:
                raise RouteError("path/restricted_content")
            case Content.UNSUPPORTED:
                raise RouteError("unsupported_file")
            case Content.WRONG_HASH:
                shown["content_hash"] = "0" * 64
        return Download(shown, call.account.storage.read(file.content_hash), etag=file.rev)


def _revision(call: Call, path: str) -> tuple[str, File]:
    file = call.account.tree.by_rev.get(path.removeprefix("rev:"))
    if file is None:
        raise RouteError("path/not_found")
    return paths.lower(file.path_display), file


@route("files", files.list_revisions, scope=_METADATA)
def list_revisions(call: Call, arg: Any) -> Json:
    with call.account.lock:
        if arg.mode.is_id():
            history, is_deleted, deleted_at = _history_of_id(call, arg.path)
        else:
            history, is_deleted, deleted_at = _history_of_path(call, arg.path)
        shown = [file for file in history if file.rev in _seen_revs(call, history)]
    newest_first = shown[::-1]
    if arg.before_rev:
        newest_first = _before(arg.before_rev, newest_first)
    page = newest_first[: arg.limit]
    answer: Json = {
        "is_deleted": is_deleted,
        "entries": [metadata(file) for file in page],
        "has_more": len(newest_first) > len(page),
    }
    if is_deleted and deleted_at:
        answer["server_deleted"] = deleted_at
    return answer


def _history_of_path(call: Call, path: str) -> tuple[list[File], bool, str | None]:
    tree = call.account.tree
    path_lower = paths.lower(located(call, path, "path"))
    call.account.notice_outside_edits(path_lower)
    entry, gone = tree.get(path_lower), tree.tombstones.get(path_lower)
    history = tree.revisions.get(path_lower, [])
    if isinstance(entry, File):
        return history, False, None
    if entry is not None or (gone is not None and gone.was_folder):
        raise RouteError("path/not_file")
    if not history:
        raise RouteError("path/not_found")
    return history, True, timestamp(gone.at) if gone else None


def _history_of_id(call: Call, path: str) -> tuple[list[File], bool, str | None]:
    tree = call.account.tree
    entry_id = path if path.startswith("id:") else found_file(call, path, "path")[1].id
    history = tree.revisions_of_id(entry_id)
    if not history:
        raise RouteError("path/not_found")
    is_deleted = tree.path_of(entry_id) is None
    gone = tree.tombstones.get(paths.lower(history[-1].path_display))
    return history, is_deleted, timestamp(gone.at) if is_deleted and gone else None


def _seen_revs(call: Call, history: list[File]) -> set[str]:
    account = call.account
    late = account.tree.journal[account.seen_until(account.knobs.revisions_lag) :]
    hidden = {change.entry.rev for change in late if isinstance(change.entry, File)}
    return {file.rev for file in history} - hidden


def _before(rev: str, newest_first: list[File]) -> list[File]:
    revs = [file.rev for file in newest_first]
    if rev not in revs:
        raise RouteError("invalid_before_rev")
    return newest_first[revs.index(rev) + 1 :]
