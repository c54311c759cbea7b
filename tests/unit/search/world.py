"""One account with everything that search needs, and requests that can crash at any step."""

from collections.abc import Callable
from dataclasses import dataclass

from memorybox.deadline import Deadline
from memorybox.files.model import FileEntry, StoredFile
from memorybox.search.bulk import MANY, Bulk
from memorybox.search.catalog import Catalog
from memorybox.search.catchup import CatchUp
from memorybox.search.drafts import Drafter
from memorybox.search.indexer import Indexer
from memorybox.search.model import Indexed, Recipe, Skipped
from memorybox.search.packer import FULL, LARGE, Packer
from memorybox.search.parts import SPLITTING_VERSION
from memorybox.search.recorder import WITHIN_REACH, Recorder
from memorybox.search.results import IndexOutcome, SearchResult
from memorybox.search.run import IndexRun
from memorybox.search.service import Search
from memorybox.search.terms import TERMS_VERSION, Lexicon
from tests.fakes.clock import FakeClock
from tests.fakes.files import InMemoryFileStore
from tests.fakes.leases import InMemoryLeases, LeaseBook
from tests.fakes.search import (
    HashedEmbedder,
    InMemoryBudgetLedger,
    InMemoryIndexStore,
    InMemoryPackStore,
    OneAfterAnother,
)

CAP = 84_745_762
SECONDS = 25.0


class Crash(BaseException):
    """The process vanished."""


@dataclass(frozen=True)
class Request:
    """What one call has, for one account."""

    search: Search
    indexer: Indexer
    recorder: Recorder
    catalog: Catalog
    packer: Packer
    run: IndexRun
    deadline: Deadline


class World:
    """The outside, shared by all requests. `on_step` is called around each of its effects."""

    def __init__(self, *, cap: int = CAP, deployment_cap: int | None = None) -> None:
        self.on_step: Callable[[], None] = lambda: None
        self.clock = FakeClock()
        self.files = InMemoryFileStore(self.clock, self.step)
        self.ledger = InMemoryBudgetLedger(
            self.clock, cap=cap, deployment_cap=deployment_cap, step=self.step
        )
        self.index = InMemoryIndexStore(self.ledger, self.clock, self.step)
        self.packs = InMemoryPackStore(self.step, self.clock)
        self.embedder = HashedEmbedder(self.clock, step=self.step)
        self.leases = LeaseBook()
        self.many = MANY
        self.splitting = SPLITTING_VERSION
        self.small, self.full = LARGE, FULL
        self.within_reach = WITHIN_REACH
        self._requests = 0

    @property
    def recipe(self) -> Recipe:
        return Recipe(self.embedder.model, self.embedder.dims, self.splitting, TERMS_VERSION)

    def request(self, seconds: float = SECONDS) -> Request:
        self._requests += 1
        deadline = Deadline.after(seconds, self.clock)
        leases = InMemoryLeases(self.leases, deadline, self.step)
        recorder = Recorder(self.files, self.index, self.within_reach)
        packer = Packer(
            self.index,
            self.packs,
            self.recipe,
            self.clock,
            many=self.many,
            small=self.small,
            full=self.full,
        )
        catalog = Catalog(self.index, self.packs, recorder, packer.shelve)
        parallel = OneAfterAnother()
        indexer = Indexer(
            index=self.index,
            ledger=self.ledger,
            embedder=self.embedder,
            drafter=Drafter(self.recipe, Lexicon(b"key of the account")),
            catalog=catalog,
            parallel=parallel,
            owner=f"request {self._requests}",
            deadline=deadline,
        )
        bulk = Bulk(self.files, indexer, packer, parallel, self.many)
        catch_up = CatchUp(self.files, self.index, indexer, bulk, parallel, self.clock)
        search = Search(
            catalog=catalog,
            catch_up=catch_up,
            leases=leases,
            ledger=self.ledger,
            embedder=self.embedder,
            parallel=parallel,
            clock=self.clock,
            deadline=deadline,
            weight=None,
            monthly_tokens=self.ledger.cap,
        )
        run = IndexRun(catalog, catch_up, leases, packer, deadline)
        return Request(search, indexer, recorder, catalog, packer, run, deadline)

    def search(
        self, query: str = "anything", workspace: str | None = None, limit: int = 20
    ) -> SearchResult:
        return self.request().search.search(workspace, query, limit)

    def found(self, query: str = "anything", workspace: str | None = None) -> set[str]:
        """The names of all hits."""
        return {f"{hit.workspace}/{hit.path}" for hit in self.search(query, workspace).hits}

    def put(self, location: str, text: str | bytes) -> FileEntry:
        """Another app writes a file."""
        return self.files.outside.write(location, text.encode() if isinstance(text, str) else text)

    def write(self, location: str, text: str | bytes) -> IndexOutcome:
        """A tool writes a file and indexes it."""
        data = text.encode() if isinstance(text, str) else text
        return self.request().indexer.index_now(StoredFile(self.put(location, data), data))

    def fold(self, workspace: str) -> bool:
        """Pack what is in the tail of a workspace."""
        request = self.request()
        return request.packer.fold(request.catalog.load(), workspace)

    def stop_at(self, number: int) -> None:
        """Crash at this step from now on; 0 is the next."""

        def crash() -> None:
            raise Crash

        self.interrupt_at(number, crash)

    def interrupt_at(self, number: int, act: Callable[[], object]) -> None:
        """Let somebody else act at this step from now on, once; 0 is the next."""
        left = iter(range(number))

        def count() -> None:
            if next(left, None) is None:
                self.on_step = lambda: None
                act()

        self.on_step = count

    def steps_of(self, act: Callable[[], object]) -> int:
        """How many steps `act` takes."""
        steps: list[None] = []
        self.on_step = lambda: steps.append(None)
        act()
        self.on_step = lambda: None
        return len(steps)

    def indexed(self) -> dict[str, str]:
        """What can be found, or is named as not indexed: each path with its rev."""
        snapshot = self.request().catalog.load().snapshot
        entries = [snapshot.entry(seen.path_lower) for seen in snapshot.files()]
        return {
            entry.seen.path_lower: entry.settled.rev
            for entry in entries
            if entry and isinstance(entry.settled, Indexed | Skipped)
        }

    def folder(self) -> dict[str, str]:
        """Each note in Dropbox with its rev."""
        entries = self.files.entries("")
        return {
            entry.path_lower: entry.rev
            for entry in entries
            if isinstance(entry, FileEntry) and entry.is_note
        }

    def step(self) -> None:
        self.on_step()
