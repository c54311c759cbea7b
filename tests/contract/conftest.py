"""The emulated services that the contract suites share. Every test has its own account on them."""

import secrets
from collections.abc import Iterator

import pytest

from local import aws
from local.dropbox.grants import App
from local.dropbox.server import DropboxEmulator
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.guard import Guard

REDIRECT_URI = "https://box.example/dropbox/callback"


@pytest.fixture(scope="session")
def dropbox() -> Iterator[DropboxEmulator]:
    with DropboxEmulator(App(redirect_uris=(REDIRECT_URI,))) as emulator:
        yield emulator


@pytest.fixture(autouse=True)
def no_faults_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "dropbox" in request.fixturenames:
        emulator: DropboxEmulator = request.getfixturevalue("dropbox")
        emulator.faults.clear()


@pytest.fixture
def account() -> AccountId:
    return AccountId(f"dbid:{secrets.token_hex(12)}")


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[aws.Aws]:
    with aws.start(tmp_path_factory.mktemp("aws")) as cloud:
        yield cloud


@pytest.fixture(scope="session")
def clients(cloud: aws.Aws) -> Clients:
    guard = Guard(memory_table=aws.MEMORY_TABLE, auth_table=aws.AUTH_TABLE)
    return Clients(guard, **cloud.connection)
