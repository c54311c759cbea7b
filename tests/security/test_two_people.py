"""Two people, their assistants and their pages: whatever happens, neither meets the other.

The function that serves MCP and all pages runs in this process over emulators of all it talks to,
with the guard of the tables on. Each person's notes, programs and paths hold one word that nobody
else uses. Who deletes their data may come back, to processes that knew them before.
`PEOPLE_EXAMPLES=400 pytest tests/security/test_two_people.py` makes some 10,000 steps.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import boto3
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from mangum import Mangum

from local import aws
from local.dropbox.accounts import Account
from local.dropbox.grants import App, Request
from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from memorybox.accounts.model import DROPBOX_SCOPES, AccountId
from memorybox.bootstrap.process import Process
from memorybox.bootstrap.web import web_app
from memorybox.deadline import CALL_SECONDS
from tests.unit.web.site import BASE, Front, Reply, Visitor, exchange, field_of, text_of

CALLBACK = f"{BASE}/dropbox/callback"
MANY = "1000000"
TOOLS: Mapping[str, str] = {
    "write": "memory:write",
    "append": "memory:write",
    "patch": "memory:write",
    "read": "memory:read",
    "list": "memory:read",
    "search": "memory:read",
}

who = st.sampled_from([0, 1])
any_one = st.integers(min_value=0, max_value=5)


@dataclass
class AtDropbox:
    """Whoever sits before the screen presses Allow."""

    service: DropboxEmulator
    user: Account | None = None

    def agree(self, challenge: str) -> str:
        assert self.user is not None
        asked = Request(
            redirect_uri=CALLBACK,
            scopes=tuple(DROPBOX_SCOPES),
            offline=True,
            challenge=challenge,
            challenge_method="S256",
        )
        return self.service.grants.code(self.user.account_id, asked)


class World(Front):
    """The deployment."""

    base = BASE

    def __init__(
        self,
        cloud: aws.Aws,
        service: DropboxEmulator,
        embeddings: EmbeddingsServer,
        environ: Mapping[str, str],
    ) -> None:
        self.service = service
        self.embeddings = embeddings
        self.environ = environ
        self.at_dropbox = AtDropbox(service)
        self.dropbox = self.at_dropbox
        self.restart()
        self.dynamodb = boto3.client("dynamodb", **cloud.connection)

    def restart(self) -> None:
        """From now on a process serves that holds nothing in memory."""
        self.handler = Mangum(web_app(self.environ), lifespan="off")

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """In here another process serves."""
        handler = self.handler
        self.restart()
        yield
        self.handler = handler

    def items(self, user: Account) -> list[Any]:
        """What the table of notes holds under the name of an account."""
        pk = {":pk": {"S": f"A#{user.account_id}"}}
        found: list[Any] = self.dynamodb.query(
            TableName=aws.MEMORY_TABLE,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues=pk,
        )["Items"]
        return found

    def sign_ins(self, user: Account) -> list[Any]:
        """What the table of sign-ins holds that names an account."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=aws.AUTH_TABLE)
        items = [item for page in pages for item in page["Items"]]
        return [item for item in items if user.account_id in str(item)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    app = App(redirect_uris=(CALLBACK,))
    secrets = {"dropbox-app-key": app.key, "dropbox-app-secret": app.secret}
    with (
        DropboxEmulator(app) as service,
        EmbeddingsServer("hashed") as embeddings,
        aws.start(tmp_path_factory.mktemp("aws"), secrets=secrets, say=lambda _: None) as cloud,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in cloud.environment.items():
            patch.setenv(name, value)
        environ = {
            **os.environ,
            "PUBLIC_BASE_URL": BASE,
            "DROPBOX_BASE_URL": service.base_url,
            "OPENAI_BASE_URL": embeddings.url,
            "EMBEDDING_DIMENSIONS": str(embeddings.dimensions),
            "SIGN_UPS_PER_DAY": MANY,
            "REGISTRATIONS_PER_DAY": MANY,
            "CALLS_PER_MINUTE": MANY,
            "SEARCHES_PER_MINUTE": MANY,
        }
        yield World(cloud, service, embeddings, environ)


@dataclass
class Assistant:
    """A connected program, and what it should be able to do."""

    name: str
    token: str
    may_write: bool
    is_connected: bool = True


@dataclass
class Person:
    """Somebody with a browser."""

    word: str
    world: World
    user: Account
    browser: Visitor
    assistants: list[Assistant] = field(default_factory=list)
    is_signed_in: bool = False

    def sits_down(self) -> None:
        self.world.at_dropbox.user = self.user

    def page(self) -> Reply:
        """Their account page."""
        self.sits_down()
        page = self.browser.get("/account") if self.is_signed_in else self.browser.sign_in_here()
        self.is_signed_in = True
        assert page.status == 200
        return page

    def connect(self, name: str, access: str = "write") -> str:
        """The token of a new client."""
        self.sits_down()
        client_id = str(self.world.register(client_name=name)["client_id"])
        code = self.browser.sign_in(client_id, access)
        return str(self.world.post("/token", exchange(client_id, code)).json()["access_token"])

    def delete(self) -> Reply:
        """Their receipt."""
        self.page()
        token = field_of("token", self.browser.get("/account/delete"))
        self.is_signed_in = False
        return self.browser.post("/account/delete", token=token)

    @property
    def connected(self) -> list[Assistant]:
        return [one for one in self.assistants if one.is_connected]


def tool_call(tool: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


class TwoPeople(RuleBasedStateMachine):
    numbers = count(1)

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.people = [
            Person(word, world, world.service.add_account(), Visitor(world))
            for word in ("apricot", "bramble")
        ]

    @rule(who=who, access=st.sampled_from(["write", "write", "read"]))
    def connect(self, who: int, access: str) -> None:
        person = self.people[who]
        name = f"{person.word} {next(self.numbers)}"
        token = person.connect(name, access)
        person.assistants.append(Assistant(name, token, may_write=access == "write"))

    @precondition(lambda self: any(person.assistants for person in self.people))
    @rule(who=who, which=any_one, tool=st.sampled_from([*TOOLS]))
    def call(self, who: int, which: int, tool: str) -> None:
        person, other = self.people[who], self.people[1 - who]
        if not person.assistants:
            return
        assistant = person.assistants[which % len(person.assistants)]

        answer = self.world.mcp(assistant.token, tool_call(tool, self.arguments(person, tool)))

        is_allowed = assistant.may_write or TOOLS[tool] == "memory:read"
        assert answer.status == (401 if not assistant.is_connected else 200 if is_allowed else 403)
        assert other.word not in answer.body

    @rule(who=who)
    def look(self, who: int) -> None:
        person, other = self.people[who], self.people[1 - who]

        page = person.page()

        names = re.findall(r'class="name"><bdi>([^<]*)<', page.body)
        limits = page.body.count('value="limit"')
        assert sorted(names) == sorted(one.name for one in person.connected)
        assert limits == sum(one.may_write for one in person.connected)
        assert other.word not in page.body

    @precondition(lambda self: any(person.connected for person in self.people))
    @rule(who=who, change=st.sampled_from(["limit", "disconnect"]))
    def change(self, who: int, change: str) -> None:
        """The first client on the page."""
        person = self.people[who]
        page = person.page()
        if not person.connected:
            return
        [name, *_] = re.findall(r'class="name"><bdi>([^<]*)<', page.body)

        answer = person.browser.change(change, page)

        assert answer.status == 303
        changed = next(one for one in person.connected if one.name == name)
        changed.may_write = False
        changed.is_connected = change == "limit"

    @precondition(lambda self: any(person.connected for person in self.people))
    @rule(who=who, change=st.sampled_from(["limit", "disconnect"]))
    def reach_for_the_others_client(self, who: int, change: str) -> None:
        person, other = self.people[who], self.people[1 - who]
        if not other.connected:
            return
        theirs = other.page()
        form = {"client": field_of("client", theirs), "change": change}
        token = field_of("token", theirs)
        person.page()

        as_oneself = person.browser.post(
            "/account/clients", token=self.deletion_token(person), **form
        )
        as_the_other = person.browser.post("/account/clients", token=token, **form)
        deleted = person.browser.post("/account/delete", token=token)

        assert (as_oneself.status, as_the_other.status, deleted.status) == (400, 403, 403)

    @rule(who=who)
    def sign_out(self, who: int) -> None:
        person = self.people[who]
        cookies = dict(person.browser.cookies)

        assert person.browser.post("/account/sign-out").status == 303

        person.is_signed_in = False
        again = Visitor(self.world, cookies).get("/account")
        assert "Sign in with Dropbox" in text_of(again)

    @rule(who=who)
    def delete(self, who: int) -> None:
        person = self.people[who]

        receipt = person.delete()

        assert "Nothing that names you is kept any more." in text_of(receipt)
        assert self.world.items(person.user) == []
        assert self.world.sign_ins(person.user) == []
        for assistant in person.assistants:
            assistant.is_connected = False

    @invariant()
    def each_folder_and_each_partition_holds_the_words_of_its_owner_alone(self) -> None:
        for person, other in zip(self.people, reversed(self.people), strict=True):
            held = [*person.user.files().items(), *self.world.items(person.user)]
            assert other.word not in str(held)

    def arguments(self, person: Person, tool: str) -> Mapping[str, object]:
        note = {"workspace": "garden", "path": f"{person.word}.md"}
        line = f"- {person.word} {next(self.numbers)}\n"
        arguments: Mapping[str, Mapping[str, object]] = {
            "write": {**note, "path": f"{person.word} {next(self.numbers)}.md", "text": line},
            "append": {**note, "text": line},
            "patch": {
                **note,
                "edits": [{"old_text": line, "new_text": "x"}],
                "expected_rev": "0123456789abcdef",
            },
            "read": note,
            "list": {"workspace": "all"},
            "search": {"workspace": "all", "query": "apricot or bramble", "limit": 10},
        }
        return arguments[tool]

    def deletion_token(self, person: Person) -> str:
        return field_of("token", person.browser.get("/account/delete"))


@pytest.mark.requirement("M2", "C9", "D5")
def test_two_people_never_meet_over_tools_and_pages(world: World) -> None:
    class Here(TwoPeople):
        def __init__(self) -> None:
            super().__init__(world)

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=int(os.environ.get("PEOPLE_EXAMPLES", "3")),
            stateful_step_count=25,
            phases=[Phase.generate],  # to make a failure smaller would take minutes
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=[*HealthCheck],
        ),
    )


NOTE = {"workspace": "garden", "path": "beds.md", "text": "The rhubarb is by the gate.\n"}
OTHER_NOTE = {"workspace": "garden", "path": "tools.md", "text": "The spade is in the shed.\n"}
RHUBARB = tool_call("search", {"workspace": "all", "query": "rhubarb"})


@pytest.fixture
def by_words_alone(world: World) -> Iterator[None]:
    """Searches go without the embedding service once it is asked to fail."""
    yield
    world.embeddings.heal()


@pytest.mark.requirement("D5")
@pytest.mark.usefixtures("by_words_alone")
def test_who_comes_back_after_a_deletion_is_found_by_words_from_every_process(
    world: World,
) -> None:
    ann = Person("ann", world, world.service.add_account(), Visitor(world))
    token = ann.connect("before")
    for note in (NOTE, OTHER_NOTE):
        world.mcp(token, tool_call("write", note))
    with world.elsewhere():
        ann.delete()
        token = ann.connect("after")
    world.mcp(token, RHUBARB)
    world.embeddings.fail("server_error")

    with world.elsewhere():
        found = world.mcp(token, RHUBARB).body

    assert "beds.md" in found
    assert "tools.md" not in found


@pytest.mark.requirement("D5")
@pytest.mark.usefixtures("by_words_alone")
def test_what_a_call_from_before_the_deletion_indexes_after_it_is_indexed_again(
    world: World,
) -> None:
    ann = Person("ann", world, world.service.add_account(), Visitor(world))
    account = AccountId(ann.user.account_id)
    token = ann.connect("before")
    process = Process(world.environ)
    with process.call(account, CALL_SECONDS) as under_way:
        under_way.tools.call("write", {**NOTE, "path": "old.md"})
        ann.delete()
        token = ann.connect("after")
        world.mcp(token, RHUBARB)
        under_way.tools.call("write", NOTE)
    world.restart()
    world.embeddings.fail("server_error")

    assert "beds.md" in world.mcp(token, RHUBARB).body
