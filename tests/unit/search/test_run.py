import pytest

from memorybox.deadline import Deadline
from memorybox.search.errors import EmbeddingSilent
from memorybox.search.packer import ENTRY, LARGE
from tests.fakes.leases import InMemoryLeases
from tests.unit.search.world import Crash, World


def a_folder(files: int = 8) -> World:
    world = World()
    for number in range(files):
        world.put(f"/garden/{number}.md", f"note {number}")
    return world


def test_a_run_indexes_everything_and_says_that_it_is_done() -> None:
    world = a_folder()

    assert world.request().run.work()
    assert world.indexed() == world.folder()


def test_a_run_with_nothing_to_do_takes_no_embedding() -> None:
    world = a_folder()
    world.request().run.work()
    sent = len(world.embedder.requests)

    assert world.request().run.work()
    assert len(world.embedder.requests) == sent


def test_a_run_that_finds_nothing_to_do_takes_no_lease() -> None:
    world = a_folder()
    world.request().run.work()
    other = InMemoryLeases(world.leases, Deadline.after(100, world.clock))

    with other.indexer(Deadline.after(1, world.clock)):
        assert world.request().run.work()

    assert world.clock.monotonic() == 0


def test_a_first_index_goes_on_from_run_to_run_until_it_is_done() -> None:
    world = World()
    for number in range(300):
        world.put(f"/garden/{number}.md", f"note {number} " + "x" * 7_900)
    world.embedder.seconds = 3
    runs = 1

    while not world.request().run.work():
        runs += 1

    assert runs > 1
    assert world.indexed() == world.folder()
    assert len(world.embedder.inputs) == 300


def test_the_paths_of_a_message_come_first_and_need_no_listing() -> None:
    world = a_folder(4)
    request = world.request()
    request.catalog.catch_up(request.deadline)
    world.put("/garden/unheard of.md", "not listed")

    assert world.request().run.work(["/garden/2.md"])

    assert world.embedder.inputs == ["note 2", "note 0", "note 1", "note 3"]


def test_a_message_that_comes_after_a_write_does_not_have_its_text_paid_again() -> None:
    world = World()
    for name in ("plan", "copy"):
        world.put(f"/garden/{name}.md", "one text")
    world.search()
    world.write("/garden/plan.md", "another text")

    world.request().run.work(("/garden/plan.md",))
    world.search()

    assert world.embedder.inputs.count("another text") == 1
    assert world.indexed() == world.folder()


def test_a_run_leaves_the_field_to_another_run() -> None:
    world = a_folder()
    other = InMemoryLeases(world.leases, Deadline.after(100, world.clock))

    with other.indexer(Deadline.after(1, world.clock)):
        assert not world.request().run.work()

    assert world.embedder.requests == []


def test_a_silent_service_sends_the_message_back() -> None:
    world = a_folder()
    world.embedder.is_silent = True

    with pytest.raises(EmbeddingSilent):
        world.request().run.work()


def test_a_file_that_another_request_holds_does_not_keep_the_run_going() -> None:
    world = a_folder(1)
    world.request().indexer.claim("/garden/0.md")

    assert world.request().run.work()


def test_a_long_tail_is_packed() -> None:
    files = LARGE // ENTRY
    world = a_folder(files)
    world.many = files + 1  # all of them go into the tail

    assert world.request().run.work()

    [pack] = world.packs.open(world.index.load().packs["garden"].packs)
    assert pack.files == files
    assert world.index.load().tail == {}
    assert world.indexed() == world.folder()


def test_a_lost_pack_is_made_good() -> None:
    world = a_folder()
    world.request().run.work()
    world.fold("garden")
    world.packs.objects.clear()

    assert world.request().run.work(["/garden/1.md"])
    assert world.indexed() == world.folder()


def test_a_run_leaves_a_lost_pack_to_another_run_and_comes_back() -> None:
    world = a_folder()
    world.request().run.work()
    world.fold("garden")
    world.packs.objects.clear()
    before = world.index.load()
    other = InMemoryLeases(world.leases, Deadline.after(100, world.clock))

    with other.indexer(Deadline.after(1, world.clock)):
        assert not world.request().run.work()

    assert world.index.load() == before


def test_a_run_that_crashed_at_any_step_is_made_good_by_the_next() -> None:
    uninterrupted = a_folder()
    total = uninterrupted.steps_of(uninterrupted.request().run.work)
    for number in range(total):
        world = a_folder()
        world.stop_at(number)
        with pytest.raises(Crash):
            world.request().run.work()
        world.on_step = lambda: None
        world.clock.sleep(60)

        assert world.request().run.work(), number
        assert world.indexed() == world.folder(), number


def test_a_run_that_goes_on_drops_packs_that_nobody_names_after_two_days() -> None:
    world = a_folder()
    world.request().run.work()
    world.fold("garden")
    world.put("/garden/another.md", "one more")
    world.request().run.work()
    world.fold("garden")
    [now] = world.index.load().packs["garden"].packs

    world.clock.sleep(2 * 24 * 60 * 60)
    world.request().run.work()
    before = set(world.packs.objects)
    world.clock.sleep(1)
    world.request().run.work()

    assert len(before) == 2
    assert set(world.packs.objects) == {now.key}
