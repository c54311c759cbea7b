from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import partial
from itertools import count

import pytest

from memorybox.deadline import Deadline
from memorybox.errors import Unavailable
from memorybox.files.errors import DropboxAsksToWait, DropboxSilent, NotDownloadable
from memorybox.files.model import ChangePage, Cursor, FileRef, StoredFile
from memorybox.search.errors import DeploymentOverBudget, EmbeddingSilent, QueryOverBudget
from memorybox.search.model import SkipReason
from memorybox.search.results import FoundFile, SearchResult, Unindexed
from tests.fakes.files import InMemoryFileStore
from tests.fakes.leases import InMemoryLeases
from tests.unit.search.world import Crash, World

QUERY = "when did the tomatoes fruit"  # 27 bytes


class CountingStore(InMemoryFileStore):
    """An app folder that counts calls, and fails when told to."""

    calls = 0
    error: Exception | None = None
    locked = ""

    def changes(self, cursor: Cursor | None, location: str = "") -> ChangePage:
        self.calls += 1
        if self.error:
            raise self.error
        return super().changes(cursor, location)

    def read(self, ref: FileRef, at_most: int) -> StoredFile:
        self.calls += 1
        if ref.location == self.locked:
            raise NotDownloadable(ref)
        return super().read(ref, at_most)


def a_garden() -> World:
    world = World()
    world.put("/garden/tomatoes.md", "the tomatoes fruit in june")
    world.put("/garden/beds/plan.md", "the plan of the beds")
    world.put("/work/search.md", "vectors and words")
    return world


@pytest.mark.promise("P-061")
def test_the_first_search_indexes_every_file_of_the_folder() -> None:
    world = a_garden()

    result = world.search(QUERY)

    assert [(hit.workspace, hit.path) for hit in result.hits] == [
        ("garden", "tomatoes.md"),
        ("garden", "beds/plan.md"),
        ("work", "search.md"),
    ]
    assert (result.unindexed, result.pending, result.is_by_words_alone) == ((), 0, False)


def test_a_search_with_nothing_changed_makes_one_call_of_each_kind() -> None:
    world = a_garden()
    world.files = store = CountingStore(world.clock)
    world.put("/garden/tomatoes.md", "the tomatoes fruit in june")
    world.search(QUERY)
    before = (store.calls, len(world.embedder.requests), world.index.loads)

    steps = world.steps_of(lambda: world.search(QUERY))

    after = (store.calls, len(world.embedder.requests), world.index.loads)
    assert tuple(b - a for a, b in zip(before, after, strict=True)) == (1, 1, 1)
    assert steps == 2 * 4  # reserve, embed, settle, load: each before and after; no lease


@pytest.mark.promise("P-055")
@pytest.mark.parametrize("name", ["garden", "GARDEN", "Garden"])
def test_a_workspace_is_named_in_any_letter_case(name: str) -> None:
    world = a_garden()

    assert world.found(QUERY, name) == {"garden/tomatoes.md", "garden/beds/plan.md"}


@pytest.mark.parametrize(("name", "other"), [("ΟΔΟΣ", "οδοσ"), ("Ärger", "ÄRGER")])
def test_a_workspace_of_any_script_is_found_in_another_case(name: str, other: str) -> None:
    world = World()
    world.put(f"/{name}/a.md", "text")

    assert world.found(workspace=other) == {f"{name}/a.md"}


@pytest.mark.promise("P-106")
@pytest.mark.parametrize(("name", "other"), [("strasse", "straße"), ("secret", "\u017fecret")])
def test_a_workspace_that_dropbox_keeps_apart_is_not_searched(name: str, other: str) -> None:
    world = World()
    world.put(f"/{name}/a.md", "text")

    assert world.search(workspace=other) == SearchResult((), (), 0, False)


def test_of_two_workspaces_alike_the_one_that_was_named_is_searched() -> None:
    world = World()
    world.put("/straße/a.md", "text")
    world.put("/strasse/b.md", "text")

    assert world.found(workspace="straße") == {"straße/a.md"}
    assert world.found(workspace="Strasse") == {"strasse/b.md"}


def test_an_unknown_workspace_has_no_hits() -> None:
    assert a_garden().search(QUERY, "nowhere") == SearchResult((), (), 0, False)


def test_the_limit_keeps_the_best() -> None:
    result = a_garden().search(QUERY, limit=1)

    assert [hit.path for hit in result.hits] == ["tomatoes.md"]


