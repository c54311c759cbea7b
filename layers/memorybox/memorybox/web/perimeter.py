"""Which hosts we answer to, and which origins may call from a browser.

A page of another site can make a browser resolve its own name to our address (DNS rebinding), or
post a form to us; it cannot choose the Host and Origin that the browser sends.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memorybox.settings import LOOPBACK_HOSTS

_HOST = re.compile(r"(?P<name>[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?")
_LOCAL_ORIGIN = re.compile(r"http://(?P<name>[a-z0-9.]+|\[::1\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Perimeter:
    """`hosts` are names without ports; `origins` are whole."""

    hosts: frozenset[str]
    origins: frozenset[str]

    def admits_host(self, values: Sequence[str]) -> bool:
        """Whether a request with these Host headers is for us."""
        found = _HOST.fullmatch(values[0].lower()) if len(values) == 1 else None
        return found is not None and found["name"] in self.hosts

    def admits_origin(self, origin: str | None) -> bool:
        """Whether a request with this Origin may be served; one without is not from a browser.

        While we ourselves are on loopback, so may every other program of this machine be.
        """
        if origin is None or origin in self.origins:
            return True
        found = _LOCAL_ORIGIN.fullmatch(origin)
        return found is not None and found["name"] in self.hosts & LOOPBACK_HOSTS
