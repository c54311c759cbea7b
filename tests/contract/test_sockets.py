"""Sockets that know the deadline: over TLS, before there is a connection, and for many hosts."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
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
from memorybox.accounts.model import AccountId
from memorybox.adapters import sockets
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.guard import Guard
from memorybox.adapters.aws.vault import KmsVault
from memorybox.adapters.dropbox.session import new_session
from memorybox.adapters.dropbox.signin import DropboxOAuth
from memorybox.adapters.openai.embedder import OpenAIEmbedder
from memorybox.clock import SystemClock
from memorybox.deadline import CALL_SECONDS, Deadline, lasting, within
from memorybox.files.errors import DropboxSilent
from memorybox.search.embedder import EmbedderSilent
from tests.fakes.clock import FakeClock

CLOCK = SystemClock()
SECONDS = 0.9

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
        try:
            yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            is_over.set()
            with socket() as nobody:  # comes where nobody came
                nobody.connect(listening.getsockname())
            thread.join()


def soon() -> AbstractContextManager[None]:
    """There is little time in here, and none for a second try."""
    return lasting(Deadline.after(SECONDS, CLOCK))


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


def tell_aws(url: str) -> None:
    aws = Clients(
        Guard(memory_table="memory", auth_table="auth"),
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    vault = KmsVault(aws.kms, "key")
    with soon(), pytest.raises(StorageSilent):
        vault.seal("secret", account_id=AccountId("dbid:alice"), purpose="p")


def tell_dropbox(url: str) -> None:
    with new_session(url) as session, soon(), pytest.raises(DropboxSilent):
        DropboxOAuth(session, "key", "secret", "https://box/callback", CLOCK).refresh("secret")


def tell_the_embedder(url: str) -> None:
    import_module("openai.resources.embeddings")
    embedder = OpenAIEmbedder(api_key="secret", base_url=url, model="m", dims=4)
    with soon(), pytest.raises(EmbedderSilent):
        embedder.embed(["secret"], within(CALL_SECONDS, CLOCK))


@pytest.mark.parametrize("tell", [tell_aws, tell_dropbox, tell_the_embedder])
def test_nobody_is_told_anything_whose_certificate_is_not_known(
    identity: Path, tell: Callable[[str], None]
) -> None:
    told = list[bytes]()

    def listen(connection: socket, _: Event) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(identity)
        with context.wrap_socket(connection, server_side=True) as secure:
            told.append(secure.recv(10_000))

    with talking(listen) as url:
        tell(url)

    assert told == []


def test_nobody_waits_beyond_the_deadline_for_a_handshake(identity: Path) -> None:
    with (
        talking(drip_a_handshake) as url,
        trusting(identity) as manager,
        soon(),
        pytest.raises(HTTPError, match="timed out"),
    ):
        manager.request("GET", url)


def test_nobody_waits_beyond_the_deadline_for_an_answer_over_tls(identity: Path) -> None:
    with (
        talking(over_tls(identity, drip_an_answer)) as url,
        trusting(identity) as manager,
        soon(),
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


def test_a_host_that_can_be_none_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="label"):
        sockets.resolve(f"{'a' * 64}.example", 443)


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
