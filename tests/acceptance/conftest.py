"""A box for each test, over one emulated Dropbox and one embedding service."""

from collections.abc import Iterator

import pytest
import requests

from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from memorybox.adapters.dropbox.session import new_session
from tests.acceptance.box import Box
from tests.acceptance.inside import InsideBox


@pytest.fixture(scope="session")
def service() -> Iterator[DropboxEmulator]:
    with DropboxEmulator() as emulator:
        yield emulator


@pytest.fixture(scope="session")
def embeddings() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer("hashed") as server:
        yield server


@pytest.fixture(scope="session")
def session(service: DropboxEmulator) -> Iterator[requests.Session]:
    with new_session(service.base_url) as session:
        yield session


@pytest.fixture
def inside(
    service: DropboxEmulator, embeddings: EmbeddingsServer, session: requests.Session
) -> Iterator[InsideBox]:
    """A box whose clock and stores the test needs to reach."""
    embeddings.forget()
    yield InsideBox(service, embeddings, session)
    service.faults.clear()
    embeddings.heal()


@pytest.fixture
def box(inside: InsideBox) -> Box:
    """A box that is used from outside only."""
    return inside
