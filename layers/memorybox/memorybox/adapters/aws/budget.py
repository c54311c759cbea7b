"""The budget ledger on DynamoDB: a counter for the account, one of several for the deployment."""

import secrets
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import TYPE_CHECKING

from memorybox.adapters.aws import keys
from memorybox.adapters.aws.guard import DEPLOYMENT, opened
from memorybox.adapters.aws.session import Session
from memorybox.adapters.aws.table import Cancelled, Table, Write, update
from memorybox.adapters.aws.values import Item, seconds
from memorybox.clock import Clock
from memorybox.search.budget import (
    BudgetSpent,
    DeploymentBudgetSpent,
    Month,
    Reservation,
    Spending,
    month_of,
    next_month,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LEAST_SHARD = 10_000_000
"""Tokens of a shard: many requests, so that little is left over when none fits any more."""


_COUNT = "ADD spent :tokens SET expires_at = :over"


class DynamoBudget:
    """The port BudgetLedger.

    The account's counter is kept under a hash, and stays until the month is over though the account
    is deleted: to leave and come back begins no new month.

    The deployment's cap is cut into equal shards, so that its counters are not one hot item. A
    shard may be given back what another lent: the sum is right, and the sum is what is capped.
    """

    def __init__(self, session: Session, *, account_cap: int, deployment_cap: int) -> None:
        self._session = session
        self._account_cap = account_cap
        self._shards = max(1, min(keys.DEPLOYMENTS, deployment_cap // LEAST_SHARD))
        self._shard_cap = deployment_cap // self._shards
        self._shard = secrets.randbelow(self._shards)

    def reserve(self, tokens: int) -> Reservation:
        month = month_of(self._session.now())
        for _ in range(self._shards):
            try:
                self._transact(
                    _taking(self._of_account(month), month, tokens, self._account_cap),
                    _taking(self._of_shard(month), month, tokens, self._shard_cap),
                )
            except Cancelled as cancelled:
                if cancelled.failed[0]:
                    raise BudgetSpent(month) from None
                self._shard = (self._shard + 1) % self._shards
            else:
                return Reservation(month, tokens)
        raise DeploymentBudgetSpent(month)

    def spent(self) -> int:
        """Tokens of this month, those reserved included."""
        item = self._session.get_at(self._of_account(month_of(self._session.now())))
        tokens: int = item["spent"] if item else 0
        return tokens

    def settle(self, spending: Spending) -> None:
        self.settle_with([], spending)

    def settle_with(self, writes: list[Write], spending: Spending) -> None:
        """Settle in one step with other writes, or not at all: raises Cancelled."""
        month = spending.reservation.month
        if spending.unused:
            counters = (self._of_account(month), self._of_shard(month))
            writes = writes + [_giving(counter, month, spending.unused) for counter in counters]
        if writes:
            self._transact(*writes)

    def _transact(self, *writes: Write) -> None:
        with opened(DEPLOYMENT):
            self._session.transact(*writes)

    def _of_account(self, month: Month) -> Item:
        return {"pk": keys.spending_of(self._session.account), "sk": keys.budget(month)}

    def _of_shard(self, month: Month) -> Item:
        return {"pk": keys.deployment(self._shard), "sk": keys.budget(month)}


class DynamoSpending:
    """What the whole deployment spends."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._table = Table(client, table, partial(opened, DEPLOYMENT), clock)

    def of(self, month: Month) -> int:
        """Tokens, those held back included."""
        counters = (
            self._table.get({"pk": keys.deployment(shard), "sk": keys.budget(month)})
            for shard in range(keys.DEPLOYMENTS)
        )
        return sum(counter["spent"] for counter in counters if counter)


def _taking(key: Item, month: Month, tokens: int, cap: int) -> Write:
    """Add to `spent` where it fits. A missing counter stands for nothing spent."""
    room = cap - tokens
    fits = "spent <= :room" if room < 0 else "attribute_not_exists(spent) OR spent <= :room"
    return update(key, _COUNT, fits, tokens=tokens, over=_over(month), room=room)


def _giving(key: Item, month: Month, tokens: int) -> Write:
    return update(key, _COUNT, tokens=-tokens, over=_over(month))


def _over(month: Month) -> int:
    """When nobody asks for the month any more, not even whoever settles late."""
    return seconds(datetime.combine(next_month(month), time(), UTC) + timedelta(days=1))
