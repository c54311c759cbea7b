"""What every implementation of Accounts promises: in memory and on DynamoDB."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import boto3
import pytest

from local import aws
from memorybox.accounts.model import Account, AccountId, SealedAccess, SignedIn
from memorybox.accounts.ports import Accounts
from memorybox.adapters.aws.accounts import DynamoAccounts
from memorybox.adapters.aws.budget import DynamoBudget
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.index import DynamoIndexStore
from memorybox.adapters.aws.session import Session
from memorybox.clock import SystemClock
from memorybox.deadline import Deadline
from memorybox.files.model import Cursor
from memorybox.search.store import StoredCursor
from tests.fakes.accounts import InMemoryAccounts

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ACCESS = SealedAccess(b"\x00sealed access\xff", datetime(2026, 11, 30, 16, tzinfo=UTC))
FRESHER = SealedAccess(b"fresher", datetime(2026, 11, 30, 20, tzinfo=UTC))


@pytest.fixture(params=["memory", "dynamodb"])
def accounts(request: pytest.FixtureRequest) -> Accounts:
    if request.param == "memory":
        return InMemoryAccounts()
    clients: Clients = request.getfixturevalue("clients")
    return DynamoAccounts(clients.dynamodb, aws.MEMORY_TABLE, SystemClock())


@pytest.fixture
def signed_in(account: AccountId) -> SignedIn:
    return SignedIn(account, "Alice ☃", b"sealed refresh", ACCESS, term_key=b"key of 16 bytes!")


def test_a_stranger_has_no_record(accounts: Accounts, account: AccountId) -> None:
    assert accounts.get(account) is None


def test_a_sign_in_is_stored_as_it_is(accounts: Accounts, signed_in: SignedIn) -> None:
    linked = accounts.link(signed_in)

    assert linked == Account(
        id=signed_in.account_id,
        name="Alice ☃",
        link=linked.link,
        term_key=b"key of 16 bytes!",
        refresh_token=b"sealed refresh",
        access=ACCESS,
        began=linked.began,
    )
    assert linked.saw(linked.link)
    assert accounts.get(signed_in.account_id) == linked


def test_a_second_sign_in_renews_all_but_the_term_key(
    accounts: Accounts, signed_in: SignedIn
) -> None:
    first = accounts.link(signed_in)

    second = accounts.link(SignedIn(first.id, "Alicia", b"new", FRESHER, term_key=b"another key"))

    assert second.link > first.link
    assert second.saw(first.link)
    assert second == replace(
        first, name="Alicia", link=second.link, refresh_token=b"new", access=FRESHER
    )


def test_a_sign_in_without_a_refresh_token_keeps_the_one_there_is(
    accounts: Accounts, signed_in: SignedIn
) -> None:
    accounts.link(signed_in)

    assert accounts.link(replace(signed_in, refresh_token=None)).refresh_token == b"sealed refresh"


def test_a_fresh_access_token_is_kept(accounts: Accounts, signed_in: SignedIn) -> None:
    linked = accounts.link(signed_in)

    accounts.keep_access(linked, FRESHER)

    assert accounts.get(linked.id) == replace(linked, access=FRESHER)


def _unlinked(account: Account) -> Account:
    return replace(account, refresh_token=None, access=None, unlinked_at=NOON)


@pytest.mark.requirement("D6")
def test_an_account_is_unlinked_since_the_first_time_and_until_it_is_linked_again(
    accounts: Accounts, signed_in: SignedIn
) -> None:
    linked = accounts.link(signed_in)
    for days in range(3):
        accounts.unlink(linked, at=NOON + timedelta(days=days))
    unlinked = accounts.get(linked.id)
    accounts.link(replace(signed_in, refresh_token=None))
    without_token = accounts.get(linked.id)

    again = accounts.link(signed_in)

    assert unlinked == _unlinked(linked)
    assert without_token is not None
    assert without_token.unlinked_at == NOON
    assert again.unlinked_at is None


def test_an_unlinked_account_keeps_its_name_and_term_key(
    accounts: Accounts, signed_in: SignedIn
) -> None:
    linked = accounts.link(signed_in)

    accounts.unlink(linked, at=NOON)

    assert accounts.get(linked.id) == _unlinked(linked)


def test_no_access_token_is_kept_for_an_unlinked_account(
    accounts: Accounts, signed_in: SignedIn
) -> None:
    linked = accounts.link(signed_in)
    accounts.unlink(linked, at=NOON)

    accounts.keep_access(linked, FRESHER)

    assert accounts.get(linked.id) == _unlinked(linked)


def test_what_was_learnt_under_one_link_does_not_change_a_later_one(
    accounts: Accounts, signed_in: SignedIn
) -> None:
    before = accounts.link(signed_in)
    now = accounts.link(signed_in)

    accounts.keep_access(before, FRESHER)
    accounts.unlink(before, at=NOON)

    assert accounts.get(now.id) == now


def test_nothing_is_stored_for_an_account_that_never_signed_in(
    accounts: Accounts, account: AccountId
) -> None:
    stranger = Account(account, "", 1, b"", None, None)

    accounts.keep_access(stranger, FRESHER)
    accounts.unlink(stranger, at=NOON)

    assert accounts.get(account) is None


def test_what_others_store_of_an_account_makes_no_record(
    clients: Clients, account: AccountId
) -> None:
    clock = SystemClock()
    session = Session(clients.dynamodb, aws.MEMORY_TABLE, account, Deadline.after(25, clock))
    budget = DynamoBudget(session, account_cap=1, deployment_cap=1)
    DynamoIndexStore(session, budget).record(
        [], seen_at=StoredCursor(None, 0), then=Cursor("cursor")
    )

    assert DynamoAccounts(clients.dynamodb, aws.MEMORY_TABLE, clock).get(account) is None


def test_a_record_that_is_made_anew_saw_no_sign_in_to_the_one_that_was_deleted(
    cloud: aws.Aws, clients: Clients, signed_in: SignedIn
) -> None:
    accounts = DynamoAccounts(clients.dynamodb, aws.MEMORY_TABLE, SystemClock())
    before = [accounts.link(signed_in), accounts.link(signed_in)]
    boto3.client("dynamodb", **cloud.connection).delete_item(
        TableName=aws.MEMORY_TABLE,
        Key={"pk": {"S": f"A#{signed_in.account_id}"}, "sk": {"S": "account"}},
    )

    now = accounts.link(signed_in)

    assert [now.saw(old.link) for old in before] == [False, False]
    assert now.saw(now.link)


def test_a_record_from_before_links_were_counted_from_a_moment_goes_on(
    cloud: aws.Aws, clients: Clients, signed_in: SignedIn
) -> None:
    accounts = DynamoAccounts(clients.dynamodb, aws.MEMORY_TABLE, SystemClock())
    accounts.link(signed_in)
    boto3.client("dynamodb", **cloud.connection).update_item(
        TableName=aws.MEMORY_TABLE,
        Key={"pk": {"S": f"A#{signed_in.account_id}"}, "sk": {"S": "account"}},
        UpdateExpression="SET link = :five REMOVE began",
        ExpressionAttributeValues={":five": {"N": "5"}},
    )
    old = accounts.get(signed_in.account_id)

    now = accounts.link(signed_in)

    assert old
    assert old.saw(old.link)
    assert (now.link, now.saw(now.link)) == (6, True)
