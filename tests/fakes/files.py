"""An app folder in memory that keeps the promises of FileStore, and shows Dropbox's worst manners.

Listings come in small pages, the first of them empty; a folder that goes is one entry; display
paths have the letter case of whoever wrote last.
"""

import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from memorybox.clock import Clock
from memorybox.files.errors import (
    CursorReset,
    FileChanged,
    FileExists,
    FileInTheWay,
    FileMissing,
    FileTooLarge,
    FolderInTheWay,
    NameNotTaken,
    NotDownloadable,
    NothingToReplace,
    OutcomeUnknown,
)
from memorybox.files.hashing import content_hash
from memorybox.files.model import (
    Change,
    ChangePage,
    Cursor,
    Entry,
    FileEntry,
    FileRef,
    FolderEntry,
    Removed,
    Rev,
    StoredFile,
)

PAGE = 5
_NEVER_SYNCED = {"desktop.ini", "thumbs.db", ".ds_store", ".dropbox", ".dropbox.attr"}


@dataclass(frozen=True, slots=True)
class _Version:
    entry: FileEntry
    makes_file: bool
    """Nothing was at the path before, whatever may have been there earlier."""


class InMemoryFileStore:
    """One account's app folder. Any number of callers may share it.

    `step` is called before and after each effect: others may run there, or a fault be raised.
    """

    def __init__(self, clock: Clock, step: Callable[[], None] = lambda: None) -> None:
        self.outside = AnotherApp(self)
        self._clock, self._step = clock, step
        self._entries: dict[str, Entry] = {}
        self._versions: dict[str, list[_Version]] = {}
        self._data: dict[Rev, bytes] = {}
        self._journal: list[Change] = []
        self._cursors: dict[Cursor, tuple[str, tuple[Change, ...], int]] = {}
        self._cursors_given = 0

    def entries(self, location: str) -> tuple[Entry, ...]:
        with self._effect():
            below = fold(location) + "/"
            return tuple(e for e in self._entries.values() if e.path_lower.startswith(below))

    def look(self, location: str) -> Entry | None:
        with self._effect():
            return self._entries.get(fold(location))

    def read(self, ref: FileRef, at_most: int) -> StoredFile:
        with self._effect():
            entry = self._entries.get(fold(ref.location))
            if not isinstance(entry, FileEntry):
                raise FileMissing(ref)
            if not entry.is_downloadable:
                raise NotDownloadable(ref)
            if entry.size > at_most:
                raise FileTooLarge(ref, entry.size)
            return StoredFile(entry, self._data[entry.rev])

    def contents(self, location: str, wanted: Collection[str], at_most: int) -> Mapping[str, bytes]:
        with self._effect():
            below = fold(location) + "/"
            files = [
                entry
                for entry in self._entries.values()
                if isinstance(entry, FileEntry) and entry.path_lower.startswith(below)
            ]
            if sum(entry.size for entry in files) > at_most:
                return {}
            return {e.content_hash: self._data[e.rev] for e in files if e.content_hash in wanted}

    def create(self, ref: FileRef, data: bytes) -> FileEntry:
        with self._effect():
            match self._obstacle(ref):
                case FileEntry():
                    raise FileExists(ref)
                case None:
                    return self.put(ref.location, data)

    def replace(self, ref: FileRef, data: bytes, *, base: Rev) -> FileEntry:
        with self._effect():
            match self._obstacle(ref):
                case None:
                    raise NothingToReplace(ref)
                case FileEntry(rev=rev) if rev != base:
                    raise FileChanged(ref, current=rev, expected=base)
                case FileEntry(path_display=name):
                    return self.put(name, data)

    def committed(self, ref: FileRef, content_hash: str, *, base: Rev | None) -> FileEntry | None:
        with self._effect():
            if isinstance(self._entries.get(fold(ref.location)), FolderEntry):
                raise OutcomeUnknown(ref)
            versions = self._versions.get(fold(ref.location), [])
            if base is None:
                made = [v.entry for v in versions if v.makes_file]
                alike = [entry for entry in made if entry.content_hash == content_hash]
                exists = isinstance(self._entries.get(fold(ref.location)), FileEntry)
                if alike and not (exists and alike[-1] is made[-1]):
                    raise OutcomeUnknown(ref)
                version = alike[-1] if alike else None
            else:
                revs = [version.entry.rev for version in versions]
                following = versions[revs.index(base) + 1 :] if base in revs else []
                version = following[0].entry if following else None
            return version if version and version.content_hash == content_hash else None

    def changes(self, cursor: Cursor | None, location: str = "") -> ChangePage:
        with self._effect():
            if cursor is None:
                root = fold(location)
                return self._page(root, (), self._latest(root, 0), len(self._journal))
            if cursor not in self._cursors:
                raise CursorReset
            root, rest, position = self._cursors[cursor]
            if not rest:
                rest, position = self._latest(root, position), len(self._journal)
            return self._page(root, rest[:PAGE], rest[PAGE:], position)

    def put(self, location: str, data: bytes) -> FileEntry:
        """Make or replace a file, with its folders, without a question."""
        self._make_folders(location)
        name = unicodedata.normalize("NFC", location)
        entry = FileEntry(
            path_lower=fold(name),
            path_display=name,
            rev=Rev(f"{0x165F1C6D7426CD + len(self._data):015x}000000033b284821"),
            content_hash=content_hash(data),
            size=len(data),
            modified=self._clock.now().replace(microsecond=0),
        )
        self._data[entry.rev] = data
        history = self._versions.setdefault(entry.path_lower, [])
        history.append(_Version(entry, entry.path_lower not in self._entries))
        self._set(entry)
        return entry

    def put_folder(self, location: str) -> None:
        name = unicodedata.normalize("NFC", location)
        self._make_folders(location)
        self._set(FolderEntry(fold(name), name))

    def take_away(self, location: str) -> tuple[tuple[Entry, bytes], ...]:
        """Remove a file or a whole folder in one change, and return what it was."""
        key = fold(location)
        gone = [p for p in self._entries if p == key or p.startswith(key + "/")]
        taken = [self._entries.pop(path) for path in gone]
        self._journal.append(Removed(key))
        return tuple((e, self._data[e.rev] if isinstance(e, FileEntry) else b"") for e in taken)

    def lock(self, location: str) -> None:
        entry = self._entries[fold(location)]
        if isinstance(entry, FileEntry):
            self._set(replace(entry, is_downloadable=False))

    def forget_cursors(self) -> None:
        self._cursors.clear()

    @contextmanager
    def _effect(self) -> Iterator[None]:
        self._step()
        yield
        self._step()

    def _obstacle(self, ref: FileRef) -> FileEntry | None:
        """The file at the name, or None. Raises for what no upload can pass."""
        names = ref.location.split("/")[1:]
        if any(name.lower() in _NEVER_SYNCED or name.endswith(" ") for name in names):
            raise NameNotTaken(ref)
        for above in _ancestors(ref.location):
            if isinstance(self._entries.get(fold(above)), FileEntry):
                raise FileInTheWay(ref, FileRef.at(above).path or ref.workspace)
        entry = self._entries.get(fold(ref.location))
        if isinstance(entry, FolderEntry):
            raise FolderInTheWay(ref)
        return entry

    def _make_folders(self, location: str) -> None:
        for above in _ancestors(unicodedata.normalize("NFC", location)):
            if fold(above) not in self._entries:
                self._set(FolderEntry(fold(above), above))

    def _set(self, entry: Entry) -> None:
        self._entries[entry.path_lower] = entry
        self._journal.append(entry)

    def _latest(self, root: str, position: int) -> tuple[Change, ...]:
        """The changes of a folder from a position on, only the last one of each path.

        A removal stays although something came back: it took away what was below.
        """
        latest: dict[tuple[str, bool], Change] = {}
        for change in self._journal[position:]:
            if not f"{change.path_lower}/".startswith(f"{root}/"):
                continue
            is_removal = isinstance(change, Removed)
            if is_removal:
                latest.pop((change.path_lower, False), None)
            latest.pop((change.path_lower, is_removal), None)
            latest[change.path_lower, is_removal] = change
        return tuple(latest.values())

    def _page(
        self, root: str, shown: tuple[Change, ...], rest: tuple[Change, ...], position: int
    ) -> ChangePage:
        self._cursors_given += 1
        cursor = Cursor(f"cursor-{self._cursors_given}")
        self._cursors[cursor] = root, rest, position
        has_more = bool(rest) or position < len(self._journal)
        return ChangePage(shown, cursor, has_more)


