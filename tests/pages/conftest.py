"""The product on this machine, and a real browser to see it with."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from local.product import Options, Product
from tests.pages.loopback import Listener

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser nothing here can be seen: that is said, and not passed over."""
    if CHROMIUM is None:
        skip = pytest.mark.skip(reason="no chromium: apt-get install chromium, or set CHROMIUM")
        for item in items:
            if item.path.parent == Path(__file__).parent:
                item.add_marker(skip)


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    place = tmp_path_factory.mktemp("product")
    options = Options(place / "box", place / "state", model="wordllama")
    with Product(options, say=lambda _: None) as product:
        yield product


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser; for a module only, since Playwright keeps an event loop running meanwhile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def person(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser without cookies."""
    with chromium.new_context(viewport={"width": 390, "height": 800}) as context:
        context.set_default_timeout(60_000)
        yield context


@pytest.fixture
def page(person: BrowserContext) -> Page:
    return person.new_page()


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A client that waits for its answer on loopback."""
    with Listener() as listener:
        yield listener
