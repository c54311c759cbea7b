"""What every IndexStore promises: in memory and on DynamoDB."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.budget import DynamoBudget
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.index import DynamoIndexStore
from memorybox.adapters.aws.session import Session
from memorybox.deadline import Deadline
from memorybox.files.model import Cursor
from memorybox.search.budget import BudgetLedger, BudgetSpent, Spending
from memorybox.search.model import (
    Indexed,
    PackPointer,
    PackRef,
    Part,
    Recipe,
    Seen,
    Skipped,
    SkipReason,
    TailEntry,
    Words,
)
from memorybox.search.store import (
    CursorMoved,
    Gone,
    IndexLost,
    IndexState,
    IndexStore,
    Sighting,
    StoredCursor,
)
from tests.fakes.clock import FakeClock
from tests.fakes.search import InMemoryBudgetLedger, InMemoryIndexStore

CAP = 1_000
NOTHING_YET = StoredCursor(None, 0)
FIRST, SECOND = Cursor("first"), Cursor("second")
PLAN, SEEDS = "/garden/plan.md", "/garden/beds/seeds.md"
RESULT = Indexed(
    "rev 1",
    "content hash",
    Recipe("model", dims=4, splitting=1, terms=2),
    (Part(0, 12, b"0123456789abcdef", b"\x00\x7f\x81\xff", Words(b"term", b"\2", 2)),),
)
SKIPPED = Skipped("rev 1", "content hash", SkipReason.TOO_LARGE)


@dataclass(frozen=True)
class Account:
    """One account, of which every request has its own store and ledger."""

    clock: FakeClock
    request: Callable[[], tuple[IndexStore, BudgetLedger]]

    def store(self) -> IndexStore:
        return self.request()[0]

    def deadline(self, seconds: float = 25) -> Deadline:
        return Deadline.after(seconds, self.clock)

    def claim(self, index: IndexStore, path: str, owner: str = "owner") -> TailEntry:
        entry = index.claim(path, owner=owner, deadline=self.deadline())
        assert entry
        return entry


@pytest.fixture(params=["memory", "dynamodb"])
def box(request: pytest.FixtureRequest, account: AccountId) -> Account:
    clock = FakeClock()
    if request.param == "memory":
        ledger = InMemoryBudgetLedger(clock, cap=CAP)
        index = InMemoryIndexStore(ledger, clock)
        return Account(clock, lambda: (index, ledger))
    clients: Clients = request.getfixturevalue("clients")

    def begin() -> tuple[IndexStore, BudgetLedger]:
        deadline = Deadline.after(25, clock)
        session = Session(clients.dynamodb, aws.MEMORY_TABLE, account, deadline)
        budget = DynamoBudget(session, account_cap=CAP, deployment_cap=10**12)
        return DynamoIndexStore(session, budget), budget

    return Account(clock, begin)


def seen(path_lower: str, rev: str = "rev 1") -> Seen:
    modified = datetime(2026, 11, 30, 11, 59, 1, tzinfo=UTC)
    return Seen(path_lower, path_lower.title(), rev, "content hash", 12, modified)


def tail_of(index: IndexStore) -> dict[str, TailEntry]:
    """By path, without the versions."""
    return {path: replace(entry, version=0) for path, entry in index.load().tail.items()}


def pointer(generation: int, key: str = "key") -> PackPointer:
    packs = (PackRef(1, "first", 12_345), PackRef(generation, f"{key} {generation}", 678))
    return PackPointer("garden", generation, packs)


def test_an_account_begins_with_nothing(box: Account) -> None:
    assert box.store().load() == IndexState(NOTHING_YET, {}, set(), {})


def test_sightings_are_recorded_with_the_cursor_behind_them(box: Account) -> None:
    recorded = box.store().record([seen(PLAN), Gone(SEEDS)], seen_at=NOTHING_YET, then=FIRST)

    assert recorded.cursor == FIRST
    assert box.store().load().cursor == recorded
    assert tail_of(box.store()) == {
        PLAN: TailEntry(PLAN, 0, seen(PLAN)),
        SEEDS: TailEntry(SEEDS, 0),
    }


def test_the_last_sighting_of_a_path_counts(box: Account) -> None:
    sightings: list[Sighting] = [seen(PLAN), Gone(SEEDS), seen(PLAN, "rev 2"), seen(SEEDS)]

    box.store().record(sightings, seen_at=NOTHING_YET, then=FIRST)

    assert tail_of(box.store()) == {
        PLAN: TailEntry(PLAN, 0, seen(PLAN, "rev 2")),
        SEEDS: TailEntry(SEEDS, 0, seen(SEEDS)),
    }


def test_any_number_of_sightings_is_recorded(box: Account) -> None:
    paths = [f"/garden/{number}.md" for number in range(250)]

    recorded = box.store().record(map(seen, paths), seen_at=NOTHING_YET, then=FIRST)

    state = box.store().load()
    assert state.cursor == recorded
    assert state.tail.keys() == set(paths)


def test_the_cursor_stays_where_it_is_when_none_is_given(box: Account) -> None:
    first = box.store().record([], seen_at=NOTHING_YET, then=FIRST)
    second = box.store().record([seen(PLAN)], seen_at=first)

    assert second.cursor == FIRST
    assert second.version > first.version
    assert box.store().load().cursor == second


def test_nothing_is_recorded_by_one_who_read_an_older_cursor(box: Account) -> None:
    recorded = box.store().record([seen(PLAN, "rev 2")], seen_at=NOTHING_YET, then=FIRST)

    with pytest.raises(CursorMoved):
        box.store().record([seen(PLAN)], seen_at=NOTHING_YET, then=SECOND)

    assert box.store().load().cursor == recorded
    assert tail_of(box.store()) == {PLAN: TailEntry(PLAN, 0, seen(PLAN, "rev 2"))}


def test_only_one_of_many_recorders_moves_a_cursor(box: Account) -> None:
    def records(number: int) -> bool:
        try:
            box.store().record([seen(f"/{number}/plan.md")], seen_at=NOTHING_YET, then=FIRST)
        except CursorMoved:
            return False
        return True

    with ThreadPoolExecutor(8) as recorders:
        outcomes = list(recorders.map(records, range(8)))

    assert outcomes.count(True) == 1
    assert list(tail_of(box.store())) == [f"/{outcomes.index(True)}/plan.md"]


@pytest.mark.parametrize("result", [RESULT, SKIPPED, replace(RESULT, parts=())])
def test_a_result_is_stored_beside_what_was_recorded(
    box: Account, result: Indexed | Skipped
) -> None:
    index = box.store()
    index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)
    entry = box.claim(index, PLAN)

    index.store(entry, result)

    assert tail_of(index) == {PLAN: TailEntry(PLAN, 0, seen(PLAN), result)}
    assert index.load().tail[PLAN].version > entry.version


def test_a_sighting_leaves_results_and_claims_alone(box: Account) -> None:
    index = box.store()
    first = index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)
    index.store(box.claim(index, PLAN), RESULT)
    entry = box.claim(index, PLAN)

    index.record([seen(PLAN, "rev 2")], seen_at=first, then=SECOND)
    assert tail_of(index) == {PLAN: TailEntry(PLAN, 0, seen(PLAN, "rev 2"), RESULT, entry.claim)}
    index.store(entry, SKIPPED)

    assert tail_of(index) == {PLAN: TailEntry(PLAN, 0, seen(PLAN, "rev 2"), SKIPPED)}


def test_a_result_does_not_bring_back_what_is_gone(box: Account) -> None:
    index = box.store()
    first = index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)
    entry = box.claim(index, PLAN)
    index.record([Gone(PLAN)], seen_at=first, then=SECOND)

    index.store(entry, RESULT)

    assert tail_of(index) == {PLAN: TailEntry(PLAN, 0, None, RESULT)}


def test_a_path_that_no_listing_showed_is_unlisted_until_one_does(box: Account) -> None:
    index = box.store()
    entry = box.claim(index, PLAN)
    assert (index.load().tail, set(index.load().unlisted)) == ({}, {PLAN})
    index.store(entry, RESULT)
    assert (index.load().tail, set(index.load().unlisted)) == ({}, {PLAN})

    index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)

    assert tail_of(index) == {PLAN: TailEntry(PLAN, 0, seen(PLAN), RESULT)}
    assert set(index.load().unlisted) == set()


def test_a_claim_shows_the_entry_as_it_is(box: Account) -> None:
    index = box.store()
    index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)
    index.store(box.claim(index, PLAN), RESULT)
    before = index.load().tail[PLAN]

    entry = box.claim(index, PLAN, owner="me")

    assert entry.claim
    assert entry.claim.owner == "me"
    assert entry == replace(before, claim=entry.claim)
    assert index.load().tail[PLAN] == entry


def test_a_claim_holds_against_others_until_its_time_has_passed(box: Account) -> None:
    first = box.claim(box.store(), PLAN, owner="first")
    deadline = box.deadline()

    assert box.store().claim(PLAN, owner="second", deadline=deadline) is None
    box.clock.sleep(24)
    assert box.store().claim(PLAN, owner="second", deadline=deadline) is None
    box.clock.sleep(60)
    second = box.claim(box.store(), PLAN, owner="second")

    assert first.claim
    assert second.claim
    assert second.claim.fence > first.claim.fence


def test_the_holder_of_a_claim_may_claim_again(box: Account) -> None:
    index = box.store()
    box.claim(index, PLAN)

    index.store(box.claim(index, PLAN), RESULT)


def test_only_one_of_many_gets_a_claim(box: Account) -> None:
    def is_claimed(number: int) -> bool:
        return box.store().claim(PLAN, owner=str(number), deadline=box.deadline()) is not None

    with ThreadPoolExecutor(12) as claimants:
        outcomes = list(claimants.map(is_claimed, range(12)))

    assert outcomes.count(True) == 1


def test_the_result_of_a_stale_claim_is_refused_and_its_spending_settled(box: Account) -> None:
    index, ledger = box.request()
    late = box.claim(index, PLAN, owner="late")
    spending = Spending(ledger.reserve(CAP), used=1)
    box.clock.sleep(60)
    heir = box.claim(box.store(), PLAN, owner="heir")

    with pytest.raises(IndexLost):
        index.store(late, RESULT, spending=spending)

    ledger.reserve(CAP - 1)
    box.store().store(heir, SKIPPED)
    with pytest.raises(IndexLost):
        box.store().store(heir, RESULT)


def test_the_result_of_an_entry_that_was_forgotten_is_refused(box: Account) -> None:
    index = box.store()
    index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)
    late = box.claim(index, PLAN)
    box.clock.sleep(60)
    index.forget(index.load().tail.values())

    with pytest.raises(IndexLost):
        index.store(late, RESULT)

    assert (index.load().tail, set(index.load().unlisted)) == ({}, set())


def test_a_spending_is_settled_with_its_result(box: Account) -> None:
    index, ledger = box.request()
    spending = Spending(ledger.reserve(CAP), used=400)

    index.store(box.claim(index, PLAN), RESULT, spending=spending)

    ledger.reserve(CAP - 400)
    with pytest.raises(BudgetSpent):
        ledger.reserve(1)


def test_an_entry_that_is_not_embedded_after_all_is_free_again(box: Account) -> None:
    index, ledger = box.request()
    index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)
    spending = Spending(ledger.reserve(CAP), used=0)

    index.unclaim(box.claim(index, PLAN), spending=spending)

    assert tail_of(index) == {PLAN: TailEntry(PLAN, 0, seen(PLAN))}
    box.claim(box.store(), PLAN, owner="another")
    ledger.reserve(CAP)


def test_a_late_holder_does_not_end_the_claim_of_the_next(box: Account) -> None:
    index, ledger = box.request()
    late = box.claim(index, PLAN, owner="late")
    spending = Spending(ledger.reserve(CAP), used=0)
    box.clock.sleep(60)
    box.claim(box.store(), PLAN, owner="heir")

    index.unclaim(late, spending=spending)

    assert box.store().claim(PLAN, owner="third", deadline=box.deadline()) is None
    ledger.reserve(CAP)


def test_packs_follow_each_other_by_generation(box: Account) -> None:
    index = box.store()

    assert not index.point(pointer(2))
    assert index.point(pointer(1))
    assert not index.point(pointer(1, "another"))
    assert not index.point(pointer(3))
    assert index.load().packs == {"garden": pointer(1)}
    assert index.point(pointer(2))
    assert index.load().packs == {"garden": pointer(2)}


def test_packs_and_the_cursor_move_together(box: Account) -> None:
    index = box.store()
    first, other = pointer(1), replace(pointer(1, "other"), workspace="work")

    at = index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST, packs=[first, other])

    state = index.load()
    assert (state.cursor, state.packs) == (at, {"garden": first, "work": other})
    assert set(state.tail) == {PLAN}


def test_neither_packs_nor_the_cursor_move_if_one_pack_is_not_the_next(box: Account) -> None:
    index = box.store()
    first, other = pointer(1), replace(pointer(2), workspace="work")

    with pytest.raises(CursorMoved):
        index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST, packs=[first, other])

    assert index.load() == IndexState(NOTHING_YET, {}, set(), {})


def test_no_pack_is_pointed_to_by_one_who_read_an_older_cursor(box: Account) -> None:
    index = box.store()
    index.record([], seen_at=NOTHING_YET, then=FIRST)

    with pytest.raises(CursorMoved):
        index.record([], seen_at=NOTHING_YET, then=SECOND, packs=[pointer(1)])

    assert index.load().packs == {}


def test_only_one_of_many_packs_becomes_the_next(box: Account) -> None:
    with ThreadPoolExecutor(8) as packers:
        outcomes = list(packers.map(lambda n: box.store().point(pointer(1, f"{n}")), range(8)))

    assert outcomes.count(True) == 1
    assert box.store().load().packs == {"garden": pointer(1, f"{outcomes.index(True)}")}


def test_an_entry_is_forgotten_only_while_it_is_unchanged(box: Account) -> None:
    index = box.store()
    paths = ["/a/unchanged.md", "/b/seen.md", "/c/stored.md", "/d/claimed.md", "/e/gone.md"]
    sightings: list[Sighting] = [*map(seen, paths[:-1]), Gone(paths[-1])]
    first = index.record(sightings, seen_at=NOTHING_YET, then=FIRST)
    entries = index.load().tail.values()
    index.record([seen("/b/seen.md")], seen_at=first, then=SECOND)
    index.store(box.claim(index, "/c/stored.md"), RESULT)
    box.claim(index, "/d/claimed.md")

    index.forget(entries)

    assert list(index.load().tail) == ["/b/seen.md", "/c/stored.md", "/d/claimed.md"]


def test_an_entry_with_a_claim_that_is_over_can_be_forgotten(box: Account) -> None:
    index = box.store()
    index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)
    box.claim(index, PLAN)
    box.clock.sleep(60)

    index.forget(index.load().tail.values())

    assert index.load().tail == {}


def test_an_entry_that_was_never_recorded_can_be_forgotten(box: Account) -> None:
    index = box.store()
    entry = box.claim(index, PLAN)
    index.unclaim(entry)

    index.forget([entry])

    assert set(index.load().unlisted) == set()


def test_a_discarded_pack_takes_the_cursor_along(box: Account) -> None:
    index = box.store()
    first = index.record([seen(PLAN)], seen_at=NOTHING_YET, then=FIRST)
    index.point(pointer(1))

    discarded = index.discard(pointer(1), seen_at=first)

    assert discarded.cursor is None
    assert discarded.version > first.version
    state = index.load()
    assert (state.cursor, state.packs, list(state.tail)) == (discarded, {}, [PLAN])
    assert index.point(pointer(1, "new"))
    assert index.record([], seen_at=discarded, then=SECOND).cursor == SECOND


def test_a_pack_is_not_discarded_when_another_is_current_or_the_cursor_moved(box: Account) -> None:
    index = box.store()
    first = index.record([], seen_at=NOTHING_YET, then=FIRST)
    index.point(pointer(1))
    index.point(pointer(2))

    with pytest.raises(CursorMoved):
        index.discard(pointer(1), seen_at=first)
    with pytest.raises(CursorMoved):
        index.discard(pointer(2), seen_at=NOTHING_YET)

    state = index.load()
    assert (state.cursor, state.packs) == (first, {"garden": pointer(2)})
