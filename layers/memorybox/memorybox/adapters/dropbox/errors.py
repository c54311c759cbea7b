"""Everything that can go wrong in a call to Dropbox, by what it tells about the call.

Failure
├── TokenRefused   the access token is no good; nothing was done
├── AccessEnded    no other token would help; nothing was done
├── NotNow         Dropbox asks to wait; nothing was done
├── NotDone        the call never arrived, or arrived damaged; nothing was done
├── Declined       Dropbox does not do it, for a reason with a name; nothing was done
└── Unanswered     no answer, or none that can be read; it may have been done
"""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime

import requests
from dropbox.exceptions import DropboxException
from stone.backends.python_rsrc.stone_validators import ValidationError
from urllib3.exceptions import HTTPError, NewConnectionError, TimeoutError

_RENEWABLE = {"expired_access_token", "invalid_access_token"}
_MALFORMED = ("bad_input",)


class Failure(Exception):
    """A call that brought no result."""

    at_once = False
    """Whether a second try need not wait."""


class TokenRefused(Failure):
    """401: the token has expired or was revoked."""


class AccessEnded(Failure):
    """401: the user is suspended, a scope is missing, ..."""


class NotNow(Failure):
    """429, or a 409 because another write of the account was going on."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(seconds)


class NotDone(Failure):
    """No connection was made, or the bytes were damaged on the way and thrown away."""


class Declined(Failure):
    """400, 403, 404, 409 or 422, with the tags of the error union from the outside in."""

    def __init__(self, *tags: str) -> None:
        self.tags = tags
        super().__init__(*tags)


class Unanswered(Failure):
    """5xx, a timeout, a broken connection, or an answer that is no answer."""

    def __init__(self, *, at_once: bool = False, may_arrive: bool = False) -> None:
        self.at_once = at_once
        self.may_arrive = may_arrive
        """Whether the call may still be on its way: nobody has answered, or hung up."""
        super().__init__()


def failure_of(status: int, headers: Mapping[str, str], body: str) -> Failure:
    """What an answer other than success says about its call.

    Read here and not by the SDK, which leaves the Retry-After header out of account and fails in
    ways of its own on error tags and content types that it does not know.
    """
    error = _error(body)
    tags = _tags(error)
    match status:
        case 400:
            return Declined(*_MALFORMED)
        case 401:
            return AccessEnded() if tags and tags[0] not in _RENEWABLE else TokenRefused()
        case 429:
            return NotNow(_seconds(error, tags, headers))
        case 403 | 404 | 409 | 422 if tags:
            return _declined(tags)
        case _:
            return Unanswered()


@contextmanager
def dropbox_errors() -> Iterator[None]:
    """Whatever the SDK and the libraries below it raise comes out as a Failure."""
    try:
        yield
    except (requests.RequestException, HTTPError) as error:
        if _was_not_sent(error):
            raise NotDone from error
        # A kept connection that was idle for long closes without a word; a new one will do.
        is_closed = isinstance(error, requests.ConnectionError)
        is_silence = isinstance(error, requests.Timeout | TimeoutError)
        raise Unanswered(at_once=is_closed, may_arrive=is_silence) from error
    except (DropboxException, ValidationError, AssertionError, KeyError, ValueError) as error:
        raise Unanswered from error


def answered_at(headers: Mapping[str, str]) -> datetime | None:
    """Dropbox's own time, in UTC, by the Date header of an answer."""
    return _date(headers.get("Date", ""))


def _error(body: str) -> object:
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    return answer.get("error") if isinstance(answer, dict) else None


def _tags(error: object) -> tuple[str, ...]:
    """The union's tags. A value lies under its tag's name or, in a flattened struct, `reason`."""
    tags = list[str]()
    while isinstance(error, dict):
        tag = error.get(".tag")
        if isinstance(tag, str):
            tags.append(tag)
        error = error.get(tag, error.get("reason"))
    return (*tags, error) if isinstance(error, str) else tuple(tags)


def _declined(tags: tuple[str, ...]) -> Failure:
    match tags[-1]:
        case "too_many_write_operations":
            return NotNow(1)
        case "content_hash_mismatch":
            return NotDone()
        case _:
            return Declined(*tags)


def _seconds(error: object, tags: tuple[str, ...], headers: Mapping[str, str]) -> int:
    """How long to wait, from the body, the header, or the reason."""
    told = error.get("retry_after") if isinstance(error, dict) else None
    if isinstance(told, int | float):
        return max(1, math.ceil(told))
    header = headers.get("Retry-After", "")
    if header.isascii() and header.isdecimal():
        return max(1, int(header))
    until, now = _date(header), answered_at(headers)
    if until and now:
        return max(1, math.ceil((until - now).total_seconds()))
    return 1 if "too_many_write_operations" in tags else 5


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else None


def _was_not_sent(error: Exception) -> bool:
    if isinstance(error, requests.ConnectTimeout):
        return True
    cause = error.args[0] if error.args else None
    return isinstance(getattr(cause, "reason", None), NewConnectionError)
