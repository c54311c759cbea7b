"""Time that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    """A Clock whose `sleep` takes no time and moves both clocks on."""

    def __init__(self, at: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC)) -> None:
        self._start = at
        self._passed = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    def sleep(self, seconds: float) -> None:
        self._passed += seconds
