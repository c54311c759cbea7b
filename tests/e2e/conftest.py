"""The whole product on this machine, once for all end-to-end tests."""

from collections.abc import Iterator

import pytest

from local.product import Options, Product
from tests.e2e.open_door import open_door
from tests.e2e.tokens import sign_in


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    place = tmp_path_factory.mktemp("product")
    (place / "box").mkdir()
    options = Options(place / "box", place / "state", model="wordllama")
    with Product(options, say=lambda _: None) as product:
        yield product


@pytest.fixture(scope="session")
def open_mcp_url(product: Product) -> Iterator[str]:
    """The MCP endpoint of the product, for programs that cannot sign in."""
    with open_door(product.url, sign_in(product.url)["access_token"]) as url:
        yield f"{url}/mcp"
