from collections.abc import Callable

import pytest
import requests

from memorybox.adapters.dropbox.client import Api, Client
from memorybox.adapters.dropbox.errors import (
    AccessEnded,
    Declined,
    Failure,
    NotDone,
    NotNow,
    TokenRefused,
    Unanswered,
)
from memorybox.deadline import Deadline
from memorybox.errors import SignInEnded, Unavailable
from memorybox.files.errors import DropboxAsksToWait, DropboxSilent
from tests.fakes.clock import FakeClock

HARMLESS = (NotDone(), NotNow(1))


def client(clock: FakeClock, seconds: float = 25) -> Client:
    def tokens(*, refused: str | None = None) -> str:
        return "another token" if refused else "a token"

    return Client(requests.Session(), tokens, Deadline.after(seconds, clock), lambda: 0.5)


def answers(*outcomes: object) -> Callable[[Api], object]:
    """A call that has these outcomes, one after the other."""
    waiting = list(outcomes)

    def call(api: Api) -> object:
        outcome = waiting.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return call


@pytest.mark.parametrize("failure", [*HARMLESS, TokenRefused(), Unanswered()])
def test_a_read_is_made_again_after_any_failure_that_may_pass(failure: Failure) -> None:
    assert client(FakeClock()).read(answers(failure, "result")) == "result"


@pytest.mark.parametrize("failure", [*HARMLESS, TokenRefused()])
def test_a_write_is_made_again_when_it_surely_had_no_effect(failure: Failure) -> None:
    assert client(FakeClock()).write(answers(failure, "result")) == "result"


def test_a_write_without_an_answer_is_not_made_again() -> None:
    with pytest.raises(Unanswered):
        client(FakeClock()).write(answers(Unanswered(), "result"))


def test_a_declined_call_is_not_made_again() -> None:
    for call in (client(FakeClock()).read, client(FakeClock()).write):
        with pytest.raises(Declined):
            call(answers(Declined("path", "not_found"), "result"))


@pytest.mark.parametrize(
    "outcomes",
    [(AccessEnded(),), (TokenRefused(), TokenRefused()), (TokenRefused(), AccessEnded())],
)
def test_access_ends_with_the_second_refused_token(outcomes: tuple[Failure, ...]) -> None:
    with pytest.raises(SignInEnded):
        client(FakeClock()).read(answers(*outcomes, "result"))


def test_waits_grow_up_to_a_limit_and_end_before_the_deadline() -> None:
    clock = FakeClock()
    one = client(clock)
    waits = list[float]()
    for attempt in range(100):
        before = clock.monotonic()
        if not one.pause(attempt):
            break
        waits.append(clock.monotonic() - before)

    assert waits[:7] == [0.125, 0.25, 0.5, 1, 2, 2, 2]
    assert 22 < clock.monotonic() <= 24.5


@pytest.mark.parametrize(
    ("failure", "error"),
    [(NotNow(30), DropboxAsksToWait), (NotDone(), DropboxSilent), (Unanswered(), DropboxSilent)],
)
def test_what_does_not_pass_in_time_is_said(failure: Failure, error: type[Unavailable]) -> None:
    clock = FakeClock()

    with pytest.raises(error):
        client(clock).read(answers(*[failure] * 100))
    assert clock.monotonic() < 25


def test_a_connection_that_was_idle_is_replaced_at_once_but_only_once() -> None:
    clock = FakeClock()
    dropped = Unanswered(at_once=True)

    client(clock).read(answers(dropped, "result"))
    assert clock.monotonic() == 0

    client(clock).read(answers(dropped, dropped, "result"))
    assert clock.monotonic() > 0
