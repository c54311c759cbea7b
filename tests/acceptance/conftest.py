"""A box for each test, inside this process or over HTTP."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from local.product import Options, Product
from memorybox.adapters.dropbox.session import new_session
from memorybox.adapters.openai.embedder import OpenAIEmbedder
from tests.acceptance.box import Box
from tests.acceptance.inside import InsideBox, World
from tests.acceptance.model import SteeredModel
from tests.acceptance.running import RunningBox

UNLIMITED = dict.fromkeys(
    ("SIGN_UPS_PER_DAY", "REGISTRATIONS_PER_DAY", "CALLS_PER_MINUTE", "SEARCHES_PER_MINUTE"),
    "1000000",
)


@pytest.fixture(scope="session")
def world() -> Iterator[World]:
    model = SteeredModel()
    with (
        ThreadPoolExecutor(12) as threads,
        DropboxEmulator() as service,
        EmbeddingsServer(model) as embeddings,
        new_session(service.base_url) as session,
    ):
        embedder = OpenAIEmbedder(
            api_key="", base_url=embeddings.url, model="hashed words", dims=model.dimensions
        )
        yield World(service, session, model, embeddings, embedder, threads)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The whole product. No webhook is sent: a search may not depend on one."""
    place = tmp_path_factory.mktemp("running")
    (place / "box").mkdir()
    options = Options(
        place / "box", place / "state", model="hashed", workers=2, environment=UNLIMITED
    )
    with Product(options, say=lambda _: None) as product:
        product.dropbox.webhooks.url = None
        yield product


@pytest.fixture
def inside(world: World) -> Iterator[InsideBox]:
    """A box for a test that needs to reach its clock or its stores."""
    world.embeddings.forget()
    yield InsideBox(world)
    world.service.faults.clear()
    world.embeddings.heal()
    world.model.forget()


@pytest.fixture(params=["inside", pytest.param("running", marks=pytest.mark.over_http)])
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    """A box that is used from outside only."""
    if request.param == "inside":
        yield request.getfixturevalue("inside")
        return
    product: Product = request.getfixturevalue("running")
    product.embeddings.forget()
    yield RunningBox(product)
    product.dropbox.faults.clear()
    product.embeddings.heal()
