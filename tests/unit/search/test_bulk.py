from collections.abc import Collection, Mapping
from datetime import date

import pytest

from memorybox.files.errors import DropboxAsksToWait
from memorybox.files.model import FileRef, StoredFile
from memorybox.search.bulk import MANY
from memorybox.search.embedder import MOST_BYTES
from memorybox.search.errors import EmbeddingSilent
from memorybox.search.model import SkipReason
from memorybox.search.results import IndexedNow, IndexOutcome
from tests.fakes.files import InMemoryFileStore
from tests.unit.search.world import Crash, World


class WatchedStore(InMemoryFileStore):
    """An app folder that says what was read, and gives no zips when told so."""

    has_zips = True
    is_busy = False

    def __init__(self, world: World) -> None:
        super().__init__(world.clock, world.step)
        self.zips: list[str] = []
        self.reads: list[str] = []

    def contents(self, location: str, wanted: Collection[str], at_most: int) -> Mapping[str, bytes]:
        self.zips.append(location)
        return super().contents(location, wanted, at_most) if self.has_zips else {}

    def read(self, ref: FileRef, at_most: int) -> StoredFile:
        self.reads.append(ref.location)
        if self.is_busy:
            raise DropboxAsksToWait(15)
        return super().read(ref, at_most)


def a_folder(notes: int, *, many: int = MANY) -> tuple[World, WatchedStore]:
    world = World()
    world.many = many
    world.files = store = WatchedStore(world)
    for number in range(notes):
        world.put(f"/garden/{number}.md", f"note {number}")
    return world, store


def sent(world: World) -> list[str]:
    """The texts of notes that were embedded."""
    return [text for text in world.embedder.inputs if text.startswith("note")]


@pytest.mark.promise("P-061")
def test_many_new_files_come_in_one_download_and_go_straight_into_a_pack() -> None:
    world, store = a_folder(MANY)

    result = world.search("note 7", limit=1)

    assert [hit.path for hit in result.hits] == ["7.md"]
    assert (result.pending, world.indexed()) == (0, world.folder())
    assert (store.zips, store.reads) == (["/garden"], [])
    assert [len(request) for request in world.embedder.requests] == [1, MANY]
    assert world.index.load().tail == {}


def test_fewer_files_are_indexed_one_by_one() -> None:
    world, store = a_folder(MANY - 1)

    world.search()

    assert (store.zips, len(store.reads)) == ([], MANY - 1)
    assert world.indexed() == world.folder()


def test_new_files_beside_those_of_a_pack_go_into_the_next_pack() -> None:
    world, _ = a_folder(3, many=2)
    world.search()
    for number in range(3, 9):
        world.put(f"/garden/beds/{number}.md", f"note {number}")

    world.search()

    assert world.index.load().tail == {}
    assert world.indexed() == world.folder()
    assert sorted(sent(world)) == [f"note {number}" for number in range(9)]


