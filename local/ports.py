"""Ports on loopback."""

import secrets
import socket

_RANGE = range(20_000, 32_768)
"""Below those that the system gives to callers: who calls before the server is there could be given
the very port that it calls, and would be connected to itself."""


def free() -> int:
    """A port that nothing listens on right now."""
    while not _is_free(port := secrets.choice(_RANGE)):
        pass
    return port


def at(wanted: int) -> int:
    """`wanted`, or a free port if something listens there."""
    return wanted if _is_free(wanted) else free()


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
