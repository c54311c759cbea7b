"""One account's way to the API: a token, a deadline, and the one loop that tries again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

import requests
from dropbox import Dropbox

from memorybox.adapters.dropbox.errors import (
    AccessEnded,
    Failure,
    NotDone,
    NotNow,
    TokenRefused,
    Unanswered,
    answered_at,
    dropbox_errors,
    failure_of,
)
from memorybox.deadline import Deadline
from memorybox.errors import SignInEnded
from memorybox.files.errors import DropboxAsksToWait, DropboxSilent

CONNECT_TIMEOUT = 3.0
READ_TIMEOUT = 10.0
SHORTEST_CALL = 0.5
"""Seconds; with less left, no call is begun."""

_FIRST_WAIT, _LONGEST_WAIT = 0.25, 4.0
_SUCCESS = range(200, 300)

T = TypeVar("T")


class Tokens(Protocol):
    """Gives access tokens of one account."""

    def __call__(self, *, refused: str | None = None) -> str:
        """A token, other than the `refused` one. Raises SignInEnded or Unavailable."""


class Api(Dropbox):  # type: ignore[misc]  # the SDK has no types
    """The SDK for one call. It keeps what the SDK drops of an answer, and reads errors itself."""

    answered_at: datetime | None = None
    """Dropbox's own time when it answered."""

    def raise_dropbox_error_for_resp(self, res: requests.Response) -> None:
        self.answered_at = answered_at(res.headers)
        if res.status_code not in _SUCCESS:
            raise failure_of(res.status_code, res.headers, res.text)


@dataclass(frozen=True, slots=True)
class Client:
    """Calls for one account within one deadline. Threads may share it.

    `random` gives numbers from 0 to 1. Both methods raise SignInEnded, DropboxSilent,
    DropboxAsksToWait and, for the caller to understand, Declined.
    """

    session: requests.Session
    tokens: Tokens
    deadline: Deadline
    random: Callable[[], float]

    def read(self, call: Callable[[Api], T]) -> T:
        """The result of a call that may be made again whatever became of it."""
        return self._result(call, (NotDone, Unanswered), share=1.0)

    def write(self, call: Callable[[Api], T]) -> T:
        """The result of a call that is made again only if it surely had no effect.

        Otherwise raises Unanswered. Takes at most half of the time that is left, so that the
        outcome of a lost one can still be found.
        """
        return self._result(call, (NotDone,), share=0.5)

    def attempt(self, call: Callable[[Api], T]) -> T:
        """The result of a reading call that others can stand in for.

        It has half of the time that is left, and is not made again if it may have been worked on:
        then raises Unanswered.
        """
        return self._result(call, (NotDone,), share=0.5)

    def pause(self, attempt: int) -> bool:
        """Wait before the next attempt, longer each time; False if there is no time for it."""
        return self._wait(self.random() * min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt))

    def _result(
        self, call: Callable[[Api], T], harmless: tuple[type[Failure], ...], share: float
    ) -> T:
        token, is_renewed, attempt = self.tokens(), False, 0
        while True:
            try:
                with dropbox_errors():
                    return call(self._api(token, share))
            except (TokenRefused, AccessEnded) as error:
                if is_renewed or isinstance(error, AccessEnded):
                    raise SignInEnded("The access to this Dropbox has ended.") from error
                token, is_renewed = self.tokens(refused=token), True
            except NotNow as error:
                if not self._wait(error.seconds + self.random()):
                    raise DropboxAsksToWait(error.seconds) from error
            except harmless as error:
                is_first = attempt == 0
                if not (is_first and error.at_once) and not self.pause(attempt):
                    raise DropboxSilent from error
                attempt += 1

    def _api(self, token: str, share: float) -> Api:
        left = self._left(share)
        return Api(
            oauth2_access_token=token,
            session=self.session,
            timeout=(min(CONNECT_TIMEOUT, left), min(READ_TIMEOUT, left)),
            max_retries_on_error=0,
            max_retries_on_rate_limit=0,
        )

    def _left(self, share: float) -> float:
        """Seconds that a call may take. Raises DropboxSilent if they are too few."""
        left = self.deadline.remaining() * share
        if left < SHORTEST_CALL * share:
            raise DropboxSilent
        return left

    def _wait(self, seconds: float) -> bool:
        if seconds + SHORTEST_CALL > self.deadline.remaining():
            return False
        self.deadline.clock.sleep(seconds)
        return True
