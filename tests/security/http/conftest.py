"""Where the suite knocks: at BASE_URL if that is set, else at the product on this machine.

The product logs at DEBUG, libraries included, so that what they would let slip is seen.
"""

import os
from collections.abc import Iterator

import pytest

from local.product import Options, Product

LOUD = {"AWS_LAMBDA_LOG_LEVEL": "DEBUG", "POWERTOOLS_LOG_LEVEL": "DEBUG"}


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    if "BASE_URL" in os.environ:
        pytest.skip("needs a person at Dropbox, whom only the emulator has")
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
