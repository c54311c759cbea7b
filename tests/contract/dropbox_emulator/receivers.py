"""An app's webhook, to see what the emulator sends."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


class Receiver:
    """An app's webhook: keeps what comes in and answers as it is told."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.signatures: list[str] = []
        self.statuses: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                challenge = dict(parse_qsl(urlsplit(self.path).query))["challenge"]
                self._answer(200, challenge.encode())

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                receiver.bodies.append(self.rfile.read(length))
                receiver.signatures.append(self.headers["X-Dropbox-Signature"])
                self._answer(receiver.statuses.pop(0) if receiver.statuses else 200, b"")

            def _answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "text/plain")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/dropbox"

    def accounts(self) -> list[list[str]]:
        return [json.loads(body)["list_folder"]["accounts"] for body in self.bodies]
