"""The directory of linked accounts on DynamoDB, for work that goes over all of them."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.guard import DIRECTORY, opened
from memorybox.adapters.aws.table import Table, delete, put
from memorybox.adapters.aws.values import Item
from memorybox.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_BEFORE_ALL = AccountId("\0")


class DynamoDirectory:
    """Which accounts there are. The table is never scanned; this is asked instead."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._table = Table(client, table, partial(opened, DIRECTORY), clock)

    def add(self, account: AccountId) -> None:
        self._table.apply(put(_key(account)))

    def remove(self, account: AccountId) -> None:
        """A missing one is no error."""
        self._table.apply(delete(_key(account)))

    def accounts(self, after: AccountId | None = None) -> Iterator[AccountId]:
        """All of them, in an order that stays; or those behind one, which may be gone itself."""
        first = 0 if after is None else keys.directory_number(after)
        for number in range(first, keys.DIRECTORIES):
            last = after if after is not None and number == first else _BEFORE_ALL
            place = keys.directory(number)
            for item in self._table.query("pk = :pk AND sk > :last", pk=place, last=last):
                yield AccountId(item["sk"])


def _key(account: AccountId) -> Item:
    return {"pk": keys.directory_of(account), "sk": account}
