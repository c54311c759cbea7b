"""Requests on which servers like this one have failed: a redirect lost the body or the token, a
probe was sent the wrong way, a version that nobody knew ended the conversation.
"""

import json
from urllib.parse import urlsplit

import pytest

from tests.unit.web.site import BASE, CALLBACK, HOST, Browser, Reply, Site, request

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def signed_in(site: Site) -> str:
    """An access token that works."""
    return site.sign_in(str(site.register()["client_id"]))["access_token"]


def initialize(version: str) -> dict[str, object]:
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


INITIALIZE = initialize("2025-06-18")


def register(site: Site, **members: object) -> Reply:
    wanted = {"client_name": "Claude", "redirect_uris": [CALLBACK], **members}
    return site.call("POST", "/register", headers=JSON, body=json.dumps(wanted))


def test_h01_a_call_without_a_token_is_shown_where_to_sign_in() -> None:
    reply = Site().call("POST", "/mcp", headers=JSON, body=json.dumps(INITIALIZE))

    assert reply.status == 401
    challenge = reply.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert f'resource_metadata="{BASE}/.well-known/oauth-protected-resource/mcp"' in challenge


@pytest.mark.parametrize(
    "path", [pytest.param("/mcp", id="H02: plain"), pytest.param("/mcp/", id="H03: with a slash")]
)
def test_both_spellings_of_the_address_are_answered_and_not_redirected(path: str) -> None:
    site = Site()
    bearer = {"authorization": f"Bearer {signed_in(site)}"}

    reply = site.call("POST", path, headers={**JSON, **bearer}, body=json.dumps(INITIALIZE))

    assert reply.status == 200
    assert "location" not in reply.headers


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_h04_what_is_no_post_is_not_redirected_either(method: str) -> None:
    reply = Site().call(method, "/mcp")

    assert reply.status == 401
    assert "location" not in reply.headers


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/.well-known/oauth-protected-resource/mcp", id="H05: with the path"),
        pytest.param("/.well-known/oauth-protected-resource", id="H06: at the root"),
    ],
)
def test_the_resource_says_what_it_is_and_who_gives_tokens_for_it(path: str) -> None:
    reply = Site().call("GET", path)

    assert reply.status == 200
    assert reply.json()["resource"] == f"{BASE}/mcp"
    assert reply.json()["authorization_servers"] == [BASE]


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration",
    ],
)
def test_h07_the_server_of_tokens_is_described_wherever_clients_look(path: str) -> None:
    reply = Site().call("GET", path)

    assert reply.status == 200
    described = reply.json()
    assert described["issuer"] == BASE
    assert described["code_challenge_methods_supported"] == ["S256"]
    assert described["grant_types_supported"] == ["authorization_code", "refresh_token"]


def test_h08_a_probe_for_what_is_not_served_is_404() -> None:
    assert Site().call("GET", "/.well-known/nothing-here").status == 404


@pytest.mark.parametrize(
    ("origin", "status"), [("https://inspector.example", 403), (BASE, 204), ("null", 403)]
)
def test_h11_a_preflight_is_answered_before_the_token_is_looked_at(
    origin: str, status: int
) -> None:
    reply = Site().call(
        "OPTIONS",
        "/mcp",
        headers={
            "origin": origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
        },
    )

    assert reply.status == status
    if status == 204:
        allowed = reply.headers["access-control-allow-headers"].lower()
        assert {"authorization", "content-type", "mcp-protocol-version"} <= {
            name.strip() for name in allowed.split(",")
        }
        assert "POST" in reply.headers["access-control-allow-methods"]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        pytest.param("2024-11-05", "2024-11-05", id="H13a"),
        pytest.param("2025-03-26", "2025-03-26", id="H13b"),
        pytest.param("2025-06-18", "2025-06-18", id="H13c"),
        pytest.param("2025-11-25", "2025-11-25", id="H13d"),
        pytest.param("2026-07-28", "2025-11-25", id="H13e: it has no initialize"),
        pytest.param("2099-01-01", "2025-11-25", id="H13f: nobody knows it yet"),
    ],
)
def test_a_client_is_met_at_its_version_or_at_the_newest_that_is_served(
    asked: str, answered: str
) -> None:
    site = Site()

    reply = site.mcp(signed_in(site), initialize(asked))

    assert reply.status == 200
    result = reply.json()["result"]
    assert isinstance(result, dict)
    assert result["protocolVersion"] == answered


