"""files/move_v2 and copy_v2: a subtree at another path."""

from typing import Any

from dropbox import files

from local.dropbox import paths
from local.dropbox.calls import Call, route
from local.dropbox.entries import Entry, File, Json, tagged_metadata
from local.dropbox.routes.lookup import found, located, with_room, writable
from local.dropbox.wire import RouteError

_WRITE = "files.content.write"
_MOST_ENTRIES = 10_000


@route("files", files.move_v2, scope=_WRITE, writes=True)
def move(call: Call, arg: Any) -> Json:
    return {"metadata": tagged_metadata(moved(call, arg, autorename=arg.autorename))}


@route("files", files.copy_v2, scope=_WRITE, writes=True)
def copy(call: Call, arg: Any) -> Json:
    return {"metadata": tagged_metadata(copied(call, arg, autorename=arg.autorename))}


def moved(call: Call, paths_asked: Any, *, autorename: bool) -> Entry:
    """Do what a RelocationPath asks, or raise the RelocationError."""
    with call.changing("to") as tree:
        source, entry = _source(call, paths_asked.from_path)
        display = writable(call, paths_asked.to_path, "to")
        if paths.is_under(paths.lower(display), source):
            raise RouteError("cant_move_folder_into_itself")
        display = _target(call, source, entry, display, autorename=autorename)
        return tree.move(source, display, call.now())


def copied(call: Call, paths_asked: Any, *, autorename: bool) -> Entry:
    with call.changing("to") as tree:
        source, entry = _source(call, paths_asked.from_path)
        display = writable(call, paths_asked.to_path, "to")
        if paths.is_under(paths.lower(display), source):
            raise RouteError("duplicated_or_nested_paths")
        display = _target(call, "", entry, display, autorename=autorename)
        size = sum(one.size for _, one in tree.walk(source) if isinstance(one, File))
        if tree.used + size > call.account.knobs.space:
            raise RouteError("insufficient_quota")
        return tree.copy(source, display, call.now())


def _source(call: Call, path: str) -> tuple[str, Entry]:
    if located(call, path, "from_lookup") == "":
        raise call.root_refused("from_path")
    source, entry = found(call, path, "from_lookup")
    if sum(1 for _ in call.account.tree.subtree(source)) > _MOST_ENTRIES:
        raise RouteError("too_many_files")
    return source, entry


def _target(call: Call, source: str, entry: Entry, display: str, *, autorename: bool) -> str:
    """Where to; nothing is ever overwritten. Another case of the same name may be a rename."""
    if display == "":
        raise call.root_refused("to_path")
    there = call.account.tree.get(paths.lower(display))
    is_case_rename = paths.lower(display) == source and display != entry.path_display
    if there is None or (is_case_rename and call.account.knobs.case_rename_allowed):
        return display
    if autorename:
        return with_room(call, display)
    raise RouteError(f"to/conflict/{'file' if isinstance(there, File) else 'folder'}")
