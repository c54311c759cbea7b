"""When this call must have answered."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from memorybox.clock import Clock

CALL_SECONDS: Final = 24.5
"""How long the work of a request may take, so that its answer is there after 25 s.

API Gateway gives up after 30 s.
"""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock, handed down to everything that waits."""

    at: float
    clock: Clock

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> "Deadline":
        return cls(clock.monotonic() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - self.clock.monotonic())

    @property
    def has_passed(self) -> bool:
        return self.at <= self.clock.monotonic()

    def earlier(self, seconds: float) -> "Deadline":
        """The same moment moved `seconds` towards now."""
        return Deadline(self.at - seconds, self.clock)

    def capped(self, seconds: float) -> "Deadline":
        """This deadline, or `seconds` from now if that comes first."""
        return Deadline(min(self.at, self.clock.monotonic() + seconds), self.clock)


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def lasting(deadline: Deadline) -> Iterator[None]:
    """Let this be the deadline of what is done in here."""
    reset = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(reset)


def current() -> Deadline | None:
    """The deadline of what is being done. None if nobody waits for it."""
    return _current.get()


def within(seconds: float, clock: Clock) -> Deadline:
    """`seconds` from now, or the deadline of what is being done if that comes first."""
    deadline = current()
    return deadline.capped(seconds) if deadline else Deadline.after(seconds, clock)