@pytest.mark.promise("P-059")
def test_a_change_by_another_app_is_found_without_a_webhook() -> None:
    world = a_garden()
    world.search(QUERY)
    world.put("/garden/beds/tomatoes.md", "the tomatoes fruit when they fruit")

    assert world.search(QUERY).hits[0].path == "beds/tomatoes.md"


@pytest.mark.promise("P-060")
def test_a_deleted_file_is_never_a_hit() -> None:
    world = a_garden()
    world.search(QUERY)
    world.files.outside.remove("/garden/beds")

    assert world.found(QUERY) == {"garden/tomatoes.md", "work/search.md"}


@pytest.mark.promise("P-059")
def test_our_own_write_that_comes_back_costs_nothing() -> None:
    world = a_garden()
    world.search(QUERY)
    world.write("/garden/new.md", "a new note")
    sent = len(world.embedder.inputs)

    assert "garden/new.md" in world.found(QUERY)
    assert world.embedder.inputs[sent:] == [QUERY]


@pytest.mark.parametrize("target", ["/garden/renamed.md", "/work/tomatoes.md"])
def test_a_file_that_was_moved_is_found_there_at_no_cost(target: str) -> None:
    world = a_garden()
    world.search(QUERY)
    world.files.outside.move("/garden/tomatoes.md", target)
    sent = len(world.embedder.inputs)

    result = world.search("renamed tomatoes", limit=1)

    assert [f"/{hit.workspace}/{hit.path}" for hit in result.hits] == [target]
    assert world.embedder.inputs[sent:] == ["renamed tomatoes"]
    assert world.indexed() == world.folder()


def test_a_copy_is_indexed_at_no_cost() -> None:
    world = a_garden()
    world.search(QUERY)
    world.put("/work/copy.md", "the tomatoes fruit in june")
    sent = len(world.embedder.inputs)

    assert "work/copy.md" in world.found(QUERY)
    assert world.embedder.inputs[sent:] == [QUERY]


@pytest.mark.promise("P-209")
def test_two_new_files_with_one_text_are_paid_once() -> None:
    world = World()
    world.put("/garden/a.md", "the same text")
    world.put("/work/b.md", "the same text")

    assert world.found() == {"garden/a.md", "work/b.md"}
    assert sorted(world.embedder.inputs) == ["anything", "the same text"]


@pytest.mark.promise("P-061")
def test_files_of_the_searched_workspace_come_first_and_of_them_the_newest() -> None:
    world = World()
    for name in ("/work/1.md", "/garden/2.md", "/garden/3.md", "/work/4.md"):
        world.put(name, f"text of {name}")
        world.clock.sleep(1)

    world.search(workspace="garden")

    names = [text.removeprefix("text of ") for text in world.embedder.inputs[1:]]
    assert names == ["/garden/3.md", "/garden/2.md", "/work/4.md", "/work/1.md"]


@pytest.mark.promise("P-062")
@pytest.mark.promise("P-062", "P-063", "T-14")
def test_no_request_starts_after_20_seconds_and_the_answer_counts_what_is_left() -> None:
    world = World()
    for number in range(300):
        world.put(f"/garden/{number}.md", f"note {number} " + "x" * 7_900)
    world.embedder.seconds = 3
    began = world.clock.monotonic()

    first = world.search()
    took, last_start = world.clock.monotonic() - began, max(world.embedder.started)
    world.embedder.seconds = 0
    second = world.search()

    assert last_start < 20
    assert took < 25
    assert first.pending > 0
    assert second.pending == 0
    sent = [text for text in world.embedder.inputs if text != "anything"]
    assert len(sent) == len(set(sent)) == 300


@pytest.mark.promise("P-062")
def test_files_elsewhere_that_are_not_indexed_yet_are_not_counted() -> None:
    world = a_garden()
    world.search(QUERY)
    world.put("/work/new.md", "text")
    world.embedder.is_silent = True

    assert world.search(QUERY, "garden").pending == 0
    assert world.search(QUERY, "work").pending == 1


