"""Which keys may be touched: those of one account, and what a repository has opened for itself.

Every repository enters `acting_for(account)` around its calls. Whoever serves a request enters it
once more around everything, so that an object left over from another account's request is caught.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.keys import of_account, packs_of, spending_of

AUTH = "auth"
DEPLOYMENT = "DEPLOY#"
DIRECTORY = "DIR#"

_account: ContextVar[AccountId | None] = ContextVar("account", default=None)
_opened: ContextVar[frozenset[str]] = ContextVar("opened", default=frozenset())


class ForeignKey(Exception):
    """Code reached for what is not its account's. A bug of ours; nothing was read or written."""


@contextmanager
def acting_for(account: AccountId) -> Iterator[None]:
    """Allow the keys of `account`, and of no other, in here."""
    if _account.get() not in (None, account):
        raise ForeignKey("acting for another account already")
    reset = _account.set(account)
    try:
        yield
    finally:
        _account.reset(reset)


@contextmanager
def opened(place: str) -> Iterator[None]:
    """Allow AUTH, DEPLOYMENT or DIRECTORY as well in here."""
    reset = _opened.set(_opened.get() | {place})
    try:
        yield
    finally:
        _opened.reset(reset)


def check_object(key: str) -> None:
    """Raises ForeignKey unless `key` names an object of the account that is acted for."""
    account = _account.get()
    if account is None or not key.startswith(packs_of(account)):
        raise ForeignKey("an object of another account")


class Guard:
    """Stops a call before it leaves, if it is a scan or names a key that may not be touched."""

    def __init__(self, *, memory_table: str, auth_table: str) -> None:
        self._memory = memory_table
        self._auth = auth_table

    def watch_dynamodb(self, client: Any) -> None:
        client.meta.events.register("provide-client-params.dynamodb", self._dynamodb)

    def watch_s3(self, client: Any) -> None:
        client.meta.events.register("provide-client-params.s3", self._s3)

    def _dynamodb(self, params: Mapping[str, Any], model: Any, **_: object) -> None:
        keys = _KEYS.get(model.name)
        if keys is None:
            raise ForeignKey(f"{model.name} is not allowed")
        for table, key in keys(params):
            if not self._may_touch(table, key):
                raise ForeignKey("a key of another account")

    def _may_touch(self, table: str, key: str | None) -> bool:
        if table == self._auth:
            return AUTH in _opened.get()
        if table != self._memory or key is None:
            return False
        account = _account.get()
        if account is not None and key in (of_account(account), spending_of(account)):
            return True
        return any(key.startswith(place) for place in _opened.get() - {AUTH})

    def _s3(self, params: Mapping[str, Any], model: Any, **_: object) -> None:
        if model.name not in _OBJECT_OPERATIONS:
            raise ForeignKey(f"{model.name} is not allowed")
        check_object(params.get("Key", params.get("Prefix", "")))


TableKey = tuple[str, str | None]
"""A table, and a partition key in it that is touched; None if it is not plain to see."""

_OBJECT_OPERATIONS = frozenset(
    {"DeleteObject", "GetObject", "ListObjectVersions", "ListObjectsV2", "PutObject"}
)


def _by_key(params: Mapping[str, Any]) -> Iterator[TableKey]:
    yield params["TableName"], params["Key"]["pk"]["S"]


def _by_item(params: Mapping[str, Any]) -> Iterator[TableKey]:
    yield params["TableName"], params["Item"]["pk"]["S"]


def _by_condition(params: Mapping[str, Any]) -> Iterator[TableKey]:
    if params["KeyConditionExpression"].startswith("pk = :pk"):
        yield params["TableName"], params["ExpressionAttributeValues"][":pk"]["S"]
    else:
        yield params["TableName"], None


def _by_action(params: Mapping[str, Any]) -> Iterator[TableKey]:
    for write in params["TransactItems"]:
        for action in write.values():
            yield from (_by_item if "Item" in action else _by_key)(action)


_KEYS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[TableKey]]] = {
    "DeleteItem": _by_key,
    "GetItem": _by_key,
    "PutItem": _by_item,
    "Query": _by_condition,
    "TransactGetItems": _by_action,
    "TransactWriteItems": _by_action,
    "UpdateItem": _by_key,
}
"""How each operation that we use names its keys. What is not here is refused."""
