"""A client program on the person's own machine, which waits for the answer of a sign-in."""

import base64
import hashlib
import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlencode, urlsplit

import requests


class Listener:
    """Collects the answers that browsers bring to `redirect_uri`."""

    def __init__(self) -> None:
        self.answers: list[dict[str, str]] = []
        answers = self.answers

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                if url.path == "/callback":
                    answers.append(dict(parse_qsl(url.query)))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"You can close this page.")

            def log_message(self, *_: object) -> None: ...  # nothing to standard error

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever)

    @property
    def redirect_uri(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/callback"

    def __enter__(self) -> "Listener":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Client:
    """A public client that has registered itself."""

    def __init__(self, base_url: str, redirect_uri: str, name: str = "Claude Code") -> None:
        self._base_url = base_url
        self._redirect_uri = redirect_uri
        self._verifier = secrets.token_urlsafe(32)
        self.state = secrets.token_urlsafe(8)
        members = {
            "client_name": name,
            "redirect_uris": [redirect_uri],
            "token_endpoint_auth_method": "none",
        }
        registered = requests.post(f"{base_url}/register", json=members, timeout=30)
        self.id = str(registered.json()["client_id"])

    @property
    def authorize_url(self) -> str:
        """Where the client sends the person's browser."""
        digest = hashlib.sha256(self._verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self._redirect_uri,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        return f"{self._base_url}/authorize?{urlencode(query)}"

    def redeem(self, code: str) -> requests.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "client_id": self.id,
            "code_verifier": self._verifier,
        }
        return requests.post(f"{self._base_url}/token", data=form, timeout=30)

    def call(self, token: str, tool: str, **arguments: object) -> requests.Response:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        headers = {"authorization": f"Bearer {token}"}
        return requests.post(f"{self._base_url}/mcp", json=message, headers=headers, timeout=30)
