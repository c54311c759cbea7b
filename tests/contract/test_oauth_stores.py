"""What the four stores of the authorization server promise: in memory and on DynamoDB."""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.oauth import (
    DynamoClientStore,
    DynamoCodeStore,
    DynamoGrantStore,
    DynamoTransactionStore,
    DynamoVisitStore,
    auth_table,
)
from memorybox.clock import SystemClock
from memorybox.oauth.model import (
    ALL_SCOPES,
    READ,
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
from memorybox.oauth.store import (
    ClientStore,
    CodeStore,
    GrantStore,
    TransactionStore,
    VisitStore,
)
from tests.fakes.oauth import (
    InMemoryClientStore,
    InMemoryCodeStore,
    InMemoryGrantStore,
    InMemoryTransactionStore,
    InMemoryVisitStore,
)

NOW = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
ALICE = AccountId("dbid:alice")

REQUEST = AuthorizationRequest(
    client_id="https://client.example/metadata.json",
    redirect_uri="http://127.0.0.1:33418/callback",
    state=None,
    challenge="challenge",
    resource="https://box.example/mcp",
    scopes=frozenset({READ}),
    workspaces=("garden", "Café"),
)


@dataclass(frozen=True)
class Stores:
    clients: ClientStore
    transactions: TransactionStore
    codes: CodeStore
    grants: GrantStore
    visits: VisitStore


@pytest.fixture(params=["memory", "dynamodb"])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "memory":
        return Stores(
            InMemoryClientStore(),
            InMemoryTransactionStore(),
            InMemoryCodeStore(),
            InMemoryGrantStore(),
            InMemoryVisitStore(),
        )
    clients: Clients = request.getfixturevalue("clients")
    clock = SystemClock()
    table = auth_table(clients.dynamodb, aws.AUTH_TABLE, clock)
    return Stores(
        DynamoClientStore(table),
        DynamoTransactionStore(table),
        DynamoCodeStore(table),
        DynamoGrantStore(table, clock),
        DynamoVisitStore(table),
    )


def a_client(client_id: str) -> Client:
    return Client(client_id, "Client ☃", ("https://client.example/cb",), Origin.REGISTERED)


def a_transaction() -> Transaction:
    expires_at = NOW + timedelta(minutes=10)
    return Transaction(secrets.token_hex(), Step.CONSENT, "browser", REQUEST, expires_at)


def a_code(account: AccountId = ALICE) -> AuthorizationCode:
    return AuthorizationCode(
        key=secrets.token_hex(),
        grant_id=secrets.token_hex(),
        account_id=account,
        link=3,
        request=replace(REQUEST, state="state ☃", scopes=ALL_SCOPES),
        expires_at=NOW + timedelta(minutes=1),
        forget_at=NOW + timedelta(days=1),
    )


def a_grant(account: AccountId) -> Grant:
    return Grant(
        id=secrets.token_hex(),
        account_id=account,
        client_id=REQUEST.client_id,
        resource=REQUEST.resource,
        scopes=ALL_SCOPES,
        access={"z": NOW, "a": NOW + timedelta(hours=8)},
        refresh={"y": NOW, "b": None},
        created_at=NOW,
        expires_at=NOW + timedelta(days=90),
        version=1,
        written_by="request 1",
        link=3,
    )


def winners(attempt: Callable[[int], bool]) -> int:
    """How many of twelve attempts at once succeed."""
    with ThreadPoolExecutor(12) as attempts:
        return list(attempts.map(attempt, range(12))).count(True)


def test_a_client_comes_back_as_it_was_saved(stores: Stores) -> None:
    name = secrets.token_hex()
    full = Client(
        id=name,
        name="Client",
        redirect_uris=("https://a.example/cb", "http://localhost/cb"),
        origin=Origin.DOCUMENT,
        auth_method=AuthMethod.BASIC,
        secret_hash="hash",
        expires_at=NOW + timedelta(days=30),
        fresh_until=NOW + timedelta(hours=1),
    )
    bare = a_client(f"{name}/bare")
    stores.clients.save(full)
    stores.clients.save(bare)

    assert stores.clients.get(full.id) == full
    assert stores.clients.get(bare.id) == bare
    assert stores.clients.get(f"{name}/unknown") is None


def test_a_saved_client_takes_the_place_of_the_one_before(stores: Stores) -> None:
    before = a_client(secrets.token_hex())
    stores.clients.save(replace(before, expires_at=NOW, secret_hash="hash"))
    stores.clients.save(before)

    assert stores.clients.get(before.id) == before


def test_the_id_of_a_client_may_be_a_url_of_2048_characters(stores: Stores) -> None:
    long = f"https://client.example/{secrets.token_hex()}".ljust(2_048, "x")
    client, neighbour = a_client(long), a_client(f"{long[:-1]}y")
    stores.clients.save(client)
    stores.clients.save(neighbour)

    assert stores.clients.get(long) == client


def test_a_transaction_is_there_until_it_is_taken(stores: Stores) -> None:
    transaction = a_transaction()
    stores.transactions.add(transaction)

    assert stores.transactions.get(transaction.key) == transaction
    assert stores.transactions.take(transaction.key, request_id="first")
    assert stores.transactions.get(transaction.key) is None
    assert not stores.transactions.take(transaction.key, request_id="second")


def test_whoever_took_a_transaction_hears_so_again(stores: Stores) -> None:
    transaction = a_transaction()
    stores.transactions.add(transaction)

    assert stores.transactions.take(transaction.key, request_id="first")
    assert stores.transactions.take(transaction.key, request_id="first")


def test_a_missing_transaction_cannot_be_taken(stores: Stores) -> None:
    key = secrets.token_hex()

    assert not stores.transactions.take(key, request_id="first")
    assert stores.transactions.get(key) is None
    assert not stores.transactions.take(key, request_id="first")


def test_only_one_of_many_requests_takes_a_transaction(stores: Stores) -> None:
    transaction = a_transaction()
    stores.transactions.add(transaction)

    assert winners(lambda n: stores.transactions.take(transaction.key, request_id=str(n))) == 1


def test_a_code_says_who_used_it(stores: Stores) -> None:
    code = a_code()
    stores.codes.add(code)

    assert stores.codes.get(code.key) == code
    assert stores.codes.use(code.key, request_id="first")
    assert not stores.codes.use(code.key, request_id="second")
    assert stores.codes.use(code.key, request_id="first")
    assert stores.codes.get(code.key) == replace(code, used_by="first")


def test_a_missing_code_cannot_be_used(stores: Stores) -> None:
    key = secrets.token_hex()

    assert not stores.codes.use(key, request_id="first")
    assert stores.codes.get(key) is None


def test_only_one_of_many_requests_uses_a_code(stores: Stores) -> None:
    code = a_code()
    stores.codes.add(code)

    assert winners(lambda n: stores.codes.use(code.key, request_id=str(n))) == 1


def test_a_grant_comes_back_as_it_was_with_its_tokens_in_order(
    stores: Stores, account: AccountId
) -> None:
    grant = a_grant(account)

    assert stores.grants.add(grant)

    stored = stores.grants.get(grant.id)
    assert stored == grant
    assert (list(stored.access), list(stored.refresh)) == (["z", "a"], ["y", "b"])


def test_a_grant_that_was_added_by_another_request_is_not_overwritten(
    stores: Stores, account: AccountId
) -> None:
    grant = a_grant(account)
    stores.grants.add(grant)

    assert not stores.grants.add(replace(grant, written_by="request 2"))
    assert stores.grants.add(grant)  # the answer was lost, and the same request adds it again
    assert stores.grants.get(grant.id) == grant


def test_a_grant_is_replaced_by_its_next_version_only(stores: Stores, account: AccountId) -> None:
    grant = a_grant(account)
    stores.grants.add(grant)
    second = replace(grant, version=2, written_by="request 2", refresh={"b": NOW, "c": None})

    assert not stores.grants.replace(replace(second, version=3))
    assert stores.grants.get(grant.id) == grant
    assert stores.grants.replace(second)
    assert stores.grants.get(grant.id) == second
    assert not stores.grants.replace(replace(second, written_by="request 3"))
    assert stores.grants.get(grant.id) == second


def test_whoever_replaced_a_grant_hears_so_again(stores: Stores, account: AccountId) -> None:
    grant = a_grant(account)
    stores.grants.add(grant)
    second = replace(grant, version=2, written_by="request 2")

    assert stores.grants.replace(second)
    assert stores.grants.replace(second)


def test_only_one_of_many_requests_replaces_a_version(stores: Stores, account: AccountId) -> None:
    grant = a_grant(account)
    stores.grants.add(grant)

    def replaces(number: int) -> bool:
        return stores.grants.replace(replace(grant, version=2, written_by=str(number)))

    assert winners(replaces) == 1


def test_an_ended_grant_is_gone_and_stays_gone(stores: Stores, account: AccountId) -> None:
    grant = a_grant(account)
    stores.grants.add(grant)

    stores.grants.end(grant.id)
    stores.grants.end(grant.id)

    assert stores.grants.get(grant.id) is None
    assert not stores.grants.replace(replace(grant, version=2))
    assert not stores.grants.add(grant)
    assert stores.grants.get(grant.id) is None
    assert list(stores.grants.of_account(account)) == []


def test_a_grant_that_was_ended_before_it_came_is_not_added(
    stores: Stores, account: AccountId
) -> None:
    grant = a_grant(account)
    stores.grants.end(grant.id)

    assert not stores.grants.add(grant)
    assert stores.grants.get(grant.id) is None


def test_the_grants_of_an_account_are_listed_oldest_first(
    stores: Stores, account: AccountId
) -> None:
    newer = a_grant(account)
    older = replace(a_grant(account), created_at=NOW - timedelta(days=1))
    for grant in (newer, older, a_grant(AccountId(f"{account}1"))):
        stores.grants.add(grant)

    assert list(stores.grants.of_account(account)) == [older, newer]
    assert list(stores.grants.of_account(AccountId(f"{account}2"))) == []


def test_a_sign_in_for_no_client_is_kept_too(stores: Stores) -> None:
    key = secrets.token_hex(32)
    transaction = Transaction(key, Step.DROPBOX, "browser", None, NOW)
    stores.transactions.add(transaction)

    assert stores.transactions.get(key) == transaction


def test_a_visit_is_there_until_it_ends(stores: Stores) -> None:
    visit = Visit(secrets.token_hex(32), ALICE, NOW, 3)
    stores.visits.add(visit)
    there = stores.visits.get(visit.key)

    for _ in range(2):
        stores.visits.end(visit.key)

    assert (there, stores.visits.get(visit.key)) == (visit, None)


def test_codes_and_visits_of_an_account_are_forgotten_and_no_others(
    stores: Stores, account: AccountId
) -> None:
    other = AccountId(f"{account}2")
    codes = [a_code(account), a_code(account), a_code(other)]
    visits = [Visit(secrets.token_hex(32), one, NOW, 3) for one in (account, account, other)]
    grant = a_grant(account)
    for code, visit in zip(codes, visits, strict=True):
        stores.codes.add(code)
        stores.visits.add(visit)
    stores.grants.add(grant)

    stores.codes.forget(account)
    kept = [stores.visits.get(visit.key) for visit in visits]
    stores.visits.forget(account)

    assert [stores.codes.get(code.key) for code in codes] == [None, None, codes[2]]
    assert kept == visits
    assert [stores.visits.get(visit.key) for visit in visits] == [None, None, visits[2]]
    assert list(stores.grants.of_account(account)) == [grant]
