"""What no caller waits for: the queue, the indexer, the sweep, and what the logs say of them."""

import json
import logging
import time
from collections.abc import Sequence

import pytest

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.leases import DynamoLeases
from memorybox.adapters.aws.session import Session
from memorybox.bootstrap.process import Process
from memorybox.deadline import Deadline
from tests.cases.deployment import Deployment

PATIENCE = 60  # seconds
OURS = {"memorybox", "webhook", "indexer"}  # names of loggers begin so


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the functions log, as of now."""
    caplog.set_level(logging.INFO, "memorybox")
    return caplog


def ids(lines: pytest.LogCaptureFixture) -> set[object]:
    """The request ids in the lines of ours, which are forgotten."""
    ours = [record for record in lines.records if record.name.split(".")[0] in OURS]
    assert ours
    lines.clear()
    return {getattr(record, "request_id", None) for record in ours}


def queued(deployment: Deployment) -> Sequence[str]:
    """The messages that wait, one at least."""
    end = time.monotonic() + PATIENCE
    while not (found := deployment.queued()):
        assert time.monotonic() < end
    return found


def request_of(message: str) -> str:
    return str(json.loads(message)["request_id"])


def test_the_id_of_a_notification_is_in_every_line_until_its_change_is_indexed(
    deployment: Deployment, lines: pytest.LogCaptureFixture
) -> None:
    one, other = deployment.add_user(), deployment.add_user()
    revs = [user.put("/garden/a.md", f"{user.account_id}\n").rev for user in (one, other)]

    deployment.changed(one, request_id="webhook-1")
    assert ids(lines) == {"webhook-1"}
    deployment.changed(other, request_id="webhook-2")
    assert ids(lines) == {"webhook-2"}
    first, second = sorted(queued(deployment), key=request_of)

    deployment.index(first)
    assert ids(lines) == {"webhook-1"}
    deployment.index(second)
    assert ids(lines) == {"webhook-2"}
    assert [deployment.indexed(user)["/garden/a.md"] for user in (one, other)] == revs


def test_whoever_goes_on_later_goes_on_for_the_same_request(
    deployment: Deployment, lines: pytest.LogCaptureFixture
) -> None:
    user = deployment.add_user()
    user.put("/garden/a.md", "peas\n")
    deployment.changed(user, request_id="webhook-3")
    [message] = queued(deployment)
    lines.clear()

    process, account = deployment.process, AccountId(user.account_id)
    with DynamoLeases(session(process, account)).indexer(Deadline.after(60, process.clock)):
        deployment.index(message)  # somebody else is at it

    assert ids(lines) == {"webhook-3"}
    assert [request_of(message) for message in queued(deployment)] == ["webhook-3"]


def session(process: Process, account: AccountId) -> Session:
    table = process.settings.memory_table
    return Session(process.aws.dynamodb, table, account, Deadline.after(60, process.clock))


def test_a_message_of_an_older_version_is_read_and_followed_by_its_own_id(
    deployment: Deployment, lines: pytest.LogCaptureFixture
) -> None:
    user = deployment.add_user()
    rev = user.put("/garden/a.md", "beans\n").rev

    assert deployment.index(json.dumps({"account": user.account_id})) == []

    [own] = ids(lines)
    assert str(own).startswith("m")
    assert deployment.indexed(user) == {"/garden/a.md": rev}


def test_a_line_about_a_message_that_nobody_can_read_is_not_of_another_request(
    deployment: Deployment, lines: pytest.LogCaptureFixture
) -> None:
    user = deployment.add_user()
    deployment.changed(user, request_id="webhook-4")
    lines.clear()

    assert deployment.index("not JSON") == ["not JSON"]

    assert "webhook-4" not in ids(lines)


def test_a_sweep_that_runs_out_of_time_goes_on_where_it_stopped_until_all_are_awake(
    deployment: Deployment, lines: pytest.LogCaptureFixture
) -> None:
    everybody = [AccountId(f"dbid:sweep-{number}") for number in range(25)]
    for account in everybody:
        deployment.process.directory.add(account)

    deployment.sweep(10, "sweep-1")  # time for one batch
    first = queued(deployment)
    [go_on] = [message for message in first if "sweep_after" in message]
    assert len(first) == 11

    lines.clear()
    assert deployment.index(go_on) == []
    assert ids(lines) == {"sweep-1"}
    woken = [*first, *queued(deployment)]
    woken.remove(go_on)

    assert sorted(json.loads(message)["account"] for message in woken) == sorted(everybody)
    assert {request_of(message) for message in woken} == {"sweep-1"}
    for account in everybody:
        deployment.process.directory.remove(account)
