"""The product in this process: everything below HTTP is real but the stores of AWS."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from threading import Lock

import requests

from local.dropbox.accounts import Account
from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from memorybox.accounts.rates import Allowance, LocalBuckets
from memorybox.adapters.dropbox.client import Client, Tokens
from memorybox.adapters.dropbox.files import DropboxFileStore
from memorybox.adapters.openai.embedder import OpenAIEmbedder
from memorybox.bootstrap.call import Threads
from memorybox.deadline import CALL_SECONDS, Deadline
from memorybox.files.service import Files
from memorybox.mcp.server import Answer, McpServer
from memorybox.search.budget import month_of
from memorybox.search.bulk import Bulk
from memorybox.search.catalog import Catalog
from memorybox.search.catchup import CatchUp
from memorybox.search.drafts import Drafter
from memorybox.search.indexer import Indexer
from memorybox.search.model import Recipe
from memorybox.search.packer import Packer
from memorybox.search.parallel import Parallel
from memorybox.search.parts import SPLITTING_VERSION
from memorybox.search.recorder import Recorder
from memorybox.search.service import Search
from memorybox.search.terms import TERMS_VERSION, Lexicon
from memorybox.toolsets.catalogue import MEMORY, READ, WRITE
from memorybox.toolsets.limits import LimitedTools
from memorybox.toolsets.memory import MemoryTools
from tests.acceptance.box import Box
from tests.acceptance.model import SteeredModel
from tests.fakes.commands import CommandBook, InMemoryCommandLog
from tests.fakes.leases import InMemoryLeases, LeaseBook
from tests.fakes.search import InMemoryBudgetLedger, InMemoryIndexStore, InMemoryPackStore

MONTHLY_TOKENS = 84_745_762
SHORT_SLEEP = 0.02
_HEADERS = {"content-type": "application/json", "mcp-protocol-version": "2025-11-25"}


def _nothing() -> None:
    """Nothing happens."""


class MovableClock:
    """The clock of the machine, which a test may move on. Of a long sleep most is skipped."""

    def __init__(self) -> None:
        self._start = datetime.now(UTC) - timedelta(seconds=time.monotonic())
        self._ahead = 0.0
        self._stopped_at: float | None = None
        self._lock = Lock()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        shown = time.monotonic() if self._stopped_at is None else self._stopped_at
        return shown + self._ahead

    def stop(self) -> None:
        """Let only pass what is slept or moved on, however busy the machine is."""
        self._stopped_at = time.monotonic()

    def sleep(self, seconds: float) -> None:
        before = self.monotonic()
        time.sleep(min(seconds, SHORT_SLEEP))
        self.advance(max(0.0, seconds - (self.monotonic() - before)))

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._ahead += seconds

    def advance_to(self, moment: datetime) -> None:
        self.advance((moment - self.now()).total_seconds())


@dataclass(frozen=True, slots=True)
class World:
    """What all boxes share."""

    service: DropboxEmulator
    session: requests.Session
    model: SteeredModel
    embeddings: EmbeddingsServer
    embedder: OpenAIEmbedder
    threads: ThreadPoolExecutor


class InsideBox(Box):
    """A box whose clock and stores a test can reach."""

    def __init__(self, world: World, dropbox: Account | None = None) -> None:
        super().__init__(world.service, dropbox or world.service.add_account(), world.embeddings)
        self.clock = MovableClock()
        self.model = world.model
        self.weight: float | None = None
        """Of the words, beside the meaning."""

        self.seconds = CALL_SECONDS
        """How long a call may take."""

        self.allowance = Allowance("", {}, LocalBuckets(self.clock), LocalBuckets(self.clock))
        """How often the user may call: as often as they like, at first."""

        self.parallel: Parallel = Threads(world.threads)
        self.step: Callable[[], None] = _nothing
        """Happens before a call with a command_id begins, and before each of its uploads."""

        self._world = world
        token = world.service.token(self.dropbox)
        self.tokens: Tokens = lambda refused=None: token
        self._random = Random(0)
        self._calls = count(1)
        self.lose_all_data()

    def post(self, body: bytes) -> Answer:
        tools = LimitedTools(MEMORY, self.allowance, self.tools().call)
        server = McpServer(MEMORY, tools.call, lambda: "4f2a")
        return server.answer(_HEADERS, body, frozenset({READ, WRITE}))

    def tools(self) -> MemoryTools:
        """The tools for one call, which begins now."""
        deadline = Deadline.after(self.seconds, self.clock)
        client = Client(self._world.session, self.tokens, deadline, self._random.random)
        store = DropboxFileStore(client)
        leases = InMemoryLeases(self.leases, deadline)
        return MemoryTools(
            Files(store, leases, client.pause),
            self._search(store, leases, deadline),
            InMemoryCommandLog(self.commands, deadline, self.step),
        )

    def lose_all_data(self) -> None:
        """Let our stores hold nothing of this account."""
        self.ledger = InMemoryBudgetLedger(self.clock, cap=MONTHLY_TOKENS)
        self.index = InMemoryIndexStore(self.ledger, self.clock)
        self.packs = InMemoryPackStore()
        self.leases = LeaseBook()
        self.commands = CommandBook()

    def leave(self, tokens: int) -> None:
        """Let so many tokens be left of this month."""
        self.ledger.spent[month_of(self.clock.now())] = MONTHLY_TOKENS - tokens

    def spent(self) -> int:
        """The tokens of this month that are counted as spent."""
        return self.ledger.spent.get(month_of(self.clock.now()), 0)

    def _search(
        self, store: DropboxFileStore, leases: InMemoryLeases, deadline: Deadline
    ) -> Search:
        embedder = self._world.embedder
        recipe = Recipe(embedder.model, embedder.dims, SPLITTING_VERSION, TERMS_VERSION)
        packer = Packer(self.index, self.packs, recipe, self.clock)
        recorder = Recorder(store, self.index)
        catalog = Catalog(self.index, self.packs, recorder, packer.shelve)
        indexer = Indexer(
            index=self.index,
            ledger=self.ledger,
            embedder=embedder,
            drafter=Drafter(recipe, Lexicon(b"sixteen bytes ok")),
            catalog=catalog,
            parallel=self.parallel,
            owner=f"call {next(self._calls)}",
            deadline=deadline,
        )
        bulk = Bulk(store, indexer, packer, self.parallel)
        return Search(
            catalog=catalog,
            catch_up=CatchUp(store, self.index, indexer, bulk, self.parallel, self.clock),
            leases=leases,
            ledger=self.ledger,
            embedder=embedder,
            parallel=self.parallel,
            clock=self.clock,
            deadline=deadline,
            weight=self.weight,
            monthly_tokens=MONTHLY_TOKENS,
        )
