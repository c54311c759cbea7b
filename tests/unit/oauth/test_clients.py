"""Clients: registered by themselves, known by a document, or configured."""

import base64
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from memorybox.errors import Refused
from memorybox.oauth.clients import configured_clients, display_name
from memorybox.oauth.errors import OAuthError
from memorybox.oauth.model import AuthMethod, Client, Origin
from memorybox.oauth.opaque import digest
from memorybox.settings import ConfiguredClient
from tests.fakes.oauth import InMemoryClientDocuments
from tests.unit.oauth.server import CALLBACK, CLIENT, Server, form, refused

URL = "https://app.example/client.json"
DOCUMENT = json.dumps(
    {"client_id": URL, "client_name": "App", "redirect_uris": ["https://app.example/cb"]}
).encode()
CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"


def _metadata(**changed: object) -> bytes:
    members = {"client_name": "Claude", "redirect_uris": [CALLBACK]} | changed
    return json.dumps({name: value for name, value in members.items() if value != "-"}).encode()


@pytest.mark.requirement("R4")
def test_a_registration_without_a_method_gets_a_secret_that_is_kept_as_a_hash() -> None:
    server = Server()

    answer = dict(server.clients.register(_metadata()))

    secret = str(answer.pop("client_secret"))
    client_id = str(answer.pop("client_id"))
    assert answer == {
        "client_id_issued_at": int(server.clock.now().timestamp()),
        "client_secret_expires_at": 0,
        "client_name": "Claude",
        "redirect_uris": (CALLBACK,),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": "memory:read memory:write",
    }
    assert len(secret) == 43
    assert server.client_store.get(client_id) == Client(
        id=client_id,
        name="Claude",
        redirect_uris=(CALLBACK,),
        origin=Origin.REGISTERED,
        auth_method=AuthMethod.BASIC,
        secret_hash=digest(secret),
        expires_at=server.clock.now() + timedelta(hours=24),
    )


@pytest.mark.requirement("R4")
@pytest.mark.parametrize("method", ["none", "client_secret_post", "client_secret_basic"])
def test_a_client_gets_the_method_it_asks_for(method: str) -> None:
    answer = Server().clients.register(_metadata(token_endpoint_auth_method=method))

    assert answer["token_endpoint_auth_method"] == method
    assert ("client_secret" in answer) == (method != "none")


@pytest.mark.parametrize(
    "members",
    [
        {"scope": "mcp", "application_type": "native", "unknown": {"a": 1}, "software_id": "x"},
        {"logo_uri": "https://claude.ai/x.png", "client_uri": "http://claude.ai"},
        {"redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"]},
        {"grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"]},
        {"grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]},
        {"client_name": "-"},
        {"redirect_uris": [f"https://a.example/{n}" for n in range(5)]},
    ],
)
def test_members_that_mean_nothing_to_us_do_no_harm(members: dict[str, object]) -> None:
    assert "client_id" in Server().clients.register(_metadata(**members))


@pytest.mark.requirement("R4")
@pytest.mark.parametrize(
    ("body", "error"),
    [
        (_metadata(redirect_uris="-"), "invalid_redirect_uri"),
        (_metadata(redirect_uris=[]), "invalid_redirect_uri"),
        (_metadata(redirect_uris=CALLBACK), "invalid_redirect_uri"),
        (_metadata(redirect_uris=[7]), "invalid_redirect_uri"),
        (_metadata(redirect_uris=["javascript:alert(1)"]), "invalid_redirect_uri"),
        (_metadata(redirect_uris=["JaVaScript:alert(1)"]), "invalid_redirect_uri"),
        (_metadata(redirect_uris=["http://evil.example/cb"]), "invalid_redirect_uri"),
        (_metadata(redirect_uris=[CALLBACK, "data:,x"]), "invalid_redirect_uri"),
        (_metadata(redirect_uris=[CALLBACK] * 6), "invalid_redirect_uri"),
        (_metadata(token_endpoint_auth_method="private_key_jwt"), "invalid_client_metadata"),
        (_metadata(grant_types=["client_credentials"]), "invalid_client_metadata"),
        (_metadata(grant_types="authorization_code"), "invalid_client_metadata"),
        (_metadata(response_types=["token"]), "invalid_client_metadata"),
        (_metadata(logo_uri="javascript:alert(1)"), "invalid_client_metadata"),
        (_metadata(client_uri=["https://a"]), "invalid_client_metadata"),
        (_metadata(padding="x" * 8192), "invalid_client_metadata"),
        (b"", "invalid_client_metadata"),
        (b"[]", "invalid_client_metadata"),
        (b"[" * 8000, "invalid_client_metadata"),
        (b"\xff", "invalid_client_metadata"),
    ],
)
def test_a_registration_that_breaks_a_rule_is_refused(body: bytes, error: str) -> None:
    server = Server()
    before = dict(server.client_store.records)

    assert refused(lambda: server.clients.register(body)) == error

    assert server.client_store.records == before


def test_the_same_program_may_register_twice() -> None:
    server = Server()

    answers = [server.clients.register(_metadata()) for _ in range(2)]

    assert answers[0]["client_id"] != answers[1]["client_id"]


@pytest.mark.requirement("R4")
def test_a_client_that_was_never_used_is_forgotten_after_a_day() -> None:
    server = Server()
    client_id = str(server.clients.register(_metadata())["client_id"])

    server.clock.sleep(86_399)
    assert server.clients.asking(client_id).id == client_id
    server.clock.sleep(1)
    with pytest.raises(Refused):
        server.clients.asking(client_id)


@pytest.mark.parametrize("client_id", [None, "", "nobody", "https://localhost/x"])
def test_a_stranger_may_not_ask(client_id: str | None) -> None:
    with pytest.raises(Refused):
        Server().clients.asking(client_id)


