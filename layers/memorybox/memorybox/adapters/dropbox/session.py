"""How bytes travel to Dropbox: one pool of connections for a whole process."""

from http.cookiejar import DefaultCookiePolicy
from io import BytesIO
from math import inf
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from memorybox.adapters import sockets
from memorybox.clock import SystemClock
from memorybox.deadline import lasting, within

CONNECTIONS = 16
"""How many calls at once keep their connections; more are made as needed, and closed."""

_CHUNK = 64 * 1024


class LoopbackSession(requests.Session):
    """Sends every request to an emulator, with the host that it was meant for in a header.

    The SDK knows https and its own hosts only; here the address changes on the way out.
    """

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.trust_env = False  # no proxy of the environment stands before an emulator
        self._base_url = base_url

    def request(  # type: ignore[override]  # the SDK passes everything else by keyword
        self, method: str, url: str, **options: Any
    ) -> requests.Response:
        meant = urlsplit(url)
        query = f"?{meant.query}" if meant.query else ""
        options["headers"] = {**(options.get("headers") or {}), "X-Emulated-Host": meant.netloc}
        return super().request(method, self._base_url + meant.path + query, **options)


def new_session(base_url: str | None = None) -> requests.Session:
    """A session to Dropbox, or to an emulator at `base_url`. It may serve any number of threads."""
    session = LoopbackSession(base_url) if base_url else requests.Session()
    adapter = _WholeAnswers(pool_connections=4, pool_maxsize=CONNECTIONS)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # It serves many accounts: no cookie of one may go along with the call of another.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return session


class TooLong(Exception):
    """The answer has more bytes than are worth reading."""


def read_body(response: requests.Response, seconds: float, at_most: float = inf) -> bytes:
    """The whole body, read in `seconds`.

    Raises TooLong, or an error of urllib3 for a body that breaks off or is not there in time.
    """
    body = bytearray()
    with lasting(within(seconds, SystemClock())):
        while chunk := response.raw.read1(_CHUNK, decode_content=True):
            body += chunk
            if len(body) > at_most:
                response.close()
                raise TooLong
    return bytes(body)


class _WholeAnswers(HTTPAdapter):
    """Holds the read timeout for a whole exchange; if the answer is streamed, up to its body."""

    def init_poolmanager(self, *options: Any, **named: Any) -> None:
        super().init_poolmanager(*options, **named)
        sockets.bind(self.poolmanager)

    def send(
        self, request: requests.PreparedRequest, *options: Any, **named: Any
    ) -> requests.Response:
        seconds = named["timeout"][1]
        with lasting(within(seconds, SystemClock())):
            response = super().send(request, *options, **named)
            if not named["stream"]:
                response.raw = BytesIO(read_body(response, seconds))
        return response
