"""The poller in front of a real queue: what is deleted and what comes back."""

import json
from collections.abc import Callable, Iterator
from threading import Event
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from local import aws
from local.queue import Batch, Poller, failures
from local.runtime_api import HandlerFailed, WorkerDied

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[aws.Aws]:
    with aws.start(tmp_path_factory.mktemp("aws")) as cloud:
        yield cloud


@pytest.fixture
def sqs(cloud: aws.Aws) -> "SQSClient":
    client = boto3.client("sqs", **cloud.connection)
    client.purge_queue(QueueUrl=cloud.queue_url)
    return client


def one_batch(cloud: aws.Aws, invoke: Callable[[Any], object]) -> Batch:
    """Poll until one batch has been dealt with."""
    batches: list[Batch] = []
    handled = Event()

    def note(batch: Batch) -> None:
        batches.append(batch)
        handled.set()

    poller = Poller(cloud.queue_url, cloud.connection, invoke, note)
    poller.start()
    try:
        assert handled.wait(10)
    finally:
        poller.stop()
    return batches[0]


def in_flight(sqs: "SQSClient", cloud: aws.Aws) -> int:
    """Messages that were handed out and not deleted."""
    answer = sqs.get_queue_attributes(QueueUrl=cloud.queue_url, AttributeNames=["All"])
    return int(answer["Attributes"]["ApproximateNumberOfMessagesNotVisible"])


def test_a_message_arrives_as_lambda_would_hand_it_over(cloud: aws.Aws, sqs: "SQSClient") -> None:
    body = json.dumps({"account": "dbid:1", "paths": ["/garden/tomatoes.md"]})
    sent = sqs.send_message(QueueUrl=cloud.queue_url, MessageBody=body, MessageGroupId="dbid:1")
    events: list[Any] = []
    batch = one_batch(cloud, events.append)
    [record] = events[0]["Records"]
    attributes = record.pop("attributes")
    assert record.pop("receiptHandle")
    assert record == {
        "messageId": sent["MessageId"],
        "body": body,
        "messageAttributes": {},
        "md5OfBody": sent["MD5OfMessageBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:memorybox-index",
        "awsRegion": "us-east-1",
    }
    assert attributes["ApproximateReceiveCount"] == "1"
    assert attributes["MessageGroupId"] == "dbid:1"
    assert (batch.records, batch.failed) == (1, 0)
    assert in_flight(sqs, cloud) == 0


def test_messages_named_as_failures_stay_and_the_others_are_deleted(
    cloud: aws.Aws, sqs: "SQSClient"
) -> None:
    for body in "good", "bad":
        sqs.send_message(QueueUrl=cloud.queue_url, MessageBody=body)
    seen: set[str] = set()

    def invoke(event: Any) -> object:
        seen.update(record["body"] for record in event["Records"])
        bad = [record["messageId"] for record in event["Records"] if record["body"] == "bad"]
        return {"batchItemFailures": [{"itemIdentifier": identity} for identity in bad]}

    batch = one_batch(cloud, invoke)
    assert seen == {"good", "bad"}
    assert (batch.records, batch.failed) == (2, 1)
    assert in_flight(sqs, cloud) == 1


def test_a_function_that_fails_gives_the_whole_batch_back(cloud: aws.Aws, sqs: "SQSClient") -> None:
    for body in "one", "two":
        sqs.send_message(QueueUrl=cloud.queue_url, MessageBody=body)

    def invoke(event: Any) -> object:
        raise HandlerFailed("ValueError: no")

    batch = one_batch(cloud, invoke)
    assert (batch.records, batch.failed) == (2, 2)
    assert in_flight(sqs, cloud) == 2


def test_a_batch_that_was_stopped_is_there_again_at_once(cloud: aws.Aws, sqs: "SQSClient") -> None:
    sqs.send_message(QueueUrl=cloud.queue_url, MessageBody="interrupted")
    taken = Event()

    def invoke(event: Any) -> object:
        taken.set()
        assert stopped.wait(10)
        raise WorkerDied("The worker was stopped.")

    stopped = Event()
    poller = Poller(cloud.queue_url, cloud.connection, invoke, lambda _: None)
    poller.start()
    assert taken.wait(10)
    poller.pause()
    stopped.set()
    poller.stop()
    [message] = sqs.receive_message(QueueUrl=cloud.queue_url)["Messages"]
    assert message["Body"] == "interrupted"


def test_a_stop_is_clean_although_another_worker_has_finished_the_message_meanwhile(
    cloud: aws.Aws, sqs: "SQSClient"
) -> None:
    sqs.send_message(QueueUrl=cloud.queue_url, MessageBody="finished elsewhere")
    taken, stopped = Event(), Event()

    def invoke(event: Any) -> object:
        [record] = event["Records"]
        sqs.delete_message(QueueUrl=cloud.queue_url, ReceiptHandle=record["receiptHandle"])
        taken.set()
        assert stopped.wait(60)
        raise WorkerDied("The worker was stopped.")

    poller = Poller(cloud.queue_url, cloud.connection, invoke, lambda _: None)
    poller.start()
    assert taken.wait(60)
    poller.pause()
    stopped.set()
    poller.stop()  # an error in its thread would fail this test
    assert in_flight(sqs, cloud) == 0


def test_a_batch_holds_at_most_five_records(cloud: aws.Aws, sqs: "SQSClient") -> None:
    for number in range(7):
        sqs.send_message(QueueUrl=cloud.queue_url, MessageBody=str(number))
    sizes: list[int] = []
    one_batch(cloud, lambda event: sizes.append(len(event["Records"])))
    assert sizes[0] == 5


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, set()),
        ("", set()),
        ({}, set()),
        ({"batchItemFailures": []}, set()),
        ({"batchItemFailures": None}, set()),
        ({"batchItemFailures": [{"itemIdentifier": "a"}]}, {"a"}),
        ({"batchItemFailures": [{"itemIdentifier": "unknown"}]}, {"a", "b"}),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, {"a", "b"}),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, {"a", "b"}),
        ({"batchItemFailures": [{"id": "a"}]}, {"a", "b"}),
        ({"batchItemFailures": "a"}, {"a", "b"}),
        ({"batchItemFailures": 1}, {"a", "b"}),
        (["a"], {"a", "b"}),
        ("done", {"a", "b"}),
    ],
)
def test_an_answer_that_is_not_understood_fails_the_whole_batch(
    answer: object, failed: set[str]
) -> None:
    assert failures(answer, {"a", "b"}) == failed
