"""One user's Dropbox as the app sees it: who they are, and their app folder."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from local.dropbox import paths
from local.dropbox.clock import EmulatedClock
from local.dropbox.encoding import base64url
from local.dropbox.entries import Entry, File, Json
from local.dropbox.knobs import Knobs
from local.dropbox.listing import Cursor, Page, beginning, next_page
from local.dropbox.storage import (
    MadeFolder,
    MemoryStorage,
    NotKept,
    OutsideEdit,
    Removed,
    Storage,
    Wrote,
)
from local.dropbox.tree import Change, Tree

_ACCOUNT_ID_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Profile:
    given_name: str = "Ann"
    surname: str = "Example"
    email: str = "ann@example.com"
    email_verified: bool = True
    plan: str = "basic"
    locale: str = "en"


@dataclass(slots=True)
class UploadSession:
    data: bytearray
    started: datetime
    closed: bool


@dataclass(slots=True)
class Desk:
    """What the API has under way for an account and no journal knows."""

    upload_sessions: dict[str, UploadSession] = field(default_factory=dict)
    jobs: dict[str, list[Json]] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    """Which writes and lists are being answered, for those that may not overlap."""


class Account:
    """Every method is safe for threads. Tests use `put`, `delete`, `move` as another app would."""

    def __init__(
        self,
        number: int,
        profile: Profile,
        clock: EmulatedClock,
        storage: Storage,
        on_change: Callable[["Account"], None],
    ) -> None:
        self.uid = 1_000_000 + number
        self.namespace = 0x33B284000 + 2 * number
        """The app folder's own, the second half of every rev."""
        self.home_namespace = self.namespace + 1
        seed = sha256(f"account {number}".encode()).digest()
        self.account_id = ("dbid:" + base64url(seed))[:_ACCOUNT_ID_LENGTH].ljust(40, "0")
        self.profile = profile
        self.clock = clock
        self.storage = storage
        self.knobs = Knobs()
        self.desk = Desk()
        self.lock = threading.RLock()
        self.tree = Tree(self.namespace, storage.journal())
        self._recorded = len(self.tree.journal)
        self._unkept: NotKept | None = None
        """Why the last look could not take over an edit, if so."""
        self._cursors = 0
        self._on_change = on_change

    def set(self, **knobs: Any) -> None:
        """Turn knobs of this account: `account.set(page_size=1)`."""
        self.knobs = replace(self.knobs, **knobs)

    def now(self) -> datetime:
        """The service's time as Dropbox tells it, in whole seconds."""
        return self.clock.now().replace(microsecond=0)

    @contextmanager
    def changing(self) -> Iterator[Tree]:
        """The tree, to be changed; its new changes are recorded and told at the end.

        After an error the tree is what is recorded. Raises NotKept.
        """
        with self.lock:
            try:
                yield self.tree
                changes = self._record()
            except BaseException:
                self._take_back()
                raise
        if changes:
            self._on_change(self)

    def _record(self) -> list[Change]:
        changes = self.tree.journal[self._recorded :]
        if changes:
            if self._unkept:  # else it would go over an edit that no revision holds
                raise NotKept(self._unkept.reason)
            self.storage.record(changes)
            self._recorded = len(self.tree.journal)
        return changes

    def _take_back(self) -> None:
        if len(self.tree.journal) > self._recorded:
            self.tree.replay(self.tree.journal[: self._recorded])

    def write(self, path_display: str, data: bytes, modified: datetime | None = None) -> File:
        """A new revision with these bytes, whatever is there."""
        with self.changing() as tree:
            now = self.now()
            return tree.write(
                path_display,
                size=len(data),
                content_hash=self.storage.keep(data),
                client_modified=modified or now,
                at=now,
            )

    def notice_outside_edits(self, path_lower: str | None = None) -> None:
        """Bring edits that were made past the API into the tree, as new revisions.

        One that the disk has no room for is brought in once it has. Until then readers see what
        was before, and nothing is changed.
        """
        with self.lock:
            self._unkept = None
            try:
                for edit in self.storage.outside_edits(path_lower):
                    with self.changing() as tree:
                        self._take_over(tree, edit)
            except NotKept as error:
                self._unkept = error

    def _take_over(self, tree: Tree, edit: OutsideEdit) -> None:
        match edit:
            case Wrote():
                self.write(edit.path_display, edit.data, edit.modified)
            case MadeFolder():
                tree.make_folder(edit.path_display, self.now())
            case Removed():
                tree.remove(edit.path_lower, self.now())

    def forget_everything(self) -> None:
        """An empty tree whose old cursors answer `reset`. For accounts in memory."""
        with self.lock:
            self.storage = MemoryStorage()
            self.tree = Tree(self.namespace)
            self._recorded = 0
            self.desk = Desk()
            self.knobs = Knobs()

    # As another app of the user would do it.

    def put(self, path: str, data: bytes | str) -> File:
        """Write a file, whatever is there, with a new rev."""
        return self.write(paths.stored(path), data.encode() if isinstance(data, str) else data)

    def make_folder(self, path: str) -> None:
        with self.changing() as tree:
            tree.make_folder(paths.stored(path), self.now())

    def delete(self, path: str) -> None:
        with self.changing() as tree:
            tree.remove(paths.lower(path), self.now())

    def move(self, path: str, to: str) -> None:
        with self.changing() as tree:
            tree.move(paths.lower(path), to, self.now())

    def get(self, path: str) -> Entry | None:
        with self.lock:
            return self.tree.get(paths.lower(path))

    def read(self, path: str) -> bytes:
        entry = self.get(path)
        if not isinstance(entry, File):
            raise FileNotFoundError(path)
        return self.storage.read(entry.content_hash)

    def files(self) -> dict[str, bytes]:
        """Every file's bytes by its path as shown."""
        with self.lock:
            files = [entry for _, entry in self.tree.walk() if isinstance(entry, File)]
        return {file.path_display: self.storage.read(file.content_hash) for file in files}

    # Listings.

    def first_cursor(
        self, root: str, *, recursive: bool, include_deleted: bool, limit: int | None
    ) -> Cursor:
        with self.lock:
            return Cursor(
                account=self.account_id,
                birth=self.storage.birth,
                root=root,
                recursive=recursive,
                include_deleted=include_deleted,
                limit=min(limit or self.knobs.page_size, self.knobs.page_size),
                position=self._horizon(),
                blanks=self.knobs.empty_pages,
            )

    def first_page(self, cursor: Cursor) -> Page:
        return self.page_after(beginning(cursor))

    def page_after(self, cursor: Cursor) -> Page:
        with self.lock:
            self._cursors += 1
            page = next_page(self.tree, cursor, self.knobs, horizon=self._horizon())
            return replace(page, cursor=replace(page.cursor, number=self._cursors))

    def owns(self, cursor: Cursor) -> bool:
        return cursor.account == self.account_id

    def is_outdated(self, cursor: Cursor) -> bool:
        return cursor.birth != self.storage.birth or cursor.position > len(self.tree.journal)

    def _horizon(self) -> int:
        """The first position of the journal that listings do not see yet."""
        return self.seen_until(self.knobs.listing_lag)

    def seen_until(self, lag: float) -> int:
        seen = len(self.tree.journal)
        if lag:
            latest = self.clock.now() - timedelta(seconds=lag)
            while seen and self.tree.journal[seen - 1].at > latest:
                seen -= 1
        return seen
