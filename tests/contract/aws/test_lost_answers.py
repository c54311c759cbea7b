"""A write whose answer got lost is sent again, and is not taken for somebody else's."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.oauth import (
    DynamoCodeStore,
    DynamoGrantStore,
    DynamoTransactionStore,
    auth_table,
)
from memorybox.adapters.aws.packs import PackCache, S3PackStore
from memorybox.adapters.aws.table import Table
from memorybox.clock import SystemClock
from memorybox.files.commands import Attempt, Command, Finished, Fresh
from memorybox.search.budget import BudgetSpent, Spending
from memorybox.search.model import Entry, PackPointer, PackRef
from memorybox.search.pack import build_pack
from tests.contract.aws.world import (
    ACCOUNT_CAP,
    CURSOR,
    NOTHING_YET,
    RECIPE,
    RequestOf,
    indexed,
    seen,
)
from tests.contract.test_oauth_stores import a_code, a_grant, a_transaction
from tests.wire import lost_answer

PATH = "/garden/plan.md"


@pytest.fixture
def auth(clients: Clients) -> Table:
    return auth_table(clients.dynamodb, aws.AUTH_TABLE, SystemClock())


def test_a_lease_is_had_after_all(clients: Clients, request_of: RequestOf) -> None:
    with lost_answer(clients.dynamodb, "UpdateItem"), request_of().leases.writer():
        pass


def test_a_claim_is_had_after_all(clients: Clients, request_of: RequestOf) -> None:
    request = request_of()
    with lost_answer(clients.dynamodb, "UpdateItem"):
        entry = request.claim(PATH)

    request.index.store(entry, indexed(1))


def test_sightings_are_recorded_once(clients: Clients, request_of: RequestOf) -> None:
    request = request_of()
    with lost_answer(clients.dynamodb, "TransactWriteItems"):
        recorded = request.index.record([seen(PATH)], seen_at=NOTHING_YET, then=CURSOR)

    assert request.index.load().cursor == recorded


def test_a_result_is_stored_and_its_spending_settled_once(
    clients: Clients, request_of: RequestOf
) -> None:
    request = request_of()
    request.index.record([seen(PATH)], seen_at=NOTHING_YET, then=CURSOR)
    spending = Spending(request.budget.reserve(ACCOUNT_CAP), used=ACCOUNT_CAP - 1)

    with lost_answer(clients.dynamodb, "TransactWriteItems"):
        request.index.store(request.claim(PATH), indexed(1), spending=spending)

    request.budget.reserve(1)
    with pytest.raises(BudgetSpent):
        request.budget.reserve(1)


def test_tokens_are_reserved_once(clients: Clients, request_of: RequestOf) -> None:
    budget = request_of().budget
    with lost_answer(clients.dynamodb, "TransactWriteItems"):
        budget.reserve(ACCOUNT_CAP // 2)

    budget.reserve(ACCOUNT_CAP // 2)


def test_a_pack_is_pointed_to(clients: Clients, request_of: RequestOf) -> None:
    index = request_of().index
    first = PackPointer("garden", 1, (PackRef(1, "key 1", 1_234),))
    with lost_answer(clients.dynamodb, "PutItem"):
        assert index.point(first)

    assert not index.point(replace(first, packs=(PackRef(1, "key of another", 1_234),)))


def test_a_pack_is_added(clients: Clients, account: AccountId, tmp_path: Path) -> None:
    cache = PackCache(tmp_path, memory_bytes=0, folder_bytes=0)
    packs = S3PackStore(clients.s3, aws.BUCKET, account, cache)

    data = build_pack(RECIPE, [Entry(seen(PATH))])

    with lost_answer(clients.s3, "PutObject"):
        key = packs.add("garden", 1, data)

    [pack] = packs.open([PackRef(1, key, len(data))])
    assert pack.table.paths[0] == PATH


def test_a_command_is_begun_and_finished(clients: Clients, request_of: RequestOf) -> None:
    commands, command = request_of().commands, Command("append", "1", "fingerprint")
    with lost_answer(clients.dynamodb, "PutItem"):
        assert commands.begin(command) == Fresh()
    with lost_answer(clients.dynamodb, "UpdateItem"):
        commands.attempting(command, Attempt("hash", None))
    with lost_answer(clients.dynamodb, "UpdateItem"):
        commands.finish(command, "Saved.")

    assert request_of().commands.begin(command) == Finished("Saved.")


def test_a_transaction_and_a_code_are_taken(clients: Clients, auth: Table) -> None:
    transactions, codes = DynamoTransactionStore(auth), DynamoCodeStore(auth)
    transaction, code = a_transaction(), a_code()
    transactions.add(transaction)
    codes.add(code)

    with lost_answer(clients.dynamodb, "UpdateItem"):
        assert transactions.take(transaction.key, request_id="1")
    with lost_answer(clients.dynamodb, "UpdateItem"):
        assert codes.use(code.key, request_id="1")


def test_a_grant_is_added_and_replaced(clients: Clients, auth: Table, account: AccountId) -> None:
    grants, grant = DynamoGrantStore(auth, SystemClock()), a_grant(account)
    later = datetime.now(UTC) + timedelta(days=1)
    second = replace(grant, version=2, written_by="request 2", expires_at=later)

    with lost_answer(clients.dynamodb, "PutItem"):
        assert grants.add(grant)
    with lost_answer(clients.dynamodb, "PutItem"):
        assert grants.replace(second)

    assert grants.get(grant.id) == second
