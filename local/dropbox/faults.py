"""What goes wrong on purpose: a list of faults, used up in order."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch

from local.dropbox.wire import JSON_TYPE, TEXT_TYPE, Response, encoded, tagged_error, union


class Effect(StrEnum):
    DELAY = "delay"  # before the call is worked on
    DELAY_ANSWER = "delay_answer"  # after the commit, before the answer
    HANG = "hang"  # never worked on, never answered
    LOST_REQUEST = "lost_request"  # the connection closes before the body is read
    LOST_RESPONSE = "lost_response"  # the connection closes after the commit
    HALF_ANSWER = "half_answer"  # it closes in the middle of the answer's body
    STALE = "stale"  # a good answer, but the next request on this connection finds it dead
    ANSWER = "answer"  # this answer, instead of working on the call
    ANSWER_AFTER_COMMIT = "answer_after_commit"


DELAYS = {Effect.DELAY, Effect.DELAY_ANSWER}


@dataclass(frozen=True, slots=True)
class Fault:
    """Hits the calls of `route` (a pattern: `files/upload`, `files/*`, `oauth2/token`).

    The first `skip` of them pass; then it hits `times` calls, or all if None.
    """

    route: str
    effect: Effect
    account: str | None = None
    skip: int = 0
    times: int | None = 1
    seconds: float = 0.0
    spread: float = 0.0
    """A delay lasts `seconds` and up to `spread` more."""
    answer: Response = field(default_factory=lambda: Response(503, b"Service Unavailable"))

    @property
    def is_delay(self) -> bool:
        return self.effect in DELAYS


class Faults:
    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._lock = threading.Lock()

    def add(self, *faults: Fault) -> None:
        with self._lock:
            self._waiting += [_Waiting(fault, fault.skip, fault.times) for fault in faults]

    def clear(self) -> None:
        with self._lock:
            self._waiting = []

    def left(self) -> list[Fault]:
        """The faults that have not hit as often as they should."""
        with self._lock:
            return [waiting.fault for waiting in self._waiting]

    def take(self, route: str, account: str | None) -> list[Fault]:
        """What hits this call: every delay that is due, and the first other fault that is due."""
        with self._lock:
            due = list(self._due(route, account))
            self._waiting = [waiting for waiting in self._waiting if waiting.times != 0]
            return due

    def _due(self, route: str, account: str | None) -> Iterator[Fault]:
        is_hit = False
        for waiting in self._waiting:
            fault = waiting.fault
            if not fnmatch(route, fault.route) or fault.account not in {None, account}:
                continue
            if is_hit and not fault.is_delay:
                continue
            if waiting.skip:
                waiting.skip -= 1
                continue
            if waiting.times is not None:
                waiting.times -= 1
            is_hit = is_hit or not fault.is_delay
            yield fault


@dataclass(slots=True)
class _Waiting:
    fault: Fault
    skip: int
    times: int | None


def server_error(status: int = 500, *, html: bool = False) -> Response:
    if html:
        return Response(status, b"<html><body>Error</body></html>", "text/html")
    return Response(status, b"Internal Server Error")


def too_many_requests(
    retry_after: int | str | None = 1,
    *,
    reason: str = "too_many_requests",
    in_body: bool = False,
    text: bool = False,
) -> Response:
    """A 429 in any of its recorded forms; `retry_after` may be an HTTP-date."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    if text:
        return Response(429, b"Too many requests", TEXT_TYPE, headers)
    error: dict[str, object] = {"reason": {".tag": reason}}
    if in_body and retry_after is not None:
        error["retry_after"] = retry_after
    body = encoded({"error_summary": f"{reason}/..", "error": error})
    return Response(429, body, JSON_TYPE, headers)


def route_error(tags: str, *, status: int = 409) -> Response:
    """An answer as `path/restricted_content` or, with 401, `expired_access_token`."""
    return tagged_error(status, tags, union(tags), dots=2)


def oauth_error(error: str, description: str = "", *, status: int = 400) -> Response:
    body = encoded({"error": error, "error_description": description})
    return Response(status, body, JSON_TYPE)
