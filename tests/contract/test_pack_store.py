"""What every PackStore promises: in memory and on S3."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.packs import PackCache, S3PackStore
from memorybox.search.model import PackPointer
from memorybox.search.pack import build_pack
from memorybox.search.sections import PackDamaged, PackUnknown
from memorybox.search.store import PackStore
from tests.fakes.search import InMemoryPackStore
from tests.unit.search.builders import RECIPE, note

PLAN = note("/garden/plan.md", "the plan of the beds")
TOMATOES = note("/garden/tomatoes.md", "six seedlings")


@pytest.fixture(params=["memory", "s3"])
def packs(request: pytest.FixtureRequest, account: AccountId, tmp_path: Path) -> PackStore:
    if request.param == "memory":
        return InMemoryPackStore()
    clients: Clients = request.getfixturevalue("clients")
    cache = PackCache(tmp_path, memory_bytes=10**8, folder_bytes=10**8)
    return S3PackStore(clients.s3, aws.BUCKET, account, cache)


def pointer_to(key: str) -> PackPointer:
    return PackPointer("garden", key, generation=1, files=1, parts=1)


def test_a_pack_opens_as_it_was_added(packs: PackStore) -> None:
    key = packs.add("garden", 1, build_pack(RECIPE, [PLAN, TOMATOES]))

    for _ in range(2):
        assert packs.open(pointer_to(key)).take([0, 1]) == [PLAN, TOMATOES]


def test_packs_of_one_generation_have_names_of_their_own(packs: PackStore) -> None:
    one = packs.add("garden", 1, build_pack(RECIPE, [PLAN]))
    other = packs.add("garden", 1, build_pack(RECIPE, [TOMATOES]))

    assert packs.open(pointer_to(one)).take([0]) == [PLAN]
    assert packs.open(pointer_to(other)).take([0]) == [TOMATOES]


def test_a_pack_that_was_removed_is_damaged(packs: PackStore) -> None:
    key = packs.add("garden", 1, build_pack(RECIPE, [PLAN]))

    packs.remove(key)

    with pytest.raises(PackDamaged):
        packs.open(pointer_to(key))


def test_removing_a_pack_that_is_gone_is_no_error(packs: PackStore) -> None:
    key = packs.add("garden", 1, build_pack(RECIPE, [PLAN]))

    packs.remove(key)
    packs.remove(key)


def test_only_packs_that_are_old_and_not_named_are_pruned(packs: PackStore) -> None:
    named = packs.add("garden", 2, build_pack(RECIPE, [PLAN]))
    unnamed = packs.add("garden", 1, build_pack(RECIPE, [TOMATOES]))
    now = datetime.now(UTC)

    packs.prune({named}, before=now - timedelta(days=2))
    assert packs.open(pointer_to(unnamed)).take([0]) == [TOMATOES]

    again = packs.add("garden", 3, build_pack(RECIPE, [TOMATOES]))
    packs.prune({named}, before=now + timedelta(days=2))
    assert packs.open(pointer_to(named)).take([0]) == [PLAN]
    with pytest.raises(PackDamaged):
        packs.open(pointer_to(again))


def test_bytes_that_are_no_pack_are_told_from_those_of_a_damaged_one(packs: PackStore) -> None:
    data = build_pack(RECIPE, [PLAN])
    damaged = packs.add("garden", 1, data[:-1] + bytes([data[-1] ^ 1]))
    unknown = packs.add("garden", 1, b"something else".ljust(10_000))

    with pytest.raises(PackDamaged):
        packs.open(pointer_to(damaged))
    with pytest.raises(PackUnknown):
        packs.open(pointer_to(unknown))
