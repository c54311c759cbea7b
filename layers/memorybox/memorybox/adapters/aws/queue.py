"""The queue to the indexer on SQS. A message is an object in JSON:

- `{"account": …, "paths": […]}`: these paths changed. Without paths: go on.
- `{"sweep_after": …}`: wake all accounts behind this one.

`request_id` is in each: of the request that it goes back to, for the logs of the indexer.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.errors import StorageSilent, aws_errors
from memorybox.search.queue import MOST_PATHS

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

MOST_MESSAGES = 10  # of one batch
MOST_BYTES = 25_000  # of one message, so that a full batch is below 256 KiB

_SWEEP = "sweep"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outbox:
    """Sends what goes back to one request."""

    client: "SQSClient"
    url: str
    request_id: str

    def send(self, messages: Sequence[tuple[str, dict[str, object]]], delay: int = 0) -> None:
        """Send at most MOST_MESSAGES, each given as its group and its body.

        On a standard queue a group that is busy does not hold up the others.
        """
        entries: list[Any] = [
            {
                "Id": str(n),
                "MessageBody": json.dumps({**body, "request_id": self.request_id}),
                "MessageGroupId": group,
                "DelaySeconds": delay,
            }
            for n, (group, body) in enumerate(messages)
        ]
        with aws_errors():
            answer = self.client.send_message_batch(QueueUrl=self.url, Entries=entries)
        if answer.get("Failed"):
            raise StorageSilent  # the caller sends all of them again; a message may come twice
        sent = [message["MessageId"] for message in answer["Successful"]]
        _log.info("Messages were sent", extra={"message_ids": sent})  # the indexer logs them too


class SqsChangeQueue:
    """The port ChangeQueue, for one account, which is the group of its messages."""

    def __init__(self, outbox: Outbox, account: AccountId) -> None:
        self._outbox = outbox
        self._account = account

    def changed(self, paths: Sequence[str]) -> None:
        messages = [self._message(paths=chunk) for chunk in _chunks(paths)]
        for start in range(0, len(messages), MOST_MESSAGES):
            self._outbox.send(messages[start : start + MOST_MESSAGES])

    def go_on(self, *, after: int = 0) -> None:
        """`after` so many seconds, at most 900."""
        self._outbox.send([self._message()], delay=after)

    def _message(self, **more: object) -> tuple[str, dict[str, object]]:
        return self._account, {"account": self._account, **more}


@dataclass(frozen=True, slots=True)
class SqsSweepQueue:
    """What a sweep over all accounts sends."""

    outbox: Outbox

    def wake(self, accounts: Sequence[AccountId]) -> None:
        """Let these go on; at most MOST_MESSAGES."""
        self.outbox.send([(account, {"account": account}) for account in accounts])

    def go_on(self, after: AccountId) -> None:
        """Let the sweep go on behind `after`."""
        self.outbox.send([(_SWEEP, {"sweep_after": after})])


def _chunks(paths: Sequence[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for path in paths:
        length = len(json.dumps(path))
        if chunk and (len(chunk) == MOST_PATHS or size + length > MOST_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(path)
        size += length + 2
    if chunk:
        yield chunk
