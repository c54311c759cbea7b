import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from memorybox.deadline import Deadline
from memorybox.files.errors import DropboxSilent
from memorybox.files.model import FileRef
from memorybox.search.recorder import Reading
from tests.unit.search.world import Crash, World


def read(world: World) -> Reading:
    """Read the changes as one who knows the packs does."""
    request = world.request()
    view = request.catalog.load()
    return request.recorder.read_on(view.state, view.snapshot, request.deadline)


def record(world: World) -> Reading:
    """Read the changes as the webhook does, without the packs."""
    request = world.request()
    return request.recorder.record(request.deadline)


def known(world: World) -> dict[str, str]:
    """The files that the index knows, with the rev that was last seen."""
    snapshot = world.request().catalog.load().snapshot
    return {seen.path_lower: seen.rev for seen in snapshot.files()}


@pytest.mark.promise("P-008", "P-010", "P-019")
def test_the_first_listing_finds_every_note_and_nothing_else() -> None:
    world = World()
    for name in ("/garden/a.md", "/garden/B.MD", "/garden/x.md/inner.md", "/garden/.trash/old.md"):
        world.put(name, "text")
    for name in ("/readme.md", "/garden/d.txt", "/garden/c.markdown", "/All/e.md", "/garden/.md"):
        world.put(name, "text")

    reading = read(world)

    assert reading.is_complete
    assert known(world) == world.folder()
    assert set(known(world)) == set(reading.paths)
    assert len(reading.paths) == 4


def test_nothing_is_stored_when_nothing_changed() -> None:
    world = World()
    world.put("/garden/a.md", "text")
    read(world)
    before = world.index.load()

    reading = read(world)

    assert reading == Reading((), before.cursor, is_complete=True)
    assert world.index.load() == before


def test_the_cursor_of_an_empty_folder_is_kept() -> None:
    world = World()

    assert read(world).cursor.cursor is not None
    assert read(world) == Reading((), world.index.load().cursor, is_complete=True)


def test_changes_by_another_app_are_recorded_without_the_packs() -> None:
    world = World()
    world.put("/garden/a.md", "text")
    world.put("/garden/b.md", "text")
    read(world)
    world.put("/garden/a.md", "another text")
    world.put("/work/c.md", "text")
    world.files.outside.remove("/garden/b.md")

    reading = record(world)

    assert reading.is_complete
    assert set(reading.paths) == {"/garden/a.md", "/work/c.md"}
    assert known(world) == world.folder()


@pytest.mark.promise("P-060")
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("reader", [read, record])
def test_a_folder_that_goes_takes_what_is_in_it_and_no_neighbour(
    reader: Callable[[World], Reading], is_packed: bool
) -> None:
    world = World()
    for name in ("beds/plan.md", "beds/deep/a.md", "beds2/b.md", "beds.md", "a.md"):
        world.put(f"/garden/{name}", "text")
    world.search()
    if is_packed:
        world.fold("garden")
    world.files.outside.remove("/garden/beds")

    reader(world)

    assert set(known(world)) == {"/garden/beds2/b.md", "/garden/beds.md", "/garden/a.md"}


@pytest.mark.promise("P-060")
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_file_takes_the_place_of_a_folder_with_all_that_was_in_it(is_packed: bool) -> None:
    world = World()
    world.put("/garden/x.md/inner.md", "text")
    world.search()
    if is_packed:
        world.fold("garden")
    world.files.outside.remove("/garden/x.md")
    world.put("/garden/x.md", "a file now")

    record(world)

    assert set(known(world)) == {"/garden/x.md"}


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_folder_takes_the_place_of_a_file(is_packed: bool) -> None:
    world = World()
    world.put("/garden/x.md", "a file")
    world.search()
    if is_packed:
        world.fold("garden")
    world.files.outside.remove("/garden/x.md")
    world.put("/garden/x.md/inner.md", "text")

    read(world)

    assert set(known(world)) == {"/garden/x.md/inner.md"}


def test_a_folder_named_like_a_note_is_left_to_those_who_know_the_packs() -> None:
    world = World()
    world.put("/garden/a.md", "text")
    read(world)
    world.put("/garden/x.md/inner.md", "text")

    assert not record(world).is_complete
    assert read(world).is_complete
    assert known(world) == world.folder()


def test_a_listing_from_the_start_is_left_to_those_who_know_the_packs() -> None:
    world = World()
    world.put("/garden/a.md", "text")
    first = record(world)
    read(world)
    world.files.outside.reset_cursors()
    before = world.index.load()

    again = record(world)

    assert (first.is_complete, first.paths) == (False, ())
    assert again == Reading((), before.cursor, is_complete=False)
    assert world.index.load() == before


@pytest.mark.parametrize("is_packed", [False, True])
def test_files_that_vanished_before_a_reset_are_gone_after_it(is_packed: bool) -> None:
    world = World()
    for number in range(12):
        world.put(f"/garden/{number}.md", f"text {number}")
    world.search()
    if is_packed:
        world.fold("garden")
    world.files.outside.remove("/garden/3.md")
    world.put("/garden/4.md", "another text")
    world.files.outside.reset_cursors()

    reading = read(world)

    assert reading.is_complete
    assert known(world) == world.folder()


