"""The whole sign-in, as a browser and a client go through it."""

import base64
import hashlib
import json
import re
from dataclasses import asdict
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from memorybox.accounts.model import DROPBOX_SCOPES
from memorybox.oauth.model import Client, Origin
from tests.fakes.accounts import ALICE
from tests.fakes.oauth import InMemoryClientDocuments
from tests.unit.web.site import (
    BASE,
    CALLBACK,
    Browser,
    Reply,
    Site,
    exchange,
    form_token,
    request,
)

DOCUMENT_URL = "https://app.example/client.json"
DOCUMENT = json.dumps(
    {"client_id": DOCUMENT_URL, "client_name": "App", "redirect_uris": [CALLBACK]}
).encode()


def _client(site: Site, **members: object) -> str:
    return str(site.register(**members)["client_id"])


@pytest.mark.requirement("A8", "C9")
def test_a_person_signs_in_and_the_client_gets_tokens_that_work_at_once() -> None:
    site = Site()
    client_id = _client(site)
    browser = Browser(site)

    consent = browser.authorize(client_id)
    approved = browser.approve(consent)
    returned = browser.return_from_dropbox(approved)

    assert (consent.status, approved.status, returned.status) == (200, 303, 302)
    assert returned.headers["location"].partition("?")[0] == CALLBACK
    code = returned.query()["code"][0]
    assert returned.query() == {"code": [code], "state": ["a b&c"], "iss": [BASE]}
    reply = site.post("/token", exchange(client_id, code))
    assert reply.headers["cache-control"] == "no-store"
    assert site.mcp(str(reply.json()["access_token"])).status == 200
    assert site.signed_in == [ALICE]


@pytest.mark.requirement("A10")
@pytest.mark.parametrize("resource", ["", f"{BASE}/mcp", f"{BASE}/mcp/", BASE])
def test_a_fresh_token_works_whatever_the_client_called_the_resource(resource: str) -> None:
    site = Site()

    tokens = site.sign_in(_client(site), resource=resource)

    assert site.mcp(tokens["access_token"]).status == 200


def test_a_client_with_a_document_signs_in() -> None:
    site = Site(documents=InMemoryClientDocuments({DOCUMENT_URL: DOCUMENT}))

    tokens = site.sign_in(DOCUMENT_URL)

    assert site.mcp(tokens["access_token"]).status == 200
    assert site.documents.fetches == 1


def test_a_configured_client_signs_in() -> None:
    client = Client("pasted", "Pasted", (CALLBACK,), Origin.CONFIGURED)
    site = Site(configured={client.id: client})

    assert site.mcp(site.sign_in("pasted")["access_token"]).status == 200


def test_a_sign_in_that_cannot_be_announced_is_complete_all_the_same() -> None:
    site = Site()
    site.queue.is_on = True

    assert Browser(site).sign_in(_client(site))


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "nobody"},
        {"client_id": ""},
        {"client_id": "https://127.0.0.1/client.json"},
        {"redirect_uri": "https://evil.example/cb"},
        {"redirect_uri": f"{CALLBACK}/"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": ""},
    ],
)
def test_an_unknown_client_or_a_foreign_redirect_sends_the_browser_nowhere(
    changed: dict[str, str],
) -> None:
    site = Site()

    reply = Browser(site).get("/authorize", request(_client(site), **changed))

    assert reply.status == 400
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "location" not in reply.headers
    assert site.transactions.records == {}


@pytest.mark.requirement("A5")
@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_two_clients_or_redirects_send_the_browser_nowhere(name: str) -> None:
    site = Site()
    query = "&".join(f"{key}={value}" for key, value in request(_client(site)).items())

    reply = Browser(site).get("/authorize", f"{query}&{name}=x")

    assert (reply.status, "location" in reply.headers) == (400, False)


@pytest.mark.requirement("A5", "A6", "A10", "A11")
@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": ""}, "unsupported_response_type"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "x" * 42}, "invalid_request"),
        ({"code_challenge": "x" * 44}, "invalid_request"),
        ({"code_challenge": "x" * 42 + "="}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge_method": "S512"}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"scope": "memory:admin"}, "invalid_scope"),
    ],
)
def test_a_bad_request_of_a_known_client_goes_back_to_it(
    changed: dict[str, str], error: str
) -> None:
    site = Site()

    reply = Browser(site).authorize(_client(site), **changed)

    assert reply.status == 302
    assert reply.headers["location"].partition("?")[0] == CALLBACK
    assert reply.query() == {"error": [error], "state": ["a b&c"], "iss": [BASE]}
    assert site.transactions.records == {}


