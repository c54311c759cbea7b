"""How the pages look and read: on a phone and a large screen, in the light and in the dark."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from local.product import Product
from memorybox.toolsets.catalogue import MEMORY
from tests.e2e.tokens import sign_in
from tests.pages.loopback import Client, Listener
from tests.pages.steps import sign_in_to_account, words

_AXE = Path(__file__).parents[1] / "e2e/node_modules/axe-core/axe.min.js"
_MOST_BYTES = 30_000

Opening = Callable[[Page, str], None]


def _at(path: str) -> Opening:
    def open_page(page: Page, base_url: str) -> None:
        page.goto(f"{base_url}{path}")

    return open_page


def _consent(page: Page, base_url: str) -> None:
    page.goto(Client(base_url, "http://127.0.0.1:33418/callback").authorize_url)


def _account(page: Page, base_url: str) -> None:
    """With a connected client, which has written something."""
    note = {"workspace": "garden & more", "path": "50 % <b>.md", "text": "- Tomatoes\n"}
    token = sign_in(base_url)["access_token"]
    Client(base_url, "http://127.0.0.1:33418/callback").call(token, "append", **note)
    sign_in_to_account(page, base_url)


def _deletion(page: Page, base_url: str) -> None:
    sign_in_to_account(page, base_url)
    page.get_by_role("link", name="Delete my data").click()


def _receipt(page: Page, base_url: str) -> None:
    _deletion(page, base_url)
    page.get_by_role("button", name="Delete my data").click()
    page.get_by_text("Nothing that names you is kept any more.").wait_for()


PAGES: dict[str, Opening] = {
    "home": _at("/"),
    "tools": _at("/tools"),
    "privacy": _at("/privacy"),
    "security": _at("/security"),
    "door": _at("/account"),
    "consent": _consent,
    "account": _account,
    "deletion": _deletion,
    "unknown client": _at("/authorize?client_id=x&redirect_uri=https://app.example/cb"),
    "expired": _at("/dropbox/callback?state=x&code=y"),
    "nothing here": _at("/nothing"),
}
ONCE: dict[str, Opening] = {"receipt": _receipt}
"""Pages that are the answer to a form, and are not shown again."""


@pytest.fixture(
    scope="module",
    params=[(390, "light"), (390, "dark"), (1_280, "light"), (1_280, "dark")],
    ids=str,
)
def screen(request: pytest.FixtureRequest, chromium: Browser) -> Any:
    """A page in a browser that lets the test run scripts; ours run none."""
    width, scheme = request.param
    with chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
    ) as context:
        yield context.new_page()


@pytest.mark.parametrize("name", [*PAGES, *ONCE])
def test_a_page_is_accessible_and_fits_its_screen(
    product: Product, screen: Page, name: str
) -> None:
    (PAGES | ONCE)[name](screen, product.url)
    screen.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    screen.add_script_tag(path=_AXE)

    found = screen.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.help]))")

    assert found == []
    assert screen.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_one_small_request_without_a_complaint_of_the_browser(
    product: Product, page: Page, name: str
) -> None:
    loaded: list[str] = []
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    PAGES[name](page, product.url)

    page.on("request", lambda request: loaded.append(request.resource_type))
    page.reload()

    assert loaded == ["document"]
    assert [line for line in said if "Failed to load resource" not in line] == []
    assert len(page.content().encode()) < _MOST_BYTES


def test_the_receipt_of_a_deletion_is_one_small_request_too(product: Product, page: Page) -> None:
    _deletion(page, product.url)
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.resource_type))

    page.get_by_role("button", name="Delete my data").click()
    page.get_by_text("Nothing that names you is kept any more.").wait_for()

    assert loaded == ["document"]
    assert len(page.content().encode()) < _MOST_BYTES


def test_the_consent_page_can_be_used_by_keyboard_alone(product: Product, page: Page) -> None:
    _consent(page, product.url)
    stops: dict[str, str] = {}
    while "Cancel" not in stops and len(stops) < 20:
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "e => [e.innerText || e.value || e.name, getComputedStyle(e).outlineStyle]",
            page.evaluate_handle("document.activeElement"),
        )
        stops[name] = outline

    assert list(stops)[-4:] == [
        "write",
        "Only in some workspaces",
        "Continue to Dropbox",
        "Cancel",
    ]
    assert set(stops.values()) == {"solid"}


def test_a_name_cannot_break_out_of_the_consent_page(
    product: Product, page: Page, listener: Listener
) -> None:
    name = "<script>alert(1)</script>\u202e" + "x" * 200
    page.goto(Client(product.url, listener.redirect_uri, name).authorize_url)

    assert page.locator("script").count() == 0
    assert "Connect <script>alert(1)</script>xxx" in words(page)
    assert "\u202e" not in words(page)
    assert "unverified: the program chose this name itself" in words(page)


def test_the_tool_page_shows_the_examples_that_the_tools_keep(product: Product, page: Page) -> None:
    page.goto(f"{product.url}/tools")

    for tool in MEMORY.tools:
        shown = page.locator(f"section#{tool.name} pre").all_text_contents()
        told = [part for example in tool.examples for part in (None, *example.result.texts)]
        answered = [text for text, part in zip(shown, told, strict=True) if part]
        asked = [json.loads(text) for text, part in zip(shown, told, strict=True) if part is None]
        assert answered == [part for part in told if part]
        assert asked == [example.arguments for example in tool.examples]
