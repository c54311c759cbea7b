"""Connections on which nobody waits beyond the deadline of what is being done.

The timeouts of HTTP clients are for each packet and each address: an answer in many bits, or a host
with many addresses, takes as long as it likes. These sockets ask before every wait what is left.
"""

import ssl
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from socket import IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, getaddrinfo, socket
from threading import Thread
from typing import TYPE_CHECKING, Any

from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.util.ssl_ import create_urllib3_context

from memorybox.deadline import current

if TYPE_CHECKING:
    from urllib3 import PoolManager

Address = tuple[Any, ...]
"""As getaddrinfo has it: family, type, protocol, name, and what `connect` takes."""


class Socket(socket):
    """Waits no longer than its timeout, and not beyond the deadline."""

    _timeout: float | None = None

    def settimeout(self, value: float | None, /) -> None:
        self._timeout = value
        super().settimeout(value)

    def connect(self, address: Any, /) -> None:
        self._cut()
        super().connect(address)

    def recv_into(self, *args: Any) -> int:
        self._cut()
        return super().recv_into(*args)

    def send(self, *args: Any) -> int:
        self._cut()
        return super().send(*args)

    def sendall(self, *args: Any) -> None:
        self._cut()
        super().sendall(*args)

    def _cut(self) -> None:
        super().settimeout(left(self._timeout))


class TlsSocket(Socket, ssl.SSLSocket):
    """The same over TLS. Python holds a timeout for the whole of a handshake."""

    def do_handshake(self, *args: Any) -> None:
        self._cut()
        super().do_handshake(*args)


def left(seconds: float | None = None) -> float | None:
    """How long to wait at most: `seconds`, or less. Raises TimeoutError after the deadline."""
    deadline = current()
    if deadline is None:
        return seconds
    remaining = deadline.remaining()
    if not remaining:
        raise TimeoutError("the deadline has passed")
    return remaining if seconds is None else min(seconds, remaining)


def resolve(
    host: str, port: int, look_up: Callable[..., Sequence[Address]] = getaddrinfo
) -> Sequence[Address]:
    """All addresses of a host.

    The resolver of the system knows no deadline: it is left to itself where it takes longer.
    """
    seconds = left()
    found = Future[Sequence[Address]]()

    def ask() -> None:
        try:
            found.set_result(look_up(host, port, type=SOCK_STREAM))
        except (OSError, ValueError) as error:  # a ValueError for a host that can be none
            found.set_exception(error)

    Thread(target=ask, daemon=True).start()
    return found.result(seconds)


def connect(host: str, port: int, seconds: float | None) -> Socket:
    """A connection to a host, of which each address has `seconds`."""
    return connect_first(resolve(host, port), seconds)


def connect_first(addresses: Sequence[Address], seconds: float | None) -> Socket:
    """A connection to the first of these addresses that takes one."""
    failure = OSError("the host has no address")
    for address in addresses:
        try:
            return _opened(address, seconds)
        except OSError as error:
            failure = error
    raise failure


def _opened(address: Address, seconds: float | None) -> Socket:
    family, kind, protocol, _, place = address
    connection = Socket(family, kind, protocol)
    try:
        connection.settimeout(seconds)
        connection.connect(place)
        connection.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    except OSError:
        connection.close()
        raise
    return connection


def bind(manager: "PoolManager") -> None:
    """Let all connections that a manager makes from now on be of these sockets."""
    context = manager.connection_pool_kw.setdefault("ssl_context", create_urllib3_context())
    context.sslsocket_class = TlsSocket
    manager.pool_classes_by_scheme = {
        scheme: _bound(pool) for scheme, pool in manager.pool_classes_by_scheme.items()
    }


class _Bound(HTTPConnection):
    def _new_conn(self) -> Socket:
        try:
            return connect(self._dns_host, self.port, self.timeout)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"No connection to {self.host} in time") from error
        except OSError as error:
            raise NewConnectionError(self, f"No connection to {self.host}: {error}") from error


def _bound(pool: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
    connection = type("BoundConnection", (_Bound, pool.ConnectionCls), {})
    return type("BoundPool", (pool,), {"ConnectionCls": connection})
