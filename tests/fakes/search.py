"""What search needs from outside, in memory.

`step` is called before and after each effect: others may run there, or a fault be raised.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from struct import pack
from threading import RLock
from typing import TypeVar
from zlib import crc32

from memorybox.clock import Clock, SystemClock
from memorybox.deadline import Deadline
from memorybox.files.model import Cursor
from memorybox.search.budget import (
    BudgetSpent,
    DeploymentBudgetSpent,
    Month,
    Reservation,
    Spending,
    month_of,
)
from memorybox.search.embedder import MOST_BYTES, EmbedderSilent, Embeddings, TextRefused
from memorybox.search.model import Claim, PackPointer, PackRef, Seen, Settled, TailEntry
from memorybox.search.pack import Pack
from memorybox.search.queue import MOST_PATHS
from memorybox.search.sections import Held, PackDamaged
from memorybox.search.store import (
    CursorMoved,
    IndexLost,
    IndexState,
    Sighting,
    StoredCursor,
)

R = TypeVar("R")

GRACE = timedelta(seconds=5)
RECORDED_TOGETHER = 3  # small, so that tests meet a record of several steps
NEVER = StoredCursor(cursor=None, version=0)


def _no_step() -> None:
    """Nothing waits for a turn."""


class _Effect:
    """One at a time, with a step before it and, if it did not fail, a step behind it."""

    def __init__(self, step: Callable[[], None]) -> None:
        self._step = step
        self._lock = RLock()

    def __enter__(self) -> None:
        self._step()
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._lock.release()
        if kind is None:
            self._step()


class _Stepping:
    def __init__(self, step: Callable[[], None] = _no_step) -> None:
        self._effect = _Effect(step)


class InMemoryBudgetLedger(_Stepping):
    """A BudgetLedger whose deployment has this one account."""

    def __init__(
        self,
        clock: Clock,
        *,
        cap: int,
        deployment_cap: int | None = None,
        step: Callable[[], None] = _no_step,
    ) -> None:
        super().__init__(step)
        self.spent: dict[Month, int] = {}
        self.cap = cap
        self.deployment_cap = deployment_cap
        self._clock = clock

    def reserve(self, tokens: int) -> Reservation:
        with self._effect:
            month = month_of(self._clock.now())
            total = self.spent.get(month, 0) + tokens
            if total > self.cap:
                raise BudgetSpent(month)
            if self.deployment_cap is not None and total > self.deployment_cap:
                raise DeploymentBudgetSpent(month)
            self.spent[month] = total
            return Reservation(month, tokens)

    def settle(self, spending: Spending) -> None:
        with self._effect:
            self.settle_within(spending)

    def settle_within(self, spending: Spending) -> None:
        """Settle as a part of another step."""
        self.spent[spending.reservation.month] -= spending.unused


@dataclass
class _Item:
    """What is stored for a path; `seen` of False: never recorded, None: gone."""

    version: int
    seen: Seen | bool | None = False
    settled: Settled | None = None
    claim: Claim | None = None
    fence: int = 0


class InMemoryIndexStore(_Stepping):
    """An IndexStore. Any number of requests may share it."""

    def __init__(
        self, ledger: InMemoryBudgetLedger, clock: Clock, step: Callable[[], None] = _no_step
    ) -> None:
        super().__init__(step)
        self.loads = 0
        self._ledger = ledger
        self._clock = clock
        self._cursor = NEVER
        self._items: dict[str, _Item] = {}
        self._pointers: dict[str, PackPointer] = {}
        self._versions = 0

    def load(self) -> IndexState:
        with self._effect:
            self.loads += 1
            unlisted = {path for path, item in self._items.items() if item.seen is False}
            tail = {path: self._entry(path) for path in sorted(self._items.keys() - unlisted)}
            return IndexState(self._cursor, tail, unlisted, dict(self._pointers))

    def record(
        self,
        sightings: Iterable[Sighting],
        *,
        seen_at: StoredCursor,
        then: Cursor | None = None,
        packs: Sequence[PackPointer] = (),
    ) -> StoredCursor:
        latest = list({sighting.path_lower: sighting for sighting in sightings}.values())
        while len(latest) > RECORDED_TOGETHER:
            chunk, latest = latest[:RECORDED_TOGETHER], latest[RECORDED_TOGETHER:]
            seen_at = self._note(chunk, seen_at, seen_at.cursor)
        return self._note(latest, seen_at, then or seen_at.cursor, packs)

    def claim(self, path_lower: str, *, owner: str, deadline: Deadline) -> TailEntry | None:
        with self._effect:
            now = self._clock.now()
            item = self._items.setdefault(path_lower, _Item(self._next_version()))
            if item.claim and item.claim.until > now and item.claim.owner != owner:
                return None
            item.fence += 1
            until = now + timedelta(seconds=deadline.remaining()) + GRACE
            item.claim = Claim(owner, item.fence, until)
            return self._entry(path_lower)

    def store(
        self, entry: TailEntry, settled: Settled, *, spending: Spending | None = None
    ) -> None:
        with self._effect:
            self._settle(spending)
            item = self._claimed(entry)
            if item is None:
                raise IndexLost
            item.settled, item.claim, item.version = settled, None, self._next_version()

    def unclaim(self, entry: TailEntry, *, spending: Spending | None = None) -> None:
        with self._effect:
            self._settle(spending)
            if item := self._claimed(entry):
                item.claim = None

    def point(self, pointer: PackPointer) -> bool:
        with self._effect:
            if not self._is_next(pointer):
                return False
            self._pointers[pointer.workspace] = pointer
            return True

    def forget(self, entries: Iterable[TailEntry]) -> None:
        for entry in entries:
            with self._effect:
                item = self._items.get(entry.path_lower)
                if item and item.version == entry.version and not self._is_held(item):
                    del self._items[entry.path_lower]

    def discard(self, pointer: PackPointer, *, seen_at: StoredCursor) -> StoredCursor:
        with self._effect:
            if seen_at != self._cursor or self._pointers.get(pointer.workspace) != pointer:
                raise CursorMoved
            del self._pointers[pointer.workspace]
            self._cursor = StoredCursor(None, seen_at.version + 1)
            return self._cursor

    def result(self, path_lower: str) -> Settled | None:
        """What is stored for a path of the tail, also for one that was never recorded. No step."""
        item = self._items.get(path_lower)
        return item.settled if item else None

    def _is_next(self, pointer: PackPointer) -> bool:
        current = self._pointers.get(pointer.workspace)
        return pointer.generation == (current.generation if current else 0) + 1

    def _note(
        self,
        sightings: Sequence[Sighting],
        seen_at: StoredCursor,
        then: Cursor | None,
        packs: Sequence[PackPointer] = (),
    ) -> StoredCursor:
        with self._effect:
            if seen_at.version != self._cursor.version or not all(map(self._is_next, packs)):
                raise CursorMoved
            self._pointers |= {pointer.workspace: pointer for pointer in packs}
            for sighting in sightings:
                version = self._next_version()
                item = self._items.setdefault(sighting.path_lower, _Item(version))
                item.seen = sighting if isinstance(sighting, Seen) else None
                item.version = version
            self._cursor = StoredCursor(then, seen_at.version + 1)
            return self._cursor

    def _next_version(self) -> int:
        self._versions += 1
        return self._versions

    def _entry(self, path_lower: str) -> TailEntry:
        item = self._items[path_lower]
        seen = item.seen if isinstance(item.seen, Seen) else None
        return TailEntry(path_lower, item.version, seen, item.settled, item.claim)

    def _claimed(self, entry: TailEntry) -> _Item | None:
        item = self._items.get(entry.path_lower)
        return item if item and item.claim and item.claim == entry.claim else None

    def _is_held(self, item: _Item) -> bool:
        return item.claim is not None and item.claim.until > self._clock.now()

    def _settle(self, spending: Spending | None) -> None:
        if spending:
            self._ledger.settle_within(spending)


class InMemoryPackStore(_Stepping):
    """A PackStore. `objects` are its packs, by key, and `written` says when each came.

    Those of more bytes than `memory` are read by ranges.
    """

    def __init__(self, step: Callable[[], None] = _no_step, clock: Clock | None = None) -> None:
        super().__init__(step)
        self.objects: dict[str, bytes] = {}
        self.written: dict[str, datetime] = {}
        self.memory = 10**9
        self._clock = clock or SystemClock()
        self.opened: list[str] = []
        self._made = 0

    def open(self, refs: Sequence[PackRef]) -> list[Pack]:
        return [self._open(ref) for ref in refs]

    def _open(self, ref: PackRef) -> Pack:
        with self._effect:
            self.opened.append(ref.key)
            if ref.key not in self.objects:
                raise PackDamaged("it is gone", ref.key)
            data = self.objects[ref.key]
            if len(data) > self.memory:
                return Pack.over(Held(ref.key, memoryview(data)))
            return _opened(data, ref.key)

    def add(self, workspace: str, generation: int, data: bytes) -> str:
        with self._effect:
            self._made += 1
            key = f"{workspace}/{generation}-{self._made}"
            self.objects[key] = data
            self.written[key] = self._clock.now()
            return key

    def remove(self, key: str) -> None:
        with self._effect:
            self.objects.pop(key, None)

    def prune(self, named: Collection[str], *, before: datetime) -> None:
        with self._effect:
            for key in self.objects.keys() - named:
                if self.written[key] < before:
                    del self.objects[key]


@lru_cache(64)
def _opened(data: bytes, key: str) -> Pack:
    return Pack.open(data, key)


class HashedEmbedder(_Stepping):
    """An Embedder for which texts are alike as far as they share words. A word is a token.

    It can be told to be silent, to refuse texts, to give no vectors, and to be slow.
    """

    def __init__(
        self, clock: Clock, *, dims: int = 64, step: Callable[[], None] = _no_step
    ) -> None:
        super().__init__(step)
        self.is_silent = False
        self.refused: set[str] = set()
        self.is_spoiled = False
        self.seconds = 0.0
        self.requests: list[list[str]] = []
        self.started: list[float] = []
        self.tokens = 0
        self._clock = clock
        self._dims = dims

    @property
    def model(self) -> str:
        return "hashed words"

    @property
    def most_bytes(self) -> int:
        return MOST_BYTES

    @property
    def dims(self) -> int:
        return self._dims

    @property
    def inputs(self) -> list[str]:
        """Every text that was sent, in order."""
        return [text for request in self.requests for text in request]

    def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        self.started.append(self._clock.monotonic())
        with self._effect:
            self._clock.sleep(min(self.seconds, deadline.remaining()))
            if self.is_silent or deadline.has_passed:
                raise EmbedderSilent
            self.requests.append(list(texts))
            if self.is_spoiled or not self.refused.isdisjoint(texts):
                raise TextRefused(tokens=0)
            tokens = sum(max(1, len(text.split())) for text in texts)
            self.tokens += tokens
            return Embeddings(tuple(_vector(text, self._dims) for text in texts), tokens)


@lru_cache(4096)
def _vector(text: str, dims: int) -> bytes:
    counts = [0.0] * dims
    for word in text.lower().split() or [text]:
        counts[crc32(word.encode()) % dims] += 1
    most = max(counts)
    return pack(f"{dims}b", *(round(127 * count / most) for count in counts))


@dataclass
class InMemoryChangeQueue:
    """A ChangeQueue that keeps what was sent: paths of one message each, None for `go_on`."""

    messages: list[tuple[str, ...] | None] = field(default_factory=list)

    def changed(self, paths: Sequence[str]) -> None:
        for start in range(0, len(paths), MOST_PATHS):
            self.messages.append(tuple(paths[start : start + MOST_PATHS]))

    def go_on(self) -> None:
        self.messages.append(None)


class OneAfterAnother:
    """Parallel work that is done when it is begun."""

    def start(self, work: Callable[[], R]) -> Callable[[], R]:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - raised where the result is waited for
            raised = error
            return lambda: _raise(raised)
        return lambda: result


def _raise(error: Exception) -> R:  # type: ignore[type-var]
    raise error
