"""Packs on S3: read in ranges, kept in memory and on disk within bounds."""

from pathlib import Path

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.packs import PackCache, S3PackStore
from memorybox.search.model import Entry, PackPointer
from memorybox.search.pack import build_pack
from tests.contract.aws.world import RECIPE, indexed, seen
from tests.wire import requests_of

MEGABYTE = 1_000_000


def a_cache(folder: Path, *, memory_bytes: int = 0, folder_bytes: int = 0) -> PackCache:
    return PackCache(folder, memory_bytes=memory_bytes, folder_bytes=folder_bytes)


def entries(parts: int) -> list[Entry]:
    return [Entry(seen("/garden/plan.md"), indexed(parts))]


def add(packs: S3PackStore, parts: int, workspace: str = "garden") -> PackPointer:
    key = packs.add(workspace, 1, build_pack(RECIPE, entries(parts)))
    return PackPointer(workspace, key, 1, files=1, parts=parts)


def test_a_pack_of_several_ranges_is_put_together_in_order(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    packs = S3PackStore(clients.s3, aws.BUCKET, account, a_cache(tmp_path))
    pointer = add(packs, 30_000)

    with requests_of(clients.s3) as sent:
        assert packs.open(pointer).take([0]) == entries(30_000)

    assert sent == {"GetObject": 3}


def test_names_of_workspaces_need_not_be_fit_for_a_url(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    packs = S3PackStore(clients.s3, aws.BUCKET, account, a_cache(tmp_path))

    for workspace in ("☃ & co", "..", "x" * 255, "é" * 127):
        assert packs.open(add(packs, 1, workspace)).parts == 1


def test_a_pack_is_fetched_once_in_a_process(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = a_cache(tmp_path, memory_bytes=10 * MEGABYTE)
    pointer = add(S3PackStore(clients.s3, aws.BUCKET, account, cache), 10)

    with requests_of(clients.s3) as sent:
        opened = [S3PackStore(clients.s3, aws.BUCKET, account, cache).open(pointer) for _ in "12"]

    assert sent == {"GetObject": 1}
    assert opened[0] is opened[1]


def test_a_pack_is_fetched_once_on_a_machine(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    def packs_of_a_process() -> S3PackStore:
        cache = a_cache(tmp_path, folder_bytes=10 * MEGABYTE)
        return S3PackStore(clients.s3, aws.BUCKET, account, cache)

    pointer = add(packs_of_a_process(), 10)
    with requests_of(clients.s3) as sent:
        taken = [packs_of_a_process().open(pointer).take([0]) for _ in "12"]

    assert sent == {"GetObject": 1}
    assert taken == [entries(10), entries(10)]


def test_what_was_not_used_for_longest_leaves_memory_first(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = a_cache(tmp_path, memory_bytes=3 * MEGABYTE)
    packs = S3PackStore(clients.s3, aws.BUCKET, account, cache)
    first, second, third = (add(packs, 2_000) for _ in "123")  # 1.3 MB each
    for pointer in (first, second, first, third):
        packs.open(pointer)

    with requests_of(clients.s3) as sent:
        packs.open(first)
        packs.open(third)
        assert not sent
        packs.open(second)
        assert sent == {"GetObject": 1}


def test_the_folder_stays_within_its_bound(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    cache = a_cache(tmp_path, folder_bytes=3 * MEGABYTE)
    packs = S3PackStore(clients.s3, aws.BUCKET, account, cache)
    for pointer in [add(packs, 2_000) for _ in "1234"]:
        packs.open(pointer)

    held = [file.stat().st_size for file in tmp_path.iterdir()]

    assert len(held) == 2
    assert sum(held) <= 3 * MEGABYTE


def test_a_copy_that_was_spoilt_is_fetched_again(
    clients: Clients, account: AccountId, tmp_path: Path
) -> None:
    def packs_of_a_process() -> S3PackStore:
        cache = a_cache(tmp_path, folder_bytes=10 * MEGABYTE)
        return S3PackStore(clients.s3, aws.BUCKET, account, cache)

    pointer = add(packs_of_a_process(), 10)
    packs_of_a_process().open(pointer)
    [copy] = tmp_path.iterdir()
    copy.write_bytes(copy.read_bytes()[:-1] + b"!")

    assert packs_of_a_process().open(pointer).take([0]) == entries(10)
