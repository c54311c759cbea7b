"""The whole site over fakes, called as API Gateway calls it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from html import unescape
from itertools import count
from typing import Any, Protocol, cast
from urllib.parse import parse_qs, urlencode, urlsplit

from mangum import Mangum
from mangum.types import LambdaContext

from memorybox.accounts.model import AccountId
from memorybox.accounts.rates import DAY, Gate, LocalBuckets, Rate
from memorybox.accounts.service import Connections
from memorybox.files.journal import Written
from memorybox.mcp.server import Call, McpServer
from memorybox.mcp.toolset import Example, Tool, ToolResult, Toolset
from memorybox.oauth.authorize import Authorizations
from memorybox.oauth.clients import Clients
from memorybox.oauth.connected import ConnectedClients
from memorybox.oauth.deletion import Deletion
from memorybox.oauth.documents import PacedDocuments
from memorybox.oauth.metadata import Issuer
from memorybox.oauth.model import READ, WRITE, Client, Grant
from memorybox.oauth.opaque import challenge_of
from memorybox.oauth.tokens import Tokens
from memorybox.oauth.visits import Visits
from memorybox.search.overview import Overview
from memorybox.web.app import Application
from memorybox.web.perimeter import Perimeter
from memorybox.web.services import Services
from tests.fakes.accounts import (
    FakeDropbox,
    InMemoryAccounts,
    InMemoryBelongings,
    InMemoryVault,
)
from tests.fakes.clock import FakeClock
from tests.fakes.oauth import (
    InMemoryClientDocuments,
    InMemoryClientStore,
    InMemoryCodeStore,
    InMemoryGrantStore,
    InMemoryTransactionStore,
    InMemoryVisitStore,
    Outage,
)

HOST = "memory.example"
BASE = f"https://{HOST}"
CALLBACK = "https://claude.ai/api/mcp/auth_callback"
VERIFIER = "v" * 64
FORM = {"content-type": "application/x-www-form-urlencoded"}


def _schema(**properties: str) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text} for name, text in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }


TOOLSET = Toolset(
    name="memorybox",
    title="Memory Box",
    version="1.0.0",
    instructions="Notes of the user.",
    tools=(
        Tool(
            name="read",
            title="Read a note",
            description="Gives the text of a note.",
            input_schema=_schema(path="The <path> of the note."),
            scope=READ,
            read_only=True,
            destructive=False,
            idempotent=True,
            examples=(Example({"path": "a.md"}, ToolResult(("rev: 1", "<b>text</b>"))),),
        ),
        Tool(
            name="write",
            title="Write a note",
            description="Replaces the text of a note.",
            input_schema=_schema(path="The path of the note.", text="The whole text."),
            scope=WRITE,
            read_only=False,
            destructive=True,
            idempotent=False,
            examples=(Example({"path": "a.md"}, ToolResult(("It exists.",), is_error=True)),),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    cookies: Sequence[str]
    body: str

    def json(self) -> dict[str, object]:
        loaded = json.loads(self.body)
        assert isinstance(loaded, dict)
        return loaded

    def query(self) -> dict[str, list[str]]:
        """The parameters of the address that this reply redirects to."""
        return parse_qs(urlsplit(self.headers["location"]).query)


class Agreeing(Protocol):
    """A person at Dropbox, who presses Allow."""

    def agree(self, challenge: str) -> str:
        """The code that the browser brings back."""


class Front:
    """The pages and endpoints of a deployment, called as API Gateway calls them."""

    base: str
    dropbox: Agreeing
    handler: Callable[[dict[str, Any], LambdaContext], dict[str, Any]]

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | str = "",
        headers: Mapping[str, str] | None = None,
        cookies: Sequence[str] = (),
        body: str = "",
    ) -> Reply:
        """One request, as an HTTP API delivers it (payload format 2.0)."""
        sent = {"host": urlsplit(self.base).netloc, **(headers or {})}
        event = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": query if isinstance(query, str) else urlencode(query),
            "cookies": list(cookies),
            "headers": sent,
            "requestContext": {
                "http": {"method": method, "path": path, "sourceIp": "192.0.2.1"},
                "stage": "$default",
            },
            "body": body,
            "isBase64Encoded": False,
        }
        answer = self.handler(event, cast(LambdaContext, None))
        return Reply(
            answer["statusCode"], answer["headers"], answer.get("cookies", []), answer["body"]
        )

    def post(self, path: str, form: Mapping[str, str], **headers: str) -> Reply:
        """A form from a client."""
        return self.call("POST", path, headers={**FORM, **headers}, body=urlencode(form))

    def register(self, **members: object) -> dict[str, object]:
        """A client that registers itself, public unless it says otherwise."""
        wanted = {
            "client_name": "Claude",
            "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": "none",
        } | members
        reply = self.call(
            "POST",
            "/register",
            headers={"content-type": "application/json"},
            body=json.dumps(wanted),
        )
        assert reply.status == 201, reply.body
        return reply.json()

    def mcp(self, token: str | None, body: object = None, **headers: str) -> Reply:
        """A POST to /mcp; a `tools/list` unless `body` says otherwise."""
        message = body or {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        bearer = {} if token is None else {"authorization": f"Bearer {token}"}
        return self.call(
            "POST",
            "/mcp",
            headers={"content-type": "application/json", **bearer, **headers},
            body=json.dumps(message),
        )

    def sign_in(self, client_id: str, **query: str) -> dict[str, str]:
        """The tokens of a sign-in by a public client and a person who agrees to everything."""
        browser = Browser(self)
        code = browser.sign_in(client_id, **query)
        reply = self.post("/token", exchange(client_id, code))
        assert reply.status == 200, reply.body
        return {name: str(value) for name, value in reply.json().items()}


@dataclass
class Site(Front):
    """One deployment, with everything that it talks to."""

    base: str = BASE
    configured: Mapping[str, Client] = field(default_factory=dict)
    documents: InMemoryClientDocuments = field(default_factory=InMemoryClientDocuments)
    sign_ups_a_day: int = 100
    registrations_a_day: int = 2_000
    redirect_hosts: frozenset[str] = frozenset()
    dropbox: FakeDropbox = field(init=False)

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.outage = Outage()
        self.client_store = InMemoryClientStore(self.outage)
        self.transactions = InMemoryTransactionStore(self.outage)
        self.codes = InMemoryCodeStore(self.outage)
        self.grants = InMemoryGrantStore(self.outage)
        self.visits = InMemoryVisitStore(self.outage)
        self.looked_after: list[AccountId] = []
        self.overview = Overview((), (), 0, is_current=True)
        self.spent = 0
        self.written: Sequence[Written] = ()
        self.dropbox = FakeDropbox(self.clock)
        self.accounts = InMemoryAccounts()
        self.belongings = InMemoryBelongings(self.accounts)
        self.signed_in: list[AccountId] = []
        self.queue = Outage()
        self.broken: Exception | None = None
        self.call_tool: Call = _echo
        numbers = count(1)
        issuer = Issuer(self.base)
        random = self.random = _unlike(count(1))
        buckets = LocalBuckets(self.clock)
        sign_ups = Gate(
            buckets,
            "sign-ups",
            Rate(self.sign_ups_a_day, DAY),
            "Too many people are new here today.",
        )
        registrations = Gate(
            buckets, "registrations", Rate(self.registrations_a_day, DAY), "Too many programs."
        )
        connections = self.connections = Connections(
            self.accounts, self.dropbox, InMemoryVault(), self.clock, random, sign_ups
        )
        clients = Clients(
            self.configured,
            self.client_store,
            PacedDocuments(self.documents, buckets),
            self.clock,
            random,
            registrations,
            self.redirect_hosts,
        )
        tokens = Tokens(
            issuer,
            clients,
            self.codes,
            self.grants,
            self.accounts,
            self.clock,
            random,
            timedelta(hours=8),
        )
        authorizations = Authorizations(
            issuer, clients, self.transactions, self.codes, connections, self.clock, random
        )
        host = urlsplit(self.base).hostname or ""
        self.services = Services(
            issuer=issuer,
            perimeter=Perimeter(frozenset({host}), frozenset({self.base})),
            toolset=TOOLSET,
            clients=lambda: clients,
            authorizations=lambda: authorizations,
            tokens=lambda: tokens,
            connections=lambda: connections,
            visits=lambda: Visits(self.visits, self.accounts, self.clock, random),
            connected=lambda: ConnectedClients(self.grants, clients, self.clock, random),
            deletion=lambda: Deletion(
                self.grants,
                self.codes,
                self.visits,
                connections,
                self.belongings.of,
                self.looked_after.append,
                self.clock,
            ),
            overview=lambda _: (self.overview, self.spent),
            written=lambda _: self.written,
            dropbox_folder="Apps/My Box",
            monthly_tokens=84_745_762,
            token_price=Decimal("0.0118"),
            security_contact="mailto:security@memory.example",
            clock=self.clock,
            mcp=self._mcp,
            signed_in=self._announce,
            references=lambda: f"request-{next(numbers)}",
        )
        self.handler = Mangum(Application(self.services), lifespan="off")

    def _announce(self, account_id: AccountId) -> None:
        self.queue()
        self.signed_in.append(account_id)

    def _mcp(self, grant: Grant) -> McpServer:
        if self.broken is not None:
            raise self.broken
        return McpServer(TOOLSET, self.call_tool, lambda: "ref")


@dataclass
class Browser:
    """Keeps cookies, fills the consent form, and follows to Dropbox and back."""

    site: Front
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, query: Mapping[str, str] | str = "", **headers: str) -> Reply:
        return self._kept(
            self.site.call("GET", path, query=query, headers=headers, cookies=self._sent())
        )

    def submit(self, form: Mapping[str, str], **headers: str) -> Reply:
        return self._kept(
            self.site.call(
                "POST",
                "/consent",
                headers={**FORM, "origin": self.site.base, **headers},
                cookies=self._sent(),
                body=urlencode(form),
            )
        )

    def post(self, path: str, **form: str) -> Reply:
        """A form of one of our pages."""
        headers = {**FORM, "origin": self.site.base}
        return self._kept(
            self.site.call(
                "POST", path, headers=headers, cookies=self._sent(), body=urlencode(form)
            )
        )

    def authorize(self, client_id: str, **query: str) -> Reply:
        return self.get("/authorize", request(client_id, **query))

    def approve(self, consent: Reply, access: str = "write") -> Reply:
        form = {"token": form_token(consent), "decision": "approve", "access": access}
        return self.submit(form)

    def return_from_dropbox(self, approved: Reply) -> Reply:
        """The person agrees at Dropbox."""
        sent = approved.query()
        code = self.site.dropbox.agree(sent["code_challenge"][0])
        return self.get("/dropbox/callback", {"state": sent["state"][0], "code": code})

    def sign_in(self, client_id: str, access: str = "write", **query: str) -> str:
        """The code that the client gets."""
        approved = self.approve(self.authorize(client_id, **query), access)
        return self.return_from_dropbox(approved).query()["code"][0]

    def _sent(self) -> Sequence[str]:
        return [f"{name}={value}" for name, value in self.cookies.items()]

    def _kept(self, reply: Reply) -> Reply:
        for cookie in reply.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return reply


class Visitor(Browser):
    """A person who looks at their own account."""

    def sign_in_here(self) -> Reply:
        """Through Dropbox, to the page itself."""
        started = self.post("/account/sign-in")
        sent = started.query()
        code = self.site.dropbox.agree(sent["code_challenge"][0])
        arrived = self.get("/dropbox/callback", {"state": sent["state"][0], "code": code})
        assert (arrived.status, arrived.headers["location"]) == (302, f"{self.site.base}/account")
        return self.get("/account")

    def change(self, change: str, page: Reply) -> Reply:
        form = {
            "token": field_of("token", page),
            "client": field_of("client", page),
            "change": change,
        }
        return self.post("/account/clients", **form)


def field_of(name: str, page: Reply) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page.body)
    assert found is not None, page.body
    return unescape(found[1])


def text_of(page: Reply) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.body.split("<main>")[1])))


def request(client_id: str, /, **changed: str) -> dict[str, str]:
    """The query of a good authorization request; an empty value leaves a parameter out."""
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": CALLBACK,
        "state": "a b&c",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        "resource": f"{BASE}/mcp",
    } | changed
    return {name: value for name, value in query.items() if value}


def exchange(client_id: str, code: str, **changed: str) -> dict[str, str]:
    """The form that trades a code for tokens."""
    form = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    } | changed
    return {name: value for name, value in form.items() if value}


def form_token(consent: Reply) -> str:
    found = re.search(r'name="token" value="([^"]+)"', consent.body)
    assert found is not None, consent.body
    return unescape(found[1])


def _unlike(numbers: "count[int]") -> Callable[[int], bytes]:
    """Bytes that never repeat."""
    return lambda size: next(numbers).to_bytes(size, "big")


def _echo(name: str, arguments: Mapping[str, object]) -> ToolResult:
    return ToolResult((f"{name} {sorted(arguments)}",))
