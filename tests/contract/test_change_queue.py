"""What every ChangeQueue promises: in memory and on SQS."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.queue import Outbox, SqsChangeQueue
from memorybox.search.queue import MOST_PATHS, ChangeQueue
from tests.fakes.search import InMemoryChangeQueue

Message = tuple[str, ...] | None
"""Paths that changed, or None: go on."""


@dataclass(frozen=True)
class World:
    queue: ChangeQueue
    received: Callable[[], list[Message]]


@pytest.fixture(params=["memory", "sqs"])
def world(request: pytest.FixtureRequest, account: AccountId) -> Iterator[World]:
    if request.param == "memory":
        queue = InMemoryChangeQueue()
        yield World(queue, lambda: queue.messages)
        return
    clients: Clients = request.getfixturevalue("clients")
    url = clients.sqs.create_queue(QueueName="queue-of-the-contract")["QueueUrl"]
    yield World(
        SqsChangeQueue(Outbox(clients.sqs, url, "r1"), account), lambda: _received(clients, url)
    )
    clients.sqs.delete_queue(QueueUrl=url)


def _received(clients: Clients, url: str) -> list[Message]:
    messages: list[Message] = []
    while answer := clients.sqs.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=10,
        VisibilityTimeout=60,
        WaitTimeSeconds=0,
    ).get("Messages"):
        for message in answer:
            body = json.loads(message["Body"])
            messages.append(tuple(body["paths"]) if "paths" in body else None)
    return messages


def test_changed_paths_arrive_whatever_their_letters(world: World) -> None:
    paths = ["/garden/plan.md", '/☃/"\x01.md']

    world.queue.changed(paths)

    assert world.received() == [tuple(paths)]


def test_many_paths_arrive_in_messages_of_a_hundred(world: World) -> None:
    paths = [f"/garden/{number}.md" for number in range(2 * MOST_PATHS + 50)]

    world.queue.changed(paths)

    messages = [message or () for message in world.received()]
    assert sorted(map(len, messages)) == [50, MOST_PATHS, MOST_PATHS]
    assert sorted(path for message in messages for path in message) == sorted(paths)


def test_no_paths_are_no_message(world: World) -> None:
    world.queue.changed([])

    assert world.received() == []


def test_to_go_on_is_a_message_without_paths(world: World) -> None:
    world.queue.go_on()

    assert world.received() == [None]
