from collections.abc import Callable
from functools import partial

import pytest

from memorybox.search.model import TailEntry
from memorybox.search.packer import ENTRY, LARGE
from tests.unit.search.world import Crash, World


def a_garden() -> World:
    world = World()
    world.put("/garden/a.md", "tomatoes")
    world.put("/garden/beds/b.md", "beds")
    world.put("/garden/big.md", 1_000_001 * "x")
    world.put("/work/c.md", "words")
    world.search()
    return world


def tail(world: World) -> dict[str, TailEntry]:
    return dict(world.index.load().tail)


def test_folding_empties_the_tail_of_one_workspace_and_changes_no_answer() -> None:
    world = a_garden()
    before = world.search("tomatoes")

    assert world.fold("garden")

    assert set(tail(world)) == {"/work/c.md"}
    assert world.search("tomatoes") == before


def test_the_pointer_says_what_the_pack_holds() -> None:
    world = a_garden()

    world.fold("garden")
    world.put("/garden/d.md", "one more")
    world.search()
    world.fold("garden")

    pointer = world.index.load().packs["garden"]
    [ref], [pack] = pointer.packs, world.packs.open(pointer.packs)
    assert (pointer.generation, ref.number, pack.number) == (2, 2, 2)
    assert ref.size == len(world.packs.objects[ref.key])
    assert (pack.files, pack.parts) == (4, 3)


def test_what_is_gone_is_in_no_pack() -> None:
    world = a_garden()
    world.fold("garden")
    world.files.outside.remove("/garden/beds")
    world.search()

    world.fold("garden")

    [pack] = world.packs.open(world.index.load().packs["garden"].packs)
    assert pack.files == 2
    assert set(tail(world)) == {"/work/c.md"}
    assert world.found() == {"garden/a.md", "work/c.md"}


def test_what_is_due_stays_in_the_tail() -> None:
    world = a_garden()
    world.fold("garden")
    world.put("/garden/a.md", "changed tomatoes")
    world.put("/garden/new.md", "new")
    request = world.request()
    request.catalog.catch_up(request.deadline)

    world.fold("garden")

    assert {"/garden/a.md", "/garden/new.md"} <= tail(world).keys()
    assert "garden/a.md" in world.found()
    assert world.indexed() == world.folder()


def test_an_entry_that_changes_while_it_is_folded_stays() -> None:
    world = a_garden()
    request = world.request()
    view = request.catalog.load()
    world.put("/garden/a.md", "changed meanwhile")
    world.search()

    request.packer.fold(view, "garden")

    assert "/garden/a.md" in tail(world)
    assert world.indexed() == world.folder()


def test_of_two_folds_one_drops_its_own_pack() -> None:
    world = a_garden()
    first, second = world.request(), world.request()
    views = first.catalog.load(), second.catalog.load()

    folded = [
        request.packer.fold(view, "garden")
        for request, view in zip((first, second), views, strict=True)
    ]

    assert folded == [True, False]
    assert set(world.packs.objects) == {ref.key for ref in world.index.load().packs["garden"].packs}


def test_a_tail_is_folded_from_a_quarter_of_a_megabyte_on_until_half_of_that_is_left() -> None:
    world = World()
    world.many = LARGE  # all of them go into the tail
    each = LARGE // ENTRY // 5
    for workspace, notes in {"few": each, "most": 4 * each}.items():
        for number in range(notes):
            world.put(f"/{workspace}/{number}.md", "")
    world.search()
    request = world.request()

    not_yet = request.packer.long_tails(request.catalog.load())
    for number in range(5):
        world.put(f"/new/{number}.md", "")
    world.search()
    now = request.packer.long_tails(request.catalog.load())

    assert (not_yet, now) == ([], ["most"])


def test_small_tails_of_many_workspaces_are_folded_when_they_are_large_together() -> None:
    world = World()
    text = " ".join(f"word{number}" for number in range(500))
    for number in range(100):
        world.put(f"/w{number}/note.md", text)
    world.search()
    request = world.request()
    view = request.catalog.load()

    chosen = request.packer.long_tails(view)

    assert 40 < len(chosen) < 60
    for workspace in chosen:
        request.packer.fold(view, workspace)
    assert {at.workspace for at in tail(world).values()}.isdisjoint(chosen)
    assert request.packer.long_tails(request.catalog.load()) == []


