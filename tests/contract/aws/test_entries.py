"""How entries of any size and name are kept on DynamoDB, and read as they were stored."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.guard import acting_for
from memorybox.search.model import NO_REV, Recipe, Skipped, SkipReason, TailEntry
from memorybox.search.store import Gone
from tests.contract.aws.world import CURSOR, NOTHING_YET, Request, RequestOf, indexed, seen
from tests.wire import after_answer

PATH = "/garden/plan.md"
LARGE = 1_200  # parts that need three pieces
HUGE = 2_600  # parts that one page of a query does not hold


@pytest.fixture
def keys_of_files(clients: Clients, account: AccountId) -> Callable[[], list[str]]:
    """The sort keys of the account's entries and of their pieces."""

    def keys() -> list[str]:
        with acting_for(account):
            found = clients.dynamodb.query(
                TableName=aws.MEMORY_TABLE,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :file)",
                ExpressionAttributeValues={":pk": {"S": f"A#{account}"}, ":file": {"S": "file"}},
                ProjectionExpression="sk",
            )
        return [item["sk"]["S"] for item in found["Items"]]

    return keys


def tail_of(request: Request) -> dict[str, TailEntry]:
    """By path, without the versions."""
    tail = request.index.load().tail
    return {path: replace(entry, version=0) for path, entry in tail.items()}


def record_all(request: Request, *paths: str) -> None:
    request.index.record(map(seen, paths), seen_at=NOTHING_YET, then=CURSOR)


def lose_piece(clients: Clients, account: AccountId, number: int) -> None:
    with acting_for(account):
        clients.dynamodb.delete_item(
            TableName=aws.MEMORY_TABLE,
            Key={"pk": {"S": f"A#{account}"}, "sk": {"S": f"filepart#{number}#{PATH}"}},
        )


@pytest.mark.parametrize("parts", [0, 1, 22, 23, 24, LARGE])
def test_parts_come_back_as_they_were_stored_however_many(
    request_of: RequestOf, parts: int
) -> None:
    request = request_of()
    record_all(request, PATH)
    stored = indexed(parts)

    request.index.store(request.claim(PATH), stored)

    assert tail_of(request_of()) == {PATH: TailEntry(PATH, 0, seen(PATH), stored)}
    assert request_of().claim(PATH).settled == stored


@pytest.mark.parametrize("until", [None, date(2026, 12, 1)])
@pytest.mark.parametrize("parts", [0, 1, LARGE])
@pytest.mark.parametrize("recipe", [None, Recipe("another model", 7, 1, 1)])
def test_a_skipped_file_comes_back_with_its_reason_and_the_parts_that_are_kept(
    request_of: RequestOf, until: date | None, parts: int, recipe: Recipe | None
) -> None:
    request = request_of()
    record_all(request, PATH)
    kept = replace(indexed(parts, rev=NO_REV), content_hash="") if parts else None
    skipped = Skipped("rev 1", "content hash", SkipReason.REFUSED, until, kept, recipe)

    request.index.store(request.claim(PATH), skipped)

    assert tail_of(request_of()) == {PATH: TailEntry(PATH, 0, seen(PATH), skipped)}


def test_paths_longer_than_a_key_are_told_apart(request_of: RequestOf) -> None:
    folder = "/garden" + "/ü☃".ljust(200, "x") * 10  # 2,000 characters and more bytes
    paths = {f"{folder}/one.md", f"{folder}/two.md", f"{folder}/two.md/three.md"}
    request = request_of()
    record_all(request, *paths)
    for path in paths:
        request.index.store(request.claim(path), indexed(LARGE, rev=path))

    assert tail_of(request_of()) == {
        path: TailEntry(path, 0, seen(path), indexed(LARGE, rev=path)) for path in paths
    }


@pytest.mark.parametrize("path", ["/a#b/c#d.md", "/☃/☃.md", "/garden/\U0010fffd.md", "/1/#1#.md"])
def test_odd_names_are_kept_as_they_are(request_of: RequestOf, path: str) -> None:
    request = request_of()
    record_all(request, path)
    request.index.store(request.claim(path), indexed(LARGE))

    assert tail_of(request_of()) == {path: TailEntry(path, 0, seen(path), indexed(LARGE))}


