"""One HTTP request and what becomes of it, without any socket."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from local.dropbox.accounts import Account
from local.dropbox.wire import Response

_BROWSER_HOST = "www.dropbox.com"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    target: str
    headers: Mapping[str, str]
    """Looked up without regard to case."""
    body: Callable[[], bytes]
    """Reads the body from the connection, once."""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def host(self) -> str:
        """The Dropbox host that is meant; a browser that comes by itself means the web site."""
        host = self.headers.get("X-Emulated-Host") or self.headers.get("Host", "")
        return _BROWSER_HOST if host.startswith(_LOOPBACK) else host


@dataclass(slots=True)
class Visit:
    """A request and what is learned about it on the way, for the log."""

    request: Request
    account: Account | None
    argument: Any = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the connection does: send `response` (or nothing), then go on or close."""

    response: Response | None
    is_cut: bool = False
    """Close in the middle of the body."""
    goes_stale: bool = False
    """Let the connection be found dead by the next request on it."""
