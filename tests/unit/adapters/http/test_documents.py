"""Fetching a document from a host that a stranger chose."""

import gzip
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from memorybox.adapters.http.documents import Connection, HttpClientDocuments
from memorybox.oauth.documents import DocumentUnavailable, FetchedDocument
from tests.fakes.clock import FakeClock

URL = "https://app.example/oauth/client.json?v=2"
PUBLIC = "93.184.215.14"


class Host:
    """A host by name, with what it sends back in pieces, each after a while."""

    def __init__(
        self,
        *pieces: bytes,
        addresses: Sequence[str] = (PUBLIC,),
        seconds: float = 0.0,
        error: OSError | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.connected: list[tuple[str, str]] = []
        self.asked: list[str] = []
        self.sent = b""
        self.closed = 0
        self._pieces: Iterator[bytes] = iter(pieces)
        self._addresses = addresses
        self._seconds = seconds
        self._error = error

    def fetch(self, url: str = URL) -> FetchedDocument:
        return HttpClientDocuments(self.clock, self.resolve, self.connect).fetch(url)

    def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self._addresses

    def connect(self, address: str, host: str, seconds: float) -> Connection:
        self.connected.append((address, host))
        if self._error is not None:
            raise self._error
        return self

    def settimeout(self, value: float | None, /) -> None:
        assert value is not None
        assert 0 < value <= 5

    def sendall(self, data: bytes, /) -> None:
        self.sent += data

    def recv(self, size: int, /) -> bytes:
        self.clock.sleep(self._seconds)
        return next(self._pieces, b"")[:size]

    def close(self) -> None:
        self.closed += 1


def _answer(
    body: bytes = b"{}",
    *headers: str,
    status: str = "200 OK",
    content_type: str = "application/json",
) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.mark.requirement("R2")
def test_a_document_comes_from_the_address_that_was_looked_at() -> None:
    host = Host(_answer(b'{"a":', "Cache-Control: public, max-age=600"), b"1}")

    assert host.fetch() == FetchedDocument(b'{"a":1}', timedelta(seconds=600))

    assert (host.asked, host.connected, host.closed) == (
        ["app.example"],
        [(PUBLIC, "app.example")],
        1,
    )
    assert host.sent.split(b"\r\n") == [
        b"GET /oauth/client.json?v=2 HTTP/1.1",
        b"Host: app.example",
        b"Accept: application/json",
        b"Accept-Encoding: identity",
        b"User-Agent: memorybox",
        b"Connection: close",
        b"",
        b"",
    ]


@pytest.mark.requirement("R1")
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("Cache-Control: max-age=60", 60),
        ('Cache-Control: private,Max-Age="60"', 60),
        ("Cache-Control: s-maxage=60", 0),
        ("Cache-Control: no-cache, max-age=60", 0),
        ("Cache-Control: no-store, max-age=60", 0),
        ("Cache-Control: max-age=-1", 0),
        ("X: y", 0),
    ],
)
def test_a_document_is_fresh_for_as_long_as_its_headers_say(header: str, seconds: int) -> None:
    assert Host(_answer(b"{}", header)).fetch().fresh_for == timedelta(seconds=seconds)


@pytest.mark.requirement("R2")
@pytest.mark.parametrize(
    "addresses",
    [
        (),
        ("127.0.0.1",),
        (PUBLIC, "169.254.169.254"),
        (PUBLIC, "::ffff:10.0.0.1"),
        ("fe80::1%eth0",),
        ("nonsense",),
    ],
)
def test_one_address_that_is_not_public_is_enough_to_stay_away(addresses: Sequence[str]) -> None:
    host = Host(_answer(), addresses=addresses)

    with pytest.raises(DocumentUnavailable):
        host.fetch()

    assert host.connected == []


def _chunked(body: bytes) -> bytes:
    head = _answer(b"", "Transfer-Encoding: chunked")
    return head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def test_5_kb_are_read_and_chunks_are_joined() -> None:
    assert Host(_chunked(b"x" * 5120)).fetch().body == b"x" * 5120


@pytest.mark.requirement("R1")
@pytest.mark.parametrize(
    "received",
    [
        _answer(b"", "Location: https://127.0.0.1:9001/", status="302 Found"),
        _answer(b"{}", status="404 Not Found"),
        _answer(b"{}", status="204 No Content"),
        _answer(b"{}", content_type="text/html"),
        _answer(b"{}", content_type="text/html; application/json"),
        _answer(gzip.compress(b"x" * 10_000_000), "Content-Encoding: gzip"),
        _answer(b"x" * 5121),
        _chunked(b"x" * 5121),
        _answer(b"{}", "X: " + "y" * 70_000),
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200",
        b"",
    ],
)
def test_anything_but_a_small_json_answer_is_refused(received: bytes) -> None:
    host = Host(*(received[at : at + 4096] for at in range(0, len(received), 4096)))

    with pytest.raises(DocumentUnavailable):
        host.fetch()

    assert host.closed == 1


@pytest.mark.requirement("R1")
def test_an_endless_answer_is_left() -> None:
    with pytest.raises(DocumentUnavailable, match="too large"):
        Host(*[_answer(), *[b"x" * 4096] * 10_000]).fetch()


@pytest.mark.requirement("R1")
def test_a_dripping_answer_is_left_after_5_seconds() -> None:
    host = Host(*[b"H"] * 100, seconds=0.5)

    with pytest.raises(DocumentUnavailable, match="too slow"):
        host.fetch()

    assert host.clock.monotonic() == 5.0


@pytest.mark.parametrize("error", [OSError("refused"), TimeoutError("slow")])
def test_a_host_that_does_not_answer_is_no_crash(error: OSError) -> None:
    with pytest.raises(DocumentUnavailable):
        Host(error=error).fetch()
