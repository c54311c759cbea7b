"""A pack that is lost costs what only it could tell, and every search meanwhile is honest."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from memorybox.deadline import Deadline
from memorybox.files.errors import DropboxSilent
from memorybox.files.model import ChangePage, Cursor
from memorybox.search.embedding import LAST_START
from memorybox.search.errors import EmbeddingSilent
from memorybox.search.healing import heal
from memorybox.search.overview import overview
from memorybox.search.results import SearchResult
from memorybox.search.sections import PackDamaged, PackLost
from tests.fakes.files import InMemoryFileStore
from tests.fakes.leases import InMemoryLeases
from tests.unit.search.world import Crash, World

QUERY = "which notes"


class Outage(InMemoryFileStore):
    """An app folder of which no workspace can be listed by itself."""

    def changes(self, cursor: Cursor | None, location: str = "") -> ChangePage:
        if location:
            raise DropboxSilent
        return super().changes(cursor, location)


def a_box(store: type[InMemoryFileStore] = InMemoryFileStore) -> World:
    """Two workspaces; one has three packs, of which the second hides rows of the first."""
    world = World()
    world.files = store(world.clock, world.step)
    world.small = 0
    for name in ("kept", "changed", "deleted", "moved"):
        world.put(f"/garden/{name}.md", f"{name} at first")
    for number in range(3):
        world.put(f"/garden/others/{number}.md", f"note {number} of the first pack " * 20)
    world.put("/work/other.md", "of another workspace")
    world.search(QUERY)
    world.fold("garden")
    world.fold("work")
    world.put("/garden/changed.md", "changed by now")
    world.put("/garden/new.md", "new in the second pack")
    world.files.outside.remove("/garden/deleted.md")
    world.files.outside.move("/garden/moved.md", "/garden/x.md/inner.md")
    world.search(QUERY)
    world.fold("garden")
    world.put("/garden/last.md", "new in the third pack")
    world.search(QUERY)
    world.fold("garden")
    assert len(packs(world)) == 3
    return world


def packs(world: World, workspace: str = "garden") -> list[str]:
    return [ref.key for ref in world.index.load().packs[workspace].packs]


def lose(world: World, number: int) -> None:
    """Lose one of the packs of the garden."""
    del world.packs.objects[packs(world)[number]]


def paid(world: World, act: Callable[[], object]) -> list[str]:
    """The texts that `act` had embedded, queries aside."""
    before = len(world.embedder.inputs)
    act()
    return sorted(text for text in world.embedder.inputs[before:] if text != QUERY)


@dataclass(frozen=True)
class Loss:
    """Which pack is lost, and what it alone knew."""

    number: int
    texts: tuple[str, ...]
    tail: tuple[str, ...]


LOSSES = (
    Loss(
        1,
        ("changed by now", "new in the second pack"),
        ("changed", "deleted", "moved", "new", "x.md/inner"),
    ),
    Loss(2, ("new in the third pack",), ("last",)),
)


@pytest.mark.promise("P-208", "P-209")
@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_pack_costs_what_no_other_pack_knows(loss: Loss) -> None:
    world = a_box()
    lose(world, loss.number)

    texts = paid(world, lambda: world.search(QUERY))

    assert texts == sorted(loss.texts)
    assert world.indexed() == world.folder()
    assert world.index.load().tail.keys() == {f"/garden/{name}.md" for name in loss.tail}
    assert len(packs(world)) == 2


def test_all_packs_of_a_workspace_may_be_lost_at_once() -> None:
    world = a_box()
    for number in (0, 1, 2):
        lose(world, number)

    world.search(QUERY)

    assert world.indexed() == world.folder()
    assert packs(world) == []


def test_many_files_of_a_lost_pack_are_noted_in_a_pack() -> None:
    world = a_box()
    world.many = 3
    lose(world, 0)
    request = world.request()

    assert request.run.work()

    assert world.indexed() == world.folder()
    assert world.index.load().tail == {}


def test_a_file_in_the_place_of_a_folder_that_a_lost_pack_hid_hides_nothing() -> None:
    """A pack knew the file, a younger one that it is gone, and one younger still what is there."""
    world = World()
    world.small = 0
    world.put("/garden/x.md", "a file at first")
    world.put("/garden/other.md", "text " * 200)
    world.search(QUERY)
    world.fold("garden")
    world.files.outside.remove("/garden/x.md")
    world.put("/garden/second.md", "second")
    world.search(QUERY)
    world.fold("garden")
    world.put("/garden/x.md/inner.md", "in the folder")
    world.search(QUERY)
    world.fold("garden")
    lose(world, 1)

    assert paid(world, lambda: world.search(QUERY)) == ["second"]
    assert world.found(QUERY) == {"garden/other.md", "garden/second.md", "garden/x.md/inner.md"}
    assert world.indexed() == world.folder()


def honest(world: World, result: SearchResult) -> bool:
    """Whether a search left nothing out in silence, and showed nothing that is not there."""
    found = {f"/{hit.workspace}/{hit.path}".lower() for hit in result.hits}
    there = world.folder().keys()
    return found <= there and (found == there or result.pending > 0)


def broken() -> World:
    """The box without the pack that tells the most."""
    world = a_box()
    lose(world, 1)
    return world


@pytest.mark.promise("P-063", "P-208")
def test_healing_survives_a_crash_at_any_step() -> None:
    uninterrupted = broken()
    total = uninterrupted.steps_of(lambda: uninterrupted.search(QUERY))
    for step in range(total):
        world = broken()
        world.stop_at(step)
        with pytest.raises(Crash):
            world.search(QUERY)
        world.on_step = lambda: None
        world.clock.sleep(60)

        assert world.search(QUERY).pending == 0, step
        assert world.indexed() == world.folder(), step


@pytest.mark.promise("P-062", "P-208")
def test_when_time_runs_out_at_any_step_of_healing_the_answer_says_so_and_the_next_goes_on() -> (
    None
):
    once = broken()
    total = once.steps_of(lambda: once.search(QUERY))
    for step in range(total):
        world = broken()
        world.interrupt_at(step, lambda world=world: world.clock.sleep(20))  # type: ignore[misc]

        texts = paid(world, lambda world=world, step=step: _honestly(world, step))  # type: ignore[misc]
        world.on_step = lambda: None
        texts += paid(world, lambda world=world: world.search(QUERY))  # type: ignore[misc]

        assert len(texts) == len(set(texts)), step
        assert world.indexed() == world.folder(), step


def _honestly(world: World, step: int) -> None:
    assert honest(world, world.search(QUERY)), step


def test_what_is_recorded_when_time_runs_out_is_not_recorded_again() -> None:
    def attempt(world: World, lost: PackLost) -> bool:
        request = world.request()
        return heal(request.catalog, lost, request.deadline.earlier(LAST_START), at_once=1)

    once = broken()
    lost = PackDamaged("it is gone", packs(once)[1])
    total = once.steps_of(lambda: attempt(once, lost))
    outcomes = set[bool]()
    for step in range(total):
        world = broken()
        world.interrupt_at(step, lambda world=world: world.clock.sleep(20))  # type: ignore[misc]

        outcomes.add(attempt(world, lost))
        world.on_step = lambda: None

        assert attempt(world, lost)
        assert world.index.load().cursor.version == once.index.load().cursor.version, step
    assert outcomes == {True, False}


@pytest.mark.promise("P-208")
def test_of_two_searches_at_once_none_fails_or_shows_what_is_over_or_pays_twice() -> None:
    once = broken()
    total = once.steps_of(lambda: once.search(QUERY))
    for step in range(0, total, 3):
        world = broken()
        other: list[SearchResult] = []
        world.interrupt_at(
            step,
            lambda world=world, other=other: other.append(world.search(QUERY)),  # type: ignore[misc]
        )

        texts = paid(world, lambda world=world, step=step: _honestly(world, step))  # type: ignore[misc]
        world.on_step = lambda: None
        assert all(honest(world, result) for result in other), step
        texts += paid(world, lambda world=world: world.search(QUERY))  # type: ignore[misc]

        assert len(texts) == len(set(texts)), step
        assert world.indexed() == world.folder(), step


@pytest.mark.promise("P-062", "P-208")
@pytest.mark.parametrize(
    ("number", "found"), [(0, {"changed", "new", "x.md/inner", "last"}), (1, {"last"}), (2, set())]
)
def test_while_another_run_heals_a_search_leaves_out_what_the_lost_pack_may_have_hidden(
    number: int, found: set[str]
) -> None:
    world = a_box()
    lose(world, number)
    other = InMemoryLeases(world.leases, Deadline.after(100, world.clock))

    with other.indexer(Deadline.after(1, world.clock)):
        result = world.search(QUERY)

    names = {hit.path for hit in result.hits if hit.workspace == "garden"}
    assert names == {f"{name}.md" for name in found}
    assert "work" in {hit.workspace for hit in result.hits}
    assert result.pending == 1


@pytest.mark.promise("T-41")
def test_where_only_a_lost_pack_has_words_nothing_was_searched_while_the_service_is_silent() -> (
    None
):
    world = a_box()
    lose(world, 2)
    world.embedder.is_silent = True
    other = InMemoryLeases(world.leases, Deadline.after(100, world.clock))

    with other.indexer(Deadline.after(1, world.clock)), pytest.raises(EmbeddingSilent):
        world.search(QUERY, "garden")


def test_a_search_elsewhere_neither_heals_nor_waits() -> None:
    world = a_box()
    lose(world, 1)
    before = packs(world)
    other = InMemoryLeases(world.leases, Deadline.after(100, world.clock))

    with other.indexer(Deadline.after(1, world.clock)):
        result = world.search(QUERY, "work")

    assert ([hit.path for hit in result.hits], result.pending) == (["other.md"], 0)
    assert (packs(world), world.clock.monotonic()) == (before, 0)


def test_the_owner_is_told_what_can_be_told_while_dropbox_is_silent() -> None:
    world = a_box(Outage)
    lose(world, 1)
    request = world.request()

    told = overview(request.catalog, world.recipe, world.clock, request.deadline)

    assert [(state.name, state.notes) for state in told.workspaces] == [("garden", 1), ("work", 1)]
    assert not told.is_current


def test_a_search_that_has_to_heal_while_dropbox_is_silent_is_an_error_and_drops_nothing() -> None:
    world = a_box(Outage)
    lose(world, 1)
    before = world.index.load()

    with pytest.raises(DropboxSilent):
        world.search(QUERY)

    assert world.index.load() == before


def test_a_workspace_that_is_too_large_to_be_listed_is_indexed_anew_as_a_whole() -> None:
    world = a_box()
    world.within_reach = 5
    lose(world, 2)

    assert honest(world, world.search(QUERY))
    world.search(QUERY)

    assert world.indexed() == world.folder()
    assert "garden" not in world.index.load().packs
