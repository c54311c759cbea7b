"""One account of the product in a simulated world: real code, stores in memory, trouble by plan."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import requests

from memorybox.adapters.dropbox.client import Client
from memorybox.adapters.dropbox.files import DropboxFileStore
from memorybox.deadline import CALL_SECONDS, Deadline
from memorybox.errors import SignInEnded, Unavailable
from memorybox.files.commands import CommandLog
from memorybox.files.model import StoredFile
from memorybox.files.service import Files
from memorybox.search.bulk import Bulk
from memorybox.search.catalog import Catalog, View
from memorybox.search.catchup import CatchUp
from memorybox.search.drafts import Drafter
from memorybox.search.indexer import Indexer
from memorybox.search.model import Recipe
from memorybox.search.packer import Packer
from memorybox.search.parts import SPLITTING_VERSION
from memorybox.search.recorder import Recorder
from memorybox.search.results import IndexOutcome, NoTime, SearchResult
from memorybox.search.run import IndexRun
from memorybox.search.service import Search
from memorybox.search.terms import TERMS_VERSION, Lexicon
from memorybox.toolsets.memory import MemoryTools
from tests.fakes.commands import CommandBook, InMemoryCommandLog
from tests.fakes.leases import InMemoryLeases, LeaseBook
from tests.fakes.search import (
    HashedEmbedder,
    InMemoryBudgetLedger,
    InMemoryChangeQueue,
    InMemoryIndexStore,
    InMemoryPackStore,
    OneAfterAnother,
)
from tests.simulation.dropbox import FollowingClock, SimulatedClient, SimulatedDropbox
from tests.simulation.plan import Plan
from tests.simulation.schedule import Schedule, VirtualClock
from tests.simulation.ways import Crash, Ways

WEBHOOK_SECONDS = 5.0
RUN_SECONDS = 100.0
LEXICON = Lexicon(b"key of the account")
FEW = 2  # files that are indexed together, so that small histories meet it
_PARALLEL = OneAfterAnother()
_SESSION = requests.Session()  # the SDK asks for one; no request ever goes through it


class EagerPacker(Packer):
    """Folds every tail, however short, so that small histories meet packs."""

    def long_tails(self, view: View) -> list[str]:
        return sorted({entry.workspace for entry in view.state.tail.values()})


class UnhurriedLeases(InMemoryLeases):
    """A lease that cannot be given back runs out by itself."""

    def _give_back(self, name: str) -> None:
        try:
            super()._give_back(name)
        except Unavailable:
            return


class Unindexed:
    """An index that is never in time."""

    def index_now(self, stored: StoredFile) -> IndexOutcome:
        return NoTime()

    def search(self, workspace: str | None, query: str, limit: int) -> SearchResult:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Parts:
    """What the product is made of. A planted fault is one part in a wrong form."""

    client: type[SimulatedClient] = SimulatedClient
    store: type[DropboxFileStore] = DropboxFileStore
    files: type[Files] = Files
    leases: type[InMemoryLeases] = UnhurriedLeases
    commands: type[InMemoryCommandLog] = InMemoryCommandLog
    index: type[InMemoryIndexStore] = InMemoryIndexStore
    ledger: type[InMemoryBudgetLedger] = InMemoryBudgetLedger
    recorder: type[Recorder] = Recorder
    catalog: type[Catalog] = Catalog
    drafter: type[Drafter] = Drafter
    indexer: type[Indexer] = Indexer
    catch_up: type[CatchUp] = CatchUp
    packer: type[Packer] = EagerPacker
    search: type[Search] = Search
    run: type[IndexRun] = IndexRun
    tools: type[MemoryTools] = MemoryTools


PRODUCT = Parts()
"""As it is shipped."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the queue, and how often it was handed over."""

    paths: tuple[str, ...] | None
    received: int = 0