def test_a_parameter_that_comes_twice_goes_back_to_the_client() -> None:
    site = Site()
    query = "&".join(f"{key}={value}" for key, value in request(_client(site)).items())

    reply = Browser(site).get("/authorize", f"{query}&scope=memory:read&scope=memory:read")

    assert reply.query()["error"] == ["invalid_request"]


@pytest.mark.parametrize("scope", ["", " offline_access", "memory:read memory:write", " "])
def test_prompt_and_offline_access_are_no_trouble(scope: str) -> None:
    site = Site()

    consent = Browser(site).authorize(_client(site), scope=scope, prompt="consent", nonce="x")

    assert consent.status == 200


@pytest.mark.requirement("A11")
def test_the_issuer_is_named_once_even_if_the_redirect_names_one() -> None:
    site = Site()
    uri = "https://app.example/cb?iss=https://evil.example&state=z&keep=1"
    client_id = _client(site, redirect_uris=[uri])
    browser = Browser(site)

    refused = browser.authorize(client_id, redirect_uri=uri, scope="x")
    approved = browser.approve(browser.authorize(client_id, redirect_uri=uri))
    returned = browser.return_from_dropbox(approved)

    for reply in (refused, returned):
        assert (reply.query()["iss"], reply.query()["state"]) == ([BASE], ["a b&c"])
        assert reply.query()["keep"] == ["1"]


def test_an_answer_to_a_request_without_a_state_has_none() -> None:
    site = Site()

    reply = Browser(site).authorize(_client(site), state="", scope="x")

    assert reply.query() == {"error": ["invalid_scope"], "iss": [BASE]}


@pytest.mark.requirement("A3")
@pytest.mark.parametrize("uri", ["http://127.0.0.1:51004/callback", "http://127.0.0.1/callback"])
def test_a_loopback_client_may_come_back_to_any_port(uri: str) -> None:
    site = Site()
    client_id = _client(site, redirect_uris=["http://127.0.0.1/callback"])
    browser = Browser(site)

    approved = browser.approve(browser.authorize(client_id, redirect_uri=uri))

    assert browser.return_from_dropbox(approved).headers["location"].startswith(f"{uri}?code=")


@pytest.mark.requirement("C1")
def test_the_consent_page_is_shown_every_time() -> None:
    site = Site()
    client_id = _client(site)
    browser = Browser(site)
    browser.sign_in(client_id)

    again = browser.authorize(client_id)

    assert again.status == 200
    assert form_token(again)


def _shown(reply: Reply) -> str:
    text = re.sub(r"<style>.*</style>|<[^>]*>", " ", reply.body, flags=re.DOTALL)
    return " ".join(unescape(text).split())


@pytest.mark.requirement("C2")
def test_the_consent_page_says_who_asks_and_where_the_answer_goes() -> None:
    site = Site()

    shown = _shown(Browser(site).authorize(_client(site)))

    assert "Connect Claude to your memory?" in shown
    assert "unverified: the program chose this name itself" in shown
    assert "The answer goes to claude.ai" in shown
    assert "find, read and write your notes" in shown
    assert "Dropbox asks you to let Memory Box use its own folder" in shown
    assert "on this device" not in shown


@pytest.mark.requirement("C2")
def test_the_consent_page_names_the_host_that_vouches_for_a_document() -> None:
    site = Site(documents=InMemoryClientDocuments({DOCUMENT_URL: DOCUMENT}))

    shown = _shown(Browser(site).authorize(DOCUMENT_URL))

    assert "described by app.example" in shown
    assert "unverified" not in shown


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("uri", "destination"),
    [
        ("http://127.0.0.1/callback", "127.0.0.1"),
        ("https://127.0.0.1/callback", "127.0.0.1"),
        ("cursor://anysphere.cursor-mcp/cb", "cursor://anysphere.cursor-mcp"),
    ],
)
def test_the_consent_page_warns_of_a_program_on_the_device(uri: str, destination: str) -> None:
    site = Site()
    client_id = _client(site, redirect_uris=[uri])

    shown = _shown(Browser(site).authorize(client_id, redirect_uri=uri))

    assert f"The answer goes to {destination}" in shown
    assert "a program on this device" in shown


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ('"><img src=x>', "&quot;&gt;&lt;img src=x&gt;"),
        ("$token ${token}", "$token ${token}"),
        ("evil\u202egnp", "evilgnp"),
        ("x" * 10_000, "x" * 64),
    ],
)
def test_a_client_cannot_write_on_the_consent_page(name: str, shown: str) -> None:
    site = Site()
    client_id = _client(site, client_name=name[:7000])

    consent = Browser(site).authorize(client_id)

    assert f"<h1>Connect {shown} to your memory?</h1>" in consent.body
    assert "<script" not in consent.body
    assert "<img" not in consent.body


