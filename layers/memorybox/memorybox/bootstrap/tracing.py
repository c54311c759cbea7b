"""Which request a piece of work goes back to: in every line of the logs, and in messages.

A function has one event at a time, so that a process has one such request.
"""

import logging
from contextvars import ContextVar
from typing import Any

_request_id: ContextVar[str] = ContextVar("request_id", default="none")


def begin(request_id: str) -> None:
    """What is done from now on goes back to this request."""
    _request_id.set(request_id)


def request_id() -> str:
    return _request_id.get()


def mark_lines() -> None:
    """Give each line of the logs its `request_id`, whichever logger writes it."""
    make = logging.getLogRecordFactory()

    def marked(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        record.request_id = _request_id.get()
        return record

    logging.setLogRecordFactory(marked)
