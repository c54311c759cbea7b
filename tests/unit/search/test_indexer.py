from datetime import date, timedelta

import pytest

from memorybox.files.model import ChangePage, Cursor, StoredFile
from memorybox.search.bundles import Work
from memorybox.search.drafts import Draft
from memorybox.search.model import Indexed, Skipped, SkipReason
from memorybox.search.results import (
    DeploymentSpent,
    IndexedNow,
    NoText,
    NoTime,
    OverBudget,
    ServiceSilent,
    TextNotTaken,
    TooLarge,
)
from tests.fakes.files import InMemoryFileStore
from tests.unit.search.world import Crash, World

DECEMBER = date(2026, 12, 1)
T45 = "# Tomatoes\n\n- Planted 6 seedlings on 12 May.\n"


def diary(days: int = 500) -> str:
    return "".join(f"Day {i}: the beds were watered and weeded.\n\n" for i in range(1, days + 1))


@pytest.mark.promise("P-064", "L-1")
def test_a_note_is_indexed_at_once_and_found_by_the_next_search() -> None:
    world = World()

    outcome = world.write("/garden/tomatoes.md", T45)

    assert outcome == IndexedNow(parts=1)
    assert world.found("tomatoes") == {"garden/tomatoes.md"}
    assert world.embedder.inputs == [T45, "tomatoes"]


@pytest.mark.promise("P-066", "P-074", "L-2")
def test_a_file_over_8000_bytes_is_indexed_in_parts() -> None:
    world = World()

    assert world.write("/garden/a.md", 5 * (1_698 * "a" + "\n\n")) == IndexedNow(parts=5)
    assert world.write("/garden/b.md", 8_000 * "b") == IndexedNow(parts=1)


@pytest.mark.promise("P-068", "P-069", "L-3")
def test_a_file_of_a_million_bytes_is_indexed_and_one_byte_more_is_too_large() -> None:
    world = World()

    assert world.write("/garden/a.md", 1_000_000 * "a") == IndexedNow(parts=500)
    assert world.write("/garden/b.md", 1_000_001 * "b") == TooLarge()
    assert [file.reason for file in world.search().unindexed] == [SkipReason.TOO_LARGE]


@pytest.mark.promise("P-068")
def test_the_old_parts_of_a_file_that_grows_too_large_go() -> None:
    world = World()
    world.write("/garden/a.md", "the old text")

    world.write("/garden/a.md", 1_000_001 * "a")

    assert world.found() == set()


@pytest.mark.promise("L-5")
@pytest.mark.parametrize("text", ["", " \n\t\n", 9_000 * "\n"])
def test_a_file_without_text_is_settled_without_a_call(text: str) -> None:
    world = World()

    outcome = world.write("/garden/a.md", text)
    result = world.search()

    assert outcome == NoText()
    assert (result.hits, result.unindexed, result.pending) == ((), (), 0)
    assert world.embedder.inputs == ["anything"]


@pytest.mark.promise("P-073", "L-4")
def test_a_file_that_does_not_fit_in_the_budget_waits_for_the_next_month() -> None:
    world = World(cap=700)
    text = "x" * 701

    assert world.write("/garden/a.md", text) == OverBudget(until=DECEMBER)
    assert (world.embedder.requests, world.ledger.spent) == ([], {})
    [named] = world.search().unindexed
    assert (named.reason, named.until) == (SkipReason.OVER_BUDGET, DECEMBER)


def test_a_file_that_fits_to_the_byte_is_indexed() -> None:
    world = World(cap=700)

    assert world.write("/garden/a.md", "x" * 700) == IndexedNow(parts=1)


@pytest.mark.promise("P-073")
def test_all_parts_of_a_file_fit_in_the_budget_or_none_is_sent() -> None:
    text = diary()
    world = World(cap=len(text) - 1)

    assert world.write("/garden/diary.md", text) == OverBudget(until=DECEMBER)
    assert world.embedder.requests == []


@pytest.mark.promise("P-071", "L-9")
def test_a_file_that_does_not_fit_in_the_deployments_budget_says_so() -> None:
    world = World(deployment_cap=10)

    assert world.write("/garden/a.md", T45) == DeploymentSpent(until=DECEMBER)


@pytest.mark.promise("P-070")
def test_the_reported_usage_is_what_is_spent() -> None:
    world = World()

    world.write("/garden/a.md", "one two three")

    assert world.ledger.spent == {"2026-11": 3}


