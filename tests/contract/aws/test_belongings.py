"""Nothing under an account's name outlives its deletion, and nothing of others goes."""

import boto3
import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.accounts.ports import Removed
from memorybox.adapters.aws.belongings import AwsBelongings
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.directory import DynamoDirectory
from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.packs import PackCache, S3PackStore
from memorybox.clock import Clock, SystemClock
from memorybox.search.budget import BudgetSpent
from memorybox.search.pack import build_pack
from memorybox.search.store import CursorMoved
from tests.contract.aws.world import (
    ACCOUNT_CAP,
    CURSOR,
    NOTHING_YET,
    RECIPE,
    RequestOf,
    indexed,
    seen,
)
from tests.fakes.clock import FakeClock


def fill(request_of: RequestOf, clients: Clients, account: AccountId, cache: PackCache) -> None:
    """An account that has used everything, with entries in several pieces and a removed pack."""
    request = request_of(account)
    paths = [f"/garden/{number}.md" for number in range(150)]
    request.index.record([seen(path) for path in paths], seen_at=NOTHING_YET, then=CURSOR)
    request.index.store(request.claim(paths[0]), indexed(parts=400))
    request.budget.reserve(5)
    request.write("/garden/0.md")
    request.session.close()
    packs = S3PackStore(clients.s3, aws.BUCKET, account, cache)
    packs.add("garden", 1, bytes(build_pack(RECIPE, [])))
    packs.remove(packs.add("garden", 2, bytes(build_pack(RECIPE, []))))
    directory(clients).add(account)


def directory(clients: Clients) -> DynamoDirectory:
    return DynamoDirectory(clients.dynamodb, aws.MEMORY_TABLE, SystemClock())


def belongings(
    request_of: RequestOf, clients: Clients, account: AccountId, clock: Clock | None = None
) -> AwsBelongings:
    session = request_of(account, clock).session
    return AwsBelongings(session, directory(clients), clients.s3, aws.BUCKET)


def traces(cloud: aws.Aws, account: AccountId) -> int:
    """In how many records and versions of files the account's id stands."""
    dynamodb = boto3.client("dynamodb", **cloud.connection)
    s3 = boto3.client("s3", **cloud.connection)
    pages = dynamodb.get_paginator("scan").paginate(TableName=aws.MEMORY_TABLE)
    items = [item for page in pages for item in page["Items"]]
    listed = s3.list_object_versions(Bucket=aws.BUCKET, Prefix=f"packs/{account}/")
    versions = [*listed.get("Versions", []), *listed.get("DeleteMarkers", [])]
    return sum(f"{account}'" in str(item) for item in items) + len(versions)


@pytest.mark.requirement("D5")
def test_all_records_and_all_versions_of_all_files_go_and_only_those_of_the_account(
    request_of: RequestOf,
    clients: Clients,
    cloud: aws.Aws,
    account: AccountId,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    cache = PackCache(tmp_path_factory.mktemp("packs"), memory_bytes=10**6, folder_bytes=10**6)
    other = AccountId(f"{account}1")  # begins like the one that leaves
    for one in (account, other):
        fill(request_of, clients, one, cache)
    kept = traces(cloud, other)

    removed = belongings(request_of, clients, account).remove()
    again = belongings(request_of, clients, account).remove()

    assert removed.records > 150
    assert removed.files == 3  # a pack, one that was removed, and the mark of its removal
    assert again == Removed(records=0, files=0)
    assert traces(cloud, other) == kept
    assert traces(cloud, account) == 0
    assert account not in list(directory(clients).accounts())


def test_what_there_is_no_time_to_remove_goes_when_it_is_asked_for_again(
    request_of: RequestOf,
    clients: Clients,
    cloud: aws.Aws,
    account: AccountId,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    cache = PackCache(tmp_path_factory.mktemp("packs"), memory_bytes=10**6, folder_bytes=10**6)
    fill(request_of, clients, account, cache)
    clock = FakeClock()
    too_late = belongings(request_of, clients, account, clock)
    clock.sleep(30)

    with pytest.raises(StorageSilent):
        too_late.remove()
    assert traces(cloud, account) > 150

    belongings(request_of, clients, account).remove()
    assert traces(cloud, account) == 0


@pytest.mark.requirement("D5")
def test_who_read_the_cursor_before_a_deletion_cannot_move_the_one_after_it(
    request_of: RequestOf, clients: Clients, account: AccountId
) -> None:
    index = request_of(account).index
    before = index.record([], seen_at=NOTHING_YET, then=CURSOR)
    belongings(request_of, clients, account).remove()
    now = index.record([], seen_at=NOTHING_YET, then=CURSOR)

    with pytest.raises(CursorMoved):
        index.record([seen("/garden/a.md")], seen_at=before, then=CURSOR)

    assert index.load().cursor == now


@pytest.mark.requirement("B2", "D5")
def test_who_comes_back_in_the_same_month_goes_on_with_what_is_left_of_it(
    request_of: RequestOf, clients: Clients, cloud: aws.Aws, account: AccountId
) -> None:
    request_of(account).budget.reserve(ACCOUNT_CAP)

    belongings(request_of, clients, account).remove()

    assert traces(cloud, account) == 0
    with pytest.raises(BudgetSpent):
        request_of(account).budget.reserve(1)
