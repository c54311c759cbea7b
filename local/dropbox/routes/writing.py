"""files/upload, delete_v2, create_folder_v2 and restore."""

from datetime import UTC
from typing import Any

from dropbox import files

from local.dropbox import paths
from local.dropbox.calls import Call, route
from local.dropbox.commits import Conflict, Existing, Intent, decide
from local.dropbox.entries import File, Json, content_hash, metadata, tagged_metadata
from local.dropbox.handouts import secret_key
from local.dropbox.routes.lookup import found, located, with_room, writable
from local.dropbox.wire import RouteError, UploadError

_WRITE = "files.content.write"
LARGEST_BODY = 150 * 1024 * 1024
_MOST_ENTRIES = 10_000


@route("files", files.upload, scope=_WRITE, writes=True)
def upload(call: Call, arg: Any) -> Json:
    if len(call.body) > LARGEST_BODY:
        raise RouteError("payload_too_large")
    if arg.content_hash and arg.content_hash != content_hash(call.body):
        raise RouteError("content_hash_mismatch")
    if arg.path == "/":
        raise call.root_refused("path")
    try:
        return metadata(commit(call, arg, call.body))
    except RouteError as error:
        raise UploadError(error.tags, upload_session_id=secret_key()) from error


def commit(call: Call, info: Any, data: bytes) -> File:
    """Write `data` as a CommitInfo asks, or raise `path/<WriteError>`."""
    account = call.account
    with call.changing("path") as tree:
        display = writable(call, info.path, "path")
        there = tree.get(paths.lower(display))
        intent = Intent(
            content_hash=content_hash(data),
            strict=info.strict_conflict,
            rev=info.mode.get_update() if info.mode.is_update() else None,
            overwrite=info.mode.is_overwrite(),
        )
        match decide(there, intent, account.knobs):
            case Existing(file):
                return file
            case Conflict(tag):
                if not info.autorename:
                    raise RouteError(f"path/conflict/{tag}")
                note = "conflicted copy" if intent.rev else ""
                display = with_room(call, display, note)
            case _ if there is not None and account.knobs.overwrite_keeps_name:
                display = there.path_display
        if tree.used + len(data) > account.knobs.space:
            raise RouteError("path/insufficient_space")
        modified = info.client_modified and info.client_modified.replace(tzinfo=UTC)
        return account.write(display, data, modified)


@route("files", files.delete_v2, scope=_WRITE, writes=True)
def delete(call: Call, arg: Any) -> Json:
    return {"metadata": tagged_metadata(removed(call, arg.path, arg.parent_rev))}


def removed(call: Call, path: str, parent_rev: str | None = None) -> Any:
    """Delete what is at `path` and return it as it was."""
    if located(call, path, "path_lookup") == "":
        raise call.root_refused("path")
    with call.changing("path_write") as tree:
        path_lower, entry = found(call, path, "path_lookup")
        if parent_rev and not isinstance(entry, File):
            raise RouteError("path_lookup/not_file")
        if parent_rev and isinstance(entry, File) and entry.rev != parent_rev:
            raise RouteError("path_write/conflict/file")
        if sum(1 for _ in tree.subtree(path_lower)) > _MOST_ENTRIES:
            raise RouteError("too_many_files")
        tree.remove(path_lower, call.now())
        return entry


@route("files", files.delete, scope=_WRITE, writes=True)
def delete_v1(call: Call, arg: Any) -> Json:
    """The deprecated form, which clients in the wild still use."""
    return tagged_metadata(removed(call, arg.path, arg.parent_rev))


@route("files", files.create_folder_v2, scope=_WRITE, writes=True)
def create_folder(call: Call, arg: Any) -> Json:
    return {"metadata": metadata(made_folder(call, arg.path, autorename=arg.autorename))}


def made_folder(call: Call, path: str, *, autorename: bool) -> Any:
    """Make a folder or raise `path/<WriteError>`."""
    if path == "/":
        raise call.root_refused("path")
    with call.changing("path") as tree:
        display = writable(call, path, "path")
        there = tree.get(paths.lower(display))
        if there is not None:
            if not autorename:
                kind = "file" if isinstance(there, File) else "folder"
                raise RouteError(f"path/conflict/{kind}")
            display = with_room(call, display)
        return tree.make_folder(display, call.now())


@route("files", files.restore, scope=_WRITE, writes=True)
def restore(call: Call, arg: Any) -> Json:
    """A new revision with the old content; client_modified is kept."""
    with call.changing("path_write") as tree:
        path_lower = paths.lower(located(call, arg.path, "path_lookup"))
        old = next((f for f in tree.revisions.get(path_lower, []) if f.rev == arg.rev), None)
        if path_lower not in tree.revisions:
            raise RouteError("path_lookup/not_found")
        if old is None:
            raise RouteError("invalid_revision")
        display = writable(call, old.path_display, "path_write")
        there = tree.get(path_lower)
        if there is not None and not isinstance(there, File):
            raise RouteError("path_write/conflict/folder")
        return metadata(
            tree.write(
                display,
                size=old.size,
                content_hash=old.content_hash,
                client_modified=old.client_modified,
                at=call.now(),
            )
        )
