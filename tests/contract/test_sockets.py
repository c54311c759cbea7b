"""Sockets that know the deadline: over TLS, before there is a connection, and for many hosts."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from socket import AF_INET, IPPROTO_TCP, SOCK_STREAM, socket
from threading import Event, Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from local import ports
from memorybox.adapters import sockets
from memorybox.clock import SystemClock
from memorybox.deadline import Deadline, lasting
from tests.fakes.clock import FakeClock

CLOCK = SystemClock()
DROP, DROPS = 0.02, 3_000

Talk = Callable[[socket, Event], None]
"""What a server says on a connection, until it is over."""


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key, and a certificate for this machine that it signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("identity") / "both.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file


@contextmanager
def talking(talk: Talk) -> Iterator[str]:
    """The address of a server that talks to one client."""
    is_over = Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            try:
                talk(connection, is_over)
            except OSError:
                return  # the client went away

    with socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        thread = Thread(target=serve)
        thread.start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        is_over.set()
        thread.join()


def drip(connection: socket, is_over: Event) -> None:
    for _ in range(DROPS):
        if is_over.wait(DROP):
            return
        connection.sendall(b"a")


def over_tls(identity: Path, talk: Talk) -> Talk:
    def secured(connection: socket, is_over: Event) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(identity)
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.recv(10_000)
            talk(secure, is_over)

    return secured


def answer(connection: socket, _: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell")


def drip_an_answer(connection: socket, is_over: Event) -> None:
    connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {DROPS}\r\n\r\n".encode())
    drip(connection, is_over)


def drip_a_handshake(connection: socket, is_over: Event) -> None:
    connection.sendall(b"\x16\x03\x03\x40\x00\x02")
    drip(connection, is_over)


@contextmanager
def trusting(identity: Path | None) -> Iterator[PoolManager]:
    with PoolManager(ca_certs=str(identity) if identity else None, retries=False) as manager:
        sockets.bind(manager)
        yield manager


def test_a_server_is_talked_to_over_tls(identity: Path) -> None:
    with talking(over_tls(identity, answer)) as url, trusting(identity) as manager:
        assert manager.request("GET", url).data == b"well"


def test_a_server_whose_certificate_nobody_knows_is_not_talked_to(identity: Path) -> None:
    with (
        talking(over_tls(identity, answer)) as url,
        trusting(None) as manager,
        pytest.raises(HTTPError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        manager.request("GET", url)


def test_nobody_waits_beyond_the_deadline_for_a_handshake(identity: Path) -> None:
    with (
        talking(drip_a_handshake) as url,
        trusting(identity) as manager,
        lasting(Deadline.after(0.5, CLOCK)),
        pytest.raises(HTTPError, match="timed out"),
    ):
        manager.request("GET", url)


def test_nobody_waits_beyond_the_deadline_for_an_answer_over_tls(identity: Path) -> None:
    with (
        talking(over_tls(identity, drip_an_answer)) as url,
        trusting(identity) as manager,
        lasting(Deadline.after(0.5, CLOCK)),
        pytest.raises(HTTPError, match="timed out"),
    ):
        manager.request("GET", url)


def test_nobody_waits_beyond_the_deadline_for_the_address_of_a_host() -> None:
    is_over = Event()

    def look_up(*_: object, **__: object) -> list[sockets.Address]:
        is_over.wait(60)
        return []

    with lasting(Deadline.after(0.2, CLOCK)), pytest.raises(TimeoutError):
        sockets.resolve("box.example", 443, look_up)
    is_over.set()


def test_after_the_deadline_no_connection_is_made() -> None:
    with lasting(Deadline.after(0, FakeClock())), pytest.raises(TimeoutError):
        sockets.connect("127.0.0.1", ports.free(), 1.0)


def test_the_next_address_is_tried_where_one_takes_no_connection() -> None:
    with socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        good = listening.getsockname()
        addresses = [
            (AF_INET, SOCK_STREAM, IPPROTO_TCP, "", address)
            for address in (("127.0.0.1", ports.free()), good)
        ]
        with sockets.connect_first(addresses, 5.0) as connection:
            assert connection.getpeername() == good
