"""Where the time comes from."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Time as a port, so that tests and simulations move it by hand."""

    def now(self) -> datetime:
        """The wall clock as an aware UTC time."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for measuring spans."""

    def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
