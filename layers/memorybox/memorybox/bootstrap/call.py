"""The parts of one account for one call: which adapter stands behind each port.

An adapter is imported where it is built, so that a function loads only what it uses: the libraries
of Dropbox, OpenAI and numpy take longer to load than everything else together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property
from random import SystemRandom
from typing import TYPE_CHECKING, Self, TypeVar

from memorybox.accounts.model import AccountId
from memorybox.deadline import Deadline, lasting
from memorybox.errors import SignInEnded

if TYPE_CHECKING:
    from memorybox.adapters.aws.budget import DynamoBudget
    from memorybox.adapters.aws.index import DynamoIndexStore
    from memorybox.adapters.aws.packs import S3PackStore
    from memorybox.adapters.aws.session import Session
    from memorybox.adapters.dropbox.client import Client as DropboxClient
    from memorybox.adapters.dropbox.files import DropboxFileStore
    from memorybox.bootstrap.process import Process
    from memorybox.files.journal import Written
    from memorybox.files.model import StoredFile
    from memorybox.search.catalog import Catalog
    from memorybox.search.catchup import CatchUp
    from memorybox.search.model import Recipe
    from memorybox.search.overview import Overview
    from memorybox.search.packer import Packer
    from memorybox.search.recorder import Recorder
    from memorybox.search.results import IndexOutcome, SearchResult
    from memorybox.search.run import IndexRun
    from memorybox.search.service import Search
    from memorybox.search.terms import Lexicon
    from memorybox.toolsets.memory import MemoryTools

R = TypeVar("R")


class Call:
    """The parts of one account for one call. Nothing in it takes an account it could get wrong."""

    def __init__(
        self,
        process: Process,
        account: AccountId,
        deadline: Deadline,
        client_id: str,
        link: int,
    ) -> None:
        self._process = process
        self._account = account
        self._client_id = client_id
        self._link = link
        self._token: str | None = None
        self.deadline = deadline
        self._open = ExitStack()

    def __enter__(self) -> Self:
        from memorybox.adapters.aws.guard import acting_for

        self._open.enter_context(acting_for(self._account))
        self._open.enter_context(lasting(self.deadline))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._open.close()
        if kind is not None and issubclass(kind, SignInEnded) and self._token is not None:
            self._process.connections.ended(self._account, self._token)

    @cached_property
    def tools(self) -> MemoryTools:
        from memorybox.adapters.aws.commands import DynamoCommandLog
        from memorybox.adapters.aws.journal import DynamoJournal
        from memorybox.adapters.aws.leases import DynamoLeases
        from memorybox.files.journal import JournalledFiles
        from memorybox.files.service import Files
        from memorybox.toolsets.memory import MemoryTools

        leases = DynamoLeases(self._session)
        journal = DynamoJournal(self._session, leases, self._client_id)
        files = Files(JournalledFiles(self._store, journal), leases, self._dropbox.pause)
        return MemoryTools(files, _Late(lambda: self._search), DynamoCommandLog(self._session))

    @cached_property
    def recorder(self) -> Recorder:
        from memorybox.search.recorder import Recorder

        return Recorder(self._store, self._index)

    @cached_property
    def overview(self) -> Overview:
        from memorybox.search.overview import overview

        return overview(self._catalog, self._recipe, self._process.clock, self.deadline)

    @property
    def written(self) -> Sequence[Written]:
        """What clients wrote lately, the newest first."""
        from memorybox.adapters.aws.journal import written

        return written(self._session)

    @property
    def spent(self) -> int:
        """Embedding tokens of this month, reserved ones included."""
        return self._budget.spent()

    @cached_property
    def index_run(self) -> IndexRun:
        from memorybox.adapters.aws.leases import DynamoLeases
        from memorybox.search.run import IndexRun

        return IndexRun(
            catalog=self._catalog,
            catch_up=self._catch_up,
            leases=DynamoLeases(self._session),
            packer=self._packer,
            deadline=self.deadline,
        )

    @cached_property
    def _search(self) -> Search:
        from memorybox.adapters.aws.leases import DynamoLeases
        from memorybox.search.service import Search

        return Search(
            catalog=self._catalog,
            catch_up=self._catch_up,
            leases=DynamoLeases(self._session),
            ledger=self._budget,
            embedder=self._process.embedder,
            parallel=self._process.threads,
            clock=self._process.clock,
            deadline=self.deadline,
            weight=self._process.settings.word_weight,
            monthly_tokens=self._process.settings.monthly_token_cap,
        )

    @cached_property
    def _catch_up(self) -> CatchUp:
        from memorybox.search.bulk import Bulk
        from memorybox.search.catchup import CatchUp
        from memorybox.search.drafts import Drafter
        from memorybox.search.indexer import Indexer
        from memorybox.search.remembering import RememberingEmbedder

        indexer = Indexer(
            index=self._index,
            ledger=self._budget,
            embedder=RememberingEmbedder(
                self._process.embedder, self._process.vectors(self._account)
            ),
            drafter=Drafter(self._recipe, self._lexicon),
            catalog=self._catalog,
            parallel=self._process.threads,
            owner=self._session.id,
            deadline=self.deadline,
        )
        threads = self._process.threads
        bulk = Bulk(self._store, indexer, self._packer, threads)
        return CatchUp(self._store, self._index, indexer, bulk, threads, self._process.clock)

    @cached_property
    def _packer(self) -> Packer:
        from memorybox.search.packer import Packer

        return Packer(self._index, self._packs, self._recipe, self._process.clock)

    @cached_property
    def _recipe(self) -> Recipe:
        from memorybox.search.model import Recipe
        from memorybox.search.parts import SPLITTING_VERSION
        from memorybox.search.terms import TERMS_VERSION

        settings = self._process.settings
        return Recipe(
            settings.embedding_model,
            settings.embedding_dimensions,
            SPLITTING_VERSION,
            TERMS_VERSION,
            self._lexicon.mark,
        )

    @cached_property
    def _lexicon(self) -> Lexicon:
        from memorybox.search.terms import Lexicon

        return Lexicon(self._process.connections.term_key(self._account, since=self._link))

    @cached_property
    def _catalog(self) -> Catalog:
        from memorybox.search.catalog import Catalog

        return Catalog(self._index, self._packs, self.recorder, self._packer.shelve)

    @cached_property
    def _store(self) -> DropboxFileStore:
        from memorybox.adapters.dropbox.files import DropboxFileStore

        return DropboxFileStore(self._dropbox)

    @cached_property
    def _dropbox(self) -> DropboxClient:
        from memorybox.adapters.dropbox.client import Client

        return Client(
            session=self._process.http,
            tokens=self._access_token,
            deadline=self.deadline,
            random=SystemRandom().random,
        )

    def _access_token(self, *, refused: str | None = None) -> str:
        self._token = self._process.connections.access_token(
            self._account, since=self._link, refused=refused
        )
        return self._token

    @cached_property
    def _index(self) -> DynamoIndexStore:
        from memorybox.adapters.aws.index import DynamoIndexStore

        return DynamoIndexStore(self._session, self._budget)

    @cached_property
    def _packs(self) -> S3PackStore:
        from memorybox.adapters.aws.packs import S3PackStore

        process = self._process
        return S3PackStore(
            process.aws.s3, process.settings.bucket_name, self._account, process.packs
        )

    @cached_property
    def _budget(self) -> DynamoBudget:
        from memorybox.adapters.aws.budget import DynamoBudget

        settings = self._process.settings
        return DynamoBudget(
            self._session,
            account_cap=settings.monthly_token_cap,
            deployment_cap=settings.deployment_token_cap,
        )

    @cached_property
    def _session(self) -> Session:
        from memorybox.adapters.aws.session import Session

        process = self._process
        return self._open.enter_context(
            Session(
                process.aws.dynamodb, process.settings.memory_table, self._account, self.deadline
            )
        )


@dataclass(frozen=True, slots=True)
class Threads:
    """The port Parallel on a pool of threads, which know for whom they work, and until when."""

    pool: ThreadPoolExecutor

    def start(self, work: Callable[[], R]) -> Callable[[], R]:
        return self.pool.submit(copy_context().run, work).result


@dataclass(frozen=True, slots=True)
class _Late:
    """The file index of the tools, built when a tool first needs it."""

    make: Callable[[], Search]

    def index_now(self, stored: StoredFile) -> IndexOutcome:
        return self.make().index_now(stored)

    def search(self, workspace: str | None, query: str, limit: int) -> SearchResult:
        return self.make().search(workspace, query, limit)
