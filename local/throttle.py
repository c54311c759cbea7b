"""The throttling of an HTTP API: a bucket of tokens for each route, as the template sets them.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-throttling.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Limit:
    """So many requests a second, and a `burst` at once."""

    rate: float
    burst: int


TEMPLATE: Final[Mapping[str, Limit]] = MappingProxyType(
    {
        "$default": Limit(50, 100),
        "ANY /mcp": Limit(50, 100),
        "GET /authorize": Limit(10, 20),
        "POST /register": Limit(5, 20),
        "POST /token": Limit(20, 40),
        "POST /dropbox/webhook": Limit(20, 40),
    }
)


@dataclass(slots=True)
class Throttle:
    """Buckets by route: `METHOD /path`, `ANY /path` or `$default`. All are full at first.

    Without limits it admits everything. Not for several threads.
    """

    limits: Mapping[str, Limit]
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Tokens left, and when."""

    def admits(self, method: str, path: str, now: float) -> bool:
        """Take a token of the route for a request; False if it has none. `now` is in seconds."""
        keys = (f"{method} {path}", f"ANY {path}", "$default")
        key = next((key for key in keys if key in self.limits), None)
        if key is None:
            return True
        limit = self.limits[key]
        left, then = self._buckets.get(key, (float(limit.burst), now))
        left = min(limit.burst, left + (now - then) * limit.rate)
        self._buckets[key] = (left - 1 if left >= 1 else left, now)
        return left >= 1
