"""The boxes of the acceptance tests, and the functions over emulators."""

from collections.abc import Iterator

import pytest

from local import aws
from local.dropbox.grants import App
from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from tests.acceptance.conftest import box, inside, running, world
from tests.cases.deployment import APP_SECRET, Deployment

__all__ = ["box", "inside", "running", "world"]


@pytest.fixture(scope="session")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    app = App(secret=APP_SECRET)
    secrets = {"dropbox-app-key": app.key, "dropbox-app-secret": app.secret}
    with (
        DropboxEmulator(app) as service,
        EmbeddingsServer("hashed") as embeddings,
        aws.start(tmp_path_factory.mktemp("aws"), secrets=secrets) as cloud,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in {
            **cloud.environment,
            "PUBLIC_BASE_URL": "https://memory.example",
            "DROPBOX_BASE_URL": service.base_url,
            "OPENAI_BASE_URL": embeddings.url,
            "EMBEDDING_DIMENSIONS": str(embeddings.dimensions),
        }.items():
            patch.setenv(name, value)
        yield Deployment(cloud, service, embeddings)


@pytest.fixture
def deployment(functions: Deployment) -> Iterator[Deployment]:
    """The functions, with nothing in the queue."""
    functions.embeddings.forget()
    yield functions
    functions.service.faults.clear()
    functions.embeddings.heal()
    functions.queued()
