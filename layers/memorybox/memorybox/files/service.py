"""Read and change the files of one account, so that no writer's text is ever lost.

A change is a compare-and-swap on the file's rev. Our own writers to an account take turns; writers
in other apps are met by reading again (append) or by telling the caller (write, patch).
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from memorybox.errors import MemoryBoxError
from memorybox.files import edits, listing
from memorybox.files.commands import Attempt
from memorybox.files.errors import (
    LARGEST_CHANGEABLE,
    FileBusy,
    FileChanged,
    FileExists,
    FileMissing,
    FileTooLarge,
    FolderInTheWay,
    NothingToReplace,
    NotText,
    NotTextToChange,
    OutcomeUnknown,
    TooLargeToChange,
    WorkspaceNotAllowed,
)
from memorybox.files.hashing import content_hash
from memorybox.files.leases import Leases, TurnNeverCame
from memorybox.files.model import (
    Edit,
    FileEntry,
    FileRef,
    FolderEntry,
    Rev,
    StoredFile,
)
from memorybox.files.names import new_workspace_fault
from memorybox.files.store import FileStore

MOST_TRIES = 8
"""How often append reads again when others change the file in between."""

Note = Callable[[Attempt], None]
"""Told of an upload right before it begins."""


@dataclass(frozen=True, slots=True)
class Files:
    """The notes of one account, for the length of one call.

    `pause` waits a little longer at each further try, and not at all when the call's deadline is
    near: then it is False and the caller gives up.
    """

    store: FileStore
    leases: Leases
    pause: Callable[[int], bool]

    def list(self, workspace: str | None) -> tuple[FileEntry, ...]:
        """The notes of a workspace (None: of all), as Dropbox has them now.

        By workspace, newest change first. A workspace that does not exist has none.
        """
        if workspace is None:
            return listing.notes(self.store.entries(""))
        names = dict.fromkeys((unicodedata.normalize("NFC", workspace), workspace))
        found = (listing.notes(self.store.entries(f"/{name}")) for name in names)
        return next(filter(None, found), ())

    def read(self, ref: FileRef, at_most: int) -> StoredFile:
        """The file as stored. Raises FileMissing, NotText, or FileTooLarge over `at_most` bytes."""
        _, stored = self._find(ref, at_most)
        _text(ref, stored)
        return stored

    def write(self, ref: FileRef, text: str, *, expected: Rev | None, note: Note) -> StoredFile:
        """Make the file or, with `expected`, replace it if it is still at that rev."""
        data = text.encode()
        with self._turn(ref):
            if expected is None:
                self._check_new(ref)
                return self._create(ref, data, note)
            found, entry = self._look(ref)
            if entry.rev != expected:
                raise FileChanged(ref, current=entry.rev, expected=expected)
            if entry.content_hash == content_hash(data):
                return StoredFile(entry, data)
            return self._replace(found, data, expected, note)

    def append(self, ref: FileRef, text: str, *, note: Note) -> StoredFile:
        """Add `text` right behind the last byte, or make the file with it.

        Meets changes by others with up to MOST_TRIES readings, then raises FileBusy.
        """
        addition = text.encode()
        with self._turn(ref):
            for attempt in range(MOST_TRIES):
                try:
                    return self._append_once(ref, addition, note)
                except (FileChanged, FileExists, NothingToReplace):
                    if not self.pause(attempt):
                        break
            raise FileBusy(ref)

    def patch(
        self, ref: FileRef, changes: Sequence[Edit], *, expected: Rev, note: Note
    ) -> StoredFile:
        """Apply edits to the file if it is still at rev `expected`: all of them, or none."""
        with self._turn(ref):
            try:
                found, stored = self._find_to_change(ref)
            except FileMissing:
                raise NothingToReplace(ref) from None
            if stored.entry.rev != expected:
                raise FileChanged(ref, current=stored.entry.rev, expected=expected)
            data = edits.apply(changes, _changeable_text(ref, stored), ref).encode()
            if data == stored.data:
                return stored
            return self._replace(found, data, expected, note)

    def recover(self, ref: FileRef, attempt: Attempt) -> tuple[Rev, StoredFile] | None:
        """The rev that an upload which was cut short has made, and the file as it is now.

        None if it wrote nothing.
        """
        entry = self.store.committed(ref, attempt.content_hash, base=attempt.base)
        if entry is None:
            return None
        return entry.rev, self.store.read(ref, LARGEST_CHANGEABLE)

    def _append_once(self, ref: FileRef, addition: bytes, note: Note) -> StoredFile:
        try:
            found, stored = self._find_to_change(ref)
        except FileMissing:
            self._check_new(ref)
            return self._create(ref, addition, note)
        _changeable_text(ref, stored)
        if not addition:
            return stored
        return self._replace(found, stored.data + addition, stored.entry.rev, note)

    def _create(self, ref: FileRef, data: bytes, note: Note) -> StoredFile:
        note(Attempt(content_hash(data), None))
        with _upload(ref):
            return StoredFile(self.store.create(ref, data), data)

    def _replace(self, ref: FileRef, data: bytes, base: Rev, note: Note) -> StoredFile:
        note(Attempt(content_hash(data), base))
        with _upload(ref):
            return StoredFile(self.store.replace(ref, data, base=base), data)

    def _find(self, ref: FileRef, at_most: int) -> tuple[FileRef, StoredFile]:
        """The file under its normalised name or, if that is missing, under the given one."""
        try:
            return ref, self.store.read(ref, at_most)
        except FileMissing:
            if ref.verbatim == ref:
                raise
            return ref.verbatim, self.store.read(ref.verbatim, at_most)

    def _look(self, ref: FileRef) -> tuple[FileRef, FileEntry]:
        """As `_find`, but the metadata alone, for a writer who expects the file to be there."""
        for name in dict.fromkeys((ref, ref.verbatim)):
            match self.store.look(name.location):
                case FileEntry() as entry:
                    return name, entry
                case FolderEntry():
                    raise FolderInTheWay(ref)
        raise NothingToReplace(ref)

    def _find_to_change(self, ref: FileRef) -> tuple[FileRef, StoredFile]:
        try:
            return self._find(ref, LARGEST_CHANGEABLE)
        except FileTooLarge as error:
            raise TooLargeToChange(ref, error.size) from None

    def _check_new(self, ref: FileRef) -> None:
        ref.check_new()
        fault = new_workspace_fault(ref.workspace)
        if fault and self.store.look(ref.workspace_location) is None:
            raise WorkspaceNotAllowed(ref.workspace, fault)

    @contextmanager
    def _turn(self, ref: FileRef) -> Iterator[None]:
        try:
            with self.leases.writer():
                yield
        except TurnNeverCame:
            raise FileBusy(ref) from None


@contextmanager
def _upload(ref: FileRef) -> Iterator[None]:
    """After an upload began, only an error that knows better may say that nothing was written."""
    try:
        yield
    except MemoryBoxError:
        raise
    except Exception as error:  # whatever it is, the caller must look at the file
        raise OutcomeUnknown(ref) from error


def _text(ref: FileRef, stored: StoredFile) -> str:
    try:
        return stored.data.decode()
    except UnicodeDecodeError as error:
        raise NotText(ref, error.start) from None


def _changeable_text(ref: FileRef, stored: StoredFile) -> str:
    try:
        return stored.data.decode()
    except UnicodeDecodeError:
        raise NotTextToChange(ref) from None
