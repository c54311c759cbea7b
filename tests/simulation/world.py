"""One account of the product in a simulated world: real code, stores in memory, trouble by plan."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import requests

from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.timeouts import READ_TIMEOUT, SHORTEST
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
from memorybox.search.embedder import EmbedderSilent
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
from tests.simulation.dropbox import FollowingClock, Line, SimulatedClient, SimulatedDropbox
from tests.simulation.plan import Plan, Trouble
from tests.simulation.schedule import Schedule, VirtualClock

WEBHOOK_SECONDS = 5.0
RUN_SECONDS = 100.0
LEXICON = Lexicon(b"key of the account")
NOBODY = -1
FEW = 2  # files that are indexed together, so that small histories meet it
PARTED, FROZEN = 30.0, 180.0  # seconds
_SESSION = requests.Session()  # the SDK asks for one; no request ever goes through it


class Crash(BaseException):
    """The process has vanished: what it would still do is not done."""


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
    run: type[IndexRun] = IndexRun
    tools: type[MemoryTools] = MemoryTools


PRODUCT = Parts()
"""As it is shipped."""


@dataclass(slots=True)
class Caller:
    """One greenlet, its place among the callers of the plan, and what it is doing."""

    number: int
    faults: Mapping[int, Trouble] = field(default_factory=dict)
    """What happens to it, by its steps."""

    steps: int = 0
    call: int = NOBODY
    is_dead: bool = False
    parted_until: float = 0.0
    is_excused: bool = False
    """From ending its call in time."""

    ends: float = 0.0
    """The deadline of its request."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the queue, and how often it was handed over."""

    paths: tuple[str, ...] | None
    received: int = 0


class World(Line):
    """Everything outside of a request, shared by all requests."""

    def __init__(self, plan: Plan, parts: Parts) -> None:
        self.plan, self.parts = plan, parts
        self.schedule = Schedule(plan.seed)
        self.clock = VirtualClock(self.schedule, plan.starts_at, self._ahead)
        true = VirtualClock(self.schedule, plan.starts_at, lambda: 0.0)
        lags = {"listing_lag": plan.lag, "revisions_lag": plan.revisions_lag}
        self.dropbox = SimulatedDropbox(
            self.schedule, FollowingClock(true.now), {**plan.knobs, **lags}
        )
        self.ledger = parts.ledger(self.clock, cap=plan.tokens, step=self.reach_storage)
        self.index = parts.index(self.ledger, self.clock, self.reach_storage)
        self.packs = InMemoryPackStore(self.reach_storage)
        self.embedder = HashedEmbedder(self.clock, dims=8, step=self._reach_embedder)
        self.leases, self.commands = LeaseBook(), CommandBook()
        self.messages: list[Message] = []
        self.lost_messages: list[Message] = []
        self.steps = 0
        self.is_still = False

        self._random = Random(plan.seed)
        self._callers: dict[object, Caller] = {}
        self._requests = 0

    # Who does what now.

    @property
    def caller(self) -> Caller:
        current = self.schedule.current
        try:
            return self._callers[current]
        except KeyError:
            self._callers[current] = Caller(NOBODY)
            return self._callers[current]

    def enter(self, number: int) -> Caller:
        """Let the greenlet of the moment be this caller of the plan."""
        faults = {fault.step: fault.trouble for fault in self.plan.faults if fault.caller == number}
        caller = self._callers[self.schedule.current] = Caller(number, faults)
        return caller

    def steps_of(self, number: int) -> int:
        """How many steps a caller of the plan has taken."""
        return sum(c.steps for c in self._callers.values() if c.number == number)

    @property
    def call(self) -> int:
        return self.caller.call

    def trouble(self) -> Trouble | None:
        caller = self._callers.get(self.schedule.current) or self.caller
        if caller.is_dead:
            raise Crash
        if self.is_still:
            return None
        self.schedule.step()
        self.steps += 1
        trouble = caller.faults.get(caller.steps)
        caller.steps += 1
        if trouble is None and not caller.parted_until:
            return None
        match trouble:
            case Trouble.CRASH:
                caller.is_dead = True
                raise Crash
            case Trouble.FREEZE:
                caller.is_excused = True
                self.schedule.sleep(FROZEN)
                return None
            case Trouble.PARTITION:
                caller.parted_until = self.schedule.passed + PARTED
        return Trouble.SILENCE if self.schedule.passed < caller.parted_until else trouble

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """A look at the world during which nothing happens in it."""
        self.is_still = True
        yield
        self.is_still = False

    def reach_storage(self) -> None:
        """A step to where the product keeps what it needs."""
        if (trouble := self.trouble()) and self._is_silent(trouble):
            raise StorageSilent

    def _reach_embedder(self) -> None:
        if (trouble := self.trouble()) and self._is_silent(trouble):
            raise EmbedderSilent

    def _is_silent(self, trouble: Trouble) -> bool:
        match trouble:
            case Trouble.STALE_TOKEN:
                return False
            case Trouble.DELAY:
                self.schedule.sleep(1.0)
                return False
            case Trouble.HANG | Trouble.LATE:
                left = self.caller.ends - self.schedule.passed
                self.schedule.sleep(min(READ_TIMEOUT, max(SHORTEST, left)))
        return True

    def _ahead(self) -> float:
        ahead = self.plan.ahead
        return ahead.get(self.caller.number, 0.0) if ahead else 0.0

    # What a request is made of: see bootstrap/call.py.

    def tools(self) -> MemoryTools:
        request = Request(self, CALL_SECONDS) if self.plan.is_indexed else Writing(self)
        files = self.parts.files(request.store, request.leases, request.client.pause)
        commands: CommandLog = self.parts.commands(
            self.commands, request.deadline, self.reach_storage
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
        self.reach_storage()
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
        world.caller.ends = self.deadline.at
        self.client: Client = parts.client(
            _SESSION, _some_token, self.deadline, world.random, world.dropbox, world
        )
        self.store = parts.store(self.client)
        self.leases = parts.leases(world.leases, self.deadline, world.reach_storage)


def _some_token(*, refused: str | None = None) -> str:
    return "token"


class Request(Writing):
    """All parts of one request."""

    def __init__(self, world: World, seconds: float) -> None:
        super().__init__(world, seconds)
        parts = world.parts
        parallel = OneAfterAnother()
        recipe = Recipe(world.embedder.model, world.embedder.dims, SPLITTING_VERSION, TERMS_VERSION)
        self.recorder = parts.recorder(self.store, world.index)
        self.packer = parts.packer(world.index, world.packs, recipe, world.clock, FEW)
        self.catalog = parts.catalog(world.index, world.packs, self.recorder, self.packer.shelve)
        self.indexer = parts.indexer(
            index=world.index,
            ledger=world.ledger,
            embedder=world.embedder,
            drafter=parts.drafter(recipe, LEXICON),
            catalog=self.catalog,
            parallel=parallel,
            owner=f"request {world.number()}",
            deadline=self.deadline,
        )
        bulk = Bulk(self.store, self.indexer, self.packer, parallel, many=FEW)
        catch_up = parts.catch_up(
            self.store, world.index, self.indexer, bulk, parallel, world.clock
        )
        self.search = Search(
            catalog=self.catalog,
            catch_up=catch_up,
            leases=self.leases,
            ledger=world.ledger,
            embedder=world.embedder,
            parallel=parallel,
            clock=world.clock,
            deadline=self.deadline,
            weight=None,
            monthly_tokens=world.ledger.cap,
        )
        self.run = parts.run(self.catalog, catch_up, self.leases, self.packer, self.deadline)
