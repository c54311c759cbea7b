"""The leases of an account, in memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from memorybox.deadline import Deadline
from memorybox.files.leases import LAST_TURN, TurnNeverCame

_FIRST_PAUSE, _LONGEST_PAUSE = 0.025, 0.4


def _no_step() -> None:
    """Nothing waits for a turn."""


@dataclass
class LeaseBook:
    """What all requests of one account share: who holds which lease, and until when."""

    held: dict[str, tuple[object, datetime]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


class InMemoryLeases:
    """Leases and IndexLeases of one request."""

    def __init__(
        self, book: LeaseBook, deadline: Deadline, step: Callable[[], None] = _no_step
    ) -> None:
        self._book = book
        self._deadline = deadline
        self._step = step

    @contextmanager
    def writer(self) -> Iterator[None]:
        with self._hold("write", self._deadline.earlier(LAST_TURN)) as is_held:
            if not is_held:
                raise TurnNeverCame
            yield

    @contextmanager
    def indexer(self, deadline: Deadline) -> Iterator[bool]:
        with self._hold("index", deadline) as is_held:
            yield is_held

    @contextmanager
    def _hold(self, name: str, deadline: Deadline) -> Iterator[bool]:
        pause = _FIRST_PAUSE
        while not self._take(name):
            if deadline.has_passed:
                yield False
                return
            self._deadline.clock.sleep(min(pause, deadline.remaining()))
            pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            yield True
        finally:
            self._give_back(name)

    def _take(self, name: str) -> bool:
        self._step()
        now = self._deadline.clock.now()
        with self._book.lock:
            if name in self._book.held and self._book.held[name][1] > now:
                return False
            ends = now + timedelta(seconds=self._deadline.remaining())
            self._book.held[name] = self, ends
            return True

    def _give_back(self, name: str) -> None:
        self._step()
        with self._book.lock:
            if name in self._book.held and self._book.held[name][0] is self:
                del self._book.held[name]
