"""A proxy that adds a token to every request, for programs that cannot sign in."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit


@contextmanager
def open_door(base_url: str, token: str) -> Iterator[str]:
    """Serve `base_url` on another port of loopback, everything but the token passed unchanged."""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            connection = HTTPConnection(urlsplit(base_url).netloc, timeout=30)
            connection.putrequest(
                self.command, self.path, skip_host=True, skip_accept_encoding=True
            )
            for name, value in self.headers.items():
                connection.putheader(name, value)
            connection.putheader("Authorization", f"Bearer {token}")
            connection.endheaders(body)
            answer = connection.getresponse()
            content = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"content-length", "transfer-encoding"}:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            connection.close()

        do_GET = do_POST = do_DELETE = do_OPTIONS = do_HEAD = do  # noqa: N815 - the names it looks for

        def log_message(self, *_: object) -> None: ...  # nothing to standard error

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