@pytest.mark.requirement("R6")
def test_the_logo_of_a_client_is_not_shown() -> None:
    site = Site()

    consent = Browser(site).authorize(_client(site, logo_uri="https://evil.example/x.png"))

    assert "evil.example" not in consent.body


@pytest.mark.requirement("C7")
def test_a_page_may_load_and_run_nothing_and_its_form_may_lead_anywhere() -> None:
    site = Site()
    consent = Browser(site).authorize(_client(site))

    style = re.search(r"<style>(.*)</style>", consent.body, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    sent = dict(consent.headers)
    del sent["content-length"]
    assert sent == {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": (
            f"default-src 'none'; style-src 'sha256-{digest}'; img-src 'self'; "
            "base-uri 'none'; frame-ancestors 'none'"
        ),
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
        "strict-transport-security": "max-age=63072000",
        "cross-origin-opener-policy": "same-origin",
    }
    assert "<script" not in consent.body


@pytest.mark.requirement("C8")
def test_read_only_is_a_choice_and_holds_for_the_token() -> None:
    site = Site()
    client_id = _client(site)
    code = Browser(site).sign_in(client_id, access="read")

    tokens = site.post("/token", exchange(client_id, code)).json()

    assert tokens["scope"] == "memory:read"
    token = str(tokens["access_token"])
    assert '"name":"write"' not in site.mcp(token).body
    assert _called(site, token, "read").status == 200
    assert _called(site, token, "write").status == 403


@pytest.mark.requirement("C8")
def test_a_client_that_asks_to_read_gets_no_more() -> None:
    site = Site()
    client_id = _client(site)
    browser = Browser(site)

    consent = browser.authorize(client_id, scope="memory:read")
    returned = browser.return_from_dropbox(browser.approve(consent, access="write"))

    assert "change nothing" in _shown(consent)
    code = returned.query()["code"][0]
    assert site.post("/token", exchange(client_id, code)).json()["scope"] == "memory:read"


