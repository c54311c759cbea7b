"""From the path in an argument to an entry, or to the error its route has for it."""

import re
from datetime import timedelta
from itertools import chain, count

from local.dropbox import paths
from local.dropbox.calls import Call
from local.dropbox.entries import Entry, File
from local.dropbox.wire import RouteError

_NAMESPACE = re.compile(r"ns:([0-9]+)(/.*)?", re.DOTALL)


def located(call: Call, path: str, tag: str) -> str:
    """The path that `id:`, `ns:` or a plain path names, in the letters of the caller.

    Raises `<tag>/malformed_path`, or `<tag>/not_found` for an id that is none.
    """
    if path.startswith("id:"):
        path = _by_id(call, path, tag)
    elif namespaced := _NAMESPACE.fullmatch(path):
        if int(namespaced[1]) != call.account.namespace:
            raise RouteError(f"{tag}/not_found")
        path = namespaced[2] or ""
    if path == "/":
        path = ""
    if paths.is_malformed(path, emoji_allowed=call.account.knobs.emoji_allowed):
        raise RouteError(f"{tag}/malformed_path")
    return path


def _by_id(call: Call, path: str, tag: str) -> str:
    entry_id, slash, below = path.partition("/")
    home = call.account.tree.path_of(entry_id)
    entry = call.account.tree.get(home) if home else None
    if entry is None:
        raise RouteError(f"{tag}/not_found")
    return entry.path_display + slash + below


def found(call: Call, path: str, tag: str) -> tuple[str, Entry]:
    """The lowered path and the entry there, or `<tag>/not_found`."""
    account = call.account
    path_lower = paths.lower(located(call, path, tag))
    account.notice_outside_edits(path_lower)
    entry = account.tree.get(path_lower)
    if entry is None or _is_too_new(call, path_lower):
        raise RouteError(f"{tag}/not_found")
    return path_lower, entry


def found_file(call: Call, path: str, tag: str) -> tuple[str, File]:
    path_lower, entry = found(call, path, tag)
    if not isinstance(entry, File):
        raise RouteError(f"{tag}/not_file")
    return path_lower, entry


def _is_too_new(call: Call, path_lower: str) -> bool:
    lag = call.account.knobs.lookup_lag
    if not lag:
        return False
    placed = call.account.tree.journal[call.account.tree.placed_at[path_lower]]
    return call.account.clock.now() < placed.at + timedelta(seconds=lag)


def writable(call: Call, path: str, tag: str) -> str:
    """The path to write at, in the form that is stored, or the WriteError that forbids it."""
    display = paths.stored(located(call, path, tag))
    if paths.is_disallowed(display):
        raise RouteError(f"{tag}/disallowed_name")
    path_lower = paths.lower(display)
    call.account.notice_outside_edits(path_lower)
    if call.account.tree.file_above(path_lower):
        raise RouteError(f"{tag}/conflict/file_ancestor")
    return display


def with_room(call: Call, display: str, note: str = "") -> str:
    """A name that is free: `x (1).md`, or `x (note).md` and then `x (note) (1).md`."""
    base = paths.renamed(display, note) if note else display
    candidates = chain([base] if note else [], (paths.renamed(base, str(n)) for n in count(1)))
    return next(c for c in candidates if call.account.tree.get(paths.lower(c)) is None)