@pytest.mark.parametrize(("before", "after"), [(LARGE, 600), (LARGE, 1), (1, LARGE), (600, LARGE)])
def test_a_result_of_another_size_leaves_nothing_of_the_one_before(
    request_of: RequestOf, keys_of_files: Callable[[], list[str]], before: int, after: int
) -> None:
    request = request_of()
    record_all(request, PATH)
    request.index.store(request.claim(PATH), indexed(before))

    request.index.store(request.claim(PATH), indexed(after, fill=1))

    assert tail_of(request_of())[PATH].settled == indexed(after, fill=1)
    pieces = {1: 0, 600: 2, LARGE: 3}[after]
    expected = [f"file#{PATH}", *(f"filepart#{n + 1}#{PATH}" for n in range(pieces))]
    assert keys_of_files() == expected


def test_a_forgotten_entry_leaves_nothing_behind(
    request_of: RequestOf, keys_of_files: Callable[[], list[str]]
) -> None:
    request = request_of()
    small = [f"/garden/{number}.md" for number in range(100)]
    record_all(request, PATH, *small)
    request.index.store(request.claim(PATH), indexed(LARGE))

    request.index.forget(request.index.load().tail.values())

    assert keys_of_files() == []


def test_entries_that_changed_are_not_forgotten_with_the_others(request_of: RequestOf) -> None:
    request = request_of()
    record_all(request, "/garden/a.md", "/garden/b.md", "/garden/c.md", "/garden/d.md")
    state = request.index.load()
    request.index.record([Gone("/garden/b.md")], seen_at=state.cursor)
    request.claim("/garden/c.md")

    request.index.forget(state.tail.values())

    assert list(request.index.load().tail) == ["/garden/b.md", "/garden/c.md"]


def test_an_entry_is_never_put_together_from_two_results(
    clients: Clients, request_of: RequestOf
) -> None:
    request, other = request_of(), request_of()
    record_all(request, PATH)
    request.index.store(request.claim(PATH), indexed(HUGE, fill=1))

    def store_anew() -> None:
        other.index.store(other.claim(PATH), indexed(HUGE, fill=2))

    with after_answer(clients.dynamodb, "Query", store_anew):
        settled = request.index.load().tail[PATH].settled

    assert settled == indexed(HUGE, fill=2)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_entry_of_which_a_piece_is_lost_is_without_a_result_until_it_is_stored_anew(
    request_of: RequestOf, clients: Clients, account: AccountId, number: int
) -> None:
    request, other = request_of(), "/garden/other.md"
    record_all(request, PATH, other)
    for path in (PATH, other):
        request.index.store(request.claim(path), indexed(LARGE))
    lose_piece(clients, account, number)

    whole = TailEntry(other, 0, seen(other), indexed(LARGE))
    assert tail_of(request_of()) == {PATH: TailEntry(PATH, 0, seen(PATH)), other: whole}
    claimed = request_of().claim(PATH)
    assert claimed.settled is None
    request_of().index.store(claimed, indexed(LARGE, fill=1))
    mended = TailEntry(PATH, 0, seen(PATH), indexed(LARGE, fill=1))
    assert tail_of(request_of()) == {PATH: mended, other: whole}


def test_a_forgotten_entry_of_which_a_piece_is_lost_leaves_no_other_behind(
    request_of: RequestOf,
    keys_of_files: Callable[[], list[str]],
    clients: Clients,
    account: AccountId,
) -> None:
    request = request_of()
    record_all(request, PATH)
    request.index.store(request.claim(PATH), indexed(LARGE))
    lose_piece(clients, account, 2)

    later = request_of()
    later.index.forget(later.index.load().tail.values())

    assert keys_of_files() == []


def test_a_result_of_another_format_counts_as_none(
    request_of: RequestOf, clients: Clients, account: AccountId
) -> None:
    request = request_of()
    request.index.record([seen(PATH)], seen_at=request.index.load().cursor)
    request.index.store(request.claim(PATH), indexed(1))
    table = clients.dynamodb
    with acting_for(account):
        table.update_item(
            TableName=aws.MEMORY_TABLE,
            Key={"pk": {"S": f"A#{account}"}, "sk": {"S": f"file#{PATH}"}},
            UpdateExpression="SET settled.#format = :older",
            ExpressionAttributeNames={"#format": "format"},
            ExpressionAttributeValues={":older": {"N": "1"}},
        )

    assert tail_of(request_of()) == {PATH: TailEntry(PATH, 0, seen(PATH))}
