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

        self._random = Random(seed)
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
            self._hub.switch()

    def sleep(self, seconds: float) -> None:
        if self.current is None:
            self.passed += seconds
        else:
            self.current.wakes = self.passed + seconds
            self._hub.switch()

    def run(self) -> None:
        """Until all callers have ended. What one of them raises comes out here."""
        callers, choose = self._callers, self._random.random
        while callers:
            ready = [caller for caller in callers if caller.wakes <= self.passed]
            if not ready:
                self.passed = min(caller.wakes for caller in callers)
                continue
            caller = ready[int(choose() * len(ready))]
            self.passed += TURN
            self.current = caller
            caller.switch()
            if caller.dead:
                callers.remove(caller)
        self.current = None


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
        return self._start + timedelta(seconds=self._schedule.passed + self._ahead())

    def monotonic(self) -> float:
        return self._schedule.passed

    def sleep(self, seconds: float) -> None:
        self._schedule.sleep(seconds)
