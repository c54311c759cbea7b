"""Client ID metadata documents: which addresses they may have, and what they must say."""

import json

import pytest

from memorybox.oauth.documents import (
    KNOWN_DOCUMENTS,
    BadDocument,
    Document,
    host_of,
    is_document_url,
    parse_document,
)
from memorybox.oauth.redirects import is_allowed

URL = "https://app.example/oauth/client.json"
CALLBACK = "https://app.example/cb"


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "https://claude.ai/oauth/mcp-oauth-client-metadata",
        "https://a.example/",
        "https://a-b.c.example/x?version=2",
        "https://xn--bcher-kva.example/x",
        "https://a.example/.well-known/client..json",
        "https://a.example/" + "x" * 2030,
    ],
)
def test_an_https_url_with_a_host_and_a_path_can_be_a_client(url: str) -> None:
    assert is_document_url(url)


@pytest.mark.requirement("R1")
@pytest.mark.parametrize(
    "url",
    [
        "http://app.example/client.json",
        "HTTPS://app.example/client.json",
        "https://app.example",
        "https://app.example?client.json",
        "https://app.example?x/client.json",
        "https://app.example#/client.json",
        "https://app.example/client.json#x",
        "https://user@app.example/client.json",
        "https://user:word@app.example/client.json",
        "https://app.example/../client.json",
        "https://app.example/a/./client.json",
        "https://app.example/a/..",
        "https://app.example/%2e%2E/client.json",
        "https://app.example/.%2e/client.json",
        "https://app.example:443/client.json",
        "https://app.example:8443/client.json",
        "https://app.example./client.json",
        "https://.example/client.json",
        "https://localhost/client.json",
        "https://127.0.0.1/client.json",
        "https://127.1/client.json",
        "https://0x7f.1/client.json",
        "https://2130706433/client.json",
        "https://[::1]/client.json",
        "https://app.example\\evil.example/client.json",
        "https://app.example/cl ient.json",
        "https://app.example/client.json\n",
        "https://\u0430pp.example/client.json",
        "https://app.example/" + "x" * 2029,
        "client_1",
        "",
    ],
)
def test_no_other_text_can_be_the_address_of_a_document(url: str) -> None:
    assert not is_document_url(url)


def _document(**changed: object) -> bytes:
    members = {"client_id": URL, "client_name": "App", "redirect_uris": [CALLBACK]} | changed
    return json.dumps({name: value for name, value in members.items() if value != "-"}).encode()


@pytest.mark.requirement("R1")
@pytest.mark.parametrize(
    "offer",
    [
        {},
        {"token_endpoint_auth_method": "none"},
        {"token_endpoint_auth_methods_supported": ["none", "private_key_jwt"]},
        {
            "token_endpoint_auth_method": "private_key_jwt",
            "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
        },
        {"grant_types": ["authorization_code"], "logo_uri": "https://app.example/x.png", "x": {}},
    ],
)
def test_a_document_that_offers_to_come_without_a_secret_is_taken(
    offer: dict[str, object],
) -> None:
    assert parse_document(URL, _document(**offer)) == Document("App", (CALLBACK,))


def test_redirects_that_we_do_not_take_are_left_out_of_a_document() -> None:
    body = _document(redirect_uris=["strange://host/cb", CALLBACK, 7])
    assert parse_document(URL, body) == Document("App", (CALLBACK,))


@pytest.mark.requirement("R1")
@pytest.mark.parametrize(
    "body",
    [
        _document(client_id=f"{URL}/"),
        _document(client_id=URL.upper()),
        _document(client_id="-"),
        _document(client_id=[URL]),
        _document(client_name="-"),
        _document(client_name=" "),
        _document(client_name=7),
        _document(redirect_uris="-"),
        _document(redirect_uris=[]),
        _document(redirect_uris=CALLBACK),
        _document(redirect_uris=["javascript:alert(1)"]),
        _document(redirect_uris=[{"uri": CALLBACK}]),
        _document(client_secret="x"),
        _document(client_secret=None),
        _document(token_endpoint_auth_method="private_key_jwt"),
        _document(token_endpoint_auth_methods_supported=["client_secret_post"]),
        _document(padding="x" * 5120),
        b"",
        b"[]",
        b'"text"',
        b"null",
        b"{",
        b"[" * 5000,
        b"\xff",
        b"<html></html>",
    ],
)
def test_a_document_that_breaks_a_rule_is_refused(body: bytes) -> None:
    with pytest.raises(BadDocument):
        parse_document(URL, body)


def test_what_is_bundled_keeps_the_rules_too() -> None:
    assert all(is_document_url(url) for url in KNOWN_DOCUMENTS)
    assert all(is_allowed(uri) for known in KNOWN_DOCUMENTS.values() for uri in known.redirect_uris)


def test_the_host_of_the_address_vouches_for_a_document() -> None:
    assert host_of(URL) == "app.example"
