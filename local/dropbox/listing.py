"""Pages of list_folder: a snapshot first, then the journal. A cursor says where a client is.

A snapshot is paged by path and its cursor keeps the position at which it began. What changes
meanwhile is told again by the journal, so that applying all entries in order gives the tree.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256

from local.dropbox import paths
from local.dropbox.encoding import base64url, from_base64url
from local.dropbox.entries import Entry, Folder, Tombstone
from local.dropbox.knobs import Knobs
from local.dropbox.tree import Change, Tree

_SHORTEST_CURSOR = 100
_CHECK = 8  # bytes of the checksum that tells a cursor from garbage


class CursorMalformed(ValueError):
    """Not a cursor of this service, or of another account."""


@dataclass(frozen=True, slots=True)
class Cursor:
    account: str
    birth: str
    """Which life of the account's tree it belongs to; another one answers `reset`."""
    root: str
    recursive: bool
    include_deleted: bool
    limit: int
    position: int
    after: str | None = None
    """The last path of the snapshot that was given; None once the snapshot is through."""
    blanks: int = 0
    """Empty pages still to come."""
    number: int = 0
    """Makes every cursor another text, as Dropbox does."""

    def __str__(self) -> str:
        body = json.dumps(asdict(self), separators=(",", ":")).ljust(_SHORTEST_CURSOR).encode()
        return base64url(sha256(body).digest()[:_CHECK] + body)

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        try:
            raw = from_base64url(text)
            check, body = raw[:_CHECK], raw[_CHECK:]
            if sha256(body).digest()[:_CHECK] != check:
                raise CursorMalformed(text)
            return cls(**json.loads(body))
        except (ValueError, TypeError) as error:
            raise CursorMalformed(text) from error


@dataclass(frozen=True, slots=True)
class Page:
    entries: list[Entry | Tombstone]
    cursor: Cursor
    has_more: bool


_BEGINNING = ""


def beginning(cursor: Cursor) -> Cursor:
    """A cursor before the first entry of its snapshot."""
    return replace(cursor, after=_BEGINNING)


def next_page(tree: Tree, cursor: Cursor, knobs: Knobs, *, horizon: int) -> Page:
    """What follows `cursor`. Changes at `horizon` and later are not seen yet."""
    if cursor.blanks and (cursor.after is not None or cursor.position < horizon):
        return Page([], replace(cursor, blanks=cursor.blanks - 1), has_more=True)
    if cursor.after is not None:
        return _snapshot_page(tree, cursor, knobs, horizon)
    return _journal_page(tree, cursor, knobs, horizon)


def _snapshot_page(tree: Tree, cursor: Cursor, knobs: Knobs, horizon: int) -> Page:
    after = _order(cursor.after or "")
    listed = [path for path in _listed(tree, cursor, knobs) if _order(path) > after]
    listed = [path for path in listed if tree.placed_at.get(path, 0) < horizon]
    page = listed[: cursor.limit]
    entries = [tree.get(path) or tree.tombstones[path] for path in page]
    if len(listed) > len(page):
        return Page(entries, replace(cursor, after=page[-1]), has_more=True)
    done = replace(cursor, after=None, blanks=knobs.empty_pages)
    return Page(entries, done, has_more=cursor.position < horizon)


def _listed(tree: Tree, cursor: Cursor, knobs: Knobs) -> list[str]:
    below = tree.subtree if cursor.recursive else tree.children
    listed = list(below(cursor.root))
    if cursor.recursive and cursor.root and knobs.folder_in_recursive_list:
        listed.append(cursor.root)
    if cursor.include_deleted:
        listed += [path for path in tree.tombstones if _is_listed(path, cursor)]
    return sorted(listed, key=_order)


def _order(path: str) -> str:
    return path.replace("/", "\0")  # a folder right before its children: "/a/x" before "/a b"


def _is_listed(path: str, cursor: Cursor) -> bool:
    if cursor.recursive:
        return paths.is_under(path, cursor.root)
    return paths.parent_of(path) == cursor.root


def _journal_page(tree: Tree, cursor: Cursor, knobs: Knobs, horizon: int) -> Page:
    changes = [
        change
        for change in tree.journal[cursor.position : horizon]
        if _is_listed(change.path_lower, cursor) or _is_root(change.path_lower, cursor, knobs)
    ]
    if knobs.coalesce:
        changes = _coalesced(changes)
    page = changes[: cursor.limit]
    has_more = len(changes) > len(page)
    entries = [shown for change in page for shown in _shown(tree, change, knobs)]
    position = page[-1].position + 1 if has_more else horizon
    blanks = cursor.blanks if has_more else knobs.empty_pages
    return Page(entries, replace(cursor, position=position, blanks=blanks), has_more)


def _is_root(path: str, cursor: Cursor, knobs: Knobs) -> bool:
    return cursor.recursive and knobs.folder_in_recursive_list and path == cursor.root


def _coalesced(changes: list[Change]) -> list[Change]:
    """The last change of each path, without what a later deletion of a folder took away.

    A deletion stays where a folder came back: the folder alone would not say that its old
    children went.
    """
    root = _Node()
    kept: list[Change] = []
    for change in reversed(changes):
        node = root.reach(change.path_lower)
        if node is None:
            continue
        later = node.last
        returns = change.entry is None and later is not None and isinstance(later.entry, Folder)
        if later is None or returns:
            kept.append(change)
        if later is None or change.entry is None:
            node.last = change
    return kept[::-1]


@dataclass(slots=True)
class _Node:
    """A path, and what happened to it last."""

    last: Change | None = None
    below: dict[str, "_Node"] = field(default_factory=dict)

    def reach(self, path: str) -> "_Node | None":
        """The node of a path below this one. None if a folder above it was deleted."""
        node = self
        for name in path.split("/")[1:]:
            if node.last is not None and node.last.entry is None:
                return None
            below = node.below.get(name)
            if below is None:
                below = node.below[name] = _Node()
            node = below
        return node


def _shown(tree: Tree, change: Change, knobs: Knobs) -> list[Entry | Tombstone]:
    if change.entry is not None:
        return [change.entry]
    gone: list[Entry | Tombstone] = [Tombstone(change.path_display, was_folder=False, at=change.at)]
    if knobs.children_after_delete:
        children = (p for p in tree.tombstones if paths.is_under(p, change.path_lower))
        gone += [tree.tombstones[path] for path in sorted(children)]
    return gone