@pytest.mark.promise("P-208", "T-10", "T-11", "T-13b")
def test_what_cannot_be_indexed_is_named_with_its_reason() -> None:
    world = World()
    world.files = store = CountingStore(world.clock)
    world.put("/garden/Big.md", 1_000_001 * "a")
    world.put("/garden/latin.md", b"caf\xe9")
    world.put("/garden/locked.md", "text")
    store.locked = "/garden/locked.md"

    result = world.search(QUERY, "garden")

    assert result.unindexed == (
        Unindexed("garden", "Big.md", SkipReason.TOO_LARGE, None),
        Unindexed("garden", "latin.md", SkipReason.NOT_UTF8, None),
        Unindexed("garden", "locked.md", SkipReason.NOT_DOWNLOADABLE, None),
    )
    assert result.pending == 0


@pytest.mark.promise("P-073", "T-12")
def test_a_file_over_the_budget_is_named_and_tried_again_next_month() -> None:
    world = World(cap=700)
    world.put("/garden/a.md", "x" * 699)

    named = world.search("two words").unindexed
    world.clock.sleep(60 * 60 * 24)
    later = world.search()

    assert named == (Unindexed("garden", "a.md", SkipReason.OVER_BUDGET, date(2026, 12, 1)),)
    assert [hit.path for hit in later.hits] == ["a.md"]


def test_a_smaller_file_is_indexed_although_a_larger_one_does_not_fit() -> None:
    world = World(cap=700)
    world.put("/garden/small.md", "x" * 100)
    world.put("/garden/large.md", "y" * 700)

    result = world.search()

    assert [hit.path for hit in result.hits] == ["small.md"]
    assert [file.path for file in result.unindexed] == ["large.md"]


def test_a_file_that_the_service_refuses_does_not_keep_others_from_being_indexed() -> None:
    world = a_garden()
    world.put("/garden/bad.md", "a bad text")
    world.embedder.refused = {"a bad text"}

    result = world.search(QUERY)

    assert len(result.hits) == 3
    assert [(file.path, file.reason) for file in result.unindexed] == [
        ("bad.md", SkipReason.REFUSED)
    ]


def test_while_the_service_gives_no_vectors_a_search_asks_for_few_and_refuses_none() -> None:
    world = World()
    for number in range(64):
        world.put(f"/garden/{number}.md", f"note {number}")
    world.embedder.is_spoiled = True

    with pytest.raises(EmbeddingSilent):
        world.search()
    requests = len(world.embedder.requests)
    world.embedder.is_spoiled = False
    later = world.search()

    assert requests == 3  # for the query, for the notes, and for a text that is well
    assert (len(later.hits), later.unindexed, later.pending) == (20, (), 0)


def test_a_text_that_is_refused_among_many_is_found_in_few_requests() -> None:
    world = World()
    for number in range(64):
        world.put(f"/garden/{number}.md", f"note {number}")
    world.embedder.refused = {"note 17"}

    result = world.search()

    assert len(result.hits) == 20
    assert [file.path for file in result.unindexed] == ["17.md"]
    assert len(world.embedder.requests) <= 1 + 2 + 3 * 6
    assert world.indexed() == world.folder()


@pytest.mark.promise("P-072", "T-40")
def test_a_query_that_does_not_fit_in_the_budget_calls_nobody() -> None:
    world = World(cap=26)
    world.files = store = CountingStore(world.clock)

    with pytest.raises(QueryOverBudget) as refused:
        world.search(QUERY)

    assert str(refused.value) == (
        "The query does not fit in what is left of this month's 26 embedding tokens. "
        "Search works again on 2026-12-01 (UTC); the other tools work now."
    )
    assert (store.calls, world.embedder.requests, world.ledger.spent) == (0, [], {})


@pytest.mark.promise("P-072")
def test_a_query_that_fits_to_the_byte_is_searched() -> None:
    assert World(cap=27).search(QUERY) == SearchResult((), (), 0, False)


@pytest.mark.promise("P-071", "T-40b")
def test_the_deployments_budget_has_words_of_its_own() -> None:
    with pytest.raises(DeploymentOverBudget) as refused:
        World(deployment_cap=26).search(QUERY)

    assert str(refused.value) == (
        "This service has used up its own embedding limit. "
        "Search works again on 2026-12-01 (UTC); the other tools work now."
    )


@pytest.mark.promise("T-41")
def test_a_silent_service_leaves_the_words_to_rank_by() -> None:
    world = a_garden()
    world.search(QUERY)
    world.embedder.is_silent = True

    result = world.search(QUERY)

    assert result.is_by_words_alone
    [hit] = result.hits  # the others have no word of the query
    assert hit == FoundFile("garden", "tomatoes.md", hit.score)


