"""Packs on S3: read in ranges, kept in memory and on disk within bounds."""

from pathlib import Path

import numpy as np
import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.packs import PackCache, S3PackStore
from memorybox.search.model import Entry, PackRef
from memorybox.search.pack import Pack, build_pack
from memorybox.search.sections import PackDamaged
from tests.contract.aws.world import RECIPE, indexed, seen
from tests.wire import cut_answer, requests_of

MEGABYTE = 1_000_000


def a_cache(
    folder: Path, *, memory_bytes: int = 100 * MEGABYTE, folder_bytes: int = 0
) -> PackCache:
    return PackCache(folder, memory_bytes=memory_bytes, folder_bytes=folder_bytes)


def entries(parts: int) -> list[Entry]:
    return [Entry(seen("/garden/plan.md"), indexed(parts))]


def add(packs: S3PackStore, parts: int, workspace: str = "garden") -> PackRef:
    data = build_pack(RECIPE, entries(parts))
    return PackRef(1, packs.add(workspace, 1, data), len(data))


def opened(packs: S3PackStore, ref: PackRef) -> Pack:
    [pack] = packs.open([ref])
    return pack


def test_a_pack_of_several_ranges_is_put_together_in_order(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    packs = S3PackStore(clients.s3, aws.BUCKET, account, a_cache(tmp_path))
    ref = add(packs, 30_000)

    with requests_of(clients.s3) as sent:
        assert opened(packs, ref).take([0]) == entries(30_000)

    assert sent == {"GetObject": 3}


def test_names_of_workspaces_need_not_be_fit_for_a_url(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    packs = S3PackStore(clients.s3, aws.BUCKET, account, a_cache(tmp_path))

    for workspace in ("☃ & co", "..", "x" * 255, "é" * 127):
        assert opened(packs, add(packs, 1, workspace)).parts == 1


@pytest.mark.parametrize("body", [True, False])
def test_a_pack_that_came_in_part_is_fetched_again_and_not_taken_for_damaged(
    clients: Clients, account: AccountId, tmp_path: Path, *, body: bool
) -> None:
    packs = S3PackStore(clients.s3, aws.BUCKET, account, a_cache(tmp_path))
    ref = add(packs, 10)

    with cut_answer(clients.s3, "GetObject", times=2, body=body), pytest.raises(StorageSilent):
        packs.open([ref])
    with cut_answer(clients.s3, "GetObject", body=body):
        assert opened(packs, ref).take([0]) == entries(10)


def test_a_pack_is_fetched_once_in_a_process(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = a_cache(tmp_path, memory_bytes=10 * MEGABYTE)
    ref = add(S3PackStore(clients.s3, aws.BUCKET, account, cache), 10)

    with requests_of(clients.s3) as sent:
        packs = [S3PackStore(clients.s3, aws.BUCKET, account, cache).open([ref]) for _ in "12"]

    assert sent == {"GetObject": 1}
    assert packs[0] == packs[1]


def test_a_pack_is_fetched_once_on_a_machine(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    def packs_of_a_process() -> S3PackStore:
        cache = a_cache(tmp_path, folder_bytes=10 * MEGABYTE)
        return S3PackStore(clients.s3, aws.BUCKET, account, cache)

    ref = add(packs_of_a_process(), 10)
    with requests_of(clients.s3) as sent:
        taken = [opened(packs_of_a_process(), ref).take([0]) for _ in "12"]

    assert sent == {"GetObject": 1}
    assert taken == [entries(10), entries(10)]


def test_what_was_not_used_for_longest_leaves_memory_first(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = a_cache(tmp_path, memory_bytes=3 * MEGABYTE)

    def packs_of_a_call() -> S3PackStore:
        return S3PackStore(clients.s3, aws.BUCKET, account, cache)

    first, second, third = (add(packs_of_a_call(), 2_000) for _ in "123")  # 1.1 MB each
    for ref in (first, second, first, third):
        opened(packs_of_a_call(), ref)

    with requests_of(clients.s3) as sent:
        opened(packs_of_a_call(), first)
        opened(packs_of_a_call(), third)
        assert not sent
        opened(packs_of_a_call(), second)
        assert sent == {"GetObject": 1}


def test_the_folder_stays_within_its_bound(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = a_cache(tmp_path, folder_bytes=3 * MEGABYTE)
    packs = S3PackStore(clients.s3, aws.BUCKET, account, cache)
    for ref in [add(packs, 2_000) for _ in "1234"]:
        opened(packs, ref)

    held = [file.stat().st_size for file in tmp_path.iterdir()]

    assert len(held) == 2
    assert sum(held) <= 3 * MEGABYTE


def test_a_copy_that_was_spoilt_is_fetched_again(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    def packs_of_a_process() -> S3PackStore:
        cache = a_cache(tmp_path, folder_bytes=10 * MEGABYTE)
        return S3PackStore(clients.s3, aws.BUCKET, account, cache)

    ref = add(packs_of_a_process(), 10)
    opened(packs_of_a_process(), ref)
    [copy] = tmp_path.iterdir()
    copy.write_bytes(copy.read_bytes()[:-1] + b"!")

    assert opened(packs_of_a_process(), ref).take([0]) == entries(10)


def test_packs_are_read_side_by_side_each_in_one_range(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    packs = S3PackStore(clients.s3, aws.BUCKET, account, a_cache(tmp_path))
    refs = [add(packs, parts) for parts in (1, 2, 3)]

    with requests_of(clients.s3) as sent:
        assert [pack.parts for pack in packs.open(refs)] == [1, 2, 3]
        assert [pack.parts for pack in packs.open(refs[::-1])] == [3, 2, 1]

    assert sent == {"GetObject": 3}


def test_what_is_too_much_for_memory_stays_where_it_is_and_holds_the_same(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = a_cache(tmp_path, memory_bytes=2 * MEGABYTE, folder_bytes=10 * MEGABYTE)
    packs = S3PackStore(clients.s3, aws.BUCKET, account, cache)
    refs = [add(packs, 2_000) for _ in "123"]  # 1.1 MB each

    with requests_of(clients.s3) as sent:
        whole, *apart = packs.open(refs)
        assert sent["GetObject"] == 1 + 2 * 2  # the size of the head, then the front

        assert isinstance(whole.columns.vectors, np.ndarray)
        for pack in apart:
            assert not isinstance(pack.columns.vectors, np.ndarray)
            sent.clear()
            assert (pack.columns.identities[-9:] == whole.columns.identities[-9:]).all()
            assert sent == {"GetObject": 1}
            assert pack.take([0]) == entries(2_000)
    assert len(list(tmp_path.iterdir())) == 1


def test_damage_in_a_pack_that_is_not_in_memory_is_found_when_it_is_read(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    packs = S3PackStore(clients.s3, aws.BUCKET, account, a_cache(tmp_path, memory_bytes=0))
    data = bytearray(build_pack(RECIPE, entries(2_000)))
    data[-1] ^= 1
    ref = PackRef(1, packs.add("garden", 1, bytes(data)), len(data))

    pack = opened(packs, ref)

    assert pack.columns.vectors[:1].shape == (1, 512)
    with pytest.raises(PackDamaged) as damaged:
        pack.columns.words.among(np.ones(pack.parts, bool))
    assert damaged.value.key == ref.key


def test_the_front_of_a_pack_that_stays_where_it_is_is_read_once_in_a_process(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = PackCache(tmp_path, memory_bytes=0, folder_bytes=0, front_bytes=2 * MEGABYTE)
    ref = add(S3PackStore(clients.s3, aws.BUCKET, account, cache), 2_000)

    first = opened(S3PackStore(clients.s3, aws.BUCKET, account, cache), ref)
    with requests_of(clients.s3) as sent:
        second = opened(S3PackStore(clients.s3, aws.BUCKET, account, cache), ref)
        assert not sent
        assert first.take([0]) == second.take([0]) == entries(2_000)
        assert sent["GetObject"]


def test_fronts_stay_within_their_bound(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = PackCache(tmp_path, memory_bytes=0, folder_bytes=0, front_bytes=3 * MEGABYTE)

    def packs_of_a_call() -> S3PackStore:
        return S3PackStore(clients.s3, aws.BUCKET, account, cache)

    first, second, third = (add(packs_of_a_call(), 2_000) for _ in "123")  # 1.1 MB each
    for ref in (first, second, third):
        opened(packs_of_a_call(), ref)

    with requests_of(clients.s3) as sent:
        opened(packs_of_a_call(), second)
        opened(packs_of_a_call(), third)
        assert not sent
        opened(packs_of_a_call(), first)
        assert sent["GetObject"]
