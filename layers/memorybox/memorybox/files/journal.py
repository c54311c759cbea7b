"""What was written lately and by which client, for the owner of the notes to see."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memorybox.files.model import ChangePage, Cursor, Entry, FileEntry, FileRef, Rev, StoredFile
from memorybox.files.store import FileStore


@dataclass(frozen=True, slots=True)
class Written:
    """One version of a note that a client made."""

    path_display: str
    rev: str
    client_id: str
    is_new: bool
    at: datetime


class Journal(Protocol):
    """The latest writes of one account by the client whose call this is."""

    def note(self, entry: FileEntry, *, is_new: bool) -> None:
        """Keep that this version was made in the present turn of the writer.

        It costs no call of its own and never raises. A call that is cut short may leave no note.
        """


@dataclass(frozen=True, slots=True)
class JournalledFiles:
    """A FileStore that keeps a journal of what is written through it."""

    store: FileStore
    journal: Journal

    def entries(self, location: str) -> tuple[Entry, ...]:
        return self.store.entries(location)

    def look(self, location: str) -> Entry | None:
        return self.store.look(location)

    def read(self, ref: FileRef, at_most: int) -> StoredFile:
        return self.store.read(ref, at_most)

    def contents(self, location: str, wanted: Collection[str], at_most: int) -> Mapping[str, bytes]:
        return self.store.contents(location, wanted, at_most)

    def create(self, ref: FileRef, data: bytes) -> FileEntry:
        entry = self.store.create(ref, data)
        self.journal.note(entry, is_new=True)
        return entry

    def replace(self, ref: FileRef, data: bytes, *, base: Rev) -> FileEntry:
        entry = self.store.replace(ref, data, base=base)
        self.journal.note(entry, is_new=False)
        return entry

    def committed(self, ref: FileRef, content_hash: str, *, base: Rev | None) -> FileEntry | None:
        return self.store.committed(ref, content_hash, base=base)

    def changes(self, cursor: Cursor | None, location: str = "") -> ChangePage:
        return self.store.changes(cursor, location)