SMALL = 3_000  # bytes, of which the head of a pack takes 2,000


def sizes(world: World) -> list[int]:
    return [ref.size for ref in world.index.load().packs["garden"].packs]


def add_notes(world: World, count: int, begin: int = 0) -> None:
    for number in range(begin, begin + count):
        world.put(f"/garden/{number}.md", f"note {number}")
    world.search()


def test_a_fold_takes_in_packs_of_up_to_twice_its_own_size() -> None:
    world = World()
    world.small, world.many = SMALL, 1_000
    add_notes(world, 60)
    world.fold("garden")
    add_notes(world, 1, begin=60)
    world.fold("garden")
    large, small = sizes(world)
    assert large > 2 * SMALL > small
    add_notes(world, 2, begin=61)
    world.fold("garden")

    kept, merged = sizes(world)
    assert kept == large > merged > small
    assert world.indexed() == world.folder()
    add_notes(world, 100, begin=63)
    world.fold("garden")
    assert len(sizes(world)) == 1
    assert world.indexed() == world.folder()


def test_many_folds_leave_few_packs() -> None:
    world = World()
    world.small = SMALL
    counts = set()
    for begin in range(0, 120, 3):
        add_notes(world, 3, begin)
        world.fold("garden")
        counts.add(len(sizes(world)))

    assert {1, 2} <= counts <= {1, 2, 3, 4}
    assert world.indexed() == world.folder()


def test_a_full_pack_is_left_alone_until_half_of_it_is_hidden() -> None:
    world = World()
    world.small = SMALL
    add_notes(world, 60)
    world.fold("garden")
    [full] = world.index.load().packs["garden"].packs
    world.full = full.size
    for number in range(40):
        world.files.outside.remove(f"/garden/{number}.md")
        if number in (10, 39):
            world.search()
            world.fold("garden")

            is_kept = full in world.index.load().packs["garden"].packs
            assert is_kept == (number == 10)
            assert world.indexed() == world.folder()


def test_a_pack_is_never_made_larger_than_a_full_one() -> None:
    world = World()
    add_notes(world, 60)
    world.fold("garden")
    [full] = world.index.load().packs["garden"].packs
    world.full = full.size
    add_notes(world, 1, begin=60)

    world.fold("garden")

    assert world.index.load().packs["garden"].packs[0] == full
    assert world.indexed() == world.folder()


def a_layered_garden() -> World:
    world = World()
    world.small = 0
    add_notes(world, 30)
    world.fold("garden")
    world.put("/garden/1.md", "changed tomatoes")
    world.files.outside.remove("/garden/2.md")
    world.search()
    world.fold("garden")
    assert len(sizes(world)) == 2
    world.put("/garden/1.md", "changed tomatoes once more")
    world.put("/garden/2.md", "back")
    world.files.outside.remove("/garden/3.md")
    world.search()
    return world


@pytest.mark.parametrize("make", [a_garden, a_layered_garden])
def test_a_fold_that_crashed_at_any_step_leaves_a_right_index(make: Callable[[], World]) -> None:
    uninterrupted = make()
    total = uninterrupted.steps_of(lambda: uninterrupted.fold("garden"))
    assert total > 6
    for number in range(total):
        world = make()
        expected = world.search("tomatoes")
        world.stop_at(number)
        with pytest.raises(Crash):
            world.fold("garden")
        world.on_step = lambda: None

        assert world.search("tomatoes") == expected, number
        world.fold("garden")
        assert world.search("tomatoes") == expected, number
        assert world.indexed() == world.folder(), number


def test_a_search_between_any_two_steps_of_a_fold_answers_as_before() -> None:
    def a_changed_garden() -> World:
        world = a_garden()
        world.small = 0
        world.fold("garden")
        world.put("/garden/a.md", "changed tomatoes")
        world.files.outside.remove("/garden/beds")
        world.search()
        return world

    uninterrupted = a_changed_garden()
    for number in range(uninterrupted.steps_of(lambda: uninterrupted.fold("garden"))):
        world = a_changed_garden()
        between: list[object] = []
        expected = world.search("tomatoes")
        world.interrupt_at(number, partial(_search, world, between))

        world.fold("garden")

        assert between == [expected], number


def _search(world: World, found: list[object]) -> None:
    found.append(world.search("tomatoes"))
