"""One line for each event: what was done, how it ended, how long it took. Never any content."""

import json
import re
from http import HTTPStatus
from typing import Any, Final

from local.gateway import Access
from local.queue import Batch

_TROUBLE: Final = ("WARNING", "ERROR", "CRITICAL")
_BOILERPLATE: Final = "LAMBDA_WARNING"  # a paragraph about updates, before each import error
_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,64}")


def access(event: Access) -> str:
    """`tools/call write  ok  41 ms`, or `POST /token  200  12 ms`."""
    status = str(event.response.status)
    what = f"{event.request.method} {_shown(event.request.path)}"
    if event.request.method == "POST" and event.request.path.startswith("/mcp"):
        call = _json(event.request.body)
        if "method" in call:
            what = f"{event.request.path} {_shown(call['method'])}"
        if call.get("method") == "tools/call":
            what += f" {_shown(_dict(call.get('params')).get('name'))}"
        if event.response.status == HTTPStatus.OK:
            status = _outcome(_json(event.response.body))
    return f"{what}  {status}  {event.milliseconds} ms"


def batch(event: Batch) -> str:
    """`index  3 records, 1 to be tried again  120 ms`."""
    records = "1 record" if event.records == 1 else f"{event.records} records"
    again = f", {event.failed} to be tried again" if event.failed else ""
    return f"index  {records}{again}  {event.milliseconds} ms"


def trouble(function: str, line: str) -> str | None:
    """What a function's log line says of trouble: a warning, an error, or words of no logger."""
    entry = _json(line)
    if not entry:
        return f"{function}  {line}" if line.strip() else None
    if entry.get("level") not in _TROUBLE:
        return None
    if "errorType" in entry:  # written by the runtime client, about an exception
        return f"{function}  {entry['level']}  {entry['errorType']}: {entry['errorMessage']}"
    message = entry.get("message", "")
    said = message if isinstance(message, str) else json.dumps(message)
    return None if said.startswith(_BOILERPLATE) else f"{function}  {entry['level']}  {said}"


def _outcome(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return f"error {_shown(_dict(answer['error']).get('code'))}"
    return "refused" if _dict(answer.get("result")).get("isError") else "ok"


def _shown(word: object) -> str:
    """A name that a client sent, if it looks like one."""
    text = "" if isinstance(word, dict | list) else str(word)
    return text if _NAME.fullmatch(text) else "?"


def _json(text: bytes | str) -> dict[str, Any]:
    try:
        return _dict(json.loads(text))
    except (ValueError, RecursionError):  # the second on what is nested too deeply
        return {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
