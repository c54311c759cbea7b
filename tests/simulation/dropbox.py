"""The emulated Dropbox without HTTP, as the SDK shows it; calls to it can go wrong on the way."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import requests
from dropbox.files import DeletedMetadata, FileMetadata, FolderMetadata

from local.dropbox import paths
from local.dropbox.accounts import Account, Profile
from local.dropbox.clock import EmulatedClock
from local.dropbox.commits import Conflict, Existing, Intent, decide
from local.dropbox.entries import Entry, File, Folder, Tombstone, content_hash
from local.dropbox.knobs import Knobs
from local.dropbox.listing import Cursor, beginning, next_page
from local.dropbox.storage import MemoryStorage
from local.dropbox.tree import Tree
from memorybox.adapters.dropbox.client import READ_TIMEOUT, Api, Client
from memorybox.adapters.dropbox.errors import Declined, NotNow, TokenRefused, Unanswered
from tests.simulation.plan import Trouble
from tests.simulation.schedule import Schedule

LATEST = 12.0
"""Seconds after which a request that nobody waits for still arrives."""


@dataclass(frozen=True, slots=True)
class Version:
    """A revision, what it was made of, and which call of ours made it (None: another app)."""

    location: str
    rev: str
    data: bytes
    before: tuple[str, bytes] | None
    by: int | None
    at: int
    """A number that grows with everything that happens."""

    seconds: float
    """Since the beginning."""


class FollowingClock(EmulatedClock):
    """Dropbox's own clock: never wrong."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._now = now

    def now(self) -> datetime:
        return self._now()


