"""No call to DynamoDB outlasts the request that it is made for.

The timeouts of a client are fixed when it is made. Whoever serves a request says until when it may
last, and each try is cut to what remains; the first one that fails near the end is the last.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from memorybox.adapters.aws.errors import StorageSilent
from memorybox.deadline import Deadline

CONNECT_TIMEOUT = 1
READ_TIMEOUT = 3

SHORTEST = 0.2
"""Seconds that a call gets even at the very end: what is said last may still be heard."""

_LONGEST_PAUSE = 1.0
"""Seconds that botocore may wait before its second try."""

_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def lasting(deadline: Deadline) -> Iterator[None]:
    """Cut the calls in here to this deadline."""
    reset = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(reset)


def watch(client: Any) -> None:
    """Let the calls of a DynamoDB client follow the deadline of whoever makes them."""
    client.meta.events.register("before-send.dynamodb", _cut)
    client.meta.events.register_first("needs-retry.dynamodb", _give_up)


def _cut(request: Any, **_: object) -> None:
    if deadline := _deadline.get():
        left = max(SHORTEST, deadline.remaining())
        request.context["read_timeout"] = min(READ_TIMEOUT, left)


def _give_up(response: Any, caught_exception: Exception | None, **_: object) -> None:
    """Raises StorageSilent where botocore would wait and try once more, and no time is left."""
    deadline = _deadline.get()
    if deadline is None or deadline.remaining() > _LONGEST_PAUSE:
        return
    if response is None or response[0].status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise StorageSilent from caught_exception
