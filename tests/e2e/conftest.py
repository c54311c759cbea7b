"""The whole product on this machine, once for all end-to-end tests.

With --stack it is the template that is tested: built, deployed by SAM, and run by MiniStack.
"""

from collections.abc import Iterator

import pytest

from local.aws import STAGE
from local.deployed import STAGE as DEPLOYED_STAGE
from local.deployed import Deployed
from local.gateway import Gateway
from local.product import Options, Product
from tests.e2e.agreed import agree_on_clients
from tests.e2e.open_door import open_door
from tests.e2e.tokens import sign_in


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stack", action="store_true", help="test the deployed template")


@pytest.fixture(scope="session")
def product(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product | Deployed]:
    place = tmp_path_factory.mktemp("product")
    (place / "box").mkdir()
    options = Options(place / "box", place / "state", model="wordllama")
    if request.config.getoption("--stack", default=False):
        with Deployed(options) as deployed:
            agree_on_clients(deployed.connection, DEPLOYED_STAGE)
            yield deployed
        return
    with Product(options, say=lambda _: None) as product:
        agree_on_clients(product.aws.connection, STAGE)
        yield product


@pytest.fixture(scope="session")
def open_mcp_url(product: Product | Deployed) -> Iterator[str]:
    """The MCP endpoint of the product, for programs that cannot sign in."""
    with open_door(product.url, sign_in(product.url)["access_token"]) as url:
        yield f"{url}/mcp"


@pytest.fixture
def gateway(product: Product | Deployed) -> Gateway:
    """The gateway of our own, which can be told what to get wrong."""
    if isinstance(product, Deployed):
        pytest.skip("MiniStack's gateway cannot be told to rename headers")
    return product.gateway