def test_files_that_a_reset_shows_again_are_neither_recorded_nor_embedded_again() -> None:
    world = World()
    for number in range(12):
        world.put(f"/garden/{number}.md", f"text {number}")
    world.search()
    world.fold("garden")
    sent = len(world.embedder.inputs)
    world.files.outside.reset_cursors()

    assert len(world.found()) == 12

    assert world.embedder.inputs[sent:] == ["anything"]
    assert world.index.load().tail == {}


def test_reading_stops_at_the_deadline_and_goes_on_from_there() -> None:
    world = World()
    for number in range(20):
        world.put(f"/garden/{number}.md", "text")
    request = world.request()
    view = request.catalog.load()
    world.on_step = lambda: world.clock.sleep(0.5)

    reading = request.recorder.read_on(view.state, view.snapshot, Deadline.after(4, world.clock))
    world.on_step = lambda: None

    assert not reading.is_complete
    assert 0 < len(known(world)) < 20
    assert record(world).is_complete
    assert known(world) == world.folder()


def test_a_file_made_before_the_first_listing_and_deleted_by_then_is_gone() -> None:
    world = World()
    world.write("/garden/a.md", "written by a tool")
    world.put("/garden/b.md", "text")
    world.files.outside.remove("/garden/a.md")

    read(world)

    assert set(known(world)) == {"/garden/b.md"}


def test_a_page_that_was_read_earlier_is_never_noted_over_a_later_one() -> None:
    """One reader falls asleep with an old page, another reads a newer one; whoever comes first."""
    for pause in range(40):
        world = World()
        world.put("/garden/a.md", "text")
        read(world)
        world.put("/garden/a.md", "older")

        def overtake(world: World = world) -> None:
            world.put("/garden/a.md", "newer")
            record(world)

        world.interrupt_at(pause, overtake)
        record(world)
        world.on_step = lambda: None
        record(world)

        assert known(world) == world.folder(), pause


def test_the_spelling_of_a_folder_is_that_of_its_own_entry() -> None:
    world = World()
    world.put("/Garden/Beds/Plan.md", "text")
    world.put("/GARDEN/BEDS/other.md", "text")

    read(world)

    snapshot = world.request().catalog.load().snapshot
    assert {seen.path_display for seen in snapshot.files()} == {
        "/Garden/Beds/Plan.md",
        "/Garden/Beds/other.md",
    }


@pytest.mark.promise("P-060")
def test_a_failed_listing_changes_nothing() -> None:
    world = World()
    world.put("/garden/a.md", "text")
    read(world)
    before = world.index.load()
    world.files.outside.remove("/garden/a.md")

    def fail() -> None:
        raise DropboxSilent

    request = world.request()
    view = request.catalog.load()
    world.on_step = fail
    with pytest.raises(DropboxSilent):
        request.recorder.read_on(view.state, view.snapshot, request.deadline)
    world.on_step = lambda: None

    assert world.index.load() == before


def a_reset_with_changes() -> World:
    world = World()
    for number in range(9):
        world.put(f"/garden/{number}.md", f"text {number}")
    world.put("/garden/beds/plan.md", "plan")
    world.search()
    world.fold("garden")
    world.put("/work/a.md", "text")
    world.search()
    world.files.outside.remove("/garden/beds")
    world.files.outside.remove("/work/a.md")
    world.put("/garden/3.md", "another text")
    world.files.outside.reset_cursors()
    return world


@pytest.mark.promise("P-063")
def test_a_reset_survives_a_crash_at_any_step() -> None:
    uninterrupted = a_reset_with_changes()
    total = uninterrupted.steps_of(lambda: read(uninterrupted))
    assert total > 10
    for number in range(total):
        world = a_reset_with_changes()
        world.stop_at(number)
        with pytest.raises(Crash):
            read(world)
        world.on_step = lambda: None

        assert read(world).is_complete, number
        assert known(world) == world.folder(), number


def test_reading_needs_no_numpy() -> None:
    """The webhook starts often, and has no use for it."""
    command = "import memorybox.search.recorder, sys; sys.exit('numpy' in sys.modules)"

    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", command], env=environment, check=False)

    assert done.returncode == 0


def test_a_path_is_looked_at_when_a_listing_lags_behind() -> None:
    world = World()
    world.put("/garden/there.md", "text")
    request = world.request()
    at = world.index.load().cursor

    request.recorder.look(["/garden/there.md", "/garden/gone.md"], at)

    assert known(world) == {"/garden/there.md": _rev(world, "/garden/there.md")}
    assert world.index.load().tail["/garden/gone.md"].seen is None


def _rev(world: World, location: str) -> str:
    return world.files.read(FileRef.at(location), 1_000_000).entry.rev
