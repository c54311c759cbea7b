import json
from collections.abc import Callable

import pytest
import requests
from dropbox.exceptions import BadInputError
from dropbox.files import WriteMode
from urllib3 import HTTPConnectionPool
from urllib3.connection import HTTPConnection
from urllib3.exceptions import MaxRetryError, NewConnectionError, ProtocolError, ReadTimeoutError

from memorybox.adapters.dropbox.errors import (
    AccessEnded,
    Declined,
    Failure,
    NotDone,
    NotNow,
    TokenRefused,
    Unanswered,
    answered_at,
    dropbox_errors,
    failure_of,
)


def failure(status: int, error: object, headers: dict[str, str] | None = None) -> Failure:
    body = json.dumps({"error_summary": "tags/..", "error": error})
    return failure_of(status, headers or {}, body)


@pytest.mark.parametrize(
    ("error", "tags"),
    [
        ({".tag": "reset"}, ("reset",)),
        ("reset", ("reset",)),
        ({".tag": "path", "path": {".tag": "not_found"}}, ("path", "not_found")),
        (
            {  # upload alone flattens its struct
                ".tag": "path",
                "reason": {".tag": "conflict", "conflict": {".tag": "file"}},
                "upload_session_id": "AAAA",
            },
            ("path", "conflict", "file"),
        ),
        ({".tag": "incorrect_offset", "correct_offset": 9}, ("incorrect_offset",)),
        ({".tag": "path", "path": {".tag": "news", "text": "x"}}, ("path", "news")),
    ],
)
@pytest.mark.parametrize("status", [403, 404, 409, 422])
def test_a_declined_call_has_the_tags_of_its_union(
    status: int, error: object, tags: tuple[str, ...]
) -> None:
    answer = failure(status, error)

    assert isinstance(answer, Declined)
    assert answer.tags == tags


@pytest.mark.parametrize(
    ("tag", "kind"),
    [
        ("expired_access_token", TokenRefused),
        ("invalid_access_token", TokenRefused),
        ("missing_scope", AccessEnded),
        ("user_suspended", AccessEnded),
        ("other", AccessEnded),
    ],
)
def test_a_401_says_whether_another_token_may_help(tag: str, kind: type[Failure]) -> None:
    assert type(failure(401, {".tag": tag})) is kind


REASON = {"reason": {".tag": "too_many_requests"}}
WRITES = {"reason": {".tag": "too_many_write_operations"}}
NOON = "Mon, 30 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("error", "headers", "seconds"),
    [
        ({**REASON, "retry_after": 7}, {"Retry-After": "300"}, 7),
        (REASON, {"Retry-After": "300"}, 300),
        (REASON, {"Retry-After": "Mon, 30 Nov 2026 12:00:42 GMT", "Date": NOON}, 42),
        (REASON, {"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT", "Date": NOON}, 1),
        (REASON, {"Retry-After": NOON}, 5),
        (REASON, {"Retry-After": "0"}, 1),
        (REASON, {"Retry-After": "soon"}, 5),
        (REASON, {"Retry-After": "²"}, 5),
        (REASON, {}, 5),
        (WRITES, {}, 1),
        ({"reason": {".tag": "news"}}, {}, 5),
    ],
)
def test_a_429_says_how_long_to_wait(error: object, headers: dict[str, str], seconds: int) -> None:
    answer = failure(429, error, headers)

    assert isinstance(answer, NotNow)
    assert answer.seconds == seconds


def test_a_429_in_plain_text_has_its_time_in_the_header() -> None:
    answer = failure_of(429, {"Retry-After": "15"}, "Too many requests")

    assert isinstance(answer, NotNow)
    assert answer.seconds == 15


def test_lock_contention_in_a_409_is_a_wait() -> None:
    answer = failure(409, {".tag": "path", "reason": {".tag": "too_many_write_operations"}})

    assert isinstance(answer, NotNow)
    assert answer.seconds == 1


def test_damaged_bytes_were_not_taken() -> None:
    assert isinstance(failure(409, {".tag": "content_hash_mismatch"}), NotDone)


@pytest.mark.parametrize("status", [301, 403, 404, 409, 500, 502, 503, 504])
@pytest.mark.parametrize("body", ["", "<html>", "[]", '{"error": 1}', '{"error": {}}'])
def test_an_answer_that_says_nothing_is_no_answer(status: int, body: str) -> None:
    assert isinstance(failure_of(status, {}, body), Unanswered)


def test_a_400_is_declined_whatever_its_text() -> None:
    answer = failure_of(400, {}, "Error in call to API function ...")

    assert isinstance(answer, Declined)
    assert answer.tags == ("bad_input",)


def _raise(error: Exception) -> Callable[[], object]:
    def call() -> object:
        raise error

    return call


POOL = HTTPConnectionPool("127.0.0.1")
REFUSED = MaxRetryError(POOL, "/", NewConnectionError(HTTPConnection("127.0.0.1"), "refused"))


@pytest.mark.parametrize("error", [requests.ConnectTimeout(), requests.ConnectionError(REFUSED)])
def test_without_a_connection_nothing_was_done(error: Exception) -> None:
    with pytest.raises(NotDone), dropbox_errors():
        _raise(error)()


@pytest.mark.parametrize(
    ("call", "at_once"),
    [
        (_raise(requests.ConnectionError(ProtocolError("closed"))), True),
        (_raise(requests.ReadTimeout()), False),
        (_raise(requests.exceptions.ChunkedEncodingError()), False),
        (_raise(ReadTimeoutError(POOL, "/", "late")), False),
        (_raise(ProtocolError("broken")), False),
        (_raise(BadInputError("request id", "message")), False),
        (_raise(AssertionError("content type")), False),
        (_raise(KeyError("dropbox-api-result")), False),
        (lambda: json.loads("<html>"), False),
        (lambda: WriteMode.update("abc"), False),
    ],
)
def test_anything_else_may_have_been_done(call: Callable[[], object], at_once: bool) -> None:
    with pytest.raises(Unanswered) as caught, dropbox_errors():
        call()
    assert caught.value.at_once is at_once


@pytest.mark.parametrize(
    ("call", "may_arrive"),
    [
        (_raise(requests.ReadTimeout()), True),
        (_raise(ReadTimeoutError(POOL, "/", "late")), True),
        (_raise(requests.ConnectionError(ProtocolError("closed"))), False),
        (_raise(AssertionError("content type")), False),
    ],
)
def test_a_call_may_still_arrive_that_nobody_has_answered_or_hung_up_on(
    call: Callable[[], object], may_arrive: bool
) -> None:
    with pytest.raises(Unanswered) as caught, dropbox_errors():
        call()
    assert caught.value.may_arrive is may_arrive


def test_a_bug_of_ours_stays_one() -> None:
    with pytest.raises(AttributeError), dropbox_errors():
        _raise(AttributeError("no such name"))()


def test_the_time_of_an_answer_is_in_utc_or_unknown() -> None:
    answered = answered_at({"Date": NOON})

    assert answered is not None
    assert answered.isoformat() == "2026-11-30T12:00:00+00:00"
    assert answered_at({}) is answered_at({"Date": "yesterday"}) is None
