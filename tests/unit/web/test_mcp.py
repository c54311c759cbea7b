"""POST /mcp: the checks in their order, and the answers to those who may not call."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from memorybox.errors import SignInEnded
from memorybox.mcp.toolset import ToolResult
from memorybox.oauth.model import Grant
from memorybox.oauth.opaque import challenge_of
from tests.fakes.accounts import ALICE
from tests.unit.web.site import BASE, VERIFIER, Site

METADATA = f"{BASE}/.well-known/oauth-protected-resource/mcp"
POINTER = f'Bearer resource_metadata="{METADATA}", scope="memory:read memory:write"'
ALLOWED = {"origin": BASE}


def _signed_in() -> tuple[Site, str]:
    site = Site()
    return site, site.sign_in(str(site.register()["client_id"]))["access_token"]


@pytest.mark.requirement("M1", "A13")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_both_spellings_answer_a_post_and_redirect_nobody(path: str) -> None:
    site, token = _signed_in()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    reply = site.call("POST", path, headers=headers, body=body)

    assert (reply.status, reply.json()) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert "location" not in reply.headers
    assert (reply.headers["content-type"], reply.headers["cache-control"]) == (
        "application/json",
        "no-store",
    )


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("method", ["POST", "GET", "HEAD", "DELETE", "PUT"])
def test_a_call_without_a_token_is_shown_the_way_to_the_sign_in(method: str) -> None:
    reply = Site().call(method, "/mcp")

    assert reply.status == 401
    assert reply.headers["www-authenticate"] == POINTER
    assert reply.json() == {
        "error": "unauthorized",
        "resource_metadata": METADATA,
        "scope": "memory:read memory:write",
    }


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("token", ["x", "mem_at_" + "0" * 24 + "." + "A" * 43, ""])
def test_a_bad_token_is_401_and_called_invalid(token: str) -> None:
    reply = Site().mcp(token)

    assert reply.status == 401
    assert reply.headers["www-authenticate"] == f'{POINTER}, error="invalid_token"'
    assert reply.json()["error"] == "invalid_token"


def test_an_expired_token_is_401() -> None:
    site, token = _signed_in()
    site.clock.sleep(8 * 3600)

    assert site.mcp(token).status == 401


@pytest.mark.requirement("M1")
def test_a_token_in_the_query_or_in_a_cookie_is_not_read() -> None:
    site, token = _signed_in()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    json_type = {"content-type": "application/json"}

    for query, cookies in (
        (f"access_token={token}", []),
        (f"token={token}", []),
        ("", [f"access_token={token}"]),
        ("", [f"authorization=Bearer {token}"]),
    ):
        reply = site.call(
            "POST", "/mcp", query=query, cookies=cookies, headers=json_type, body=body
        )
        assert reply.status == 401


@pytest.mark.requirement("M12")
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH"])
def test_with_a_token_every_method_but_post_is_405(method: str) -> None:
    site, token = _signed_in()

    reply = site.call(method, "/mcp", headers={"authorization": f"Bearer {token}"})

    assert (reply.status, reply.headers["allow"], reply.body) == (405, "POST, OPTIONS", "")


@pytest.mark.requirement("A2", "M10")
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://memory.example"])
def test_a_foreign_origin_is_refused_before_anything_else(method: str, origin: str) -> None:
    site, token = _signed_in()
    headers = {"origin": origin, "authorization": f"Bearer {token}"}

    reply = site.call(method, "/mcp", headers=headers)

    assert reply.status == 403
    assert reply.body == (
        '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Origin not allowed"}}'
    )
    assert "access-control-allow-origin" not in reply.headers


@pytest.mark.requirement("M10")
def test_a_preflight_is_answered_before_the_token_check() -> None:
    reply = Site().call("OPTIONS", "/mcp", headers=ALLOWED)

    assert (reply.status, reply.body) == (204, "")
    assert reply.headers["access-control-allow-origin"] == BASE
    assert reply.headers["access-control-allow-methods"] == "POST, OPTIONS"
    assert reply.headers["access-control-allow-headers"] == (
        "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, "
        "mcp-session-id, last-event-id"
    )
    assert reply.headers["access-control-expose-headers"] == "WWW-Authenticate, Retry-After"
    assert "access-control-allow-credentials" not in reply.headers


@pytest.mark.requirement("M10")
def test_a_browser_client_of_an_allowed_origin_can_read_the_challenge() -> None:
    reply = Site().call("POST", "/mcp", headers=ALLOWED)

    assert (reply.status, reply.headers["access-control-allow-origin"]) == (401, BASE)
    assert reply.headers["vary"] == "Origin"


@pytest.mark.requirement("M12")
@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("text/plain", 400),
        ("", 400),
        ("application/jsonx", 400),
    ],
)
def test_the_body_must_be_called_json(content_type: str, status: int) -> None:
    site, token = _signed_in()

    assert site.mcp(token, **{"content-type": content_type}).status == status


@pytest.mark.requirement("M6")
def test_a_body_over_4_mib_is_413() -> None:
    site, token = _signed_in()
    frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": ""}})
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    fits = frame.replace('""', '"' + "x" * (4_194_304 - len(frame)) + '"')

    assert site.call("POST", "/mcp", headers=headers, body=fits).status == 200
    reply = site.call("POST", "/mcp", headers=headers, body=f"{fits} ")
    assert reply.status == 413
    assert "4194304" in reply.body


@pytest.mark.requirement("M7", "M12")
@pytest.mark.parametrize(
    "body",
    [
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_anything_but_one_request_is_400(body: object) -> None:
    site, token = _signed_in()

    assert site.mcp(token, body).status == 400


def test_a_notification_is_202_and_empty() -> None:
    site, token = _signed_in()

    reply = site.mcp(token, {"jsonrpc": "2.0", "method": "notifications/initialized"})

    assert (reply.status, reply.body) == (202, "")


@pytest.mark.requirement("M12")
def test_a_stale_session_id_is_ignored_and_never_sent_back() -> None:
    site, token = _signed_in()

    reply = site.mcp(token, **{"mcp-session-id": "deadbeef", "last-event-id": "7"})

    assert reply.status == 200
    assert "mcp-session-id" not in reply.headers


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "*/*", "", "x"])
def test_accept_is_ignored(accept: str) -> None:
    site, token = _signed_in()

    reply = site.mcp(token, accept=accept)

    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")


def _call(tool: str) -> Mapping[str, object]:
    params = {"name": tool, "arguments": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.requirement("C8")
def test_a_tool_beyond_the_scope_is_403_with_the_scopes() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])
    token = site.sign_in(client_id, scope="memory:read")["access_token"]

    reply = site.mcp(token, _call("write"))

    assert reply.status == 403
    assert reply.headers["www-authenticate"] == f'{POINTER}, error="insufficient_scope"'
    assert reply.json() == {
        "error": "insufficient_scope",
        "resource_metadata": METADATA,
        "scope": "memory:read memory:write",
    }


@pytest.mark.requirement("D6")
def test_when_dropbox_ends_the_access_the_account_is_unlinked_and_every_grant_ends() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])
    first, second = site.sign_in(client_id), site.sign_in(client_id)

    def ended(name: str, arguments: Mapping[str, object]) -> ToolResult:
        site.dropbox.remove_app()
        refused = site.connections.access_token(ALICE)
        site.connections.access_token(ALICE, refused=refused)
        raise AssertionError

    site.call_tool = ended

    reply = site.mcp(first["access_token"], _call("read"))

    assert reply.status == 401
    assert reply.headers["www-authenticate"] == f'{POINTER}, error="invalid_token"'
    account = site.accounts.get(ALICE)
    assert account is not None
    assert not account.is_linked
    assert site.mcp(second["access_token"]).status == 401


@pytest.mark.requirement("D5")
def test_a_call_from_before_a_deletion_does_not_end_the_sign_in_after_it() -> None:
    site, token = _signed_in()
    [before] = site.grants.records.values()
    after: list[Grant] = []

    def overtaken(name: str, arguments: Mapping[str, object]) -> ToolResult:
        site.services.deletion().delete(ALICE)
        code = site.dropbox.agree(challenge_of(VERIFIER))
        account = site.connections.sign_in(code=code, verifier=VERIFIER)
        after.append(replace(before, id="f" * 24, link=account.link))
        site.grants.add(after[0])
        raise SignInEnded("Dropbox does not take the token of before.")

    site.call_tool = overtaken

    assert site.mcp(token, _call("read")).status == 401

    account = site.accounts.get(ALICE)
    assert account is not None
    assert account.is_linked
    assert list(site.grants.records.values()) == after


def test_trouble_of_a_store_is_503_and_not_a_sign_out() -> None:
    site, token = _signed_in()
    site.outage.is_on = True

    reply = site.mcp(token)

    assert (reply.status, reply.headers["retry-after"]) == (503, "5")
    assert "www-authenticate" not in reply.headers


def test_a_crash_outside_a_tool_is_500_and_says_nothing_of_its_cause() -> None:
    site, token = _signed_in()
    site.broken = RuntimeError("secret of mine")

    reply = site.mcp(token)

    assert reply.status == 500
    assert "reference request-" in str(reply.json()["error"])
    assert "secret" not in reply.body
