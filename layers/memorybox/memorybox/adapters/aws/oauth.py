"""The records of the authorization server on DynamoDB, each an item of the Auth table."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.guard import AUTH, opened
from memorybox.adapters.aws.table import ConditionFailed, Table, Write, delete, put, update
from memorybox.adapters.aws.values import Item, moment, seconds, stamp
from memorybox.clock import Clock
from memorybox.oauth.model import (
    AuthMethod,
    AuthorizationCode,
    AuthorizationRequest,
    Client,
    Grant,
    Origin,
    Step,
    Transaction,
    Visit,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ENDED_IS_KEPT = timedelta(days=1)


def auth_table(client: "DynamoDBClient", name: str, clock: Clock) -> Table:
    """The table that the four stores share."""
    return Table(client, name, partial(opened, AUTH), clock)


class DynamoClientStore:
    """The port ClientStore."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, client_id: str) -> Client | None:
        item = self._table.get({"pk": keys.client(client_id)})
        return _client(item) if item else None

    def save(self, client: Client) -> None:
        self._table.apply(put(_client_item(client)))


class DynamoTransactionStore:
    """The port TransactionStore."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, transaction: Transaction) -> None:
        self._table.apply(put(_transaction_item(transaction)))

    def get(self, key: str) -> Transaction | None:
        item = self._table.get({"pk": keys.transaction(key)})
        return _transaction(item) if item and "taken_by" not in item else None

    def take(self, key: str, *, request_id: str) -> bool:
        return _is_first(self._table, keys.transaction(key), "taken_by", request_id)


class DynamoCodeStore:
    """The port CodeStore."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, code: AuthorizationCode) -> None:
        self._table.apply(put(_code_item(code)))

    def get(self, key: str) -> AuthorizationCode | None:
        item = self._table.get({"pk": keys.code(key)})
        return _code(item) if item else None

    def use(self, key: str, *, request_id: str) -> bool:
        return _is_first(self._table, keys.code(key), "used_by", request_id)

    def forget(self, account_id: AccountId) -> None:
        _forget(self._table, account_id, keys.code(""))


class DynamoGrantStore:
    """The port GrantStore. An ended grant leaves an item behind that has nothing but its id."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def get(self, grant_id: str) -> Grant | None:
        item = self._table.get({"pk": keys.grant(grant_id)})
        return _grant(item) if item and "version" in item else None

    def add(self, grant: Grant) -> bool:
        return self._put(put(_grant_item(grant), "attribute_not_exists(pk)"), grant)

    def replace(self, grant: Grant) -> bool:
        before = grant.version - 1
        return self._put(put(_grant_item(grant), "version = :before", before=before), grant)

    def end(self, grant_id: str) -> None:
        forgotten = seconds(self._clock.now() + ENDED_IS_KEPT)
        self._table.apply(put({"pk": keys.grant(grant_id), "expires_at": forgotten}))

    def of_account(self, account_id: AccountId) -> Sequence[Grant]:
        found = _of_account(self._table, account_id, keys.grant(""))
        return sorted(map(_grant, found), key=lambda grant: grant.created_at)

    def _put(self, write: Write, grant: Grant) -> bool:
        try:
            self._table.apply(write)
        except ConditionFailed as failed:
            stored = failed.item.get("version"), failed.item.get("written_by")
            return stored == (grant.version, grant.written_by)  # our own, whose answer was lost
        return True


class DynamoVisitStore:
    """The port VisitStore."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, visit: Visit) -> None:
        item = {
            "pk": keys.visit(visit.key),
            "id": visit.key,
            "account_id": visit.account_id,
            "link": visit.link,
            "ends": stamp(visit.expires_at),
            "expires_at": seconds(visit.expires_at),
        }
        self._table.apply(put(item))

    def get(self, key: str) -> Visit | None:
        item = self._table.get({"pk": keys.visit(key)})
        if item is None:
            return None
        account_id = AccountId(item["account_id"])
        return Visit(item["id"], account_id, moment(item["ends"]), item["link"])

    def end(self, key: str) -> None:
        self._table.apply(delete({"pk": keys.visit(key)}))

    def forget(self, account_id: AccountId) -> None:
        _forget(self._table, account_id, keys.visit(""))


def _of_account(table: Table, account_id: AccountId, kind: str) -> Iterator[Item]:
    """The items of an account whose keys begin with `kind`."""
    found = table.query("account_id = :account", index=keys.OF_ACCOUNT, account=account_id)
    return (item for item in found if item["pk"].startswith(kind))


def _forget(table: Table, account_id: AccountId, kind: str) -> None:
    for item in _of_account(table, account_id, kind):
        table.apply(delete({"pk": item["pk"]}))