@pytest.mark.promise("P-206", "T-41")
def test_a_service_that_is_too_slow_leaves_the_words_to_rank_by_in_time() -> None:
    world = a_garden()
    world.search(QUERY)
    world.embedder.seconds = 60
    began = world.clock.monotonic()

    result = world.search(QUERY)

    assert world.clock.monotonic() - began < 25
    assert result.is_by_words_alone
    assert result.hits[0].path == "tomatoes.md"


@pytest.mark.promise("P-073", "P-208")
@pytest.mark.parametrize("is_packed", [True, False])
def test_a_file_over_the_budget_is_not_found_by_its_older_text(is_packed: bool) -> None:
    world = World(cap=700)
    world.put("/garden/a.md", "tomatoes " + "x" * 100)
    world.search("tomatoes")
    if is_packed:
        world.fold("garden")
    world.put("/garden/a.md", "onions " + "y" * 700)

    result = world.search("tomatoes")

    assert result.hits == ()
    assert [file.reason for file in result.unindexed] == [SkipReason.OVER_BUDGET]


def a_long_note(*, changed: bool) -> str:
    days = [f"Day {number}: the beds were watered and weeded." for number in range(250)]
    days[125] = "Day 125: it rained." if changed else days[125]
    return "\n\n".join(days)


@pytest.mark.promise("P-073", "P-209")
@pytest.mark.parametrize("packed", [(), ("before",), ("after",), ("before", "after")])
@pytest.mark.parametrize("many", [1, 100])
def test_of_a_note_that_changed_over_the_budget_the_next_month_pays_what_changed(
    packed: tuple[str, ...], many: int
) -> None:
    world = World()
    world.many = many  # files at once make a pack
    world.put("/garden/a.md", a_long_note(changed=False))
    world.search()
    parts = len(world.embedder.inputs) - 1
    if "before" in packed:
        world.fold("garden")
    world.put("/garden/a.md", a_long_note(changed=True))
    world.ledger.cap = sum(world.ledger.spent.values()) + 100

    [named] = world.search().unindexed
    if "after" in packed:
        world.fold("garden")
    world.ledger.cap = 84_745_762
    world.clock.sleep(60 * 60 * 24)
    sent = len(world.embedder.inputs)
    world.search()

    assert (named.reason, parts) == (SkipReason.OVER_BUDGET, 6)
    [_, changed] = world.embedder.inputs[sent:]
    assert "it rained" in changed
    assert world.indexed() == world.folder()


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_text_that_was_refused_is_tried_again_at_once_under_another_recipe(
    is_packed: bool,
) -> None:
    world = World()
    world.put("/garden/a.md", "a bad text")
    world.embedder.refused = {"a bad text"}
    world.search()
    if is_packed:
        world.fold("garden")
    world.embedder.refused = set()

    [named] = world.search().unindexed
    world.splitting += 1

    assert named.reason == SkipReason.REFUSED
    assert world.found("a bad text") == {"garden/a.md"}


@pytest.mark.promise("P-209")
def test_of_a_note_that_was_refused_its_other_parts_are_not_paid_again() -> None:
    world, other = World(), World()
    for each, is_changed in ((world, False), (other, True)):
        each.put("/garden/a.md", a_long_note(changed=is_changed))
        each.search()
    [changed] = refused = set(other.embedder.inputs) - set(world.embedder.inputs)
    world.put("/garden/a.md", a_long_note(changed=True))
    world.embedder.refused = refused

    [named] = world.search().unindexed
    world.embedder.refused = set()
    world.clock.sleep(60 * 60 * 24)
    sent = len(world.embedder.inputs)
    world.search()

    assert named.reason == SkipReason.REFUSED
    assert world.embedder.inputs[sent:] == ["anything", changed]
    assert world.indexed() == world.folder()


@pytest.mark.promise("T-41")
def test_a_silent_service_without_an_index_is_an_error() -> None:
    world = a_garden()
    world.embedder.is_silent = True

    with pytest.raises(EmbeddingSilent) as silent:
        world.search(QUERY)

    assert str(silent.value) == (
        "The embedding service did not answer, so nothing was searched. "
        "Try again in a minute; the other tools work now."
    )


