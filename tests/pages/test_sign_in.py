"""A sign-in in a real browser, from the client through consent and Dropbox and back."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Response

from local.dropbox.faults import Effect, Fault
from local.product import Product
from tests.pages.loopback import Client, Listener
from tests.pages.steps import allow_at_dropbox, approve, words

CURSOR = "cursor://anysphere.cursor-mcp/oauth/callback"


def redirects(page: Page) -> list[Response]:
    """Filled with every redirect that the page follows from now on."""
    seen: list[Response] = []
    page.on("response", lambda r: seen.append(r) if 300 <= r.status < 400 else None)
    return seen


@pytest.mark.requirement("C7")
def test_the_whole_chain_leads_back_to_a_program_on_this_machine(
    product: Product, page: Page, listener: Listener
) -> None:
    client = Client(product.url, listener.redirect_uri)
    followed = redirects(page)

    page.goto(client.authorize_url)
    approve(page)
    allow_at_dropbox(page)
    page.wait_for_url(f"{listener.redirect_uri}**")

    [answer] = listener.answers
    assert (answer["state"], answer["iss"]) == (client.state, product.url)
    granted = client.redeem(answer["code"]).json()
    called = client.call(granted["access_token"], "list", workspace="garden")
    assert '"path":"tomatoes.md"' in called.json()["result"]["content"][0]["text"]
    assert len(followed) <= 6


@pytest.mark.requirement("C7")
def test_the_whole_chain_leads_back_to_a_scheme_of_a_program(product: Product, page: Page) -> None:
    client = Client(product.url, CURSOR, "Cursor")
    followed = redirects(page)
    failures: list[dict[str, Any]] = []
    network: Any = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.loadingFailed", lambda event: failures.append(event))  # noqa: PLW0108 - Playwright marks the function

    page.goto(client.authorize_url)
    assert "cursor://anysphere.cursor-mcp" in words(page)
    approve(page)
    with page.expect_response("**/dropbox/callback**") as returned:
        allow_at_dropbox(page)

    assert returned.value.headers["location"].startswith(f"{CURSOR}?code=")
    assert [f for f in failures if f.get("blockedReason")] == []
    assert len(followed) <= 6


@pytest.mark.requirement("C8")
def test_a_person_may_let_a_client_only_read(
    product: Product, page: Page, listener: Listener
) -> None:
    client = Client(product.url, listener.redirect_uri)
    page.goto(client.authorize_url)
    approve(page, read_only=True)
    allow_at_dropbox(page)
    page.wait_for_url(f"{listener.redirect_uri}**")

    granted = client.redeem(listener.answers[0]["code"]).json()

    assert granted["scope"] == "memory:read"
    file = {"workspace": "garden", "path": "never.md", "text": "no"}
    assert client.call(granted["access_token"], "write", **file).status_code == 403


@pytest.mark.requirement("C3")
def test_two_tabs_sign_in_side_by_side(product: Product, person: BrowserContext) -> None:
    with Listener() as one, Listener() as other:
        clients = [Client(product.url, one.redirect_uri), Client(product.url, other.redirect_uri)]
        tabs = [person.new_page(), person.new_page()]
        for tab, client in zip(tabs, clients, strict=True):
            tab.goto(client.authorize_url)
        for tab in reversed(tabs):
            approve(tab)
        for tab in tabs:
            allow_at_dropbox(tab)
            tab.wait_for_url("**/callback?code=**")

        assert [one.answers[0]["state"], other.answers[0]["state"]] == [c.state for c in clients]


@pytest.mark.requirement("C1")
def test_consent_is_asked_again_from_a_person_who_gave_it_before(
    product: Product, page: Page, listener: Listener
) -> None:
    client = Client(product.url, listener.redirect_uri)
    for _ in range(2):
        page.goto(client.authorize_url)
        assert "Connect Claude Code to your memory?" in words(page)
        approve(page)
        allow_at_dropbox(page)
        page.wait_for_url(f"{listener.redirect_uri}**")

    assert len(listener.answers) == 2


def test_who_goes_back_after_consent_is_told_to_begin_again(
    product: Product, page: Page, listener: Listener
) -> None:
    page.goto(Client(product.url, listener.redirect_uri).authorize_url)
    approve(page)
    page.get_by_role("button", name="Allow as").first.wait_for()
    page.go_back()
    if page.get_by_role("button", name="Continue to Dropbox").count():
        approve(page)

    asked_anew = page.get_by_role("button", name="Allow as")  # as good
    page.get_by_text("connect again").or_(asked_anew).first.wait_for()


def test_a_double_click_is_one_consent(product: Product, page: Page, listener: Listener) -> None:
    client = Client(product.url, listener.redirect_uri)
    page.goto(client.authorize_url)

    page.get_by_role("button", name="Continue to Dropbox").dblclick(no_wait_after=True)
    asked = page.get_by_role("button", name="Allow as")
    page.get_by_text("connect again").or_(asked).first.wait_for()

    if asked.count():
        allow_at_dropbox(page)
        page.wait_for_url(f"{listener.redirect_uri}**")
        assert [answer["state"] for answer in listener.answers] == [client.state]
    else:
        assert "connect again" in words(page)
        assert listener.answers == []


def test_who_cancels_is_sent_back_with_the_reason(
    product: Product, page: Page, listener: Listener
) -> None:
    client = Client(product.url, listener.redirect_uri)
    page.goto(client.authorize_url)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_url(f"{listener.redirect_uri}**")

    assert listener.answers == [
        {"error": "access_denied", "state": client.state, "iss": product.url}
    ]


def test_who_denies_at_dropbox_is_sent_back_with_the_reason(
    product: Product, page: Page, listener: Listener
) -> None:
    client = Client(product.url, listener.redirect_uri)
    page.goto(client.authorize_url)
    approve(page)
    page.get_by_role("button", name="Deny").click()
    page.wait_for_url(f"{listener.redirect_uri}**")

    assert listener.answers[0]["error"] == "access_denied"


@pytest.mark.requirement("C4")
def test_a_state_that_was_used_or_is_of_nobody_leads_nowhere(product: Product, page: Page) -> None:
    page.goto(f"{product.url}/dropbox/callback?state={'x' * 43}&code=abc")

    assert "too old, was used before, or was opened in another browser" in words(page)
    assert "connect again" in words(page)


@pytest.mark.requirement("C3", "C4")
def test_without_cookies_a_consent_is_refused_in_words(
    product: Product, person: BrowserContext, listener: Listener
) -> None:
    page = person.new_page()
    page.goto(Client(product.url, listener.redirect_uri).authorize_url)
    person.clear_cookies()

    approve(page)

    assert "opened in another browser" in words(page)
    assert listener.answers == []


@pytest.mark.requirement("A5")
def test_an_unknown_client_is_told_in_words_and_sent_nowhere(product: Product, page: Page) -> None:
    page.goto(f"{product.url}/authorize?client_id=nobody&redirect_uri=http://127.0.0.1:1/callback")

    assert "is not known. Connect it again." in words(page)
    assert page.url.startswith(product.url)


def test_dropbox_that_does_not_answer_sends_the_client_a_reason_to_wait(
    product: Product, page: Page, listener: Listener
) -> None:
    client = Client(product.url, listener.redirect_uri)
    page.goto(client.authorize_url)
    approve(page)
    product.dropbox.faults.add(Fault("oauth2/token", Effect.ANSWER, times=2))
    try:
        allow_at_dropbox(page)
        page.wait_for_url(f"{listener.redirect_uri}**")
    finally:
        product.dropbox.faults.clear()

    assert listener.answers[0]["error"] == "temporarily_unavailable"


@pytest.mark.requirement("C8")
def test_a_person_may_let_a_client_into_some_workspaces_only(
    product: Product, page: Page, listener: Listener
) -> None:
    client = Client(product.url, listener.redirect_uri)
    page.goto(client.authorize_url)
    page.get_by_text("Only in some workspaces").click()
    page.get_by_label("Their names").fill("garden")
    approve(page)
    allow_at_dropbox(page)
    page.wait_for_url(f"{listener.redirect_uri}**")
    token = client.redeem(listener.answers[0]["code"]).json()["access_token"]

    answers = [
        client.call(token, "list", workspace=workspace).json()["result"]
        for workspace in ("garden", "kitchen", "all")
    ]

    assert [answer["isError"] for answer in answers] == [False, True, True]
    assert answers[1]["content"][0]["text"] == (
        'This connection may use these workspaces only: "garden". Name one of them.'
    )
