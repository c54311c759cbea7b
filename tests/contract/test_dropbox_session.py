"""The connections to Dropbox, against a server that is slow or too friendly."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from urllib3.exceptions import ReadTimeoutError

from memorybox.adapters.dropbox.session import new_session, read_body

URL = "https://api.dropboxapi.com/2/files/list_folder"


@dataclass(frozen=True, slots=True)
class Visit:
    cookie: str | None
    port: int


class _Dripping(BaseHTTPRequestHandler):
    """Sends a body of 100 bytes, ten of them a second, and remembers who came."""

    protocol_version = "HTTP/1.1"
    visits: list[Visit]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.visits.append(Visit(self.headers["Cookie"], self.client_address[1]))
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.send_header("Set-Cookie", "who=ann; Path=/")
        self.end_headers()
        for _ in range(100):
            try:
                self.wfile.write(b"x")
            except OSError:
                return
            time.sleep(0 if self.path.endswith("/fast") else 0.1)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def dripping() -> Iterator[tuple[str, list[Visit]]]:
    visits = list[Visit]()
    handler = type("_Handler", (_Dripping,), {"visits": visits})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", visits
        server.shutdown()
        thread.join()


def test_the_read_timeout_holds_for_a_whole_answer_that_comes_in_drops() -> None:
    began = time.monotonic()
    with dripping() as (base_url, _), new_session(base_url) as session:
        with pytest.raises(ReadTimeoutError):
            session.post(URL, data=b"{}", timeout=(1, 0.3))

        assert time.monotonic() - began < 1


def test_a_streamed_body_that_comes_in_drops_has_a_limit_too() -> None:
    began = time.monotonic()
    with dripping() as (base_url, _), new_session(base_url) as session:
        response = session.post(URL, data=b"{}", timeout=(1, 0.3), stream=True)
        with pytest.raises(ReadTimeoutError):
            read_body(response, 0.3)

        assert time.monotonic() - began < 1


@pytest.mark.parametrize("stream", [False, True])
def test_no_cookie_of_one_call_goes_along_with_the_next(stream: bool) -> None:
    with dripping() as (base_url, visits), new_session(base_url) as session:
        for _ in range(2):
            answer = session.post(f"{URL}/fast", data=b"{}", timeout=(1, 5), stream=stream)
            assert answer.content == b"x" * 100

    assert [visit.cookie for visit in visits] == [None, None]


def test_a_connection_is_kept_for_the_next_call() -> None:
    with dripping() as (base_url, visits), new_session(base_url) as session:
        for _ in range(5):
            session.post(f"{URL}/fast", data=b"{}", timeout=(1, 5))

    assert len(visits) == 5
    assert len({visit.port for visit in visits}) == 1
