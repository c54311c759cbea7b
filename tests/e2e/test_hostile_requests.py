"""Whatever bytes arrive at the running product: an answer that was meant, or none."""

import json
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, urlencode, urlsplit

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from local.gateway import Gateway
from local.product import Product
from tests.e2e.tokens import sign_in

pytestmark = pytest.mark.e2e

EXAMPLES = settings(
    max_examples=250,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
HANGS = 60.0
"""Seconds; the product promises 25."""

OURS = re.compile(rb"Traceback|\bFile \"|site-packages|\.py\b")
"""What tells a stranger how we are made."""

words = str.split

PATHS = words(
    "/mcp /mcp/ / /authorize /consent /token /register /revoke /dropbox/callback /dropbox/webhook "
    "/account /account/delete /privacy /security /skill.md /robots.txt /favicon.ico /openapi.json "
    "/.well-known/oauth-protected-resource /.well-known/oauth-protected-resource/mcp "
    "/.well-known/oauth-authorization-server /.well-known/security.txt"
)
METHODS = words("GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT PROPFIND get P\u00d6ST")
TYPES = (
    "application/json",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "",
)
NAMES = words(
    "accept accept-encoding authorization cookie origin referer range mcp-protocol-version "
    "mcp-session-id mcp-method mcp-name last-event-id x-forwarded-for x-forwarded-proto "
    "x-dropbox-signature x-http-method-override sec-fetch-site transfer-encoding te upgrade expect"
)

octets = st.binary(max_size=60)
visible = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=30)
values = st.one_of(
    visible.map(str.encode),
    visible.map(str.encode),
    visible.map(lambda text: "\xe9" + text).map(lambda text: text.encode("latin-1")),
    st.sampled_from([b"\0", b"a\nb: c", b"\r", b" \t ", b"\x7f"]),
    st.sampled_from(
        [b"Bearer x", b"Bearer ", b"chunked", b"gzip", b"null", b"*/*", b"text/html", b"2025-11-25"]
    ),
    st.integers(1, 12_000).map(lambda size: b"a" * size),
)
targets = st.one_of(
    st.sampled_from(PATHS).map(str.encode),
    st.builds(
        lambda path, rest: path.encode() + rest,
        st.sampled_from(PATHS),
        st.sampled_from([b"?", b"/..", b"//", b"%00", b"%2e%2e", b";x", b"?challenge=%ff", b"%zz"])
        | octets.map(lambda data: b"?a=" + quote_from_bytes(data).encode())
        | st.lists(st.tuples(octets, octets), max_size=4).map(
            lambda q: b"?" + urlencode(q).encode()
        ),
    ),
    st.sampled_from([b"*", b"http://127.0.0.1/mcp", b"//evil.example/", b"/" + b"a" * 9_000]),
    octets.map(lambda data: b"/" + quote_from_bytes(data).encode()),
    octets.map(lambda data: b"/" + data),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
messages = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "method": st.sampled_from(["tools/call", "initialize", "ping", ""]),
    },
    optional={
        "id": json_values,
        "params": json_values
        | st.fixed_dictionaries(
            {"name": st.sampled_from(["read", "write", "search", "no"]), "arguments": json_values}
        ),
    },
)
bodies = st.one_of(
    st.just(b""),
    octets,
    json_values.map(lambda value: json.dumps(value).encode()),
    messages.map(lambda message: json.dumps(message).encode()),
    st.dictionaries(st.text(max_size=12), st.text(max_size=12), max_size=5).map(
        lambda form: urlencode(form, errors="replace").encode()
    ),
)


def whole(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def in_chunks(body: bytes) -> bytes:
    pieces = [body[start : start + 1_000] for start in range(0, len(body), 1_000)]
    chunks = b"".join(b"%x;a=b\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return b"Transfer-Encoding: chunked\r\n\r\n%b0\r\nTrailer: x\r\n\r\n" % chunks


def with_length(of: Callable[[int], int]) -> Callable[[bytes], bytes]:
    """A body of another length than its header says."""
    return lambda body: b"Content-Length: %d\r\n\r\n%b" % (of(len(body)), body)


WHOLE = (whole, in_chunks)
BROKEN: Sequence[Callable[[bytes], bytes]] = (
    with_length(lambda length: length + 7),
    with_length(lambda length: length // 2),
    with_length(lambda _: -1),
    lambda body: b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n%b" % body,
    lambda body: b"Transfer-Encoding: chunked\r\n\r\nzz\r\n%b" % body,
    lambda body: b"\r\n%b" % body,
)


@dataclass(frozen=True, slots=True)
class Hostile:
    """A request, but for the host and the token, which are known to a running product only."""

    method: str
    target: bytes
    media_type: str
    headers: Sequence[tuple[str, bytes]]
    framing: Callable[[bytes], bytes]
    body: bytes
    times: int
    is_signed_in: bool

    def octets(self, host: str, token: str) -> bytes:
        lines = [b"%b %b HTTP/1.1" % (self.method.encode("latin-1"), self.target)]
        lines += [b"Host: " + host.encode(), b"Connection: close"]
        lines += [b"Content-Type: " + self.media_type.encode()] if self.media_type else []
        lines += [b"Authorization: Bearer " + token.encode()] if self.is_signed_in else []
        lines += [b"%b: %b" % (name.encode(), value) for name, value in self.headers]
        return b"\r\n".join(lines) + b"\r\n" + self.framing(self.body * self.times)


requests = st.builds(
    Hostile,
    st.sampled_from(["POST"] * 6 + ["GET"] * 4 + METHODS),
    targets,
    st.sampled_from(TYPES),
    st.lists(st.tuples(st.sampled_from(NAMES), values), max_size=4),
    st.sampled_from([*WHOLE] * 5 + [*BROKEN]),
    bodies,
    st.sampled_from([1] * 9 + [50_000]),
    st.booleans(),
)


@pytest.fixture(scope="module")
def token(product: Product) -> str:
    return str(sign_in(product.url)["access_token"])


@pytest.mark.promise("P-205", "P-206")
def test_no_request_makes_the_product_fail_hang_or_tell_how_it_is_made(
    product: Product, gateway: Gateway, token: str
) -> None:
    host = urlsplit(gateway.url).netloc
    said_before = product.log.stat().st_size

    @EXAMPLES
    @given(requests)
    @example(Hostile("POST", b"/mcp", "application/json", (), whole, b"[", 3_900_000, True))
    def send(request: Hostile) -> None:
        answer = answered(host, request.octets(host, token), ends=request.framing in BROKEN)
        status = int(answer.split(b" ", 2)[1]) if answer else 0
        assert status < 500, answer
        assert not OURS.search(answer)

    send()
    with product.log.open("rb") as log:
        log.seek(said_before)
        assert [line for line in log if b'"ERROR"' in line or b"Traceback" in line] == []


def answered(host: str, octets: bytes, *, ends: bool) -> bytes:
    """All that comes back for these bytes; nothing if the connection just ends.

    Who `ends` says that no more will come: a server may wait for what was announced.
    """
    name, port = host.split(":")
    answer = b""
    with socket.create_connection((name, int(port)), HANGS) as connection:
        try:
            connection.sendall(octets)
            if ends:
                connection.shutdown(socket.SHUT_WR)
            while data := connection.recv(65_536):
                answer += data
        except TimeoutError:
            raise
        except OSError:  # it closed before it had read all
            return answer
    return answer
