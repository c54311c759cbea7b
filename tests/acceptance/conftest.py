"""A box for each test, over one emulated Dropbox and one embedding service."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from memorybox.adapters.dropbox.session import new_session
from memorybox.adapters.openai.embedder import OpenAIEmbedder
from tests.acceptance.box import Box
from tests.acceptance.inside import InsideBox, World
from tests.acceptance.model import SteeredModel


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


@pytest.fixture
def inside(world: World) -> Iterator[InsideBox]:
    """A box for a test that needs to reach its clock or its stores."""
    world.embeddings.forget()
    yield InsideBox(world)
    world.service.faults.clear()
    world.embeddings.heal()
    world.model.forget()


@pytest.fixture
def box(inside: InsideBox) -> Box:
    """A box that is used from outside only."""
    return inside