def test_requests_are_full_but_for_the_last() -> None:
    world, _ = a_folder(0)
    for number in range(500):
        world.put(f"/garden/{number}.md", f"note {number} ".ljust(7_000, "x"))

    world.search()

    full = MOST_BYTES // 7_000
    sizes = [len(request) for request in world.embedder.requests[1:]]
    assert sizes == [full] * (500 // full) + [500 % full]


def test_without_a_zip_files_are_read_one_by_one() -> None:
    world, store = a_folder(MANY)
    store.has_zips = False

    assert world.search().pending == 0
    assert len(store.reads) == MANY
    assert world.indexed() == world.folder()
    assert world.index.load().tail == {}


def test_a_file_that_changed_after_it_was_listed_is_indexed_as_it_is_now() -> None:
    for pause in range(30):
        world, _ = a_folder(4, many=2)
        world.interrupt_at(pause, lambda world=world: world.put("/garden/2.md", "note changed"))  # type: ignore[misc]

        world.search()
        world.on_step = lambda: None
        world.search()

        assert world.indexed() == world.folder(), pause
        assert len(sent(world)) == len(set(sent(world))), pause


@pytest.mark.promise("P-061", "P-209")
def test_two_first_searches_of_many_files_embed_each_once() -> None:
    uninterrupted, _ = a_folder(4, many=2)
    total = uninterrupted.steps_of(uninterrupted.search)
    for pause in range(total):
        world, _ = a_folder(4, many=2)
        world.interrupt_at(pause, lambda world=world: world.search("another query"))  # type: ignore[misc]
        world.search()
        world.on_step = lambda: None
        world.search()

        assert sorted(sent(world)) == [f"note {number}" for number in range(4)], pause
        assert world.indexed() == world.folder(), pause


def test_the_webhook_may_come_at_any_step_of_a_first_search() -> None:
    uninterrupted, _ = a_folder(4, many=2)
    total = uninterrupted.steps_of(uninterrupted.search)

    def notify(world: World) -> None:
        request = world.request()
        request.recorder.record(request.deadline)

    for pause in range(total):
        world, _ = a_folder(4, many=2)
        world.interrupt_at(pause, lambda world=world: notify(world))  # type: ignore[misc]
        world.search()
        world.on_step = lambda: None
        world.search()

        assert sorted(sent(world)) == [f"note {number}" for number in range(4)], pause
        assert world.indexed() == world.folder(), pause


def test_a_crash_at_any_step_is_made_good_by_the_next_search() -> None:
    uninterrupted, _ = a_folder(4, many=2)
    total = uninterrupted.steps_of(uninterrupted.search)
    for number in range(total):
        world, _ = a_folder(4, many=2)
        world.stop_at(number)
        with pytest.raises(Crash):
            world.search()
        world.on_step = lambda: None
        world.clock.sleep(60)

        assert world.search().pending == 0, number
        assert world.indexed() == world.folder(), number


def test_what_a_write_is_indexing_is_left_to_it() -> None:
    world, _ = a_folder(4, many=2)
    request = world.request()
    request.catalog.catch_up(request.deadline)
    request.indexer.claim("/garden/2.md")

    assert world.search().pending == 1
    assert sorted(sent(world)) == ["note 0", "note 1", "note 3"]


def test_a_write_during_a_first_search_is_found() -> None:
    uninterrupted, _ = a_folder(4, many=2)
    total = uninterrupted.steps_of(uninterrupted.search)
    for pause in range(total):
        world, _ = a_folder(4, many=2)
        outcomes = list[IndexOutcome]()
        world.interrupt_at(
            pause,
            lambda world=world, outcomes=outcomes: outcomes.append(  # type: ignore[misc]
                world.write("/garden/2.md", "note rewritten")
            ),
        )
        world.search()
        world.on_step = lambda: None
        world.search()

        assert outcomes == [IndexedNow(parts=1)], pause
        assert world.indexed() == world.folder(), pause
        assert len(sent(world)) == len(set(sent(world))), pause


@pytest.mark.promise("P-209")
def test_what_was_paid_before_the_service_fell_silent_is_not_paid_again() -> None:
    world, _ = a_folder(0)
    for number in range(900):  # more than the requests that go out together
        world.put(f"/garden/{number}.md", f"note {number} ".ljust(7_000, "x"))

    def fall_silent() -> None:
        world.embedder.is_silent = len(world.embedder.requests) > 12

    world.on_step = fall_silent
    first = world.search()
    world.on_step = lambda: None
    world.embedder.is_silent = False
    second = world.search()

    assert first.pending > 0
    assert second.pending == 0
    assert len(sent(world)) == len(set(sent(world))) == 900


def test_a_silent_service_with_nothing_indexed_is_an_error() -> None:
    world, _ = a_folder(MANY)
    world.embedder.is_silent = True

    with pytest.raises(EmbeddingSilent):
        world.search()


def test_what_was_read_before_dropbox_asked_to_wait_is_indexed() -> None:
    world, store = a_folder(6, many=2)
    request = world.request()
    request.catalog.catch_up(request.deadline)
    world.put("/garden/2.md", "note changed")  # so that it is not in the zip as it was listed
    store.is_busy = True
    view = request.catalog.load()

    halt = request.run.catch_up.run(view, None)

    assert isinstance(halt, DropboxAsksToWait)
    assert sorted(sent(world)) == ["note 0", "note 1", "note 3", "note 4", "note 5"]


@pytest.mark.promise("P-073")
def test_files_over_the_budget_are_named_and_the_others_indexed() -> None:
    world, _ = a_folder(0, many=2)
    world.ledger.cap = 700
    world.put("/garden/large.md", "note " + "x" * 700)
    for number in range(3):
        world.put(f"/garden/{number}.md", f"note {number}")

    result = world.search()

    assert len(result.hits) == 3
    [named] = result.unindexed
    assert (named.path, named.reason, named.until) == (
        "large.md",
        SkipReason.OVER_BUDGET,
        date(2026, 12, 1),
    )


def test_no_text_and_no_utf8_are_settled_without_a_request() -> None:
    world, _ = a_folder(0, many=2)
    world.put("/garden/empty.md", b"")
    world.put("/garden/latin.md", b"caf\xe9")

    result = world.search()

    assert result.pending == 0
    assert [(file.path, file.reason) for file in result.unindexed] == [
        ("latin.md", SkipReason.NOT_UTF8)
    ]
    assert world.embedder.inputs == ["anything"]


def test_many_files_that_were_moved_cost_nothing() -> None:
    world, store = a_folder(6, many=2)
    world.search()
    world.files.outside.move("/garden", "/yard")
    paid, zips = len(sent(world)), len(store.zips)

    world.search()

    assert (len(sent(world)), len(store.zips)) == (paid, zips)
    assert world.indexed() == world.folder()


def test_no_request_starts_after_20_seconds_and_the_rest_is_counted() -> None:
    world, _ = a_folder(0)
    for number in range(1_500):
        world.put(f"/garden/{number}.md", f"note {number} ".ljust(7_900, "x"))
    world.embedder.seconds = 3
    began = world.clock.monotonic()

    first = world.search()
    took, last_start = world.clock.monotonic() - began, max(world.embedder.started)
    world.embedder.seconds = 0
    second = world.search()

    assert (first.pending > 0, second.pending) == (True, 0)
    assert last_start < 20
    assert took < 25
    assert len(sent(world)) == len(set(sent(world))) == 1_500