@pytest.mark.promise("P-070")
def test_a_month_that_ends_during_the_call_is_the_one_that_pays() -> None:
    world = World()
    world.clock.sleep(timedelta(hours=12).total_seconds() - 1)
    world.embedder.seconds = 2

    world.write("/garden/a.md", "one two three")

    assert world.ledger.spent == {"2026-11": 3}


@pytest.mark.promise("P-064", "L-6")
def test_a_silent_service_leaves_the_file_to_the_next_search() -> None:
    world = World()
    world.embedder.is_silent = True

    outcome = world.write("/garden/tomatoes.md", T45)
    world.embedder.is_silent = False

    assert outcome == ServiceSilent()
    assert world.found("tomatoes") == {"garden/tomatoes.md"}


@pytest.mark.promise("P-070")
def test_what_a_lost_answer_may_have_cost_stays_reserved() -> None:
    world = World()
    world.embedder.is_silent = True

    world.write("/garden/tomatoes.md", T45)

    assert world.ledger.spent == {"2026-11": 45}


@pytest.mark.promise("L-8", "T-13")
def test_a_text_that_the_service_refuses_is_named_and_not_sent_again() -> None:
    world = World()
    world.embedder.refused = {T45}

    outcome = world.write("/garden/tomatoes.md", T45)
    first, second = world.search(), world.search()

    assert outcome == TextNotTaken()
    assert [file.reason for file in first.unindexed] == [SkipReason.REFUSED]
    assert second == first
    assert world.embedder.inputs[0] == world.embedder.inputs[2] == T45
    assert world.embedder.inputs[4:] == ["anything", "anything"]


@pytest.mark.promise("L-6", "P-064")
def test_a_service_that_gives_no_vectors_leaves_the_file_to_the_next_search() -> None:
    world = World()
    world.embedder.is_spoiled = True

    outcome = world.write("/garden/tomatoes.md", T45)
    world.embedder.is_spoiled = False

    assert outcome == ServiceSilent()
    assert world.embedder.inputs.count(T45) == 1
    assert world.found("tomatoes") == {"garden/tomatoes.md"}


@pytest.mark.promise("L-1")
def test_one_answer_without_vectors_is_not_the_fault_of_the_text() -> None:
    world = World()
    world.embedder.is_spoiled = True
    world.on_step = lambda: setattr(world.embedder, "is_spoiled", not world.embedder.requests)

    assert world.write("/garden/tomatoes.md", T45) == IndexedNow(parts=1)


def test_a_text_that_was_refused_is_tried_again_on_the_next_day() -> None:
    world = World()
    world.embedder.refused = {T45}
    world.write("/garden/tomatoes.md", T45)
    world.embedder.refused = set()

    world.clock.sleep(timedelta(days=1).total_seconds())

    assert world.found("tomatoes") == {"garden/tomatoes.md"}
    assert world.search().unindexed == ()


@pytest.mark.promise("L-7")
def test_without_time_nothing_is_begun() -> None:
    world = World()
    request = world.request()
    world.clock.sleep(20)

    data = T45.encode()
    outcome = request.indexer.index_now(StoredFile(world.put("/garden/a.md", data), data))

    assert outcome == NoTime()
    assert world.embedder.requests == []
    assert world.index.load().unlisted == set()


@pytest.mark.promise("L-7")
def test_a_file_that_another_request_is_indexing_is_left_to_it() -> None:
    world = World()
    world.request().indexer.claim("/garden/a.md")

    assert world.write("/garden/a.md", T45) == NoTime()
    assert world.embedder.requests == []


@pytest.mark.promise("L-1")
def test_a_writer_waits_for_whoever_indexes_its_file_already() -> None:
    world = World()
    stored = StoredFile(world.put("/garden/a.md", T45), T45.encode())
    other = world.request().indexer
    draft, claimed = other.drafter.draft(stored), other.claim("/garden/a.md")
    assert isinstance(draft, Draft)
    assert claimed
    work = Work(claimed, stored.entry, draft)
    world.interrupt_at(2, lambda: other.index_all([work], {}))

    assert world.request().indexer.index_now(stored) == IndexedNow(parts=1)
    assert world.embedder.inputs == [T45]


