"""No call reaches an item or object of another account, and none goes over a whole table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.guard import DEPLOYMENT, ForeignKey, acting_for, opened
from memorybox.adapters.aws.packs import PackCache, S3PackStore
from memorybox.search.model import Entry, PackRef
from memorybox.search.pack import build_pack
from tests.contract.aws.world import CURSOR, NOTHING_YET, RECIPE, RequestOf, seen
from tests.wire import requests_of

ALICE = AccountId("dbid:1")
BOB = AccountId("dbid:11")  # begins like hers

Params = Callable[[str], dict[str, Any]]
"""The parameters of an operation on one partition key."""


def memory(pk: str) -> dict[str, Any]:
    return {"TableName": aws.MEMORY_TABLE, "Key": {"pk": {"S": pk}, "sk": {"S": "account"}}}


def query(pk: str, condition: str = "pk = :pk") -> dict[str, Any]:
    return {
        "TableName": aws.MEMORY_TABLE,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": {":pk": {"S": pk}},
    }


def item(pk: str) -> dict[str, Any]:
    return {"TableName": aws.MEMORY_TABLE, "Item": memory(pk)["Key"]}


def update(pk: str) -> dict[str, Any]:
    return memory(pk) | {"UpdateExpression": "REMOVE person"}


def check(pk: str) -> dict[str, Any]:
    return memory(pk) | {"ConditionExpression": "attribute_not_exists(person)"}


def after_an_own_one(action: str, write: Params) -> Params:
    own = {"TableName": aws.MEMORY_TABLE, "Key": {"pk": {"S": "A#dbid:1"}, "sk": {"S": "cursor"}}}
    return lambda pk: {"TransactItems": [{"Delete": own}, {action: write(pk)}]}


DYNAMODB: list[tuple[str, Params]] = [
    ("get_item", memory),
    ("delete_item", memory),
    ("update_item", memory),
    ("put_item", item),
    ("query", query),
    ("transact_get_items", lambda pk: {"TransactItems": [{"Get": memory(pk)}]}),
    ("transact_write_items", after_an_own_one("Put", item)),
    ("transact_write_items", after_an_own_one("Delete", memory)),
    ("transact_write_items", after_an_own_one("Update", update)),
    ("transact_write_items", after_an_own_one("ConditionCheck", check)),
]


@pytest.mark.requirement("M2")
@pytest.mark.promise("P-210")
@pytest.mark.parametrize(("operation", "params"), DYNAMODB)
@pytest.mark.parametrize(
    "foreign",
    ["A#dbid:11", "A#", "a#dbid:1", "DEPLOY#0", "DIR#0", "SPENT#", keys.spending_of(BOB), ""],
)
def test_a_foreign_key_is_refused_before_it_is_sent(
    clients: Clients, operation: str, params: Params, foreign: str
) -> None:
    call = getattr(clients.dynamodb, operation)

    with requests_of(clients.dynamodb) as sent, acting_for(ALICE):
        with pytest.raises(ForeignKey):
            call(**params(foreign))
        assert not sent

        call(**params("A#dbid:1"))
        assert sent.total() == 1


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(("operation", "params"), DYNAMODB)
def test_nothing_is_reached_without_an_account(
    clients: Clients, operation: str, params: Params
) -> None:
    with pytest.raises(ForeignKey):
        getattr(clients.dynamodb, operation)(**params("A#dbid:1"))


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("scan", {"TableName": aws.MEMORY_TABLE}),
        ("scan", {"TableName": aws.AUTH_TABLE}),
        ("execute_statement", {"Statement": 'SELECT * FROM "memorybox-memory"'}),
        ("query", query("A#dbid:1", "sk = :pk")),
        ("get_item", memory("A#dbid:1") | {"TableName": "another"}),
        ("get_item", {"TableName": aws.AUTH_TABLE, "Key": {"pk": {"S": "grant#1"}}}),
    ],
)
def test_scans_and_other_tables_are_refused(
    clients: Clients, operation: str, params: dict[str, Any]
) -> None:
    with acting_for(ALICE), opened(DEPLOYMENT), pytest.raises(ForeignKey):
        getattr(clients.dynamodb, operation)(**params)


@pytest.mark.requirement("M2")
@pytest.mark.promise("P-210")
@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("get_object", {"Key": "packs/dbid:11/garden/1-x"}),
        ("put_object", {"Key": "packs/dbid:11/garden/1-x", "Body": b""}),
        ("put_object", {"Key": "elsewhere", "Body": b""}),
        ("delete_object", {"Key": "packs/dbid:11/garden/1-x"}),
        ("list_objects_v2", {"Prefix": "packs/"}),
        ("list_objects_v2", {}),
        ("delete_objects", {"Delete": {"Objects": [{"Key": "packs/dbid:1/garden/1-x"}]}}),
        ("copy_object", {"Key": "packs/dbid:1/x", "CopySource": "bucket/packs/dbid:11/y"}),
    ],
)
def test_a_foreign_object_is_refused(
    clients: Clients, operation: str, params: dict[str, Any]
) -> None:
    with acting_for(ALICE), pytest.raises(ForeignKey):
        getattr(clients.s3, operation)(Bucket=aws.BUCKET, **params)


def test_objects_left_over_from_another_request_are_caught(request_of: RequestOf) -> None:
    left_over = request_of(ALICE)

    with acting_for(BOB):
        for call in (
            left_over.index.load,
            lambda: left_over.index.record([], seen_at=NOTHING_YET, then=CURSOR),
            lambda: left_over.budget.reserve(1),
            lambda: left_over.claim("/garden/plan.md"),
        ):
            with pytest.raises(ForeignKey):
                call()


def test_a_pack_of_another_account_is_refused_though_it_is_in_memory(
    clients: Clients, tmp_path: Path
) -> None:
    cache = PackCache(tmp_path, memory_bytes=10**6, folder_bytes=10**6)
    hers, his = (S3PackStore(clients.s3, aws.BUCKET, who, cache) for who in (ALICE, BOB))
    data = build_pack(RECIPE, [Entry(seen("/garden/plan.md"))])
    refs = [PackRef(1, hers.add("garden", 1, data), len(data))]
    hers.open(refs)

    with pytest.raises(ForeignKey):
        his.open(refs)


@pytest.mark.requirement("M2")
@pytest.mark.promise("P-210")
def test_a_warm_process_keeps_two_accounts_apart(request_of: RequestOf) -> None:
    for who in (ALICE, BOB, ALICE, BOB):
        index = request_of(who).index
        cursor = index.load().cursor
        index.record([seen(f"/garden/{who}.md")], seen_at=cursor, then=CURSOR)

    assert list(request_of(ALICE).index.load().tail) == ["/garden/dbid:1.md"]
    assert list(request_of(BOB).index.load().tail) == ["/garden/dbid:11.md"]
