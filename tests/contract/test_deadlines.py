"""Whatever the other side does, nobody waits for it beyond the deadline of what is being done."""

import json
import socket
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from itertools import product
from pathlib import Path
from threading import Event

import pytest

from local.loopback import Connection, Server
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.guard import Guard
from memorybox.adapters.aws.oauth import DynamoGrantStore, auth_table
from memorybox.adapters.aws.packs import PackCache, S3PackStore
from memorybox.adapters.aws.parameters import SsmSecrets
from memorybox.adapters.aws.queue import Outbox, SqsChangeQueue
from memorybox.adapters.aws.vault import KmsVault
from memorybox.adapters.dropbox.client import Client as DropboxClient
from memorybox.adapters.dropbox.session import new_session
from memorybox.adapters.dropbox.signin import DropboxOAuth
from memorybox.adapters.openai.embedder import OpenAIEmbedder
from memorybox.clock import SystemClock
from memorybox.deadline import Deadline, lasting, within
from memorybox.errors import Unavailable
from memorybox.search.embedder import EmbedderSilent
from memorybox.search.model import PackRef

SECONDS = 0.55
"""For a call."""

DROP, DROPS = 0.02, 3_000
"""A drop comes each time before any timeout ends; all of them take a minute."""

ALICE = AccountId("dbid:alice")
CLOCK = SystemClock()

ANSWERS = {
    "/2/files/list_folder": {"entries": [], "cursor": "c", "has_more": False},
    "/oauth2/token": {"access_token": "a", "expires_in": 14400},
    "/v1/embeddings": {
        "object": "list",
        "model": "m",
        "data": [
            {
                "object": "embedding",
                "index": 0,
                "embedding": b64encode(b"\0\0\x80?" * 4).decode(),
            }
        ],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    },
    "AmazonSSM.GetParameter": {"Parameter": {"Name": "n", "Value": "v"}},
    "TrentService.Decrypt": {"Plaintext": b64encode(b"secret").decode()},
    "AmazonSQS.SendMessageBatch": {"Successful": [], "Failed": []},
}


class Manner(StrEnum):
    TAKES_NO_CONNECTION = "takes no connection"
    HANGS = "hangs"
    HEADERS_DRIP = "headers drip"
    BODY_DRIPS = "body drips"


@dataclass(slots=True)
class Service:
    """Answers well in the end; what came to it is in `visits`."""

    manner: Manner
    visits: list[str] = field(default_factory=list)
    is_over: Event = field(default_factory=Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def aws(self) -> Clients:
        return Clients(
            Guard(memory_table="memory", auth_table="auth"),
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def answer(self, connection: Connection) -> None:
        body = connection.body()
        what = connection.headers.get("x-amz-target", connection.path.partition("?")[0])
        self.visits.append(f"{what} {connection.headers.get('range')} {body!r}")
        whole = json.dumps(ANSWERS.get(what, {})).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {DROPS + len(whole)}\r\nX-Drops: ".encode()
        drops = b" " * DROPS
        say = connection.wfile.write
        say(head)
        match self.manner:
            case Manner.HANGS:
                self.is_over.wait(DROP * DROPS)
                say(b"\r\n\r\n" + drops)
            case Manner.HEADERS_DRIP:
                self._drip(say)
                say(b"\r\n\r\n" + drops)
            case Manner.BODY_DRIPS:
                say(b"\r\n\r\n")
                self._drip(say)
        say(whole)

    def _drip(self, say: Callable[[bytes], object]) -> None:
        for _ in range(DROPS):
            if self.is_over.wait(DROP):
                return
            say(b" ")


@contextmanager
def serving(manner: Manner) -> Iterator[Service]:
    service = Service(manner)
    with ExitStack() as open_:
        if manner is Manner.TAKES_NO_CONNECTION:
            service.port = open_.enter_context(full())
            yield service
            return

        class Answering(Connection):
            wbufsize = 0

            def get(self) -> None:
                service.answer(self)

            post = do_PUT = get  # noqa: N815 - the name it looks for

        server = Server(0, Answering)
        service.port = server.server_port
        server.start()
        open_.callback(server.stop)
        open_.callback(service.is_over.set)
        yield service


@contextmanager
def full() -> Iterator[int]:
    """A port whose queue is full: what comes now is not even refused."""
    with socket.socket() as listening, ExitStack() as waiting:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


Prepared = Callable[[], object]
"""A call for which everything is ready, so that its time is that of the exchange."""


def check_token(service: Service) -> Prepared:
    grants = DynamoGrantStore(auth_table(service.aws.dynamodb, "auth", CLOCK), CLOCK)
    return lambda: grants.get("grant")


def open_token(service: Service) -> Prepared:
    vault = KmsVault(service.aws.kms, "key")
    return lambda: vault.open(b"x", account_id=ALICE, purpose="p")


def read_secrets(service: Service) -> Prepared:
    return SsmSecrets(service.aws.ssm, "/memorybox/test", CLOCK).get


def send_message(service: Service) -> Prepared:
    return SqsChangeQueue(Outbox(service.aws.sqs, "http://queue", "r1"), ALICE).go_on


def open_pack(service: Service) -> Prepared:
    packs = pack_store(service)
    return lambda: packs.open([PackRef(1, f"packs/{ALICE}/garden/1-a", DROPS)])


def write_pack(service: Service) -> Prepared:
    packs = pack_store(service)
    return lambda: packs.add("garden", 1, b"a pack")


def pack_store(service: Service) -> S3PackStore:
    cache = PackCache(Path("/nowhere"), memory_bytes=1_000_000, folder_bytes=0)
    return S3PackStore(service.aws.s3, "packs", ALICE, cache)


def list_folder(service: Service) -> Prepared:
    session = new_session(service.url)

    def call() -> object:
        deadline = within(SECONDS, CLOCK)
        client = DropboxClient(session, lambda **_: "token", deadline, lambda: 0.5)
        return client.read(lambda api: api.files_list_folder(""))

    return call


def refresh_token(service: Service) -> Prepared:
    session = new_session(service.url)
    oauth = DropboxOAuth(session, "key", "secret", "https://box/callback", CLOCK)
    return lambda: oauth.refresh("token")


def embed(service: Service) -> Prepared:
    import_module("openai.resources.embeddings")
    embedder = OpenAIEmbedder(api_key="", base_url=f"{service.url}/v1", model="m", dims=4)
    return lambda: embedder.embed(["text"], within(SECONDS, CLOCK))


EACH_WIRE = [check_token, list_folder, embed]
ON_THE_SAME = [open_token, read_secrets, send_message, open_pack, write_pack, refresh_token]
CASES = [
    *product(EACH_WIRE, Manner),
    *product(ON_THE_SAME, [Manner.HANGS, Manner.BODY_DRIPS]),
]


@pytest.mark.promise("P-206")
@pytest.mark.parametrize(("prepared", "manner"), CASES)
def test_nobody_waits_beyond_the_deadline_and_nothing_is_tried_again_then(
    prepared: Callable[[Service], Prepared], manner: Manner
) -> None:
    with serving(manner) as service:
        call = prepared(service)
        with (
            lasting(Deadline.after(SECONDS, CLOCK)),
            pytest.raises((Unavailable, EmbedderSilent)),
        ):
            call()

        assert len(service.visits) == len(set(service.visits))
