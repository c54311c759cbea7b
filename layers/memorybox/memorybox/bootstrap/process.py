"""What all calls of one process share: which adapter stands behind each port.

An adapter is imported where it is built, so that a function loads only what it uses.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Final

import memorybox
from memorybox.accounts.model import AccountId
from memorybox.bootstrap import tracing
from memorybox.bootstrap.call import Call, Threads
from memorybox.clock import Clock, SystemClock
from memorybox.deadline import CALL_SECONDS, within
from memorybox.settings import Secrets, Settings

if TYPE_CHECKING:
    from requests import Session as HttpSession

    from memorybox.accounts.rates import Allowance, Gate, LocalBuckets
    from memorybox.accounts.service import Connections
    from memorybox.adapters.aws.belongings import AwsBelongings
    from memorybox.adapters.aws.clients import Clients as AwsClients
    from memorybox.adapters.aws.directory import DynamoDirectory
    from memorybox.adapters.aws.oauth import DynamoGrantStore
    from memorybox.adapters.aws.packs import PackCache
    from memorybox.adapters.aws.parameters import SsmSecrets
    from memorybox.adapters.aws.queue import Outbox, SqsChangeQueue, SqsSweepQueue
    from memorybox.adapters.aws.rates import DynamoBuckets
    from memorybox.adapters.aws.table import Table
    from memorybox.files.journal import Written
    from memorybox.mcp.server import McpServer
    from memorybox.mcp.toolset import ToolResult
    from memorybox.oauth.authorize import Authorizations
    from memorybox.oauth.clients import Clients
    from memorybox.oauth.connected import ConnectedClients
    from memorybox.oauth.deletion import Deletion
    from memorybox.oauth.metadata import Issuer
    from memorybox.oauth.model import Grant
    from memorybox.oauth.tokens import Tokens
    from memorybox.oauth.visits import Visits
    from memorybox.search.embedder import Embedder
    from memorybox.search.overview import Overview
    from memorybox.search.remembering import VectorMemory

_LONGER_THAN_A_CALL: Final = 180
"""Seconds after which no call, and no run of the indexer, is under way that began before."""

_OVERVIEW_SECONDS: Final = 8.0
"""How long the account page waits for Dropbox."""

_THREADS = 12
_REMEMBERED_ACCOUNTS = 16
_PACKS_IN_MEMORY = 192 * 1024 * 1024
_FRONTS_IN_MEMORY = 64 * 1024 * 1024  # of a million parts
_PACKS_ON_DISK = 384 * 1024 * 1024


class Process:
    """What all calls of one process share. Each part is made when it is first needed."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.settings = Settings.from_environment(environ)
        self.clock: Clock = SystemClock()
        if self.settings.warm_up:
            self._warm_up()

    @property
    def secrets(self) -> Secrets:
        return self._secrets.get()

    @cached_property
    def connections(self) -> Connections:
        from memorybox.accounts.service import Connections
        from memorybox.adapters.aws.accounts import DynamoAccounts
        from memorybox.adapters.aws.vault import KmsVault
        from memorybox.adapters.dropbox.signin import WEB, DropboxOAuth

        return Connections(
            accounts=DynamoAccounts(self.aws.dynamodb, self.settings.memory_table, self.clock),
            dropbox=DropboxOAuth(
                session=self.http,
                app_key=self.secrets.dropbox_app_key,
                app_secret=self.secrets.dropbox_app_secret,
                redirect_uri=f"{self.settings.public_base_url}/dropbox/callback",
                clock=self.clock,
                web=self.settings.dropbox_base_url or WEB,
            ),
            vault=KmsVault(self.aws.kms, self.settings.token_key_arn),
            clock=self.clock,
            random=secrets.token_bytes,
            sign_ups=self._gate(
                "sign-ups", self.settings.sign_ups_per_day, "Too many people are new here today."
            ),
        )

    @cached_property
    def directory(self) -> DynamoDirectory:
        from memorybox.adapters.aws.directory import DynamoDirectory

        return DynamoDirectory(self.aws.dynamodb, self.settings.memory_table, self.clock)

    @cached_property
    def clients(self) -> Clients:
        from memorybox.adapters.aws.oauth import DynamoClientStore
        from memorybox.adapters.http.documents import HttpClientDocuments
        from memorybox.oauth.clients import Clients, configured_clients
        from memorybox.oauth.documents import PacedDocuments

        return Clients(
            configured=configured_clients(self.secrets.clients),
            store=DynamoClientStore(self._auth_table),
            documents=PacedDocuments(HttpClientDocuments(self.clock), self._buckets),
            clock=self.clock,
            random=secrets.token_bytes,
            registrations=self._gate(
                "registrations",
                self.settings.registrations_per_day,
                "Too many programs have registered today.",
            ),
            redirect_hosts=self.settings.redirect_hosts,
        )

    @cached_property
    def authorizations(self) -> Authorizations:
        from memorybox.adapters.aws.oauth import DynamoCodeStore, DynamoTransactionStore
        from memorybox.oauth.authorize import Authorizations

        return Authorizations(
            issuer=self.issuer,
            clients=self.clients,
            transactions=DynamoTransactionStore(self._auth_table),
            codes=DynamoCodeStore(self._auth_table),
            connections=self.connections,
            clock=self.clock,
            random=secrets.token_bytes,
        )

    @cached_property
    def visits(self) -> Visits:
        from memorybox.adapters.aws.oauth import DynamoVisitStore
        from memorybox.oauth.visits import Visits

        return Visits(
            DynamoVisitStore(self._auth_table),
            self.connections.accounts,
            self.clock,
            secrets.token_bytes,
        )

    @cached_property
    def connected(self) -> ConnectedClients:
        from memorybox.oauth.connected import ConnectedClients

        return ConnectedClients(self._grants, self.clients, self.clock, secrets.token_bytes)

    @cached_property
    def deletion(self) -> Deletion:
        from memorybox.adapters.aws.oauth import DynamoCodeStore, DynamoVisitStore
        from memorybox.oauth.deletion import Deletion

        def look_later(account: AccountId) -> None:
            self.queue(account).go_on(after=_LONGER_THAN_A_CALL)

        return Deletion(
            grants=self._grants,
            codes=DynamoCodeStore(self._auth_table),
            visits=DynamoVisitStore(self._auth_table),
            connections=self.connections,
            belongings=self._belongings,
            look_later=look_later,
            clock=self.clock,
        )

    @cached_property
    def tokens(self) -> Tokens:
        from memorybox.adapters.aws.oauth import DynamoCodeStore
        from memorybox.oauth.tokens import Tokens

        return Tokens(
            issuer=self.issuer,
            clients=self.clients,
            codes=DynamoCodeStore(self._auth_table),
            grants=self._grants,
            accounts=self.connections.accounts,
            clock=self.clock,
            random=secrets.token_bytes,
            access_life=timedelta(seconds=self.settings.access_token_seconds),
        )

    @cached_property
    def issuer(self) -> Issuer:
        from memorybox.oauth.metadata import Issuer

        return Issuer(self.settings.public_base_url)

    @cached_property
    def embedder(self) -> Embedder:
        from memorybox.adapters.openai.embedder import OpenAIEmbedder

        return OpenAIEmbedder(
            api_key=self.secrets.openai_api_key,
            base_url=self.settings.openai_base_url,
            model=self.settings.embedding_model,
            dims=self.settings.embedding_dimensions,
            most_bytes=self.settings.embedding_request_bytes,
        )

    @cached_property
    def aws(self) -> AwsClients:
        from memorybox.adapters.aws.clients import Clients
        from memorybox.adapters.aws.guard import Guard

        settings = self.settings
        return Clients(Guard(memory_table=settings.memory_table, auth_table=settings.auth_table))

    @cached_property
    def http(self) -> HttpSession:
        from memorybox.adapters.dropbox.session import new_session

        return new_session(self.settings.dropbox_base_url)

    @cached_property
    def packs(self) -> PackCache:
        from memorybox.adapters.aws.packs import PackCache

        return PackCache(
            Path(tempfile.gettempdir()) / "memorybox-packs",
            memory_bytes=_PACKS_IN_MEMORY,
            folder_bytes=_PACKS_ON_DISK,
            front_bytes=_FRONTS_IN_MEMORY,
        )

    @cached_property
    def vectors(self) -> Callable[[AccountId], VectorMemory]:
        """The vectors that each of the latest accounts used last."""
        from memorybox.search.remembering import VectorMemory

        return lru_cache(_REMEMBERED_ACCOUNTS)(lambda _: VectorMemory())

    @cached_property
    def threads(self) -> Threads:
        return Threads(ThreadPoolExecutor(_THREADS))

    def queue(self, account: AccountId) -> SqsChangeQueue:
        from memorybox.adapters.aws.queue import SqsChangeQueue

        return SqsChangeQueue(self._outbox(), account)

    def sweep_queue(self) -> SqsSweepQueue:
        from memorybox.adapters.aws.queue import SqsSweepQueue

        return SqsSweepQueue(self._outbox())

    def budget_percent(self) -> int:
        """How much of the deployment's tokens of this month is spent."""
        from memorybox.adapters.aws.budget import DynamoSpending
        from memorybox.search.budget import month_of

        spending = DynamoSpending(self.aws.dynamodb, self.settings.memory_table, self.clock)
        spent = spending.of(month_of(self.clock.now()))
        return 100 * spent // self.settings.deployment_token_cap

    def signed_in(self, account: AccountId) -> None:
        """Begin the first index in the background, and let the sweep know of the account."""
        self.directory.add(account)
        self.queue(account).go_on()

    def call(self, account: AccountId, seconds: float, client_id: str = "", link: int = 0) -> Call:
        """A call for one account, which ends within `seconds`; of a client, or our own work.

        `link` is a sign-in of the account: what this process holds of an earlier one is not used.
        """
        return Call(self, account, within(seconds, self.clock), client_id, link)

    def mcp(self, grant: Grant) -> McpServer:
        """The MCP server of the account that gave the grant."""
        from memorybox.mcp.server import McpServer
        from memorybox.toolsets.catalogue import MEMORY
        from memorybox.toolsets.confined import ConfinedTools
        from memorybox.toolsets.limits import LimitedTools

        def run(name: str, arguments: Mapping[str, object]) -> ToolResult:
            with self.call(grant.account_id, CALL_SECONDS, grant.client_id, grant.link) as call:
                return call.tools.call(name, arguments)

        confined = ConfinedTools(MEMORY, grant.workspaces, run).call if grant.workspaces else run
        limited = LimitedTools(MEMORY, self._allowance(grant.account_id), confined)
        return McpServer(MEMORY, limited.call, new_reference)

    def overview(self, account: AccountId) -> tuple[Overview, int]:
        """What the account page shows of notes and index, and the tokens spent this month."""
        with self.call(account, _OVERVIEW_SECONDS) as call:
            return call.overview, call.spent

    def written(self, account: AccountId) -> Sequence[Written]:
        """What clients wrote for an account lately, the newest first."""
        with self.call(account, _OVERVIEW_SECONDS) as call:
            return call.written

    def _outbox(self) -> Outbox:
        from memorybox.adapters.aws.queue import Outbox

        return Outbox(self.aws.sqs, self.settings.queue_url, tracing.request_id())

    def _allowance(self, account: AccountId) -> Allowance:
        from memorybox.accounts.rates import MINUTE, Allowance, Rate
        from memorybox.adapters.aws.rates import buckets_of
        from memorybox.toolsets.limits import ANY

        settings = self.settings
        return Allowance(
            account,
            {
                ANY: Rate(settings.calls_per_minute, MINUTE),
                "search": Rate(settings.searches_per_minute, MINUTE),
            },
            own=self._own_buckets,
            shared=buckets_of(account, self.aws.dynamodb, settings.memory_table, self.clock),
        )

    def _gate(self, name: str, most: int, refusal: str) -> Gate:
        """A limit of so many a day for the whole deployment."""
        from memorybox.accounts.rates import DAY, Gate, Rate

        return Gate(self._buckets, name, Rate(most, DAY), refusal)

    def _belongings(self, account: AccountId) -> AwsBelongings:
        from memorybox.adapters.aws.belongings import AwsBelongings
        from memorybox.adapters.aws.session import Session

        deadline = within(CALL_SECONDS, self.clock)
        session = Session(self.aws.dynamodb, self.settings.memory_table, account, deadline)
        return AwsBelongings(session, self.directory, self.aws.s3, self.settings.bucket_name)

    @cached_property
    def _own_buckets(self) -> LocalBuckets:
        from memorybox.accounts.rates import LocalBuckets

        return LocalBuckets(self.clock)

    @cached_property
    def _buckets(self) -> DynamoBuckets:
        from memorybox.adapters.aws.rates import deployment_buckets

        return deployment_buckets(self.aws.dynamodb, self.settings.memory_table, self.clock)

    @cached_property
    def _grants(self) -> DynamoGrantStore:
        from memorybox.adapters.aws.oauth import DynamoGrantStore

        return DynamoGrantStore(self._auth_table, self.clock)

    def _warm_up(self) -> None:
        """Load at the start what is loaded when first needed, for a snapshot to have it.

        Nobody is asked for anything: an answer, or a connection, would be old after a restore.
        """
        for module in (*_own_modules(), "openai.resources.embeddings"):
            import_module(module)
        for service in ("dynamodb", "s3", "sqs", "kms", "ssm"):
            getattr(self.aws, service)

    @cached_property
    def _secrets(self) -> SsmSecrets:
        from memorybox.adapters.aws.parameters import SsmSecrets

        prefix = f"{self.settings.secrets_prefix}/{self.settings.stage}"
        return SsmSecrets(self.aws.ssm, prefix, self.clock)

    @cached_property
    def _auth_table(self) -> Table:
        from memorybox.adapters.aws.oauth import auth_table

        return auth_table(self.aws.dynamodb, self.settings.auth_table, self.clock)


def new_reference() -> str:
    """A short name under which a failure is logged and told."""
    return secrets.token_hex(4)


def _own_modules() -> Iterator[str]:
    return (module.name for module in walk_packages(memorybox.__path__, "memorybox."))
