"""The files of one account, in its app folder on Dropbox."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from memorybox.adapters.dropbox.client import Api, Client
from memorybox.adapters.dropbox.commits import CONFLICT, Upload, history
from memorybox.adapters.dropbox.errors import Declined, Unanswered
from memorybox.adapters.dropbox.metadata import change, file_entry
from memorybox.adapters.dropbox.session import TooLong, read_body
from memorybox.adapters.dropbox.zips import members
from memorybox.errors import MemoryBoxError
from memorybox.files.errors import (
    CursorReset,
    DropboxFull,
    DropboxSilent,
    FileBusy,
    FileChanged,
    FileExists,
    FileInTheWay,
    FileMissing,
    FileTooLarge,
    FolderInTheWay,
    NameNotTaken,
    NotAllowedToWrite,
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
from memorybox.files.names import lowered

PAGE = 2_000
"""Entries of a page of a listing: the most that Dropbox gives."""

_BEFORE_ALL = Cursor("")
"""The cursor of an app folder that does not exist: Dropbox gives none for it."""


@dataclass(frozen=True, slots=True)
class DropboxFileStore:
    """FileStore on Dropbox. `read` may run in several threads at once."""

    client: Client

    def entries(self, location: str) -> tuple[Entry, ...]:
        changes = list[Change]()
        try:
            page = self._list(location)
            changes += page.changes
            while page.has_more:
                page = self._go_on(page.cursor)
                changes += page.changes
        except CursorReset as error:
            raise DropboxSilent from error
        return tuple(_present(changes))

    def look(self, location: str) -> Entry | None:
        try:
            found = change(self.client.read(lambda api: api.files_get_metadata(location)))
        except Declined as declined:
            match declined.tags:
                case ("path", "not_found" | "malformed_path"):
                    return None
            raise DropboxSilent from declined
        return None if isinstance(found, Removed) else found

    def read(self, ref: FileRef, at_most: int) -> StoredFile:
        try:
            return self.client.read(lambda api: self._download(api, ref, at_most))
        except Declined as declined:
            match declined.tags:
                case ("path", "not_found" | "not_file" | "malformed_path"):
                    raise FileMissing(ref) from declined
                case ("path", "restricted_content") | ("unsupported_file",):
                    raise NotDownloadable(ref) from declined
            raise DropboxSilent from declined

    def contents(self, location: str, wanted: Collection[str], at_most: int) -> Mapping[str, bytes]:
        try:
            archive = self.client.attempt(lambda api: self._download_zip(api, location, at_most))
        except (Declined, Unanswered, DropboxSilent, TooLong):
            return {}
        return members(archive, wanted)

    def create(self, ref: FileRef, data: bytes) -> FileEntry:
        try:
            return self._upload(ref, data, base=None)
        except Declined as declined:
            match declined.tags:
                case ("path", "conflict", "file"):
                    raise FileExists(ref) from declined
                case ("path", "conflict", "folder"):
                    raise FolderInTheWay(ref) from declined
                case ("path", "conflict", _):
                    self._check_above(ref)
                    raise FileBusy(ref) from declined
            raise _refusal(ref, declined) from declined

    def replace(self, ref: FileRef, data: bytes, *, base: Rev) -> FileEntry:
        try:
            return self._upload(ref, data, base=base)
        except Declined as declined:
            if declined.tags[:2] != CONFLICT:
                raise _refusal(ref, declined) from declined
            match self.look(ref.location):
                case None:
                    self._check_above(ref)
                    raise NothingToReplace(ref) from declined
                case FolderEntry():
                    raise FolderInTheWay(ref) from declined
                case FileEntry(rev=rev) if rev != base:
                    raise FileChanged(ref, current=rev, expected=base) from declined
                case FileEntry() as entry if entry.content_hash == content_hash(data):
                    return entry  # strict_conflict may refuse the very bytes that are there
            raise FileBusy(ref) from declined

    def committed(self, ref: FileRef, content_hash: str, *, base: Rev | None) -> FileEntry | None:
        try:
            past = history(self.client, ref.location, base=base)
        except Declined as declined:
            if declined.tags == ("path", "not_file"):
                raise OutcomeUnknown(ref) from declined
            raise DropboxSilent from declined
        if base is None:
            return past.creation(ref, content_hash)
        entry = past.following(base)
        return entry if entry and entry.content_hash == content_hash else None

    def changes(self, cursor: Cursor | None, location: str = "") -> ChangePage:
        return self._go_on(cursor) if cursor else self._list(location)

    def _list(self, location: str) -> ChangePage:
        try:
            return _page(
                self.client.read(
                    lambda api: api.files_list_folder(location, recursive=True, limit=PAGE)
                )
            )
        except Declined as declined:
            match declined.tags:
                case ("path", "not_found" | "not_folder" | "malformed_path"):
                    return ChangePage((), _BEFORE_ALL, has_more=False)
            raise DropboxSilent from declined

    def _go_on(self, cursor: Cursor) -> ChangePage:
        try:
            return _page(self.client.read(lambda api: api.files_list_folder_continue(cursor)))
        except Declined as declined:
            match declined.tags:
                case ("reset",) | ("path", "not_found") | ("bad_input",):
                    raise CursorReset from declined
            raise DropboxSilent from declined

    def _download(self, api: Api, ref: FileRef, at_most: int) -> StoredFile:
        metadata, response = api.files_download(ref.location)
        with closing(response):
            entry = file_entry(metadata)
            if not entry.is_downloadable:
                raise NotDownloadable(ref)
            if entry.size > at_most:
                raise FileTooLarge(ref, entry.size)
            data = read_body(response, self.client.deadline.remaining())
        if content_hash(data) != entry.content_hash:
            raise Unanswered
        return StoredFile(entry, data)

    def _download_zip(self, api: Api, location: str, at_most: int) -> bytes:
        _, response = api.files_download_zip(location)
        with closing(response):
            return read_body(response, self.client.deadline.remaining() / 2, at_most)

    def _upload(self, ref: FileRef, data: bytes, base: Rev | None) -> FileEntry:
        entry = Upload(self.client, ref, data, base).commit()
        if lowered(entry.path_lower) != lowered(ref.location):
            raise OutcomeUnknown(ref)  # the bytes are there, under a name that nobody asked for
        return entry

    def _check_above(self, ref: FileRef) -> None:
        """Raises FileInTheWay if a file stands where a folder is needed."""
        names = ref.location.split("/")
        for depth in range(2, len(names)):
            above = "/".join(names[:depth])
            if isinstance(self.look(above), FileEntry):
                raise FileInTheWay(ref, FileRef.at(above).path or ref.workspace)


def _refusal(ref: FileRef, declined: Declined) -> MemoryBoxError:
    """The error for an upload that would be declined at every rev."""
    match declined.tags:
        case ("path", "malformed_path" | "disallowed_name"):
            return NameNotTaken(ref)
        case ("path", "insufficient_space"):
            return DropboxFull()
        case ("path", "no_write_permission" | "access_restricted" | "team_folder"):
            return NotAllowedToWrite(ref)
    return DropboxSilent()


def _page(result: Any) -> ChangePage:
    return ChangePage(tuple(map(change, result.entries)), Cursor(result.cursor), result.has_more)


def _present(changes: Iterable[Change]) -> Iterable[Entry]:
    """What is there after all changes: a listing may show a path more than once."""
    entries = dict[str, Entry]()
    for item in changes:
        before = entries.pop(item.path_lower, None)
        is_folder_gone = isinstance(before, FolderEntry) and not isinstance(item, FolderEntry)
        if is_folder_gone or (before is None and isinstance(item, Removed)):
            below = item.path_lower + "/"
            for path in [path for path in entries if path.startswith(below)]:
                del entries[path]
        if not isinstance(item, Removed):
            entries[item.path_lower] = item
    return entries.values()
