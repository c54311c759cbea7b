"""Runs callers in turns, in virtual time; a seed says whose turn it is, so all can be replayed."""

from collections.abc import Callable
from datetime import datetime, timedelta
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

    def add(self, call: Callable[[], object], *, after: float = 0.0) -> None:
        """Let a caller begin, in so many seconds at the earliest."""
        self._callers.append(_Caller(call, self._hub, self.passed + after))

    def step(self) -> None:
        """Wait for the next turn."""
        if self.current is None:
            self.passed += TURN
        else:
            self._pass_on(self.current)

    def sleep(self, seconds: float) -> None:
        if self.current is None:
            self.passed += seconds
        else:
            self.current.wakes = self.passed + seconds
            self._pass_on(self.current)

    def run(self) -> None:
        """Until all callers have ended. What one of them raises comes out here."""
        while self._callers:
            self.current = self._chosen()
            self.current.switch()
            self._callers.remove(self.current)  # comes back here only to end
        self.current = None

    def _pass_on(self, caller: "_Caller") -> None:
        """Give the turn straight to the next caller; often that is the same one again."""
        self.current = chosen = self._chosen()
        if chosen is not caller:
            chosen.switch()

    def _chosen(self) -> "_Caller":
        passed = self.passed
        ready = [caller for caller in self._callers if caller.wakes <= passed]
        if not ready:
            passed = min(caller.wakes for caller in self._callers)
            ready = [caller for caller in self._callers if caller.wakes <= passed]
        self.passed = passed + TURN
        return ready[int(self._choose() * len(ready))]


class _Caller(greenlet):
    def __init__(self, call: Callable[[], object], hub: greenlet, wakes: float) -> None:
        super().__init__(call, hub)
        self.wakes = wakes


class VirtualClock:
    """The clock of the machine on which the code of the moment runs: `ahead` says how wrong it is.

    Spans are measured rightly everywhere.
    """

    def __init__(self, schedule: Schedule, start: datetime, ahead: Callable[[], float]) -> None:
        self._schedule, self._start, self._ahead = schedule, start, ahead

    def now(self) -> datetime:
        return self._start + timedelta(0, self._schedule.passed + self._ahead())

    def monotonic(self) -> float:
        return self._schedule.passed

    def sleep(self, seconds: float) -> None:
        self._schedule.sleep(seconds)
