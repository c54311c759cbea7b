"""One emulator for a module of tests, and an account of its own for each test."""

import threading
from collections.abc import Iterator

import pytest

from local.dropbox.sdk import LoopbackSession
from local.dropbox.server import DropboxEmulator
from tests.contract.dropbox_emulator.receivers import Receiver
from tests.contract.dropbox_emulator.users import User, client_of


@pytest.fixture(scope="module")
def emulator() -> Iterator[DropboxEmulator]:
    with DropboxEmulator() as started:
        yield started


@pytest.fixture
def user(emulator: DropboxEmulator) -> Iterator[User]:
    account = emulator.add_account()
    token = emulator.token(account)
    with LoopbackSession(emulator.base_url) as session:
        yield User(account, client_of(session, token), session, token)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    started = Receiver()
    thread = threading.Thread(target=started.server.serve_forever, args=(0.02,))
    thread.start()
    yield started
    started.server.shutdown()
    thread.join()
    started.server.server_close()
