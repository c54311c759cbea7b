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
        """When one of the others will be."""

    def add(self, call: Callable[[], object], *, after: float = 0.0) -> None:
        """Let a caller begin, in so many seconds at the earliest."""
        caller = _resting.pop() if _resting else _Caller()
        caller.parent, caller.call = self._hub, call
        caller.wakes = wakes = self.passed + after
        self._callers.append(caller)
        self._changes_at = min(self._changes_at, wakes)

    def step(self) -> None:
        """Wait for the next turn. It is given straight to the next caller, often the same again."""
        if (caller := self.current) is None:
            self.passed += TURN
            return
        self.current = chosen = self._next()
        if chosen is not caller:
            chosen.switch()

    def sleep(self, seconds: float) -> None:
        if (caller := self.current) is None:
            self.passed += seconds
            return
        caller.wakes = wakes = self.passed + seconds
        self._ready.remove(caller)
        self._changes_at = min(self._changes_at, wakes)
        self.step()

    def run(self) -> None:
        """Until all callers have ended. What one of them raises comes out here."""
        ended: list[_Caller] = []
        while self._callers:
            self.current = self._next()
            self.current.switch()
            ended.append(self.current)  # only who has ended comes back here
            self._callers.remove(self.current)
            self._ready.remove(self.current)
        self.current = None
        _resting.extend(ended)  # not before: within one history, a greenlet is one caller

    def _next(self) -> "_Caller":
        if self._changes_at <= self.passed or not self._ready:
            self._see_who_is_ready()
        self.passed += TURN
        return self._ready[int(self._choose() * len(self._ready))]

    def _see_who_is_ready(self) -> None:
        """If nobody is, let time pass until somebody is."""
        wakings = [caller.wakes for caller in self._callers]
        self.passed = passed = max(self.passed, min(wakings))
        self._ready = [caller for caller in self._callers if caller.wakes <= passed]
        self._changes_at = min([wakes for wakes in wakings if wakes > passed], default=inf)


class _Caller(greenlet):
    """Makes one call after another: a greenlet takes ten times as long to make as to switch to."""

    parent: greenlet
    call: Callable[[], object]
    wakes: float

    def run(self) -> None:
        while True:
            self.call()
            del self.call
            self.parent.switch()


_resting: list[_Caller] = []


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