@pytest.mark.promise("P-060", "T-41", "T-42")
@pytest.mark.parametrize("error", [DropboxSilent(), DropboxAsksToWait(15)])
def test_a_listing_that_fails_is_an_error_and_drops_nothing(error: Exception) -> None:
    world = World()
    world.files = store = CountingStore(world.clock)
    world.put("/garden/a.md", "text")
    world.search()
    before = world.index.load()
    store.error = error

    with pytest.raises(type(error)):
        world.search()

    assert world.index.load() == before
    assert world.ledger.spent == {"2026-11": len(world.embedder.inputs)}


@pytest.mark.promise("P-061", "P-062")
def test_a_search_that_meets_another_run_waits_for_it_within_its_20_seconds() -> None:
    world = a_garden()
    other = InMemoryLeases(world.leases, Deadline.after(100, world.clock))
    with other.indexer(Deadline.after(1, world.clock)):
        result = world.search(QUERY)

    assert result.pending == 3
    assert result.hits == ()
    assert world.clock.monotonic() == pytest.approx(20)


def test_a_search_with_nothing_to_do_in_its_workspace_waits_for_no_run_elsewhere() -> None:
    world = a_garden()
    world.search(QUERY)
    world.put("/bulk/new.md", "something else")
    other = InMemoryLeases(world.leases, Deadline.after(100, world.clock))
    with other.indexer(Deadline.after(1, world.clock)):
        result = world.search(QUERY, "garden")

    assert result.pending == 0
    assert result.hits[0].path == "tomatoes.md"
    assert world.clock.monotonic() == 0


def test_a_file_that_another_request_is_indexing_is_counted_and_not_embedded_twice() -> None:
    world = World()
    world.put("/garden/a.md", "text")
    world.request().indexer.claim("/garden/a.md")

    result = world.search()

    assert (result.hits, result.pending) == ((), 1)
    assert world.embedder.inputs == ["anything"]


@pytest.mark.promise("P-061", "P-209")
def test_two_first_searches_embed_each_file_once() -> None:
    for pause in range(0, 60, 3):
        world = a_garden()
        world.interrupt_at(pause, lambda world=world: world.search("another query"))  # type: ignore[misc]
        world.search(QUERY)
        world.on_step = lambda: None
        world.search(QUERY)

        sent = [text for text in world.embedder.inputs if text not in (QUERY, "another query")]
        assert len(sent) == len(set(sent)) == 3, pause


def test_folders_have_one_spelling_in_an_answer() -> None:
    world = World()
    world.put("/Garden/Beds/Plan.md", "plan")
    world.search()
    world.clock.sleep(1)
    world.put("/GARDEN/BEDS/other.md", "other")

    assert world.found() == {"Garden/Beds/Plan.md", "Garden/Beds/other.md"}


@pytest.mark.promise("P-055")
def test_equal_files_come_in_the_order_of_their_names_each_time() -> None:
    world = World()
    for number in range(30):
        world.put(f"/garden/{number:02}.md", "the same text")

    answers = [[hit.path for hit in world.search(limit=5).hits] for _ in range(3)]

    assert answers == 3 * [["00.md", "01.md", "02.md", "03.md", "04.md"]]


@pytest.mark.parametrize("is_missing", [True, False])
def test_a_pack_that_cannot_be_read_is_made_good_from_the_folder(is_missing: bool) -> None:
    world = a_garden()
    world.search(QUERY)
    world.fold("garden")
    [key] = world.packs.objects
    world.packs.objects[key] = b"damaged"
    if is_missing:
        del world.packs.objects[key]

    result = world.search(QUERY, "garden")

    assert [hit.path for hit in result.hits] == ["tomatoes.md", "beds/plan.md"]
    assert world.indexed() == world.folder()


def test_a_search_opens_the_packs_of_its_workspace_only() -> None:
    world = a_garden()
    world.search(QUERY)
    world.fold("garden")
    world.fold("work")
    world.packs.opened.clear()

    world.search(QUERY, "work")

    assert {key.split("/")[0] for key in world.packs.opened} == {"work"}


def test_an_index_of_another_model_is_not_ranked_and_made_anew() -> None:
    world = a_garden()
    world.search(QUERY)
    world.fold("garden")
    sent = len(world.embedder.inputs)
    world.embedder = type(world.embedder)(world.clock, dims=32)

    assert len(world.search(QUERY).hits) == 3
    assert sent == 4
    assert sorted(world.embedder.inputs) == sorted(
        [QUERY, "the tomatoes fruit in june", "the plan of the beds", "vectors and words"]
    )