def test_h14_an_unknown_version_in_the_header_gets_an_error_from_which_a_client_can_go_on() -> None:
    site = Site()

    reply = site.mcp(
        signed_in(site), initialize("2099-01-01"), **{"mcp-protocol-version": "2099-01-01"}
    )

    assert reply.status == 400
    error = reply.json()["error"]
    assert isinstance(error, dict)
    assert error["code"] == -32602


def test_h15_the_id_of_a_session_that_nobody_knows_is_ignored() -> None:
    site = Site()

    reply = site.mcp(
        signed_in(site),
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        **{"mcp-session-id": "deadbeef"},
    )

    assert reply.status == 200
    assert "mcp-session-id" not in reply.headers


def test_h16_a_notification_is_accepted_without_a_body() -> None:
    site = Site()

    reply = site.mcp(signed_in(site), {"jsonrpc": "2.0", "method": "notifications/initialized"})

    assert (reply.status, reply.body) == (202, "")


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"token_endpoint_auth_method": "none"}, id="H21a: public"),
        pytest.param(
            {"token_endpoint_auth_method": "client_secret_post"}, id="H21b: with a secret"
        ),
        pytest.param({}, id="H21c: no word about it"),
        pytest.param(
            {
                "token_endpoint_auth_method": "none",
                "scope": "mcp",
                "application_type": "native",
                "resource": f"{BASE}/mcp",
                "software_id": "x",
                "logo_uri": "https://claude.ai/x.png",
                "unknown_member": {"a": 1},
            },
            id="H21d: members that nobody knows",
        ),
        pytest.param(
            {"redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"]},
            id="H21e: on this machine",
        ),
        pytest.param(
            {"redirect_uris": ["https://chatgpt.com/connector_platform_oauth_redirect"]},
            id="H21f: another vendor",
        ),
    ],
)
def test_a_client_registers_itself(members: dict[str, object]) -> None:
    assert register(Site(), **members).status == 201


@pytest.mark.parametrize(
    "redirect_uris",
    [
        pytest.param(["javascript:alert(1)"], id="H21g: a script"),
        pytest.param(["http://evil.example/cb"], id="H21h: in the clear"),
        pytest.param([], id="H21i: nowhere"),
    ],
)
def test_a_client_that_wants_to_be_answered_elsewhere_is_refused(redirect_uris: list[str]) -> None:
    assert register(Site(), redirect_uris=redirect_uris).status == 400


@pytest.mark.parametrize("resource", ["", f"{BASE}/mcp", f"{BASE}/mcp/"])
def test_h24_a_token_works_as_soon_as_it_is_issued(resource: str) -> None:
    site = Site()
    client_id = str(site.register()["client_id"])

    token = site.sign_in(client_id, resource=resource)["access_token"]

    assert site.mcp(token, INITIALIZE).status == 200
    assert site.mcp(f"{token}x", INITIALIZE).status == 401


def test_h26_a_consent_given_in_one_browser_is_of_no_use_in_another() -> None:
    site = Site()
    client_id = str(site.register(redirect_uris=["https://evil.example/cb"])["client_id"])
    attacker, victim = Browser(site), Browser(site)
    approved = attacker.approve(
        attacker.authorize(client_id, redirect_uri="https://evil.example/cb")
    )

    reply = victim.return_from_dropbox(approved)

    assert reply.status == 403
    assert "location" not in reply.headers


def test_h27_a_client_may_register_twice_within_a_second() -> None:
    site = Site()

    assert [register(site).status for _ in range(2)] == [201, 201]


@pytest.mark.parametrize("host", [HOST, "127.0.0.1:8000"])
def test_h28_no_redirect_names_an_inner_host(host: str) -> None:
    site = Site()
    client_id = str(site.register()["client_id"])

    reply = site.call("GET", "/authorize", query=request(client_id), headers={"host": host})

    assert reply.status == (200 if host == HOST else 421)
    assert "127.0.0.1" not in reply.body
    assert urlsplit(reply.headers.get("location", "")).netloc == ""


def test_e22_one_warm_instance_answers_again_and_again() -> None:
    site = Site()
    token = signed_in(site)

    assert [site.mcp(token, INITIALIZE).status for _ in range(3)] == [200, 200, 200]
