"""The time of the emulated service, which a test moves by hand."""

import threading
from datetime import UTC, datetime, timedelta


class EmulatedClock:
    """Runs with the machine's clock, or stands still at `start`; `advance` moves it."""

    def __init__(self, start: datetime | None = None) -> None:
        self._stands_at = start
        self._ahead = timedelta()
        self._lock = threading.Lock()

    def now(self) -> datetime:
        with self._lock:
            return (self._stands_at or datetime.now(UTC)) + self._ahead

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._ahead += timedelta(seconds=seconds)