def _is_first(table: Table, pk: str, mark: str, request_id: str) -> bool:
    """Put the mark on an item that has none. True if it is ours."""
    try:
        table.apply(
            update(
                {"pk": pk},
                f"SET {mark} = :request_id",
                f"attribute_exists(pk) AND (attribute_not_exists({mark}) OR {mark} = :request_id)",
                request_id=request_id,
            )
        )
    except ConditionFailed:
        return False
    return True


def _client_item(client: Client) -> Item:
    item: dict[str, Any] = {
        "pk": keys.client(client.id),
        "client_id": client.id,
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "origin": client.origin.value,
        "auth_method": client.auth_method.value,
        "secret_hash": client.secret_hash,
        "ends": client.expires_at and stamp(client.expires_at),
        "fresh_until": client.fresh_until and stamp(client.fresh_until),
    }
    return item | ({"expires_at": seconds(client.expires_at)} if client.expires_at else {})


def _client(item: Item) -> Client:
    return Client(
        id=item["client_id"],
        name=item["client_name"],
        redirect_uris=tuple(item["redirect_uris"]),
        origin=Origin(item["origin"]),
        auth_method=AuthMethod(item["auth_method"]),
        secret_hash=item["secret_hash"],
        expires_at=item["ends"] and moment(item["ends"]),
        fresh_until=item["fresh_until"] and moment(item["fresh_until"]),
    )


def _request_map(request: AuthorizationRequest) -> Item:
    return {
        "client_id": request.client_id,
        "redirect_uri": request.redirect_uri,
        "state": request.state,
        "challenge": request.challenge,
        "resource": request.resource,
        "scopes": sorted(request.scopes),
        "workspaces": list(request.workspaces),
    }


def _request(item: Item) -> AuthorizationRequest:
    return AuthorizationRequest(
        **{**item, "scopes": frozenset(item["scopes"]), "workspaces": tuple(item["workspaces"])}
    )


def _transaction_item(transaction: Transaction) -> Item:
    return {
        "pk": keys.transaction(transaction.key),
        "id": transaction.key,
        "step": transaction.step.value,
        "browser": transaction.browser,
        "asked": transaction.request and _request_map(transaction.request),
        "ends": stamp(transaction.expires_at),
        "expires_at": seconds(transaction.expires_at),
    }


def _transaction(item: Item) -> Transaction:
    return Transaction(
        key=item["id"],
        step=Step(item["step"]),
        browser=item["browser"],
        request=item["asked"] and _request(item["asked"]),
        expires_at=moment(item["ends"]),
    )


def _code_item(code: AuthorizationCode) -> Item:
    item: dict[str, Any] = {
        "pk": keys.code(code.key),
        "id": code.key,
        "grant_id": code.grant_id,
        "account_id": code.account_id,
        "asked": _request_map(code.request),
        "ends": stamp(code.expires_at),
        "forget_at": stamp(code.forget_at),
        "expires_at": seconds(code.forget_at),
        "link": code.link,
    }
    return item | ({"used_by": code.used_by} if code.used_by is not None else {})


def _code(item: Item) -> AuthorizationCode:
    return AuthorizationCode(
        key=item["id"],
        grant_id=item["grant_id"],
        account_id=AccountId(item["account_id"]),
        request=_request(item["asked"]),
        expires_at=moment(item["ends"]),
        forget_at=moment(item["forget_at"]),
        used_by=item.get("used_by"),
        link=item["link"],
    )


def _grant_item(grant: Grant) -> Item:
    """Hashes are kept in lists, for a map of DynamoDB has no order."""
    return {
        "pk": keys.grant(grant.id),
        "id": grant.id,
        "account_id": grant.account_id,
        "client_id": grant.client_id,
        "resource": grant.resource,
        "scopes": sorted(grant.scopes),
        "access": [[token, stamp(ends)] for token, ends in grant.access.items()],
        "refresh": [[token, used and stamp(used)] for token, used in grant.refresh.items()],
        "created_at": stamp(grant.created_at),
        "ends": stamp(grant.expires_at),
        "expires_at": seconds(grant.expires_at),
        "version": grant.version,
        "written_by": grant.written_by,
        "workspaces": list(grant.workspaces),
        "link": grant.link,
    }


def _grant(item: Item) -> Grant:
    return Grant(
        id=item["id"],
        account_id=AccountId(item["account_id"]),
        client_id=item["client_id"],
        resource=item["resource"],
        scopes=frozenset(item["scopes"]),
        access={token: moment(ends) for token, ends in item["access"]},
        refresh={token: used and moment(used) for token, used in item["refresh"]},
        created_at=moment(item["created_at"]),
        expires_at=moment(item["ends"]),
        version=item["version"],
        written_by=item["written_by"],
        workspaces=tuple(item.get("workspaces", ())),
        link=item.get("link", 0),
    )