@pytest.mark.promise("P-209")
def test_an_unchanged_part_keeps_its_vector() -> None:
    world = World()
    world.write("/garden/diary.md", diary())
    before = len(world.embedder.inputs)

    changed = diary().replace("Day 250: the", "Day 250: all")
    outcome = world.write("/garden/diary.md", changed)

    assert outcome == IndexedNow(parts=13)
    assert len(world.embedder.inputs) == before + 1


@pytest.mark.promise("P-209")
def test_an_unchanged_part_of_a_packed_file_keeps_its_vector() -> None:
    world = World()
    world.write("/garden/diary.md", diary())
    world.search()
    world.fold("garden")
    before = len(world.embedder.inputs)

    world.write("/garden/diary.md", diary().replace("Day 250: the", "Day 250: all"))

    assert len(world.embedder.inputs) == before + 1


def test_a_text_that_stands_in_a_file_twice_is_sent_once() -> None:
    world = World()
    part = 1_698 * "a" + "\n\n"

    outcome = world.write("/garden/a.md", 5 * part)

    assert outcome == IndexedNow(parts=5)
    assert len(world.embedder.inputs) == 1


@pytest.mark.promise("P-208")
def test_a_note_that_shrinks_leaves_no_old_part() -> None:
    world = World()
    world.write("/garden/diary.md", diary())
    world.write("/garden/diary.md", "one line")
    world.search()

    [entry] = world.index.load().tail.values()

    assert isinstance(entry.settled, Indexed)
    assert [(part.start, part.end) for part in entry.settled.parts] == [(0, 8)]


@pytest.mark.promise("P-209")
def test_parts_that_came_before_the_service_fell_silent_are_not_paid_twice() -> None:
    world = World()
    text = diary(20_000)  # several requests

    def fall_silent() -> None:
        if len(world.embedder.requests) == 2:
            world.embedder.is_silent = True

    world.on_step = fall_silent
    outcome = world.write("/garden/diary.md", text)
    world.on_step = lambda: None
    world.embedder.is_silent = False
    world.search()

    assert outcome == ServiceSilent()
    sent = [text for text in world.embedder.inputs if text != "anything"]
    assert len(sent) == len(set(sent))
    assert world.indexed() == world.folder()


class LateListing(InMemoryFileStore):
    """A folder whose changes are not listed yet."""

    is_late = False

    def changes(self, cursor: Cursor | None, location: str = "") -> ChangePage:
        if self.is_late and cursor:
            return ChangePage((), cursor, has_more=False)
        return super().changes(cursor, location)


@pytest.mark.promise("P-064")
def test_a_written_file_is_found_although_the_listing_lags_behind() -> None:
    world = World()
    world.files = listing = LateListing(world.clock)
    world.write("/garden/old.md", "tomatoes")
    world.search()
    listing.is_late = True
    world.write("/garden/old.md", "onions")
    world.write("/garden/new.md", "onions")
    sent = len(world.embedder.inputs)

    late = world.found("onions")
    listing.is_late = False
    world.search("onions")

    assert late == {"garden/old.md", "garden/new.md"}
    assert world.embedder.inputs[sent:] == ["onions", "onions"]
    assert world.indexed() == world.folder()


@pytest.mark.promise("P-064")
def test_a_write_that_crashed_at_any_step_is_indexed_by_the_next_search() -> None:
    uninterrupted = World()
    total = uninterrupted.steps_of(lambda: uninterrupted.write("/garden/a.md", T45))
    for number in range(total):
        world = World()
        world.stop_at(number)
        with pytest.raises(Crash):
            world.write("/garden/a.md", T45)
        world.on_step = lambda: None
        world.clock.sleep(60)

        assert world.found() == {"garden/a.md"}, number
        assert world.indexed() == world.folder(), number


def test_a_late_result_never_hides_a_newer_one() -> None:
    """Another app changes the file while our own write is being indexed."""
    for pause in range(12):
        world = World()
        world.write("/garden/a.md", "first")

        def change(world: World = world) -> None:
            world.put("/garden/a.md", "by another app")
            world.search()

        world.interrupt_at(pause, change)
        world.write("/garden/a.md", "second")
        world.on_step = lambda: None

        assert world.search().pending == 0, pause
        assert world.indexed() == world.folder(), pause


def test_a_skipped_file_is_settled_at_its_rev() -> None:
    world = World()
    entry = world.put("/garden/a.md", 1_000_001 * "a")

    world.search()

    [at] = world.index.load().tail.values()
    assert at.settled == Skipped(entry.rev, entry.content_hash, SkipReason.TOO_LARGE)
