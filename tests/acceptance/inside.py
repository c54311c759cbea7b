"""The product in this process: everything below HTTP is real but the stores of AWS."""

import time
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Lock

import requests

from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from memorybox.adapters.dropbox.client import Client
from memorybox.adapters.dropbox.files import DropboxFileStore
from memorybox.deadline import Deadline
from memorybox.files.model import StoredFile
from memorybox.files.service import Files
from memorybox.mcp.server import Answer, McpServer
from memorybox.search.parts import MAX_FILE, parts_of
from memorybox.search.results import IndexedNow, IndexOutcome, NoText, SearchResult, TooLarge
from memorybox.toolsets.catalogue import MEMORY, READ, WRITE
from memorybox.toolsets.memory import MemoryTools
from tests.acceptance.box import Box
from tests.fakes.commands import CommandBook, InMemoryCommandLog
from tests.fakes.leases import InMemoryLeases, LeaseBook

SECONDS_OF_A_CALL = 25.0
_JSON = {"content-type": "application/json", "mcp-protocol-version": "2025-11-25"}


class MovableClock:
    """The clock of the machine, which a test may move on. Of a long pause most is skipped."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._lock = Lock()

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._ahead)

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead

    def sleep(self, seconds: float) -> None:
        waited = min(seconds, 0.02)
        time.sleep(waited)
        self.advance(seconds - waited)

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._ahead += seconds

    def advance_to(self, moment: datetime) -> None:
        self.advance((moment - self.now()).total_seconds())


class _Index:  # stand-in
    def index_now(self, stored: StoredFile) -> IndexOutcome:
        if len(stored.data) > MAX_FILE:
            return TooLarge()
        n = len(parts_of(stored.data))
        return IndexedNow(n) if n else NoText()

    def search(self, workspace: str | None, query: str, limit: int) -> SearchResult:
        return SearchResult((), (), 0, False)


class InsideBox(Box):
    """A box whose clock and stores a test can reach."""

    def __init__(
        self, service: DropboxEmulator, embeddings: EmbeddingsServer, session: requests.Session
    ) -> None:
        super().__init__(service, service.add_account(), embeddings)
        self.clock = MovableClock()
        self._random = Random(0)
        self._session = session
        self._token = service.token(self.dropbox)
        self._leases = LeaseBook()
        self._commands = CommandBook()

    def post(self, body: bytes) -> Answer:
        deadline = Deadline.after(SECONDS_OF_A_CALL, self.clock)
        client = Client(self._session, self._access_token, deadline, self._random.random)
        leases = InMemoryLeases(self._leases, deadline)
        tools = MemoryTools(
            Files(DropboxFileStore(client), leases, client.pause),
            _Index(),
            InMemoryCommandLog(self._commands, deadline),
        )
        server = McpServer(MEMORY, tools.call, lambda: "reference-1")
        return server.answer(_JSON, body, frozenset({READ, WRITE}))

    def _access_token(self, *, refused: str | None = None) -> str:
        return self._token
