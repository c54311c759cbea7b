"""What one request does in its account's part of the Memory table."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.guard import acting_for
from memorybox.adapters.aws.keys import of_account
from memorybox.adapters.aws.table import Cancelled, ConditionFailed, Table, Write
from memorybox.adapters.aws.values import Item
from memorybox.deadline import Deadline, lasting

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Session:
    """The items of one account, for one request and all its threads. Close it at the end.

    A write that has time, such as the release of a lease, may ride: it goes along with the next
    transaction of the request, and at the end of the request at the latest.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, account: AccountId, deadline: Deadline
    ) -> None:
        self.account = account
        self.deadline = deadline
        self.id = secrets.token_hex(8)
        """Names this request in what it writes, so that it knows its own writes again."""
        self._table = Table(client, table, self._scope, deadline.clock)
        self._riders: dict[str, Write] = {}
        self._lock = Lock()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def now(self) -> datetime:
        return self.deadline.clock.now()

    def ends(self, deadline: Deadline) -> datetime:
        """The moment of a deadline on the wall clock, which is all that other machines share."""
        return self.now() + timedelta(seconds=deadline.remaining())

    def key(self, sk: str) -> Item:
        return {"pk": of_account(self.account), "sk": sk}

    def get(self, sk: str) -> Item | None:
        return self._table.get(self.key(sk))

    def get_at(self, key: Item) -> Item | None:
        """An item that is not among those of the account."""
        return self._table.get(key)

    def get_together(self, sks: Sequence[str]) -> list[Item | None]:
        """The items as they were at one moment."""
        return self._table.get_together([self.key(sk) for sk in sks])

    def query(self, condition: str, /, **values: Any) -> Iterator[Item]:
        """The items whose `sk` meets the condition, in order."""
        pk = of_account(self.account)
        return self._table.query(f"pk = :pk AND {condition}", pk=pk, **values)

    def apply(self, write: Write) -> Item:
        """Do a single write; the item as it is after an update. Raises ConditionFailed."""
        return self._table.apply(write)

    def transact(self, *writes: Write) -> None:
        """Do all of them or none, and take the riders along. Raises Cancelled."""
        riders = self._pick_up()
        try:
            self._table.transact([*writes, *riders.values()])
        except Cancelled:
            if not riders:
                raise
            self._do(riders)  # one of them may have been the reason
            self._table.transact(writes)
        except StorageSilent:
            with self._lock:
                self._riders = {**riders, **self._riders}
            raise

    def ride(self, sk: str, write: Write) -> None:
        """Do `write`, the only one to ride for this item, when it costs no call of its own."""
        with self._lock:
            self._riders[sk] = write

    def recall(self, sk: str) -> None:
        """Leave undone what still waits to ride for this item."""
        with self._lock:
            self._riders.pop(sk, None)

    def close(self) -> None:
        """Do what still waits to ride. What cannot be done now is left to its own expiry."""
        self._do(self._pick_up())

    @contextmanager
    def _scope(self) -> Iterator[None]:
        with acting_for(self.account), lasting(self.deadline):
            yield

    def _pick_up(self) -> Mapping[str, Write]:
        with self._lock:
            riders, self._riders = self._riders, {}
            return riders

    def _do(self, riders: Mapping[str, Write]) -> None:
        """All at once or, if one of them cannot be done, each alone."""
        if len(riders) > 1:
            try:
                self._table.transact([*riders.values()])
            except Cancelled:
                pass
            except StorageSilent:
                return
            else:
                return
        for rider in riders.values():
            with suppress(ConditionFailed, StorageSilent):
                self.apply(rider)
