"""What every CommandLog promises: in memory and on DynamoDB."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.commands import DynamoCommandLog
from memorybox.adapters.aws.session import Session
from memorybox.clock import Clock, SystemClock
from memorybox.deadline import Deadline
from memorybox.files.commands import Attempt, Command, CommandLog, Finished, Fresh, Interrupted
from memorybox.files.errors import CommandReused, CommandRunning
from memorybox.files.model import Rev
from tests.fakes.clock import FakeClock
from tests.fakes.commands import CommandBook, InMemoryCommandLog

DAY = 24 * 60 * 60

APPEND = Command("append", "command 1", "fingerprint of the arguments")
UPLOAD = Attempt("hash of the content", Rev("0123456789abc"))

Request = Callable[[Clock], CommandLog]
"""Begins a request of the one account, which must end within 25 s."""


@pytest.fixture(params=["memory", "dynamodb"])
def begin_request(request: pytest.FixtureRequest, account: AccountId) -> Request:
    if request.param == "memory":
        book = CommandBook()
        return lambda clock: InMemoryCommandLog(book, Deadline.after(25, clock))
    clients: Clients = request.getfixturevalue("clients")
    return lambda clock: DynamoCommandLog(
        Session(clients.dynamodb, aws.MEMORY_TABLE, account, Deadline.after(25, clock))
    )


@pytest.mark.promise("P-203")
def test_a_finished_command_answers_with_its_result_for_a_day(begin_request: Request) -> None:
    clock = FakeClock()
    first = begin_request(clock)
    assert first.begin(APPEND) == Fresh()
    first.attempting(APPEND, UPLOAD)
    first.finish(APPEND, "Saved.\nRev: 0123456789abd ☃")

    clock.sleep(DAY - 1)

    assert begin_request(clock).begin(APPEND) == Finished("Saved.\nRev: 0123456789abd ☃")


def test_a_command_is_new_again_when_it_was_forgotten_after_a_day(begin_request: Request) -> None:
    clock = FakeClock()
    first = begin_request(clock)
    first.begin(APPEND)
    first.finish(APPEND, "Saved.")

    clock.sleep(DAY + 1)

    assert begin_request(clock).begin(APPEND) == Fresh()
    with pytest.raises(CommandRunning):
        begin_request(clock).begin(APPEND)


def test_a_command_that_runs_is_not_begun_again(begin_request: Request) -> None:
    clock = FakeClock()
    begin_request(clock).begin(APPEND)

    with pytest.raises(CommandRunning):
        begin_request(clock).begin(APPEND)


def test_an_id_with_other_arguments_is_refused(begin_request: Request) -> None:
    clock = FakeClock()
    begin_request(clock).begin(APPEND)

    with pytest.raises(CommandReused):
        begin_request(clock).begin(Command("append", "command 1", "another fingerprint"))


def test_another_tool_has_ids_of_its_own(begin_request: Request) -> None:
    clock = FakeClock()
    begin_request(clock).begin(APPEND)

    other = Command("write", "command 1", "another fingerprint")
    assert begin_request(clock).begin(other) == Fresh()


def test_a_command_that_failed_starts_anew(begin_request: Request) -> None:
    clock = FakeClock()
    first = begin_request(clock)
    first.begin(APPEND)
    first.forget(APPEND)

    assert begin_request(clock).begin(APPEND) == Fresh()


def test_a_run_that_vanished_before_its_upload_left_nothing(begin_request: Request) -> None:
    clock = FakeClock()
    begin_request(clock).begin(APPEND)
    clock.sleep(60)

    assert begin_request(clock).begin(APPEND) == Fresh()
    with pytest.raises(CommandRunning):
        begin_request(clock).begin(APPEND)


def test_the_upload_of_a_run_that_vanished_is_known(begin_request: Request) -> None:
    clock = FakeClock()
    vanished = begin_request(clock)
    vanished.begin(APPEND)
    vanished.attempting(APPEND, Attempt("an earlier try", None))
    vanished.attempting(APPEND, UPLOAD)
    clock.sleep(60)

    assert begin_request(clock).begin(APPEND) == Interrupted(UPLOAD)
    clock.sleep(60)
    assert begin_request(clock).begin(APPEND) == Interrupted(UPLOAD)


def test_a_run_that_was_taken_over_can_begin_no_upload_and_end_nothing(
    begin_request: Request,
) -> None:
    clock = FakeClock()
    late = begin_request(clock)
    late.begin(APPEND)
    clock.sleep(60)
    heir = begin_request(clock)
    heir.begin(APPEND)

    with pytest.raises(CommandRunning):
        late.attempting(APPEND, UPLOAD)
    late.finish(APPEND, "the result of the late run")
    late.forget(APPEND)

    with pytest.raises(CommandRunning):
        begin_request(clock).begin(APPEND)
    heir.finish(APPEND, "the result of the heir")
    assert begin_request(clock).begin(APPEND) == Finished("the result of the heir")


def test_a_result_is_not_dropped_by_forgetting(begin_request: Request) -> None:
    clock = FakeClock()
    first = begin_request(clock)
    first.begin(APPEND)
    first.finish(APPEND, "Saved.")
    first.forget(APPEND)

    assert begin_request(clock).begin(APPEND) == Finished("Saved.")


@pytest.mark.promise("P-203")
def test_only_one_of_many_requests_gets_a_new_command(begin_request: Request) -> None:
    def is_fresh(_: int) -> bool:
        try:
            return begin_request(SystemClock()).begin(APPEND) == Fresh()
        except CommandRunning:
            return False

    with ThreadPoolExecutor(12) as requests:
        outcomes = list(requests.map(is_fresh, range(12)))

    assert outcomes.count(True) == 1


def test_only_one_of_many_requests_takes_over_from_a_run_that_vanished(
    begin_request: Request,
) -> None:
    clock = FakeClock()
    vanished = begin_request(clock)
    vanished.begin(APPEND)
    vanished.attempting(APPEND, UPLOAD)
    clock.sleep(60)

    def is_heir(_: int) -> bool:
        try:
            return begin_request(clock).begin(APPEND) == Interrupted(UPLOAD)
        except CommandRunning:
            return False

    with ThreadPoolExecutor(12) as requests:
        outcomes = list(requests.map(is_heir, range(12)))

    assert outcomes.count(True) == 1