@dataclass(frozen=True, slots=True)
class AnotherApp:
    """What the user, or another program, does to the same folder. Takes no steps."""

    _store: InMemoryFileStore

    def write(self, location: str, data: bytes) -> FileEntry:
        """Make or replace a file."""
        return self._store.put(location, data)

    def make_folder(self, location: str) -> None:
        self._store.put_folder(location)

    def remove(self, location: str) -> None:
        """Delete a file, or a folder with all that is in it."""
        self._store.take_away(location)

    def move(self, source: str, target: str) -> None:
        """Rename a file or a folder: the same bytes under new revs."""
        for entry, data in self._store.take_away(source):
            name = target + entry.path_display[len(source) :]
            if isinstance(entry, FileEntry):
                self.write(name, data)
            else:
                self.make_folder(name)

    def keep_from_download(self, location: str) -> None:
        """Let a file be one that Dropbox does not give out."""
        self._store.lock(location)

    def reset_cursors(self) -> None:
        """Make Dropbox forget every cursor it gave."""
        self._store.forget_cursors()


def fold(location: str) -> str:
    """The key of a path: lowered letter by letter, so that a final sigma is like any other."""
    return "".join(letter.lower()[:1] for letter in location)


def _ancestors(location: str) -> list[str]:
    names = location.split("/")
    return ["/".join(names[:depth]) for depth in range(2, len(names))]
