"""Client ID metadata documents over HTTPS, from hosts that a stranger chose."""

import io
import re
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPException, HTTPResponse
from typing import Protocol
from urllib.parse import urlsplit

from memorybox.adapters import sockets
from memorybox.adapters.http.guard import is_public
from memorybox.clock import Clock
from memorybox.deadline import Deadline, lasting, within
from memorybox.oauth.documents import MAX_BYTES, DocumentUnavailable, FetchedDocument

SECONDS = 5.0
_PORT = 443
_MAX_HEAD_BYTES = 32_768
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=\"?([0-9]{1,9})")
_JSON = re.compile(r"application/(?:[a-z0-9.+-]*\+)?json", re.IGNORECASE)


class Connection(Protocol):
    """The part of a socket that is needed here."""

    def settimeout(self, value: float | None, /) -> None: ...
    def sendall(self, data: bytes, /) -> None: ...
    def recv(self, size: int, /) -> bytes: ...
    def close(self) -> None: ...


def resolve(host: str) -> Sequence[str]:
    """Every address of `host`."""
    return [str(address[0]) for *_, address in sockets.resolve(host, _PORT)]


def connect(address: str, host: str, seconds: float) -> Connection:
    """TLS to `address`, with a certificate for `host`. No proxy: nothing reads the environment."""
    plain = sockets.connect(address, _PORT, seconds)
    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


@dataclass(frozen=True, slots=True)
class HttpClientDocuments:
    """Resolves a host once, looks at every address, and connects to the one it has looked at."""

    clock: Clock
    resolve: Callable[[str], Sequence[str]] = resolve
    connect: Callable[[str, str, float], Connection] = connect

    def fetch(self, url: str) -> FetchedDocument:
        deadline = within(SECONDS, self.clock)
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        try:
            with lasting(deadline):
                raw = self._exchange(parts.netloc, target, deadline)
            return _document(raw)
        except (OSError, HTTPException, ValueError) as error:
            raise DocumentUnavailable(type(error).__name__) from error

    def _exchange(self, host: str, target: str, deadline: Deadline) -> bytes:
        addresses = self.resolve(host)
        if not addresses or not all(map(is_public, addresses)):
            raise DocumentUnavailable("the host has an address that is not public")
        connection = self.connect(addresses[0], host, _left(deadline))
        try:
            connection.settimeout(_left(deadline))
            connection.sendall(
                f"GET {target} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\n"
                "Accept-Encoding: identity\r\nUser-Agent: memorybox\r\nConnection: close\r\n\r\n"
                "".encode("ascii")
            )
            return _received(connection, deadline)
        finally:
            connection.close()


def _left(deadline: Deadline) -> float:
    if deadline.has_passed:
        raise DocumentUnavailable("too slow")
    return deadline.remaining()


def _received(connection: Connection, deadline: Deadline) -> bytes:
    """All that is sent until the other side closes: little, and in little time."""
    received = bytearray()
    while True:
        connection.settimeout(_left(deadline))
        chunk = connection.recv(16_384)
        if not chunk:
            return bytes(received)
        received += chunk
        if len(received) > _MAX_HEAD_BYTES + MAX_BYTES:
            raise DocumentUnavailable("too large")


class _Recorded:
    """Bytes that were received, in the form that HTTPResponse reads from."""

    def __init__(self, received: bytes) -> None:
        self._received = received

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._received)


def _document(received: bytes) -> FetchedDocument:
    response = HTTPResponse(_Recorded(received))  # type: ignore[arg-type]
    response.begin()
    if response.status != 200:  # noqa: PLR2004 - a redirect is no answer either
        raise DocumentUnavailable(f"status {response.status}")
    if not _JSON.fullmatch(response.getheader("content-type", "").partition(";")[0].strip()):
        raise DocumentUnavailable("not JSON")
    if response.getheader("content-encoding", "identity").lower() != "identity":
        raise DocumentUnavailable("compressed")
    body = response.read(MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        raise DocumentUnavailable("too large")
    return FetchedDocument(body, _fresh_for(response.getheader("cache-control", "").lower()))


def _fresh_for(cache_control: str) -> timedelta:
    found = _MAX_AGE.search(cache_control)
    if found is None or "no-store" in cache_control or "no-cache" in cache_control:
        return timedelta(0)
    return timedelta(seconds=int(found[1]))
