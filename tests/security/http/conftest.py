"""Where the suite knocks: at BASE_URL if that is set, else at a product of its own.

That one logs at DEBUG, libraries included, so that what they would let slip is seen. With BASE_URL,
TOKEN is an access token for those tests that need no more of a person than that.
"""

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from local.product import Options, Product
from memorybox.settings import LOOPBACK_HOSTS
from tests.e2e.tokens import sign_in

LOUD = {"AWS_LAMBDA_LOG_LEVEL": "DEBUG", "POWERTOOLS_LOG_LEVEL": "DEBUG"}


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """For tests that look into logs and tables."""
    if "BASE_URL" in os.environ:
        pytest.skip("looks into the logs and tables of a product of its own")
    place = tmp_path_factory.mktemp("product")
    (place / "box").mkdir()
    options = Options(place / "box", place / "state", model="wordllama", environment=LOUD)
    with Product(options, say=lambda _: None) as product:
        yield product


@pytest.fixture(scope="session")
def base_url(request: pytest.FixtureRequest) -> str:
    if given := os.environ.get("BASE_URL"):
        return given.rstrip("/")
    product: Product = request.getfixturevalue("product")
    return product.url


@pytest.fixture(scope="session")
def personal_url(base_url: str) -> str:
    """For tests in which somebody at Dropbox presses Allow: the emulator has such a person."""
    if urlsplit(base_url).hostname not in LOOPBACK_HOSTS:
        pytest.skip("needs a person at Dropbox, whom only the emulator has")
    return base_url


@pytest.fixture(scope="session")
def access_token(request: pytest.FixtureRequest) -> str:
    """For tests that call, whoever's notes it may be. They change none."""
    if given := os.environ.get("TOKEN"):
        return given
    token: str = sign_in(request.getfixturevalue("personal_url"))["access_token"]
    return token
