"""Queue messages for a function, as Lambda's poller of SQS hands them over."""

import time
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from local.aws import QUEUE, REGION, Connection
from local.runtime_api import Failed

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import DeleteMessageBatchRequestEntryTypeDef, MessageTypeDef

BATCH_SIZE: Final = 5
_WAIT: Final = 1  # seconds of a long poll, and so of a stop; Lambda waits 20


@dataclass(frozen=True, slots=True)
class Batch:
    """What came of one invocation."""

    records: int
    failed: int
    milliseconds: int


class Poller:
    """Takes batches from a queue to `invoke`, `concurrency` at a time, from `start` to `stop`.

    Deletes what succeeded. The rest comes back when its visibility timeout has passed, or at once
    if the function was stopped.
    """

    def __init__(
        self,
        queue_url: str,
        connection: Connection,
        invoke: Callable[[object], object],
        on_batch: Callable[[Batch], None],
        concurrency: int = 1,
    ) -> None:
        self._queue_url = queue_url
        self._sqs = boto3.Session().client("sqs", **connection)
        self._invoke = invoke
        self._on_batch = on_batch
        self._stopping = Event()
        self._threads = [Thread(target=self._poll) for _ in range(concurrency)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def pause(self) -> None:
        """Take no further batch."""
        self._stopping.set()

    def stop(self) -> None:
        """Take no further batch, and wait for those under way."""
        self.pause()
        for thread in self._threads:
            thread.join()

    def _poll(self) -> None:
        while not self._stopping.is_set():
            try:
                received = self._sqs.receive_message(
                    QueueUrl=self._queue_url,
                    MaxNumberOfMessages=BATCH_SIZE,
                    WaitTimeSeconds=_WAIT,
                    MessageAttributeNames=["All"],
                    MessageSystemAttributeNames=["All"],
                )
            except (BotoCoreError, ClientError):
                self._stopping.wait(_WAIT)  # the queue is not there: it may come back
                continue
            if messages := received.get("Messages"):
                # What could not be said to the queue comes back by itself.
                with suppress(BotoCoreError, ClientError):
                    self._hand_over(messages)

    def _hand_over(self, messages: Sequence["MessageTypeDef"]) -> None:
        started = time.monotonic()
        ids = {message["MessageId"] for message in messages}
        try:
            answer = self._invoke({"Records": [_record(message) for message in messages]})
            failed = failures(answer, ids)
        except Failed:
            failed = ids
            if self._stopping.is_set():
                self._give_back(messages)
        done: list[DeleteMessageBatchRequestEntryTypeDef] = [
            {"Id": message["MessageId"], "ReceiptHandle": message["ReceiptHandle"]}
            for message in messages
            if message["MessageId"] not in failed
        ]
        if done:
            self._sqs.delete_message_batch(QueueUrl=self._queue_url, Entries=done)
        milliseconds = round((time.monotonic() - started) * 1000)
        self._on_batch(Batch(len(messages), len(failed), milliseconds))

    def _give_back(self, messages: Sequence["MessageTypeDef"]) -> None:
        for message in messages:
            self._sqs.change_message_visibility(
                QueueUrl=self._queue_url,
                ReceiptHandle=message["ReceiptHandle"],
                VisibilityTimeout=0,
            )


def failures(answer: Any, ids: Set[str]) -> Set[str]:
    """Which of `ids` an answer gives back to the queue: all of them, if it is not understood.

    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
    """
    if answer is None or answer == "":
        return frozenset()
    try:
        failed = {item["itemIdentifier"] for item in answer.get("batchItemFailures") or []}
    except (AttributeError, KeyError, TypeError):
        return ids
    return ids if failed - ids else failed


def _record(message: "MessageTypeDef") -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {
            name: {
                "stringValue": value.get("StringValue"),
                "stringListValues": [],
                "binaryListValues": [],
                "dataType": value["DataType"],
            }
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:000000000000:{QUEUE}",
        "awsRegion": REGION,
    }