class SimulatedDropbox:
    """One user's app folder, and all that ever was in it."""

    def __init__(self, schedule: Schedule, clock: FollowingClock, knobs: dict[str, Any]) -> None:
        self.schedule = schedule
        self.versions: list[Version] = []
        self.gone: list[tuple[str, int]] = []
        """What was removed, with everything below it, and when."""

        self.unanswered: set[int] = set()
        """Calls that do not know what became of an upload of theirs."""

        self.account = Account(1, Profile(), clock, MemoryStorage(), lambda _: None)
        self.account.knobs = Knobs(**knobs)
        self.account.storage.birth = "first"
        self._events = 0
        self._resets = 0
        self._cursors: dict[str, Cursor] = {}

    def event(self) -> int:
        """The number of what happens now."""
        self._events += 1
        return self._events

    def notes(self) -> dict[str, File]:
        """Each note by its lowered path."""
        return {
            path: entry
            for path, entry in self.account.tree.walk()
            if isinstance(entry, File) and path.endswith(".md") and path.count("/") > 1
        }

    def read(self, file: File) -> bytes:
        return self.account.storage.read(file.content_hash)

    # What another app does. Whatever it meets, it does not fail.

    def edit(self, how: str, location: str, text: str, other: str) -> None:
        key, account = paths.lower(location), self.account
        match how, account.get(location):
            case "write", _ if not account.tree.file_above(key) and not self._is_folder(location):
                self.put(location, text.encode(), by=None)
            case "delete", File() | Folder():
                self._remove(location)
            case "rename", File() | Folder() as entry if account.get(other) is None:
                if not account.tree.file_above(paths.lower(other)):
                    self._move(entry, other)
            case "recase", File() as entry:
                self._move(entry, location[:-4] + location[-4:].swapcase())
            case _:
                pass

    def block(self, location: str, text: str) -> None:
        """Replace a folder by a file of the same name."""
        if self._is_folder(location):
            self._remove(location)
        self.put(location, text.encode(), by=None)

    def unblock(self, location: str) -> None:
        if isinstance(self.account.get(location), File):
            self._remove(location)

    def forget_cursors(self) -> None:
        self._resets += 1
        self.account.storage.birth = f"after reset {self._resets}"

    def put(self, location: str, data: bytes, *, by: int | None) -> File:
        before = self.account.get(location)
        held = (before.rev, self.read(before)) if isinstance(before, File) else None
        shown = before.path_display if isinstance(before, File) else paths.stored(location)
        file = self.account.write(shown, data)
        self._note(file, location, data, held, by)
        return file

    def _is_folder(self, location: str) -> bool:
        return isinstance(self.account.get(location), Folder)

    def _remove(self, location: str) -> None:
        self.account.delete(location)
        self.gone.append((paths.lower(location), self.event()))

    def _move(self, entry: Entry, to: str) -> None:
        source = entry.path_display
        known = len(self.account.tree.journal)
        self.account.move(source, to)
        self.gone.append((paths.lower(source), self.event()))
        for change in self.account.tree.journal[known:]:
            if isinstance(change.entry, File):
                data = self.read(change.entry)
                self._note(change.entry, change.path_lower, data, None, None)

    def _note(
        self,
        file: File,
        location: str,
        data: bytes,
        before: tuple[str, bytes] | None,
        by: int | None,
    ) -> None:
        at, seconds = self.event(), self.schedule.passed
        self.versions.append(
            Version(paths.lower(location), file.rev, data, before, by, at, seconds)
        )

    # What the API answers.

    def upload(
        self, data: bytes, location: str, rev: str | None, *, strict: bool, by: int
    ) -> FileMetadata:
        if self.account.tree.file_above(paths.lower(location)):
            raise Declined("path", "conflict", "file_ancestor")
        intent = Intent(content_hash(data), strict=strict, rev=rev)
        match decide(self.account.get(location), intent, self.account.knobs):
            case Existing(file):
                return self.show(file)
            case Conflict(tag):
                raise Declined("path", "conflict", tag)
            case _:
                return self.show(self.put(location, data, by=by))

    def look(self, location: str) -> Any:
        entry = self.account.get(location)
        if entry is None:
            raise Declined("path", "not_found")
        return self.show(entry)

    def download(self, location: str) -> tuple[FileMetadata, bytes]:
        entry = self.account.get(location)
        if entry is None:
            raise Declined("path", "not_found")
        if not isinstance(entry, File):
            raise Declined("path", "not_file")
        return self.show(entry), self.read(entry)

    def download_zip(self, location: str) -> bytes:
        entry = self.account.get(location)
        if not isinstance(entry, Folder):
            raise Declined("path", "not_folder" if entry else "not_found")
        archive = BytesIO()
        with ZipFile(archive, "w") as zipped:
            for path, below in self.account.tree.walk(paths.lower(location)):
                if isinstance(below, File):
                    zipped.writestr(path, self.read(below))
        return archive.getvalue()

    def revisions(self, location: str, limit: int, before: str | None) -> Any:
        tree, key = self._seen(self.account.knobs.revisions_lag), paths.lower(location)
        entry, gone = tree.get(key), tree.tombstones.get(key)
        if isinstance(entry, Folder) or (entry is None and gone is not None and gone.was_folder):
            raise Declined("path", "not_file")
        if not tree.revisions.get(key):
            raise Declined("path", "not_found")
        past = tree.revisions[key][::-1]
        if before is not None:
            past = past[[file.rev for file in past].index(before) + 1 :]
        page = [self.show(file) for file in past[:limit]]
        return SimpleNamespace(entries=page, is_deleted=entry is None, has_more=len(past) > limit)

    def first_page(self, location: str) -> Any:
        root = paths.lower(location)
        entry = self.account.tree.get(root)
        if root and entry is None:
            raise Declined("path", "not_found")
        if isinstance(entry, File):
            raise Declined("path", "not_folder")
        cursor = self.account.first_cursor(root, recursive=True, include_deleted=False, limit=None)
        return self._page(beginning(cursor))

    def next_page(self, cursor: str) -> Any:
        at = self._cursors[cursor]
        if self.account.is_outdated(at):
            raise Declined("reset")
        if at.root and self.account.tree.get(at.root) is None:
            raise Declined("path", "not_found")
        return self._page(at)

    def show(self, entry: Entry | Tombstone) -> Any:
        """The metadata of an entry, in the SDK's own types."""
        return _metadata(entry)

    def _page(self, cursor: Cursor) -> Any:
        knobs = self.account.knobs
        tree = self._seen(knobs.listing_lag)
        page = next_page(tree, cursor, knobs, horizon=len(tree.journal))
        name = f"cursor {len(self._cursors)}"
        self._cursors[name] = page.cursor
        entries = [self.show(entry) for entry in page.entries]
        return SimpleNamespace(entries=entries, cursor=name, has_more=page.has_more)

    def _seen(self, lag: float) -> Tree:
        """The folder as those see it who are late by so many seconds."""
        now = self.account.tree
        seen = self.account.seen_until(lag)
        return now if seen == len(now.journal) else Tree(now.namespace, now.journal[:seen])


