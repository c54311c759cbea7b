"""Pictures of the way from the home page to a first tool call, and what each step takes.

`python -m tests.pages.pictures docs/pictures` makes them anew, and prints the table of
`docs/connect.md`.
"""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, Response, sync_playwright

from bench.tables import table
from local.product import Options, Product
from tests.pages.loopback import Client, Listener
from tests.pages.steps import allow_at_dropbox, approve, sign_in_to_account

Row = tuple[str, int, int, str, str]


class Walk:
    """A newcomer's way, step by step."""

    def __init__(self, page: Page, folder: Path) -> None:
        self._page = page
        self._folder = folder
        self._redirects = 0
        self.rows: list[Row] = []
        page.on("response", self._count)

    def step(self, name: str, clicks: int, act: Callable[[], object]) -> None:
        """Do something, and take a picture of the page it leads to."""
        self._redirects = 0
        started = time.perf_counter()
        act()
        taken = 1_000 * (time.perf_counter() - started)
        size = len(self._page.content().encode())
        if self._page.locator("main").count():  # a page of ours
            self._page.screenshot(path=self._folder / f"{name}.png")
        self.rows.append((name, clicks, self._redirects, f"{taken:.0f} ms", f"{size:,} bytes"))

    def _count(self, response: Response) -> None:
        self._redirects += 300 <= response.status < 400


def walk(folder: Path) -> str:
    """Make the pictures; what each step took."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory() as place,
        Product(
            Options(Path(place) / "box", Path(place) / "state", model="wordllama"),
            say=lambda _: None,
        ) as product,
        Listener() as listener,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 390, "height": 780})
        client = Client(product.url, listener.redirect_uri, "Claude Code")
        steps = Walk(page, folder)
        steps.step("home", 0, lambda: page.goto(product.url))
        steps.step("consent", 0, lambda: page.goto(client.authorize_url))
        steps.step("dropbox", 1, lambda: approve(page))
        steps.step("connected", 1, lambda: _come_back(page, listener))
        started = time.perf_counter()
        token = client.redeem(listener.answers[0]["code"]).json()["access_token"]
        called = client.call(token, "search", workspace="all", query="when did the tomatoes fruit")
        assert called.json()["result"]["isError"] is False
        taken = 1_000 * (time.perf_counter() - started)
        client.call(token, "append", workspace="garden", path="beds.md", text="- Beans in row 2.\n")
        steps.rows.append(("first search", 0, 0, f"{taken:.0f} ms", ""))
        steps.step("account", 2, lambda: sign_in_to_account(page, product.url))
        browser.close()
    return table(("step", "clicks", "redirects", "time", "page"), steps.rows)


def _come_back(page: Page, listener: Listener) -> None:
    allow_at_dropbox(page)
    page.wait_for_url(f"{listener.redirect_uri}**")


if __name__ == "__main__":
    print(walk(Path(sys.argv[1])))  # noqa: T201 - what it is for
