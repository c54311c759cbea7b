"""No network in unit tests, not even loopback."""

import pytest


@pytest.fixture(autouse=True)
def no_network(socket_disabled: None) -> None:
    """pytest-socket refuses every socket, and its warning about that is an error here."""
