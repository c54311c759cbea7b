"""The queue to the indexer on SQS."""

import json
import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.errors import StorageSilent, aws_errors
from memorybox.search.queue import MOST_PATHS

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

MOST_MESSAGES = 10  # of one batch
MOST_BYTES = 25_000  # of one message, so that a full batch is below 256 KiB

_log = logging.getLogger(__name__)


class SqsChangeQueue:
    """The port ChangeQueue. A message is `{"account": …, "paths": […]}`; without paths: go on.

    Its group is the account, which on a standard queue keeps a busy account from holding up others.
    """

    def __init__(self, client: "SQSClient", url: str, account: AccountId) -> None:
        self._client = client
        self._url = url
        self._account = account

    def changed(self, paths: Sequence[str]) -> None:
        bodies = [{"account": self._account, "paths": chunk} for chunk in _chunks(paths)]
        for start in range(0, len(bodies), MOST_MESSAGES):
            self._send(bodies[start : start + MOST_MESSAGES])

    def go_on(self, *, after: int = 0) -> None:
        """`after` so many seconds, at most 900."""
        self._send([{"account": self._account}], delay=after)

    def _send(self, bodies: Sequence[object], delay: int = 0) -> None:
        entries: list[Any] = [
            {
                "Id": str(n),
                "MessageBody": json.dumps(body),
                "MessageGroupId": self._account,
                "DelaySeconds": delay,
            }
            for n, body in enumerate(bodies)
        ]
        with aws_errors():
            answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
        if answer.get("Failed"):
            raise StorageSilent  # the caller sends all of them again; a message may come twice
        sent = [message["MessageId"] for message in answer["Successful"]]
        _log.info("Messages were sent", extra={"message_ids": sent})  # the indexer logs them too


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
