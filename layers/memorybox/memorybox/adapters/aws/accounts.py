"""The account records on DynamoDB."""

from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from memorybox.accounts.model import Account, AccountId, SealedAccess, SignedIn
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.guard import acting_for
from memorybox.adapters.aws.table import ConditionFailed, Table, Write, update
from memorybox.adapters.aws.values import Item, moment, stamp
from memorybox.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoAccounts:
    """The port Accounts. An item without `link` is of an account that never signed in."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._name = table
        self._clock = clock

    def get(self, account_id: AccountId) -> Account | None:
        item = self._table(account_id).get(_key(account_id))
        return _account(account_id, item) if item and "link" in item else None

    def link(self, signed_in: SignedIn) -> Account:
        change = (
            "SET link = if_not_exists(link, :now) + :one,"
            " began = if_not_exists(began, if_not_exists(link, :now)), person = :name,"
            " term_key = if_not_exists(term_key, :term_key), access_token = :access"
        )
        values = {
            "now": stamp(self._clock.now()),
            "one": 1,
            "name": signed_in.name,
            "term_key": signed_in.term_key,
            "access": _access_map(signed_in.access),
        }
        if signed_in.refresh_token is not None:
            change += ", refresh_token = :refresh_token REMOVE unlinked_at"
            values["refresh_token"] = signed_in.refresh_token
        account_id = signed_in.account_id
        item = self._table(account_id).apply(update(_key(account_id), change, **values))
        return _account(account_id, item)

    def keep_access(self, account: Account, access: SealedAccess) -> None:
        self._change(
            account,
            update(
                _key(account.id),
                "SET access_token = :access",
                "link = :link AND attribute_exists(refresh_token)",
                access=_access_map(access),
                link=account.link,
            ),
        )

    def unlink(self, account: Account, *, at: datetime) -> None:
        self._change(
            account,
            update(
                _key(account.id),
                "SET unlinked_at = if_not_exists(unlinked_at, :at)"
                " REMOVE refresh_token, access_token",
                "link = :link",
                at=stamp(at),
                link=account.link,
            ),
        )

    def _change(self, account: Account, write: Write) -> None:
        with suppress(ConditionFailed):  # signed in anew: what was learnt before is of no use
            self._table(account.id).apply(write)

    def _table(self, account_id: AccountId) -> Table:
        return Table(self._client, self._name, partial(acting_for, account_id), self._clock)


def _key(account_id: AccountId) -> Item:
    return {"pk": keys.of_account(account_id), "sk": keys.ACCOUNT}


def _access_map(access: SealedAccess) -> Item:
    return {"sealed": access.sealed, "ends": stamp(access.expires_at)}


def _account(account_id: AccountId, item: Item) -> Account:
    access = item.get("access_token")
    return Account(
        id=account_id,
        name=item["person"],
        link=item["link"],
        term_key=item["term_key"],
        refresh_token=item.get("refresh_token"),
        access=SealedAccess(access["sealed"], moment(access["ends"])) if access else None,
        unlinked_at=moment(item["unlinked_at"]) if "unlinked_at" in item else None,
        began=item.get("began", 0),
    )
