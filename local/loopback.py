"""HTTP servers on loopback, built on the standard library."""

import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import MappingProxyType
from typing import Any, Final

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Server(ThreadingHTTPServer):
    """Serves from `start` to `stop`, a thread a connection. `stop` leaves no thread behind."""

    daemon_threads = False  # so that closing waits for them
    request_queue_size = 64

    def __init__(self, port: int, connection: type["Connection"]) -> None:
        super().__init__(("127.0.0.1", port), connection)
        self._open: set[Any] = set()
        self._thread = Thread(target=self.serve_forever, args=(0.02,))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        for connection in list(self._open):
            with suppress(OSError):  # it ended by itself in the meantime
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error; anything else is a bug of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Connection(BaseHTTPRequestHandler):
    """One kept-alive connection. Subclasses answer each request in `get` or `post`."""

    protocol_version = "HTTP/1.1"
    # Unbuffered writes, Nagle and delayed acknowledgements together cost 40 ms a call.
    wbufsize = -1
    disable_nagle_algorithm = True

    def get(self) -> None:
        raise NotImplementedError

    def post(self) -> None:
        raise NotImplementedError

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def body(self) -> bytes:
        """The body of the request at hand."""
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        chunks = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def answer(
        self, body: bytes, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] = _NONE
    ) -> None:
        """Answer the request at hand with JSON."""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a line a request would drown the product's own."""
