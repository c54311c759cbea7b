"""What every PackStore promises: in memory and on S3."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.packs import PackCache, S3PackStore
from memorybox.search.model import Entry, PackRef
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


def add(packs: PackStore, data: bytes, generation: int = 1) -> PackRef:
    return PackRef(generation, packs.add("garden", generation, data), len(data))


def entries(packs: PackStore, ref: PackRef) -> list[Entry]:
    [pack] = packs.open([ref])
    return pack.take(range(pack.files))


def test_a_pack_opens_as_it_was_added(packs: PackStore) -> None:
    ref = add(packs, build_pack(RECIPE, [PLAN, TOMATOES]))

    for _ in range(2):
        assert entries(packs, ref) == [PLAN, TOMATOES]


def test_packs_are_opened_together_in_the_order_in_which_they_are_named(packs: PackStore) -> None:
    refs = [add(packs, build_pack(RECIPE, [entry])) for entry in (PLAN, TOMATOES, PLAN)]

    assert [pack.take([0]) for pack in packs.open(refs)] == [[PLAN], [TOMATOES], [PLAN]]
    assert packs.open([]) == []


def test_packs_of_one_generation_have_names_of_their_own(packs: PackStore) -> None:
    one = add(packs, build_pack(RECIPE, [PLAN]))
    other = add(packs, build_pack(RECIPE, [TOMATOES]))

    assert (entries(packs, one), entries(packs, other)) == ([PLAN], [TOMATOES])


def test_a_pack_that_was_removed_is_damaged_and_named(packs: PackStore) -> None:
    kept, gone = (add(packs, build_pack(RECIPE, [entry])) for entry in (PLAN, TOMATOES))

    packs.remove(gone.key)

    with pytest.raises(PackDamaged) as lost:
        packs.open([kept, gone])
    assert lost.value.key == gone.key


def test_removing_a_pack_that_is_gone_is_no_error(packs: PackStore) -> None:
    ref = add(packs, build_pack(RECIPE, [PLAN]))

    packs.remove(ref.key)
    packs.remove(ref.key)


def test_only_packs_that_are_old_and_not_named_are_pruned(packs: PackStore) -> None:
    named = add(packs, build_pack(RECIPE, [PLAN]), 2)
    unnamed = add(packs, build_pack(RECIPE, [TOMATOES]))
    now = datetime.now(UTC)

    packs.prune({named.key}, before=now - timedelta(days=2))
    assert entries(packs, unnamed) == [TOMATOES]

    again = add(packs, build_pack(RECIPE, [TOMATOES]), 3)
    packs.prune({named.key}, before=now + timedelta(days=2))
    assert entries(packs, named) == [PLAN]
    with pytest.raises(PackDamaged):
        packs.open([again])


def test_bytes_that_are_no_pack_are_told_from_those_of_a_damaged_one(packs: PackStore) -> None:
    data = build_pack(RECIPE, [PLAN])
    damaged = add(packs, data[:-1] + bytes([data[-1] ^ 1]))
    unknown = add(packs, b"something else".ljust(10_000))

    with pytest.raises(PackDamaged):
        packs.open([damaged])
    with pytest.raises(PackUnknown):
        packs.open([unknown])
