"""When this call must have answered."""

from dataclasses import dataclass

from memorybox.clock import Clock


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
        return self.remaining() == 0.0

    def earlier(self, seconds: float) -> "Deadline":
        """The same moment moved `seconds` towards now."""
        return Deadline(self.at - seconds, self.clock)

    def capped(self, seconds: float) -> "Deadline":
        """This deadline, or `seconds` from now if that comes first."""
        return Deadline(min(self.at, self.clock.monotonic() + seconds), self.clock)
