"""One event loop for the whole run: Mangum asks for the current one, at import and at each call.

Without it, that is a DeprecationWarning, an unclosed loop, or a RuntimeError after an
`asyncio.run` of an earlier test, depending on the Python version.

Hypothesis draws the same examples each time, so that no change fails for a fault that it did not
make; `--hypothesis-profile default` draws new ones.
"""

import asyncio

import pytest
from hypothesis import settings

_LOOP = asyncio.new_event_loop()


def pytest_configure() -> None:
    asyncio.set_event_loop(_LOOP)
    settings.load_profile("ci")


def pytest_unconfigure() -> None:
    _LOOP.close()


@pytest.fixture(autouse=True)
def current_loop() -> None:
    asyncio.set_event_loop(_LOOP)
