"""Which calls came in, for tests and for whoever watches."""

import threading
from collections import Counter, deque
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatch
from typing import Any

_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `status` is None where no answer was sent."""

    at: datetime
    host: str
    route: str
    account: str | None
    argument: Any
    status: int | None
    fault: str | None

    def __str__(self) -> str:
        outcome = self.status if self.status is not None else "no answer"
        fault = f" [{self.fault}]" if self.fault else ""
        return f"{self.at:%H:%M:%S.%f} {self.host} {self.route} {self.argument} {outcome}{fault}"


class RequestLog:
    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()

    def add(self, call: Call) -> None:
        with self._lock:
            self._calls.append(call)

    def calls(self, route: str = "*", account: str | None = None) -> list[Call]:
        """The calls whose route matches a pattern, oldest first."""
        with self._lock:
            return [
                call
                for call in self._calls
                if fnmatch(call.route, route) and account in {None, call.account}
            ]

    def count(self, route: str = "*", account: str | None = None) -> int:
        return len(self.calls(route, account))

    def counts(self, account: str | None = None) -> dict[str, int]:
        """How often each route was called."""
        return dict(Counter(call.route for call in self.calls(account=account)))

    def clear(self) -> None:
        with self._lock:
            self._calls.clear()
