"""The form of the messages that the indexer finds in its queue."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.queue import Outbox, SqsChangeQueue


@pytest.fixture
def url(clients: Clients) -> Iterator[str]:
    url = clients.sqs.create_queue(QueueName="queue-of-one-test")["QueueUrl"]
    yield url
    clients.sqs.delete_queue(QueueUrl=url)


@pytest.fixture
def queue(clients: Clients, account: AccountId, url: str) -> SqsChangeQueue:
    return SqsChangeQueue(Outbox(clients.sqs, url, "r1"), account)


def received(clients: Clients, url: str) -> list[dict[str, Any]]:
    bodies: list[dict[str, Any]] = []
    while True:
        answer = clients.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=60, WaitTimeSeconds=0
        )
        if not answer.get("Messages"):
            return bodies
        bodies += [json.loads(message["Body"]) for message in answer["Messages"]]


@pytest.mark.promise("P-211")
def test_changed_paths_are_named_with_their_account(
    clients: Clients, queue: SqsChangeQueue, url: str, account: AccountId
) -> None:
    queue.changed(["/garden/plan.md", '/☃/"\x01.md'])

    assert received(clients, url) == [
        {"account": account, "paths": ["/garden/plan.md", '/☃/"\x01.md'], "request_id": "r1"}
    ]


def test_long_paths_make_messages_of_fewer(
    clients: Clients, queue: SqsChangeQueue, url: str
) -> None:
    paths = [f"/☃/{number}".ljust(3_000, "☃") for number in range(40)]

    queue.changed(paths)

    messages = [body["paths"] for body in received(clients, url)]
    assert sorted(path for message in messages for path in message) == sorted(paths)