def _called(site: Site, token: str, tool: str) -> Reply:
    params = {"name": tool, "arguments": {}}
    return site.mcp(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def test_a_person_who_declines_sends_the_client_away() -> None:
    site = Site()
    browser = Browser(site)
    consent = browser.authorize(_client(site))

    reply = browser.submit({"token": form_token(consent), "decision": "deny"})

    assert reply.status == 303
    assert reply.query() == {"error": ["access_denied"], "state": ["a b&c"], "iss": [BASE]}
    assert browser.approve(consent).status == 403


@pytest.mark.requirement("C3")
def test_cookies_are_few_and_bound_to_our_host() -> None:
    site = Site()
    browser = Browser(site)

    consent = browser.authorize(_client(site))
    approved = browser.approve(consent)

    assert [
        re.sub("=.{43};", "=*;", cookie) for cookie in (*consent.cookies, *approved.cookies)
    ] == [
        "__Host-memorybox-form=*; HttpOnly; Max-Age=600; Path=/; SameSite=lax; Secure",
        "__Host-memorybox-approval=*; HttpOnly; Max-Age=600; Path=/; SameSite=lax; Secure",
    ]


def test_over_plain_http_cookies_go_without_prefix() -> None:
    site = Site(base="http://localhost:8080")
    client_id = _client(site)

    consent = Browser(site).authorize(client_id, resource="")

    assert [re.sub("=.{43};", "=*;", cookie) for cookie in consent.cookies] == [
        "memorybox-form=*; HttpOnly; Max-Age=600; Path=/; SameSite=lax"
    ]


@pytest.mark.requirement("C3")
def test_two_tabs_do_not_disturb_each_other() -> None:
    site = Site()
    client_id = _client(site)
    browser = Browser(site)
    one, two = browser.authorize(client_id), browser.authorize(client_id)

    approved_one, approved_two = browser.approve(one), browser.approve(two)

    for approved in (approved_one, approved_two):
        assert "code" in browser.return_from_dropbox(approved).query()


@pytest.mark.requirement("C3")
def test_a_form_is_good_once() -> None:
    site = Site()
    browser = Browser(site)
    consent = browser.authorize(_client(site))

    assert browser.approve(consent).status == 303
    assert browser.approve(consent).status == 403


def test_a_form_is_good_for_ten_minutes() -> None:
    site = Site()
    browser = Browser(site)
    consent = browser.authorize(_client(site))
    site.clock.sleep(600)

    assert browser.approve(consent).status == 403


@pytest.mark.requirement("C3")
def test_a_form_from_another_browser_or_without_its_cookie_is_refused_and_not_used_up() -> None:
    site = Site()
    client_id = _client(site)
    browser, attacker = Browser(site), Browser(site)
    consent, other = browser.authorize(client_id), attacker.authorize(client_id)

    assert Browser(site).approve(consent).status == 403
    assert attacker.approve(consent).status == 403
    assert browser.submit({"token": form_token(other), "decision": "approve"}).status == 403
    assert browser.submit({"token": "x" * 43, "decision": "approve"}).status == 403
    assert browser.submit({"decision": "approve"}).status == 403

    assert browser.approve(consent).status == 303


@pytest.mark.requirement("A2", "C3")
@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_form_sent_from_another_site_is_refused(origin: str) -> None:
    site = Site()
    browser = Browser(site)
    consent = browser.authorize(_client(site))
    form = {"token": form_token(consent), "decision": "approve"}

    assert browser.submit(form, origin=origin).status == 403
    assert browser.submit(form).status == 303


@pytest.mark.parametrize("content_type", ["multipart/form-data; boundary=x", "text/plain", ""])
def test_a_form_in_another_format_is_refused(content_type: str) -> None:
    site = Site()
    browser = Browser(site)
    consent = browser.authorize(_client(site))

    reply = browser.submit({"token": form_token(consent)}, **{"content-type": content_type})

    assert reply.status == 400


@pytest.mark.requirement("C4")
def test_the_state_for_dropbox_does_not_exist_before_consent() -> None:
    site = Site()
    browser = Browser(site)
    consent = browser.authorize(_client(site))

    # Even a browser that copies its own cookie does not get past the person's consent.
    browser.cookies["__Host-memorybox-approval"] = browser.cookies["__Host-memorybox-form"]

    reply = browser.get("/dropbox/callback", {"state": form_token(consent), "code": "x"})

    assert reply.status == 403


@pytest.mark.requirement("C4")
def test_consent_of_one_browser_cannot_be_completed_in_another() -> None:
    site = Site()
    client_id = _client(site)
    attacker, victim = Browser(site), Browser(site)
    victim.approve(victim.authorize(client_id))
    approved = attacker.approve(attacker.authorize(client_id))

    reply = victim.return_from_dropbox(approved)

    assert (reply.status, "location" in reply.headers) == (403, False)
    assert Browser(site).return_from_dropbox(approved).status == 403
    assert (site.codes.records, site.accounts.get(ALICE)) == ({}, None)


@pytest.mark.requirement("C4")
def test_a_return_from_dropbox_is_good_once_and_for_ten_minutes() -> None:
    site = Site()
    client_id = _client(site)
    browser = Browser(site)
    approved = browser.approve(browser.authorize(client_id))
    late = browser.approve(browser.authorize(client_id))

    assert browser.return_from_dropbox(approved).status == 302
    assert browser.return_from_dropbox(approved).status == 403
    site.clock.sleep(600)
    assert browser.return_from_dropbox(late).status == 403


@pytest.mark.requirement("C5")
def test_dropbox_is_asked_with_a_verifier_of_its_own_that_nothing_at_rest_gives_away() -> None:
    site = Site()
    browser = Browser(site)

    approved = browser.approve(browser.authorize(_client(site)))

    sent = parse_qs(urlsplit(approved.headers["location"]).query)
    stored = repr([asdict(record) for record in site.transactions.records.values()])
    assert len(sent["code_challenge"][0]) == 43
    for secret in (sent["state"][0], sent["code_challenge"][0], *browser.cookies.values()):
        assert secret not in stored


def test_a_person_who_declines_at_dropbox_sends_the_client_away() -> None:
    site = Site()
    browser = Browser(site)
    approved = browser.approve(browser.authorize(_client(site)))

    query = {"state": approved.query()["state"][0], "error": "access_denied"}
    reply = browser.get("/dropbox/callback", query)

    assert reply.status == 302
    assert reply.query() == {"error": ["access_denied"], "state": ["a b&c"], "iss": [BASE]}
    assert site.codes.records == {}


def test_a_code_that_dropbox_does_not_take_is_the_end_of_the_sign_in() -> None:
    site = Site()
    browser = Browser(site)
    approved = browser.approve(browser.authorize(_client(site)))

    query = {"state": approved.query()["state"][0], "code": "forged"}
    reply = browser.get("/dropbox/callback", query)

    assert reply.query()["error"] == ["access_denied"]
    assert site.codes.records == {}


@pytest.mark.requirement("A14")
def test_trouble_at_dropbox_is_called_trouble() -> None:
    site = Site()
    browser = Browser(site)
    approved = browser.approve(browser.authorize(_client(site)))
    site.dropbox.is_down = True

    assert browser.return_from_dropbox(approved).query()["error"] == ["temporarily_unavailable"]


@pytest.mark.requirement("C5")
def test_a_dropbox_that_allows_too_little_is_a_clear_page_and_no_grant() -> None:
    site = Site()
    site.dropbox.scopes = DROPBOX_SCOPES - {"files.content.write"}
    browser = Browser(site)
    approved = browser.approve(browser.authorize(_client(site)))

    reply = browser.return_from_dropbox(approved)

    assert reply.status == 400
    assert "missing: files.content.write" in _shown(reply)
    assert (site.codes.records, site.accounts.get(ALICE)) == ({}, None)


def test_trouble_of_a_store_is_a_page_that_says_to_wait() -> None:
    site = Site()
    client_id = _client(site)
    site.outage.is_on = True

    reply = Browser(site).authorize(client_id)

    assert (reply.status, reply.headers["retry-after"]) == (503, "5")
    assert "Try again soon" in _shown(reply)


@pytest.mark.parametrize("query", ["state=%ff", "&".join(f"a{n}=1" for n in range(65))])
def test_a_query_that_cannot_be_read_is_no_crash(query: str) -> None:
    browser = Browser(Site())

    assert browser.get("/authorize", query).status == 400
    assert browser.get("/dropbox/callback", query).status == 400


@pytest.mark.requirement("C6")
def test_nothing_that_dropbox_gave_reaches_the_client_or_the_browser() -> None:
    site = Site()
    client_id = _client(site)
    browser = Browser(site)
    approved = browser.approve(browser.authorize(client_id))
    returned = browser.return_from_dropbox(approved)
    tokens = site.post("/token", exchange(client_id, returned.query()["code"][0]))

    given = repr([approved, returned, tokens])

    assert site.dropbox.made
    assert [secret for secret in site.dropbox.made if secret in given] == []


@pytest.mark.requirement("C10")
def test_two_installations_of_one_client_stay_signed_in() -> None:
    site = Site(documents=InMemoryClientDocuments({DOCUMENT_URL: DOCUMENT}))

    first, second = site.sign_in(DOCUMENT_URL), site.sign_in(DOCUMENT_URL)

    assert site.mcp(first["access_token"]).status == 200
    assert site.mcp(second["access_token"]).status == 200


@pytest.mark.requirement("C8")
@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("", ()),
        ("garden", ("garden",)),
        (" garden ,, Cafe\u0301,garden", ("garden", "Caf\u00e9")),
        ("garden, all", ()),
    ],
)
def test_a_person_may_name_the_workspaces_that_a_client_may_use(
    written: str, kept: tuple[str, ...]
) -> None:
    site = Site()
    client_id = _client(site)
    browser = Browser(site)
    consent = browser.authorize(client_id)
    form = {"token": form_token(consent), "decision": "approve", "workspaces": written}
    code = browser.return_from_dropbox(browser.submit(form)).query()["code"][0]
    site.post("/token", exchange(client_id, code))

    [grant] = site.grants.records.values()

    assert grant.workspaces == kept


@pytest.mark.requirement("C8")
@pytest.mark.parametrize(
    ("written", "why"),
    [
        (",".join(f"w{number}" for number in range(21)), "Go back and name fewer."),
        (" , ,", "Go back and name one, or leave the field empty for all."),
        ("garden/beds", "A workspace is a folder at the top, without a slash."),
        ("garden, ..", "A workspace is a folder at the top, without a slash."),
    ],
)
def test_what_names_no_workspace_is_refused_and_the_form_stays_good(written: str, why: str) -> None:
    site = Site()
    browser = Browser(site)
    consent = browser.authorize(_client(site))
    form = {"token": form_token(consent), "decision": "approve"}

    refused = browser.submit(form | {"workspaces": written})

    assert refused.status == 400
    assert why in _shown(refused)
    assert browser.submit(form).status == 303