@pytest.mark.requirement("R1")
def test_a_client_is_known_by_its_document_and_from_then_on_without_a_fetch() -> None:
    documents = InMemoryClientDocuments({URL: DOCUMENT})
    server = Server(documents)

    client = server.clients.asking(URL)

    now = server.clock.now()
    assert client == Client(
        id=URL,
        name="App",
        redirect_uris=("https://app.example/cb",),
        origin=Origin.DOCUMENT,
        expires_at=now + timedelta(hours=24),
        fresh_until=now + timedelta(hours=1),
    )
    assert server.clients.asking(URL) == client
    assert server.clients.authenticated(form(client_id=URL), None) == client
    assert documents.fetches == 1


def test_a_document_is_read_again_when_it_is_no_longer_fresh() -> None:
    documents = InMemoryClientDocuments({URL: DOCUMENT}, fresh_for=timedelta(days=30))
    server = Server(documents)
    server.clients.keep(server.clients.asking(URL))
    kept_until = server.clock.now() + timedelta(days=90)

    server.clock.sleep(24 * 3600)
    again = server.clients.asking(URL)

    assert documents.fetches == 2
    assert again.expires_at == kept_until


def test_a_known_client_may_ask_while_its_host_refuses_to_be_asked() -> None:
    documents = InMemoryClientDocuments()
    server = Server(documents)

    client = server.clients.asking(CLAUDE_CODE)
    server.clients.asking(CLAUDE_CODE)

    assert (client.name, client.redirect_uris) == (
        "Claude Code",
        ("http://localhost/callback", "http://127.0.0.1/callback"),
    )
    assert documents.fetches == 2


@pytest.mark.parametrize(
    ("url", "pages"),
    [(URL, {}), (URL, {URL: b"{}"}), (CLAUDE_CODE, {CLAUDE_CODE: b"{}"})],
)
def test_a_document_that_cannot_be_used_lets_nobody_in(url: str, pages: dict[str, bytes]) -> None:
    server = Server(InMemoryClientDocuments(pages))

    with pytest.raises(Refused):
        server.clients.asking(url)

    assert server.client_store.get(url) is None


def _basic(client_id: str, secret: str) -> str:
    return f"Basic {base64.b64encode(f'{client_id}:{secret}'.encode()).decode()}"


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
def test_a_secret_is_taken_from_the_form_and_from_basic(method: str) -> None:
    server = Server()
    answer = server.clients.register(_metadata(token_endpoint_auth_method=method))
    client_id, secret = str(answer["client_id"]), str(answer["client_secret"])
    client = server.client_store.get(client_id)
    posted = form(client_id=client_id, client_secret=secret)

    assert server.clients.authenticated(posted, None) == client
    assert server.clients.authenticated(form(), _basic(client_id, secret)) == client
    both = form(client_id=client_id)
    assert server.clients.authenticated(both, _basic(client_id, secret)) == client


def test_a_wrong_a_missing_or_a_garbled_secret_is_401() -> None:
    server = Server()
    client_id = str(server.clients.register(_metadata())["client_id"])
    tries = [
        (form(client_id=client_id), None),
        (form(client_id=client_id, client_secret="x"), None),
        (form(), _basic(client_id, "x")),
        (form(), _basic("nobody", "x")),
        (form(), "Basic ???"),
        (form(), f"Basic {base64.b64encode(bytes([255])).decode()}"),
    ]

    for sent, authorization in tries:
        with pytest.raises(OAuthError) as caught:
            server.clients.authenticated(sent, authorization)
        assert (caught.value.code, caught.value.status) == ("invalid_client", 401)


def test_basic_credentials_are_form_encoded() -> None:
    server = Server()
    odd = replace(CLIENT, id="a:b c", secret_hash=digest("p:w%"))
    server.client_store.save(odd)

    assert server.clients.authenticated(form(), _basic("a%3Ab+c", "p%3Aw%25")) == odd


def test_two_different_client_ids_in_one_request_are_refused() -> None:
    server = Server()
    sent = form(client_id="client_2")

    assert refused(lambda: server.clients.authenticated(sent, _basic(CLIENT.id, ""))) == (
        "invalid_request"
    )


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Claude", "Claude"),
        ("  two\n\tlines  ", "two lines"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("a\u200bb\u2060c\ufeffd\x00e\x1bf\u00adg", "abcdefg"),
        ("a\u2028b\u2029c\u00a0d", "a b c d"),
        ("x" * 10_000, "x" * 64),
        ("\u30c8\u30de\u30c8 \U0001f345", "\u30c8\u30de\u30c8 \U0001f345"),
        ("\ud800x", "x"),
        ("", "A program without a name"),
        ("\u200b", "A program without a name"),
        (None, "A program without a name"),
        (["x"], "A program without a name"),
    ],
)
def test_a_name_is_shown_as_one_short_visible_line(name: object, shown: str) -> None:
    assert display_name(name) == shown


def test_a_configured_client_is_known_from_the_start_and_for_ever() -> None:
    configured = configured_clients(
        [
            ConfiguredClient("open", "Open", (CALLBACK,)),
            ConfiguredClient("closed", "Closed", (CALLBACK,), secret="word"),
        ]
    )

    assert configured == {
        "open": Client("open", "Open", (CALLBACK,), Origin.CONFIGURED),
        "closed": Client(
            "closed", "Closed", (CALLBACK,), Origin.CONFIGURED, AuthMethod.POST, digest("word")
        ),
    }


def test_a_configured_redirect_keeps_the_rules_too() -> None:
    with pytest.raises(ValueError, match="mine"):
        configured_clients([ConfiguredClient("mine", "Mine", ("http://evil.example",))])
