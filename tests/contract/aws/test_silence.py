"""AWS does not answer, or answers with a failure: the caller hears that it may work later."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local import ports
from memorybox.accounts.model import AccountId
from memorybox.accounts.rates import DAY, Gate, LocalBuckets, Rate
from memorybox.accounts.service import Connections
from memorybox.adapters.aws.accounts import DynamoAccounts
from memorybox.adapters.aws.belongings import AwsBelongings
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.directory import DynamoDirectory
from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.guard import Guard
from memorybox.adapters.aws.oauth import DynamoGrantStore, auth_table
from memorybox.adapters.aws.parameters import SsmSecrets
from memorybox.adapters.aws.queue import Outbox, SqsChangeQueue
from memorybox.adapters.aws.session import Session
from memorybox.adapters.aws.table import Cancelled, update
from memorybox.adapters.aws.vault import KmsVault
from memorybox.deadline import Deadline
from tests.fakes.accounts import FakeDropbox
from tests.fakes.clock import FakeClock
from tests.support import inside

ALICE = AccountId("dbid:alice")

Answer = tuple[int, dict[str, Any] | bytes | None]
"""Status and content.

Bytes are those that come of a longer body; without content it breaks off within the headers.
"""

CONFLICT = (
    400,
    {
        "__type": "com.amazonaws.dynamodb#TransactionCanceledException",
        "CancellationReasons": [{"Code": "None"}, {"Code": "TransactionConflict"}],
    },
)
REFUSED = (
    400,
    {
        "__type": "com.amazonaws.dynamodb#TransactionCanceledException",
        "CancellationReasons": [
            {"Code": "TransactionConflict"},
            {"Code": "ConditionalCheckFailed"},
        ],
    },
)
THROTTLED = (400, {"__type": "com.amazonaws.dynamodb#ThrottlingException"})
FAILED = (500, {"__type": "InternalServerError"})
INVALID = (400, {"__type": "com.amazonaws.dynamodb#ValidationException"})
DONE: Answer = (200, {})
NOTHING_LEFT: Answer = (200, {"Items": []})
CUT: Answer = (200, None)
HALVED: Answer = (200, b'{"Item": {"pk": {"S": "GR')
HALF_REFUSED: Answer = (400, b'{"__type": "com.amazonaws.dynamodb#ConditionalCh')
NO_JSON: Answer = (200, b"<html>")
NO_OBJECT: Answer = (200, b"null")


@contextmanager
def answering(*answers: Answer) -> Iterator[Clients]:
    """Clients of a service that gives these answers in turn, and the last one for ever."""
    waiting = list(answers)

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, content = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            self.send_response(status)
            if content is None:
                self.flush_headers()
                return
            is_cut = isinstance(content, bytes)
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_header("Content-Length", str(len(body) + 100 * is_cut))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield clients_of(server.server_port)
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def hanging() -> Iterator[tuple[Clients, list[str]]]:
    """Clients of a service that never answers, and what has come to it."""
    visits, is_over = list[str](), Event()

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            visits.append(self.command)
            is_over.wait()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield clients_of(server.server_port), visits
        is_over.set()
        server.shutdown()
        thread.join()


def clients_of(port: int) -> Clients:
    return Clients(
        Guard(memory_table="memory", auth_table="auth"),
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def session_of(clients: Clients) -> Session:
    return Session(clients.dynamodb, "memory", ALICE, Deadline.after(25, FakeClock()))


def grants_of(clients: Clients) -> DynamoGrantStore:
    return DynamoGrantStore(auth_table(clients.dynamodb, "auth", FakeClock()), FakeClock())


def connections_of(clients: Clients) -> Connections:
    clock = FakeClock()
    return Connections(
        DynamoAccounts(clients.dynamodb, "memory", clock),
        FakeDropbox(clock),
        KmsVault(clients.kms, "key"),
        clock,
        bytes,
        Gate(LocalBuckets(clock), "sign-ups", Rate(1, DAY), "Too many."),
    )


def belongings_of(clients: Clients) -> AwsBelongings:
    directory = DynamoDirectory(clients.dynamodb, "memory", FakeClock())
    return AwsBelongings(session_of(clients), directory, clients.s3, "packs")


def transact(session: Session) -> None:
    writes = (update(session.key(sk), "SET one = :one", one=1) for sk in ("a", "b"))
    session.transact(*writes)


CALLS: list[Callable[[Clients], object]] = [
    lambda clients: session_of(clients).get("account"),
    lambda clients: list(session_of(clients).query("sk = :sk", sk="account")),
    lambda clients: transact(session_of(clients)),
    lambda clients: KmsVault(clients.kms, "key").open(b"x", account_id=ALICE, purpose="p"),
    lambda clients: SsmSecrets(clients.ssm, "/memorybox", FakeClock()).get(),
    lambda clients: SqsChangeQueue(Outbox(clients.sqs, "http://queue", "r1"), ALICE).go_on(),
    # Two that would end a sign-in.
    lambda clients: grants_of(clients).get("grant"),
    lambda clients: connections_of(clients).check(ALICE),
]
UNHEARD = [CUT, HALVED, HALF_REFUSED, NO_JSON, NO_OBJECT]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("answer", [THROTTLED, FAILED, *UNHEARD])
def test_failures_and_throttling_are_told_as_silence(
    call: Callable[[Clients], object], answer: Answer
) -> None:
    with answering(answer) as clients, pytest.raises(StorageSilent):
        call(clients)


@pytest.mark.parametrize("call", CALLS)
def test_a_service_that_is_not_there_is_told_as_silence(
    call: Callable[[Clients], object],
) -> None:
    with pytest.raises(StorageSilent):
        call(clients_of(ports.free()))


@pytest.mark.parametrize("failure", [FAILED, *UNHEARD])
def test_one_failure_is_not_noticed(failure: Answer) -> None:
    with answering(failure, DONE) as clients:
        assert session_of(clients).get("account") is None


@pytest.mark.parametrize("answer", [CUT, HALVED])
def test_who_deletes_all_is_not_told_so_while_nobody_knows_what_is_left(answer: Answer) -> None:
    with answering(DONE, DONE, answer, NOTHING_LEFT) as clients, pytest.raises(StorageSilent):
        belongings_of(clients).remove()


def test_a_conflict_with_another_transaction_is_tried_again() -> None:
    with answering(CONFLICT, CONFLICT, CONFLICT, DONE) as clients:
        transact(session_of(clients))


def test_conflicts_without_an_end_are_told_as_silence_within_two_seconds() -> None:
    with answering(CONFLICT) as clients:
        session = session_of(clients)
        with pytest.raises(StorageSilent):
            transact(session)

    assert session.deadline.clock.monotonic() < 2


def test_a_condition_that_failed_is_told_even_beside_a_conflict() -> None:
    with answering(REFUSED) as clients, pytest.raises(Cancelled) as cancelled:
        transact(session_of(clients))

    assert cancelled.value.failed == [False, True]


def test_a_last_word_after_the_deadline_is_said_once() -> None:
    with hanging() as (clients, visits):
        session = Session(clients.dynamodb, "memory", ALICE, Deadline.after(0, FakeClock()))
        with pytest.raises(StorageSilent):
            session.get("account")
        assert inside.waits_for(lambda: visits == ["POST"])


def test_a_failed_call_is_tried_again_only_while_there_is_time() -> None:
    clock = FakeClock()
    with answering(FAILED, DONE) as clients:
        session = Session(clients.dynamodb, "memory", ALICE, Deadline.after(1.1, clock))
        assert session.get("account") is None
        clock.sleep(0.2)
    with answering(FAILED, DONE) as clients:
        session = Session(clients.dynamodb, "memory", ALICE, Deadline(1.1, clock))
        with pytest.raises(StorageSilent):
            session.get("account")


def test_a_fault_of_our_own_is_not_hidden_as_silence() -> None:
    with answering(INVALID) as clients, pytest.raises(ClientError):
        transact(session_of(clients))
