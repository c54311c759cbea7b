"""The entries of one account, and the journal of changes that made them.

Everything that changes a tree is a `Change`; a tree is what its journal says, applied in order.
So a tree that is built again from its journal has the same revs, ids, revisions and cursors.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from local.dropbox import paths
from local.dropbox.encoding import base64url
from local.dropbox.entries import Entry, File, Folder, Tombstone

_POSITION_BITS = 24


@dataclass(frozen=True, slots=True)
class Change:
    """An entry was put at a path, or (entry None) what was there went, with all its children."""

    position: int
    path_display: str
    entry: Entry | None
    at: datetime

    @property
    def path_lower(self) -> str:
        return paths.lower(self.path_display)


class Tree:
    """Not safe for threads: the account that owns it holds a lock."""

    def __init__(self, namespace: int, journal: Iterable[Change] = ()) -> None:
        self.namespace = namespace
        self.replay(journal)

    def replay(self, journal: Iterable[Change]) -> None:
        """Become what this journal says, whatever was there."""
        self.journal: list[Change] = []
        self.tombstones: dict[str, Tombstone] = {}
        self.revisions: dict[str, list[File]] = {}
        self.by_rev: dict[str, File] = {}
        self.placed_at: dict[str, int] = {}
        self.used = 0
        """The bytes of all files."""
        self._entries: dict[str, Entry] = {}
        self._children: dict[str, set[str]] = {"": set()}
        self._path_of: dict[str, str] = {}
        for change in journal:
            self._apply(change)

    def get(self, path_lower: str) -> Entry | None:
        return self._entries.get(path_lower)

    def path_of(self, entry_id: str) -> str | None:
        """The lowered path at which an id lives now."""
        return self._path_of.get(entry_id)

    def subtree(self, path_lower: str) -> Iterator[str]:
        """The lowered paths below a folder, a folder before its children, in one fixed order."""
        ahead = [path_lower]  # no recursion: paths may be deeper than Python's stack
        while ahead:
            path = ahead.pop()
            if path != path_lower:
                yield path
            ahead += sorted(self._children.get(path, ()), reverse=True)

    def walk(self, path_lower: str = "") -> Iterator[tuple[str, Entry]]:
        """What is at a path and then all that is below it, each with its lowered path."""
        for path in (path_lower, *self.subtree(path_lower)):
            if path in self._entries:
                yield path, self._entries[path]

    def children(self, path_lower: str) -> Iterator[str]:
        yield from sorted(self._children.get(path_lower, ()))

    def file_above(self, path_lower: str) -> bool:
        """Whether a file is in the way where a folder would have to be."""
        return any(isinstance(self.get(above), File) for above in paths.ancestors(path_lower))

    def write(
        self,
        path_display: str,
        *,
        size: int,
        content_hash: str,
        client_modified: datetime,
        at: datetime,
    ) -> File:
        """Put a new revision of a file there; a file that is replaced gives on its id."""
        self._make_parents(path_display, at)
        before = self.get(paths.lower(path_display))
        file = File(
            id=before.id if isinstance(before, File) else self._next_id(at),
            path_display=path_display,
            rev=self._next_rev(at),
            size=size,
            content_hash=content_hash,
            client_modified=client_modified,
            server_modified=at,
        )
        self._record(path_display, file, at)
        return file

    def make_folder(self, path_display: str, at: datetime) -> Folder:
        self._make_parents(path_display, at)
        folder = Folder(self._next_id(at), path_display)
        self._record(path_display, folder, at)
        return folder

    def remove(self, path_lower: str, at: datetime) -> None:
        """One change, also for a folder with children."""
        self._record(self._entries[path_lower].path_display, None, at)

    def move(self, path_lower: str, to_display: str, at: datetime) -> Entry:
        """A deletion and the whole subtree anew: ids stay, revs are new."""
        moved = self._copies(path_lower, to_display)
        self.remove(path_lower, at)
        return self._place(moved, at)

    def copy(self, path_lower: str, to_display: str, at: datetime) -> Entry:
        copies = self._copies(path_lower, to_display)
        return self._place([replace(entry, id="") for entry in copies], at)

    def revisions_of_id(self, entry_id: str) -> list[File]:
        """Every revision of one file wherever it was, oldest first."""
        files = (change.entry for change in self.journal if isinstance(change.entry, File))
        return [file for file in files if file.id == entry_id]

    def _copies(self, path_lower: str, to_display: str) -> list[Entry]:
        depth = len(path_lower.split("/"))
        copies: list[Entry] = []
        for _, entry in self.walk(path_lower):
            below = entry.path_display.split("/")[depth:]
            copies.append(replace(entry, path_display="/".join((to_display, *below))))
        return copies

    def _place(self, entries: list[Entry], at: datetime) -> Entry:
        self._make_parents(entries[0].path_display, at)
        for bare in entries:
            entry = replace(bare, id=bare.id or self._next_id(at))
            if isinstance(entry, File):
                entry = replace(entry, rev=self._next_rev(at), server_modified=at)
            self._record(entry.path_display, entry, at)
        return self._entries[paths.lower(entries[0].path_display)]

    def _make_parents(self, path_display: str, at: datetime) -> None:
        for above in paths.ancestors(path_display):
            if self.get(paths.lower(above)) is None:
                self._record(above, Folder(self._next_id(at), above), at)

    def _next_rev(self, at: datetime) -> str:
        """By time and position: no rev comes again, even if the end of the journal was lost."""
        sequence = int(at.timestamp()) << _POSITION_BITS | len(self.journal)
        return f"{sequence:015x}{self.namespace:016x}"

    def _next_id(self, at: datetime) -> str:
        seed = self._next_rev(at).encode()
        return "id:" + base64url(sha256(seed).digest()[:16])

    def _record(self, path_display: str, entry: Entry | None, at: datetime) -> None:
        self._apply(Change(len(self.journal), path_display, entry, at))

    def _apply(self, change: Change) -> None:
        self.journal.append(change)
        if change.entry is None:
            self._drop(change.path_lower, change.at)
        else:
            self._put(change.path_lower, change.entry, change.position)

    def _put(self, path_lower: str, entry: Entry, position: int) -> None:
        self.tombstones.pop(path_lower, None)
        self.used += _size(entry) - _size(self._entries.get(path_lower))
        self._entries[path_lower] = entry
        self._path_of[entry.id] = path_lower
        self.placed_at[path_lower] = position
        self._children.setdefault(paths.parent_of(path_lower), set()).add(path_lower)
        if isinstance(entry, File):
            self.revisions.setdefault(path_lower, []).append(entry)
            self.by_rev[entry.rev] = entry

    def _drop(self, path_lower: str, at: datetime) -> None:
        for gone, entry in list(self.walk(path_lower)):
            del self._entries[gone]
            self.used -= _size(entry)
            self._path_of.pop(entry.id, None)
            self._children.pop(gone, None)
            self.tombstones[gone] = Tombstone(entry.path_display, isinstance(entry, Folder), at)
        self._children[paths.parent_of(path_lower)].discard(path_lower)


def _size(entry: Entry | None) -> int:
    return entry.size if isinstance(entry, File) else 0
