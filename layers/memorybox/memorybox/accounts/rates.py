"""How often something may happen: token buckets.

A bucket that all processes share costs a write for each call, and a read of a note may not cost
that. So half of what an account may call is counted in each process, at no cost, and only a call
beyond it asks for the other half, which all processes share. A client that makes one call after the
other meets one process, and gets exactly its rate. N processes at once let through (N + 1) / 2
times as much, and what that costs is capped by the budget.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from threading import Lock
from typing import Protocol

from memorybox.clock import Clock
from memorybox.errors import Unavailable

NO_WAIT = timedelta(0)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)

_MANY_BUCKETS = 10_000


class LimitReached(Unavailable):
    """Something happens too often. `seconds` is how long to wait, and the text says it too."""

    def __init__(self, what: str, wait: timedelta) -> None:
        self.seconds = max(1, ceil(wait.total_seconds()))
        super().__init__(f"{what} Try again in {_spoken(self.seconds)}.")


@dataclass(frozen=True, slots=True)
class Rate:
    """`most` in a `span`: that many may come at once, and the bucket fills evenly again."""

    most: int
    span: timedelta

    @property
    def interval(self) -> timedelta:
        """How long one token takes to come back."""
        return self.span / self.most

    def halved(self) -> "Rate":
        return Rate(max(1, self.most // 2), self.span)


class Buckets(Protocol):
    """Token buckets by name. One that nobody took from is full."""

    def take(self, name: str, rate: Rate) -> timedelta:
        """Take a token and return zero; or take none, and return how long until there is one.

        One step: however many take at once, no more get a token than there are.
        """


class LocalBuckets:
    """The buckets of one process, in memory. Each is the moment at which it is full again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._full_at: dict[str, datetime] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        """How many buckets are remembered."""
        return len(self._full_at)

    def take(self, name: str, rate: Rate) -> timedelta:
        with self._lock:
            now = self._clock.now()
            full_at = max(self._full_at.get(name, now), now) + rate.interval
            if full_at > now + rate.span:
                return full_at - now - rate.span
            self._full_at[name] = full_at
            if len(self._full_at) > _MANY_BUCKETS:
                self._full_at = {name: at for name, at in self._full_at.items() if at > now}
            return NO_WAIT


@dataclass(frozen=True, slots=True)
class Gate:
    """One bucket for all of a deployment, and what to say when it is empty."""

    buckets: Buckets
    name: str
    rate: Rate
    refusal: str

    def enter(self) -> None:
        """Take a token. Raises LimitReached."""
        if wait := self.buckets.take(self.name, self.rate):
            raise LimitReached(self.refusal, wait)


@dataclass(frozen=True, slots=True)
class Allowance:
    """How often one account may call, each name at its rate."""

    account: str
    rates: Mapping[str, Rate]
    own: Buckets = field(repr=False)
    """Of this process, for all accounts."""

    shared: Buckets = field(repr=False)
    """Of this account, for all processes. While they cannot be reached, they stop nobody."""

    def use(self, name: str) -> None:
        """Count a call. Raises LimitReached."""
        rate = self.rates[name].halved()
        own_wait = self.own.take(f"{self.account} {name}", rate)
        if not own_wait:
            return
        try:
            wait = self.shared.take(name, rate)
        except Unavailable:
            return
        if wait:
            raise LimitReached("Too many calls.", min(wait, own_wait))


def _spoken(seconds: int) -> str:
    if seconds < 120:  # noqa: PLR2004 - two minutes
        return f"{seconds} seconds"
    if seconds < 7_200:  # noqa: PLR2004 - two hours
        return f"{ceil(seconds / 60)} minutes"
    return f"{ceil(seconds / 3_600)} hours"
