"""Token buckets on DynamoDB, which all processes share. Each is one item: when it is full again."""

from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from memorybox.accounts.model import AccountId
from memorybox.accounts.rates import NO_WAIT, Rate
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.guard import DEPLOYMENT, acting_for, opened
from memorybox.adapters.aws.table import ConditionFailed, Table, update
from memorybox.adapters.aws.values import Item, moment, seconds, stamp
from memorybox.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_dynamodb import DynamoDBClient

_TRIES = 4


class DynamoBuckets:
    """The port Buckets. A bucket that is in use costs one write, one that was full costs two."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        pk: str,
        scope: "Callable[[], AbstractContextManager[None]]",
        clock: Clock,
    ) -> None:
        self._table = Table(client, table, scope, clock)
        self._pk = pk
        self._clock = clock

    def take(self, name: str, rate: Rate) -> timedelta:
        key = {"pk": self._pk, "sk": keys.rate(name)}
        for _ in range(_TRIES):
            now = self._clock.now()
            full_at = self._add(key, rate)
            if full_at is None:
                return NO_WAIT
            if full_at > stamp(now):
                return moment(full_at) + rate.interval - rate.span - now
            if self._begin(key, rate, full_at):
                return NO_WAIT
        raise StorageSilent

    def _add(self, key: Item, rate: Rate) -> int | None:
        """Take from a bucket that is neither full nor empty; else when it is, or was, full."""
        now = self._clock.now()
        try:
            self._table.apply(
                update(
                    key,
                    "SET full_at = full_at + :one, expires_at = :expires_at",
                    "full_at > :now AND full_at <= :latest",
                    one=rate.interval // timedelta(microseconds=1),
                    now=stamp(now),
                    latest=stamp(now + rate.span - rate.interval),
                    expires_at=seconds(now + rate.span),
                )
            )
        except ConditionFailed as failed:
            full_at: int = failed.item.get("full_at", 0)
            return full_at
        return None

    def _begin(self, key: Item, rate: Rate, full_at: int) -> bool:
        """Take the first token from a bucket that is full; False if somebody was faster."""
        now = self._clock.now()
        try:
            self._table.apply(
                update(
                    key,
                    "SET full_at = :full_at, expires_at = :expires_at",
                    "attribute_not_exists(full_at) OR full_at = :before",
                    full_at=stamp(now + rate.interval),
                    before=full_at,
                    expires_at=seconds(now + rate.span),
                )
            )
        except ConditionFailed:
            return False
        return True


def buckets_of(
    account: AccountId, client: "DynamoDBClient", table: str, clock: Clock
) -> DynamoBuckets:
    """The buckets of one account."""
    scope = partial(acting_for, account)
    return DynamoBuckets(client, table, keys.of_account(account), scope, clock)


def deployment_buckets(client: "DynamoDBClient", table: str, clock: Clock) -> DynamoBuckets:
    """The buckets of the whole deployment."""
    return DynamoBuckets(client, table, keys.RATES, partial(opened, DEPLOYMENT), clock)
