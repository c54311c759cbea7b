"""Runs callers in turns, in virtual time; a seed says whose turn it is, so all can be replayed."""

from collections.abc import Callable
from datetime import datetime, timedelta
from math import inf
from random import Random

from greenlet import getcurrent, greenlet

TURN = 0.01
"""Seconds that pass with every turn."""


class Schedule:
    """Callers are synchronous code that stops at each `step` and lets another one go on.

    Code that runs outside of any caller has the world for itself: its steps go on at once.
    """

    def __init__(self, seed: int) -> None:
        self.passed = 0.0
        """Seconds since the beginning."""

        self.current: _Caller | None = None
        """Whose turn it is."""

        self._choose = Random(seed).random
        self._hub = getcurrent()
        self._callers: list[_Caller] = []
        self._ready: list[_Caller] = []
        self._changes_at = 0.0
        """When other callers are ready than those that are now."""

    def add(self, call: Callable[[], object], *, after: float = 0.0) -> None:
        """Let a caller begin, in so many seconds at the earliest."""
        self._callers.append(_Caller(call, self._hub, self.passed + after))
        self._changes_at = self.passed

    def step(self) -> None:
        """Wait for the next turn. It is given straight to the next caller, often the same again."""
        if (caller := self.current) is None:
            self.passed += TURN
            return
        self.current = chosen = self._next()
        if chosen is not caller:
            chosen.switch()

    def sleep(self, seconds: float) -> None:
        if self.current is None:
            self.passed += seconds
        else:
            self.current.wakes = self.passed + seconds
            self._changes_at = self.passed
            self.step()

    def run(self) -> None:
        """Until all callers have ended. What one of them raises comes out here."""
        while self._callers:
            self.current = self._next()
            self.current.switch()
            self._callers.remove(self.current)  # comes back here only to end
            self._changes_at = self.passed
        self.current = None

    def _next(self) -> "_Caller":
        if self._changes_at <= self.passed:
            self._see_who_is_ready()
        self.passed += TURN
        return self._ready[int(self._choose() * len(self._ready))]

    def _see_who_is_ready(self) -> None:
        """If nobody is, let time pass until somebody is."""
        wakings = [caller.wakes for caller in self._callers]
        self.passed = passed = max(self.passed, min(wakings))
        self._ready = [caller for caller in self._callers if caller.wakes <= passed]
        self._changes_at = min((wakes for wakes in wakings if wakes > passed), default=inf)


class _Caller(greenlet):
    def __init__(self, call: Callable[[], object], hub: greenlet, wakes: float) -> None:
        super().__init__(call, hub)
        self.wakes = wakes


class VirtualClock:
    """The clock of the machine on which the code of the moment runs: `ahead` says how wrong it is.

    Spans are measured rightly everywhere. Without `ahead` it is right.
    """

    def __init__(
        self, schedule: Schedule, start: datetime, ahead: Callable[[], float] | None = None
    ) -> None:
        self._schedule, self._start, self._ahead = schedule, start, ahead

    def now(self) -> datetime:
        ahead = self._ahead() if self._ahead else 0.0
        return self._start + timedelta(0, self._schedule.passed + ahead)

    def monotonic(self) -> float:
        return self._schedule.passed

    def sleep(self, seconds: float) -> None:
        self._schedule.sleep(seconds)