class World:
    """Everything outside of a request, shared by all requests."""

    def __init__(self, plan: Plan, parts: Parts) -> None:
        self.plan, self.parts = plan, parts
        self.schedule = Schedule(plan.seed)
        self.ways = ways = Ways(plan, self.schedule)
        ahead = ways.ahead if plan.ahead else None
        self.clock = VirtualClock(self.schedule, plan.starts_at, ahead)
        true = VirtualClock(self.schedule, plan.starts_at)
        lags = {"listing_lag": plan.lag, "revisions_lag": plan.revisions_lag}
        self.dropbox = SimulatedDropbox(
            self.schedule, FollowingClock(true.now), {**plan.knobs, **lags}
        )
        self.ledger = parts.ledger(self.clock, cap=plan.tokens, step=ways.reach_storage)
        self.index = parts.index(self.ledger, self.clock, ways.reach_storage)
        self.packs = InMemoryPackStore(ways.reach_storage)
        self.embedder = HashedEmbedder(self.clock, dims=8, step=ways.reach_embedder)
        self.recipe = Recipe(
            self.embedder.model, self.embedder.dims, SPLITTING_VERSION, TERMS_VERSION
        )
        self.leases, self.commands = LeaseBook(), CommandBook()
        self.messages: list[Message] = []
        self.lost_messages: list[Message] = []
        self._random = Random(plan.seed)
        self._requests = 0

    # What a request is made of: see bootstrap/call.py.

    def tools(self) -> MemoryTools:
        request = Request(self, CALL_SECONDS) if self.plan.is_indexed else Writing(self)
        files = self.parts.files(request.store, request.leases, request.client.pause)
        commands: CommandLog = self.parts.commands(
            self.commands, request.deadline, self.ways.reach_storage
        )
        index = request.search if isinstance(request, Request) else Unindexed()
        return self.parts.tools(files, index, commands)

    def request(self, seconds: float = CALL_SECONDS) -> "Request":
        return Request(self, seconds)

    def number(self) -> int:
        self._requests += 1
        return self._requests

    @property
    def random(self) -> Callable[[], float]:
        return self._random.random

    # What the functions do: see functions/webhook/app.py and functions/indexer/app.py.

    def notify(self) -> None:
        """The webhook."""
        request = Request(self, WEBHOOK_SECONDS)
        try:
            reading = request.recorder.record(request.deadline)
        except SignInEnded:
            return
        except Unavailable:
            self.send(None)
            return
        if reading.paths:
            self.send(reading.paths)
        if not reading.is_complete:
            self.send(None)

    def send(self, paths: Sequence[str] | None) -> None:
        self.ways.reach_storage()
        queue = InMemoryChangeQueue()
        queue.go_on() if paths is None else queue.changed(paths)
        self.messages += map(Message, queue.messages)

    def deliver(self, *, is_again: bool) -> None:
        """Hand some message to the indexer. What is not finished comes back, five times at most."""
        if not self.messages:
            return
        message = self.messages.pop(int(self._random.random() * len(self.messages)))
        if is_again:
            self.messages.append(message)
        try:
            if not Request(self, RUN_SECONDS).run.work(message.paths):
                self.send(None)
        except SignInEnded:
            return
        except (Unavailable, Crash):
            back = Message(message.paths, message.received + 1)
            (self.messages if back.received < 5 else self.lost_messages).append(back)
            raise


class Writing:
    """The parts of one request, which begins now, that have to do with the folder."""

    def __init__(self, world: World, seconds: float = CALL_SECONDS) -> None:
        parts = world.parts
        self.deadline = Deadline.after(seconds, world.clock)
        world.ways.caller.ends = self.deadline.at
        self.client: Client = parts.client(
            _SESSION, _some_token, self.deadline, world.random, world.dropbox, world.ways
        )
        self.store = parts.store(self.client)
        self.leases = parts.leases(world.leases, self.deadline, world.ways.reach_storage)


def _some_token(*, refused: str | None = None) -> str:
    return "token"


class Request(Writing):
    """All parts of one request."""

    def __init__(self, world: World, seconds: float) -> None:
        super().__init__(world, seconds)
        self._world, parts = world, world.parts
        self.recorder = parts.recorder(self.store, world.index)
        self.packer = parts.packer(world.index, world.packs, world.recipe, world.clock, FEW)
        self.catalog = parts.catalog(world.index, world.packs, self.recorder, self.packer.shelve)
        self.indexer = parts.indexer(
            index=world.index,
            ledger=world.ledger,
            embedder=world.embedder,
            drafter=parts.drafter(world.recipe, LEXICON),
            catalog=self.catalog,
            parallel=_PARALLEL,
            owner=f"request {world.number()}",
            deadline=self.deadline,
        )

    @property
    def search(self) -> Search:
        world = self._world
        return world.parts.search(
            catalog=self.catalog,
            catch_up=self._catch_up,
            leases=self.leases,
            ledger=world.ledger,
            embedder=world.embedder,
            parallel=_PARALLEL,
            clock=world.clock,
            deadline=self.deadline,
            weight=None,
            monthly_tokens=world.ledger.cap,
        )

    @property
    def run(self) -> IndexRun:
        run = self._world.parts.run
        return run(self.catalog, self._catch_up, self.leases, self.packer, self.deadline)

    @property
    def _catch_up(self) -> CatchUp:
        world = self._world
        bulk = Bulk(self.store, self.indexer, self.packer, _PARALLEL, many=FEW)
        return world.parts.catch_up(
            self.store, world.index, self.indexer, bulk, _PARALLEL, world.clock
        )
