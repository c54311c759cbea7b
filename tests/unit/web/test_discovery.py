"""How a client finds the sign-in, and how far a hostile Host or Origin gets."""

import pytest

from tests.unit.web.site import BASE, Site

RESOURCE = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
]
SERVER = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/openid-configuration",
]


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("path", RESOURCE)
def test_the_resource_document_is_at_the_root_and_at_the_path(path: str) -> None:
    site = Site()

    reply = site.call("GET", path, headers={"origin": "https://anywhere.example"})

    assert (reply.status, reply.json()) == (200, site.services.issuer.resource_document())
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "max-age=3600"
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in reply.headers


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("path", SERVER)
def test_the_server_document_is_where_clients_look_for_it(path: str) -> None:
    site = Site()

    reply = site.call("GET", path)

    assert (reply.status, reply.json()) == (200, site.services.issuer.server_document())


@pytest.mark.parametrize(
    "path", ["/.well-known/nothing-here", "/.well-known/", "/.well-known/jwks.json", "/nothing"]
)
def test_what_is_not_served_is_404_in_json(path: str) -> None:
    reply = Site().call("GET", path)

    assert (reply.status, reply.json()) == (404, {"error": "Not Found"})


@pytest.mark.requirement("A2")
@pytest.mark.parametrize("path", ["/register", "/token", "/revoke", *RESOURCE, *SERVER])
def test_a_browser_client_of_any_origin_may_look_and_ask(path: str) -> None:
    reply = Site().call("OPTIONS", path, headers={"origin": "https://anywhere.example"})

    assert reply.status == 204
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "authorization" in reply.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in reply.headers


@pytest.mark.requirement("A2")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "memory.example.evil.example",
        "evil.memory.example",
        "memory.example@evil.example",
        "@memory.example",
        "memory.example/mcp",
        "memory.example?",
        "memory.example#",
        "memory.example evil",
        "memory.example,evil.example",
        "memory.example.",
        "localhost",
        "127.0.0.1:8000",
        "",
        " ",
    ],
)
@pytest.mark.parametrize("path", [RESOURCE[0], "/mcp", "/authorize", "/"])
def test_a_request_for_another_host_is_421(host: str, path: str) -> None:
    reply = Site().call("GET", path, headers={"host": host})

    assert (reply.status, reply.body) == (421, "Invalid Host header")


@pytest.mark.requirement("A2")
@pytest.mark.parametrize("host", ["memory.example", "MEMORY.example", "memory.example:443"])
def test_our_own_host_is_served_and_no_address_is_made_from_it(host: str) -> None:
    reply = Site().call(
        "GET",
        RESOURCE[0],
        headers={"host": host, "x-forwarded-host": "evil.example", "x-forwarded-proto": "http"},
    )

    assert reply.json() == Site().services.issuer.resource_document()


@pytest.mark.requirement("C7")
def test_every_answer_carries_the_headers_that_browsers_heed() -> None:
    for path in ("/", "/mcp", "/nothing", RESOURCE[0]):
        headers = Site().call("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["strict-transport-security"] == "max-age=63072000"


@pytest.mark.requirement("A2")
def test_the_documents_name_the_configured_address_and_no_other() -> None:
    reply = Site().call("GET", SERVER[0])
    urls = [str(value) for value in reply.json().values() if "://" in str(value)]
    assert all(url.startswith(BASE) for url in urls)
