"""HTTP/1.1 on a socket. Each answer is one write, so Nagle and delayed ACKs cost nothing."""

import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import format_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias, cast
from uuid import uuid4

from local.dropbox.clock import EmulatedClock
from local.dropbox.exchange import Outcome, Request
from local.dropbox.wire import Response

Answer: TypeAlias = Callable[[Request], Outcome]


class Connection(BaseHTTPRequestHandler):
    """One kept-alive connection and its requests, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self._is_stale = False

    @property
    def _server(self) -> "HttpServer":
        return cast(HttpServer, self.server)

    def _serve(self) -> None:
        if self._is_stale:
            self.close_connection = True
            return
        self._body: bytes | None = None
        request = Request(
            self.command, self.path, cast(Mapping[str, str], self.headers), self._read_body
        )
        outcome = self._server.answer(request)
        if outcome.response is None:
            self.close_connection = True
            return
        self._read_body()  # what the client still sends must not be taken for its next request
        self._send(outcome.response, is_cut=outcome.is_cut)
        self._is_stale = outcome.goes_stale
        self.close_connection = self.close_connection or outcome.is_cut

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = _serve  # noqa: N815

    def _read_body(self) -> bytes:
        if self._body is None:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                self._body = b"".join(self._chunks())
            else:
                self._body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return self._body

    def _chunks(self) -> list[bytes]:
        """RFC 9112, section 7.1."""
        chunks: list[bytes] = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return chunks

    def _send(self, response: Response, *, is_cut: bool) -> None:
        headers = {
            "Server": "nginx",
            "Date": format_datetime(self._server.clock.now(), usegmt=True),
            "Content-Type": response.content_type,
            "Content-Length": str(len(response.body)),
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
            "X-Dropbox-Request-Id": uuid4().hex,
            "X-Robots-Tag": "noindex, nofollow, noimageindex",
        } | response.headers
        lines = [f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        body = b"" if self.command == "HEAD" else response.body
        self.wfile.write(head + (body[: len(body) // 2] if is_cut else body))

    def log_message(self, *_args: Any) -> None:
        """The request log has it."""


class HttpServer(ThreadingHTTPServer):
    """Listens on a loopback port; `close` ends every connection and waits for its thread."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, port: int, answer: Answer, clock: EmulatedClock) -> None:
        super().__init__(("127.0.0.1", port), Connection)
        self.answer = answer
        self.clock = clock
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close(self) -> None:
        self.shutdown()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # the client closed it already
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error; anything else is shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)
