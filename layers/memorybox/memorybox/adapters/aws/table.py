"""One DynamoDB table: reads, single conditional writes and transactions of plain items."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from memorybox.adapters.aws.errors import StorageSilent, aws_errors, code_of
from memorybox.adapters.aws.values import Item, plain, wire
from memorybox.clock import Clock
from memorybox.deadline import current

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

T = TypeVar("T")

_TRIES = 7
_FIRST_PAUSE = 0.02  # seconds at most; doubled each time, so all of them together are about 1 s
_PASSING = {"None", "ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"}


class ConditionFailed(Exception):
    """A write did not happen: its condition is not true of the item."""

    def __init__(self, item: Item) -> None:
        self.item = item
        """As it was found; empty if there is none."""
        super().__init__()


class Cancelled(Exception):
    """A transaction did not happen: the condition of a write in it is not true."""

    def __init__(self, failed: Sequence[bool]) -> None:
        self.failed = failed
        """For each write, in order, whether it was the reason."""
        super().__init__()


@dataclass(frozen=True, slots=True)
class Write:
    """One write, to be done alone or in a transaction."""

    action: str
    params: Mapping[str, Any]


def put(item: Item, condition: str | None = None, /, **values: Any) -> Write:
    """`values` are those that the condition names with a colon, as in the other writes."""
    return Write("Put", {"Item": wire(item)} | _expressions(values, ConditionExpression=condition))


def update(key: Item, change: str, condition: str | None = None, /, **values: Any) -> Write:
    """A change made to the item, which is made if it is missing."""
    expressions = _expressions(values, UpdateExpression=change, ConditionExpression=condition)
    return Write("Update", {"Key": wire(key)} | expressions)


def delete(key: Item, condition: str | None = None, /, **values: Any) -> Write:
    return Write("Delete", {"Key": wire(key)} | _expressions(values, ConditionExpression=condition))


def check(key: Item, condition: str, /, **values: Any) -> Write:
    """No write at all: a condition of a transaction."""
    expressions = _expressions(values, ConditionExpression=condition)
    return Write("ConditionCheck", {"Key": wire(key)} | expressions)


class Table:
    """A table, as far as `scope` lets its calls reach. Reads are consistent.

    Every method may raise StorageSilent. Conflicts with a transaction of somebody else are tried
    again for about a second, or until the deadline.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        name: str,
        scope: Callable[[], AbstractContextManager[None]],
        clock: Clock,
    ) -> None:
        self._client = client
        self._name = name
        self._scope = scope
        self._clock = clock

    def get(self, key: Item) -> Item | None:
        answer = self._call(
            lambda: self._client.get_item(TableName=self._name, Key=wire(key), ConsistentRead=True)
        )
        return plain(answer["Item"]) if "Item" in answer else None

    def get_together(self, keys: Sequence[Item]) -> list[Item | None]:
        """The items as they were at one moment."""
        gets: list[Any] = [{"Get": {"TableName": self._name, "Key": wire(key)}} for key in keys]
        answer = self._call(lambda: self._client.transact_get_items(TransactItems=gets))
        return [plain(found["Item"]) if "Item" in found else None for found in answer["Responses"]]

    def query(self, condition: str, /, index: str | None = None, **values: Any) -> Iterator[Item]:
        """The items of one partition, in the order of their sort keys; one call for each page.

        An index is read as it is: not consistently.
        """
        params: dict[str, Any] = {
            "TableName": self._name,
            "ConsistentRead": index is None,
        } | _expressions(values, KeyConditionExpression=condition, IndexName=index)
        while True:
            page = self._call(lambda: self._client.query(**params))
            yield from map(plain, page["Items"])
            if "LastEvaluatedKey" not in page:
                return
            params["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def apply(self, write: Write) -> Item:
        """Do a single write. The item as it is after an update; nothing after others.

        Raises ConditionFailed.
        """
        operations: Mapping[str, Callable[..., Any]] = {
            "Put": self._client.put_item,
            "Update": self._client.update_item,
            "Delete": self._client.delete_item,
        }
        answer = self._call(
            lambda: operations[write.action](
                TableName=self._name,
                ReturnValues="ALL_NEW" if write.action == "Update" else "NONE",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **write.params,
            )
        )
        return plain(answer.get("Attributes", {}))

    def transact(self, writes: Sequence[Write]) -> None:
        """Do all of them or none. Raises Cancelled.

        botocore sends a token of its own making along, by which DynamoDB knows its own retries.
        """
        items: list[Any] = [
            {write.action: {"TableName": self._name, **write.params}} for write in writes
        ]
        self._call(lambda: self._client.transact_write_items(TransactItems=items))

    def _call(self, call: Callable[[], T]) -> T:
        for attempt in range(_TRIES):
            with self._scope():
                if attempt:
                    self._pause(attempt)
                try:
                    with aws_errors():
                        return call()
                except ClientError as error:
                    _raise_outcome(error)
        raise StorageSilent

    def _pause(self, attempt: int) -> None:
        pause = _FIRST_PAUSE * 2 ** (attempt - 1) * secrets.randbelow(1_000) / 1_000
        if (deadline := current()) and deadline.remaining() < pause:
            raise StorageSilent
        self._clock.sleep(pause)


def _raise_outcome(error: ClientError) -> None:
    """Raise what the error says of our write; nothing if it only met somebody else's."""
    response: Mapping[str, Any] = error.response
    match code_of(error):
        case "ConditionalCheckFailedException":
            raise ConditionFailed(plain(response.get("Item", {}))) from None
        case "TransactionCanceledException":
            reasons = [reason["Code"] for reason in response["CancellationReasons"]]
            failed = [reason == "ConditionalCheckFailed" for reason in reasons]
            if any(failed):
                raise Cancelled(failed) from None
            if not _PASSING.issuperset(reasons):
                raise error
        case "TransactionConflictException" | "TransactionInProgressException":
            pass
        case _:
            raise error


def _expressions(values: Mapping[str, Any], /, **expressions: str | None) -> dict[str, Any]:
    params: dict[str, Any] = {name: text for name, text in expressions.items() if text is not None}
    if values:
        params["ExpressionAttributeValues"] = wire(
            {f":{name}": value for name, value in values.items()}
        )
    return params