@pytest.mark.parametrize("is_packed", [False, True])
def test_another_way_of_splitting_costs_nothing_for_texts_that_stay(is_packed: bool) -> None:
    world = a_garden()
    world.search(QUERY)
    if is_packed:
        world.fold("garden")
        world.fold("work")
    sent = len(world.embedder.inputs)
    world.splitting += 1

    assert len(world.search(QUERY).hits) == 3
    assert world.embedder.inputs[sent:] == [QUERY]


def changed_garden() -> World:
    world = a_garden()
    world.search(QUERY)
    world.fold("garden")
    world.put("/garden/tomatoes.md", "the tomatoes are over")
    world.files.outside.remove("/garden/beds")
    world.files.outside.move("/work/search.md", "/garden/search.md")
    world.put("/garden/new.md", "a new note")
    return world


@pytest.mark.promise("P-063")
def test_a_search_that_crashed_at_any_step_is_made_good_by_the_next() -> None:
    uninterrupted = changed_garden()
    total = uninterrupted.steps_of(lambda: uninterrupted.search(QUERY))
    assert total > 40
    for number in range(total):
        world = changed_garden()
        world.stop_at(number)
        with pytest.raises(Crash):
            world.search(QUERY)
        world.on_step = lambda: None
        world.clock.sleep(60)

        result = world.search(QUERY)

        assert (result.pending, result.unindexed) == (0, ()), number
        assert world.indexed() == world.folder(), number


@pytest.mark.promise("P-208")
def test_a_search_leaves_nothing_out_while_another_request_lists_the_folder_anew() -> None:
    def begin_a_listing(world: World) -> None:
        world.files.outside.reset_cursors()
        other = world.request()
        view = other.catalog.load()
        world.stop_at(4)  # right after its first page is recorded
        with suppress(Crash):
            other.recorder.read_on(view.state, view.snapshot, other.deadline)
        world.on_step = lambda: None

    def with_a_new_note() -> World:
        world = a_garden()
        world.search(QUERY)
        world.put("/garden/new.md", "a new note")
        return world

    steps = with_a_new_note()
    for number in range(steps.steps_of(lambda: steps.search(QUERY))):
        world = with_a_new_note()
        world.interrupt_at(number, partial(begin_a_listing, world))

        result = world.search(QUERY)

        assert len(result.hits) == 4 or result.pending, number


@pytest.mark.promise("P-213")
def test_the_index_is_rebuilt_from_the_folder_alone() -> None:
    world = a_garden()
    before = world.search(QUERY)
    wiped = a_garden()

    assert wiped.search(QUERY) == before


def a_packed_garden() -> World:
    world = World()
    for number in range(30):
        world.put(f"/garden/{number}.md", f"note {number} of tomatoes")
    world.search()
    world.fold("garden")
    return world


def test_a_workspace_that_is_too_large_for_memory_is_searched_alike() -> None:
    world = a_packed_garden()
    expected = world.search("7 tomatoes")

    world.packs.memory = 0

    assert world.search("7 tomatoes") == expected
    assert world.indexed() == world.folder()


def test_damage_that_is_met_while_a_workspace_is_searched_is_made_good() -> None:
    world = a_packed_garden()
    expected = world.search("7 tomatoes")
    world.packs.memory = 0
    [(key, data)] = world.packs.objects.items()
    world.packs.objects[key] = data[:-1] + bytes([data[-1] ^ 1])

    assert world.search("7 tomatoes") == expected
    assert world.index.load().packs["garden"].packs == ()
    assert world.indexed() == world.folder()


def test_whatever_fails_behind_the_listing_a_search_answers_with_what_it_has() -> None:
    answered = list[bool]()
    while len(answered) < 100:
        world = a_garden()
        world.search(QUERY)
        world.put("/garden/late.md", "late tomatoes")
        world.on_step = _failing_from(len(answered))
        try:
            result = world.search(QUERY)
        except Unavailable:
            answered.append(False)
            continue
        answered.append(True)
        assert len(result.hits) + result.pending == 4
        if not result.pending:
            break

    behind = answered.index(True)
    assert answered[behind:] == [True] * (len(answered) - behind)
    assert answered.count(True) > 10


def _failing_from(number: int) -> Callable[[], None]:
    steps = count()

    def step() -> None:
        if next(steps) >= number:
            raise Unavailable

    return step