@lru_cache(10_000)  # the SDK checks every field of what it makes
def _metadata(entry: Entry | Tombstone) -> Any:
    name, lowered = paths.name_of(entry.path_display), paths.lower(entry.path_display)
    match entry:
        case File():
            return FileMetadata(
                name=name,
                path_lower=lowered,
                path_display=entry.path_display,
                id=entry.id,
                rev=entry.rev,
                size=entry.size,
                content_hash=entry.content_hash,
                client_modified=entry.client_modified.replace(tzinfo=None),
                server_modified=entry.server_modified.replace(tzinfo=None),
                is_downloadable=True,
            )
        case Folder():
            return FolderMetadata(
                name=name, path_lower=lowered, path_display=entry.path_display, id=entry.id
            )
        case Tombstone():
            return DeletedMetadata(name=name, path_lower=lowered, path_display=entry.path_display)


class Line:
    """What may go wrong between a caller and what it reaches out to."""

    def trouble(self) -> Trouble | None:
        """Wait for a turn; then, what happens at this step, if anything does. May be a crash."""
        raise NotImplementedError

    @property
    def call(self) -> int:
        """The number of the call that is under way."""
        raise NotImplementedError


class _Body(BytesIO):
    """The body of a download, as urllib3 has it."""

    def read1(self, size: int | None = -1, /, *, decode_content: bool = False) -> bytes:
        return self.read(size)


class SimulatedApi:
    """Those methods of the SDK that the product calls, for one call."""

    def __init__(self, dropbox: SimulatedDropbox, line: Line, timeout: float) -> None:
        self._dropbox, self._line, self._timeout = dropbox, line, timeout
        self._answered_at: datetime | None = None

    @property
    def answered_at(self) -> datetime | None:
        return self._answered_at and self._answered_at.replace(microsecond=0)

    def files_upload(
        self,
        data: bytes,
        path: str,
        *,
        mode: Any,
        autorename: bool,
        mute: bool,
        strict_conflict: bool,
    ) -> Any:
        rev = mode.get_update() if mode.is_update() else None
        by = self._line.call
        try:
            return self._through(
                lambda: self._dropbox.upload(data, path, rev, strict=strict_conflict, by=by),
                is_write=True,
            )
        except (Declined, NotNow, TokenRefused):
            raise
        except BaseException:
            self._dropbox.unanswered.add(by)
            raise

    def files_get_metadata(self, path: str) -> Any:
        return self._through(lambda: self._dropbox.look(path))

    def files_download(self, path: str) -> Any:
        metadata, data = self._through(lambda: self._dropbox.download(path))
        return metadata, SimpleNamespace(raw=_Body(data), close=lambda: None)

    def files_download_zip(self, path: str) -> Any:
        data = self._through(lambda: self._dropbox.download_zip(path))
        return None, SimpleNamespace(raw=_Body(data), close=lambda: None)

    def files_list_revisions(self, path: str, *, mode: Any, limit: int, before_rev: Any) -> Any:
        return self._through(lambda: self._dropbox.revisions(path, limit, before_rev))

    def files_list_folder(self, path: str, *, recursive: bool, limit: int) -> Any:
        return self._through(lambda: self._dropbox.first_page(path))

    def files_list_folder_continue(self, cursor: str) -> Any:
        return self._through(lambda: self._dropbox.next_page(cursor))

    def _through(self, effect: Callable[[], Any], *, is_write: bool = False) -> Any:
        if trouble := self._line.trouble():
            self._meet(trouble, effect if is_write else None)
        answer = effect()
        self._answered_at = self._dropbox.account.clock.now()
        if trouble := self._line.trouble():
            self._meet(trouble, None)
        return answer

    def _meet(self, trouble: Trouble, effect: Callable[[], Any] | None) -> None:
        match trouble:
            case Trouble.BUSY if self._answered_at is None:
                raise NotNow(1)
            case Trouble.STALE_TOKEN if self._answered_at is None:
                raise TokenRefused
            case Trouble.DELAY:
                self._dropbox.schedule.sleep(min(2.0, self._timeout))
                return
            case Trouble.HANG:
                self._dropbox.schedule.sleep(self._timeout)
                raise requests.ReadTimeout
            case Trouble.LATE if effect is not None:
                self._dropbox.schedule.add(lambda: _arrive(effect), after=LATEST)
                self._dropbox.schedule.sleep(self._timeout)
                raise requests.ReadTimeout
            case Trouble.BROKEN:
                raise Unanswered
        raise requests.ConnectionError


def _arrive(effect: Callable[[], Any]) -> None:
    try:
        effect()
    except Declined:
        return


@dataclass(frozen=True)
class SimulatedClient(Client):
    """The real client with its real loop, on a simulated line."""

    dropbox: SimulatedDropbox
    line: Line

    def _api(self, token: str, share: float) -> Api:
        api: Any = SimulatedApi(self.dropbox, self.line, min(READ_TIMEOUT, self._left(share)))
        return api  # type: ignore[no-any-return]
