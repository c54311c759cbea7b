"""A bad network: a proxy on TCP that does to whole HTTP exchanges what networks do to them.

Proxies of this kind that exist (toxiproxy, faulty) work on packets. Here the exchange is what
counts: the answer that gets lost is one to a request that was surely worked on.
"""

import socket
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from http.client import HTTPConnection, HTTPException, HTTPResponse
from itertools import count
from random import Random
from threading import Event, Lock
from urllib.parse import urlsplit

from local.loopback import Connection, Server

_RESETS = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends RST instead of FIN
_DRIPS = 20
_OF_THE_PROXY = {"content-length", "transfer-encoding"}


class Fault(StrEnum):
    LOST_REQUEST = "lost request"  # closed before anybody heard of it
    LOST_ANSWER = "lost answer"  # worked on, then closed
    DELAYED_REQUEST = "delayed request"
    DELAYED_ANSWER = "delayed answer"
    TRUNCATED = "truncated"  # closed in the middle of the answer
    DRIPPING = "dripping"  # the answer comes in bits
    RESET = "reset"  # worked on, then a RST in the middle of the answer


@dataclass(frozen=True, slots=True)
class Weather:
    """Which exchanges go wrong, and how: the n-th of a seed always in the same way.

    A `share` of them meets a fault. One that takes time takes up to `longest` seconds, most of them
    much less.
    """

    seed: int
    share: float
    longest: float

    def at(self, number: int) -> tuple[Fault | None, float]:
        """What happens to an exchange, and the seconds it takes."""
        drawn = Random(f"{self.seed} {number}")
        if drawn.random() >= self.share:
            return None, 0.0
        return drawn.choice(list(Fault)), self.longest * drawn.random() ** 3


class Network:
    """`with Network(towards, weather) as network:` serves at `network.url` until the block ends.

    `towards` is asked for the address of the server each time. The weather begins when `is_bad`.
    """

    def __init__(self, towards: Callable[[], str], weather: Weather) -> None:
        self.is_bad = False
        self.faults: Counter[Fault] = Counter()
        self._towards = towards
        self._weather = weather
        self._numbers = count()
        self._lock = Lock()
        self._stopping = Event()
        self._server = Server(0, type("_BoundPassage", (_Passage,), {"network": self}))

    @property
    def url(self) -> str:
        return f"http://{self._server.address}"

    def __enter__(self) -> "Network":
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.stop()

    def connection(self) -> HTTPConnection:
        """A way of its own to the server, for one exchange."""
        return HTTPConnection(urlsplit(self._towards()).netloc)

    def draw(self) -> tuple[Fault | None, float]:
        """What happens to the next exchange."""
        with self._lock:
            if not self.is_bad:
                return None, 0.0
            fault, seconds = self._weather.at(next(self._numbers))
            if fault:
                self.faults[fault] += 1
            return fault, seconds

    def wait(self, seconds: float) -> None:
        self._stopping.wait(seconds)


class _Passage(Connection):
    """One connection of a client, and its exchanges one after the other."""

    network: Network

    def get(self) -> None:
        body = self.body()
        fault, seconds = self.network.draw()
        if fault is Fault.LOST_REQUEST:
            self.close_connection = True
            return
        if fault is Fault.DELAYED_REQUEST:
            self.network.wait(seconds)
        try:
            answer = self._asked(body)
        except (OSError, HTTPException):  # a server that went away
            self.close_connection = True
            return
        self._give(answer, fault, seconds)

    post = do_PUT = do_DELETE = do_HEAD = do_PATCH = get  # noqa: N815 - the names it looks for

    def _asked(self, body: bytes) -> bytes:
        """What the server answers, head and body, as it is to go over the wire."""
        connection = self.network.connection()
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in _OF_THE_PROXY | {"expect"}:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        try:
            return _on_the_wire(connection.getresponse(), self.command)
        finally:
            connection.close()

    def _give(self, answer: bytes, fault: Fault | None, seconds: float) -> None:
        half = len(answer) // 2
        match fault:
            case Fault.LOST_ANSWER:
                self.close_connection = True
            case Fault.TRUNCATED:
                self._say(answer[:half])
                self.close_connection = True
            case Fault.RESET:
                self._say(answer[:half])
                self._reset()
            case Fault.DRIPPING:
                step = len(answer) // _DRIPS + 1
                for start in range(0, len(answer), step):
                    self.network.wait(seconds / _DRIPS)
                    self._say(answer[start : start + step])
            case _:
                if fault is Fault.DELAYED_ANSWER:
                    self.network.wait(seconds)
                self._say(answer)

    def _say(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
        for stream in (self.rfile, self.wfile, self.connection):
            stream.close()
        raise ConnectionResetError  # which the server takes for a client that went away


def _on_the_wire(response: HTTPResponse, method: str) -> bytes:
    body = response.read()
    lines = [f"HTTP/1.1 {response.status} {response.reason}"]
    for name, value in response.getheaders():
        if name.lower() not in _OF_THE_PROXY or method == "HEAD":
            lines.append(f"{name}: {value}")
    if method != "HEAD":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
