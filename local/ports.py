"""Ports on loopback."""

import socket


def free() -> int:
    """A port that nothing listens on right now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def at(wanted: int) -> int:
    """`wanted`, or a free port if something listens there."""
    try:
        socket.create_server(("127.0.0.1", wanted)).close()
    except OSError:
        return free()
    return wanted
