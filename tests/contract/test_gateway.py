"""The gateway over the wire: what it refuses, how long it waits, what it sends back."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPMessage
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest

from local import lines
from local.gateway import Access, Gateway, Invoke
from local.lambdas import PayloadTooLarge
from local.runtime_api import Failed, HandlerFailed


def echo(event: object) -> object:
    return {"statusCode": 200, "body": json.dumps(event)}


@contextmanager
def serving(
    invoke: Invoke, seen: list[Access] | None = None, timeout: float = 30
) -> Iterator[Gateway]:
    log = [] if seen is None else seen
    gateway = Gateway({"$default": invoke}, log.append, timeout=timeout)
    gateway.start()
    try:
        yield gateway
    finally:
        gateway.stop()


def call(
    gateway: Gateway,
    target: str = "/mcp",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
) -> tuple[int, HTTPMessage, Any]:
    connection = HTTPConnection(urlsplit(gateway.url).netloc, timeout=10)
    try:
        connection.request("POST", target, body, dict(headers or {}))
        response = connection.getresponse()
        return response.status, response.msg, json.loads(response.read() or b"null")
    finally:
        connection.close()


def test_path_query_and_body_reach_the_function() -> None:
    with serving(echo) as gateway:
        status, _, event = call(
            gateway, "/a%20b?q=1&q=2", "né".encode(), {"content-type": "text/plain"}
        )
    assert status == 200
    assert event["rawPath"] == "/a b"
    assert event["rawQueryString"] == "q=1&q=2"
    assert event["body"] == "né"
    assert event["requestContext"]["http"]["method"] == "POST"


def test_status_headers_and_every_cookie_reach_the_client() -> None:
    answer = {
        "statusCode": 401,
        "headers": {"WWW-Authenticate": 'Bearer realm="x"'},
        "cookies": ["a=1; HttpOnly", "b=2"],
        "body": "{}",
    }
    with serving(lambda _: answer) as gateway:
        status, headers, _ = call(gateway)
    assert status == 401
    assert headers["www-authenticate"] == 'Bearer realm="x"'
    assert headers.get_all("set-cookie") == ["a=1; HttpOnly", "b=2"]


def test_the_challenge_is_renamed_where_the_front_door_does_so() -> None:
    answer = {"statusCode": 401, "headers": {"WWW-Authenticate": "Bearer"}}
    with serving(lambda _: answer) as gateway:
        gateway.renames_challenge = True
        _, headers, _ = call(gateway)
    assert headers["www-authenticate"] is None
    assert headers["x-amzn-remapped-www-authenticate"] == "Bearer"


def test_a_head_over_10_240_bytes_is_a_431() -> None:
    with serving(echo) as gateway:
        assert call(gateway, headers={"x-long": "x" * 10_000})[0] == 200
        assert call(gateway, headers={"x-long": "x" * 10_240})[0] == 431


def test_a_body_over_10_megabytes_is_a_413() -> None:
    with serving(lambda _: {"statusCode": 200}) as gateway:
        assert call(gateway, body=b"x" * 10 * 1024 * 1024)[0] == 200
        assert call(gateway, body=b"x" * (10 * 1024 * 1024 + 1))[0] == 413


@pytest.mark.parametrize(
    ("failure", "status", "message"),
    [
        (HandlerFailed("ValueError: no"), 500, "Internal Server Error"),
        (PayloadTooLarge("The event has 7000000 bytes."), 413, "Request Entity Too Large"),
    ],
)
def test_a_function_without_an_answer_is_an_error_that_says_nothing_of_the_reason(
    failure: Failed, status: int, message: str
) -> None:
    def invoke(_: object) -> object:
        raise failure

    with serving(invoke) as gateway:
        answered, _, body = call(gateway)
    assert (answered, body) == (status, {"message": message})


def test_a_function_that_takes_too_long_is_a_503() -> None:
    released = Event()
    with serving(lambda _: released.wait(10), timeout=0.05) as gateway:
        status, _, body = call(gateway)
        released.set()
    assert (status, body) == (503, {"message": "Service Unavailable"})


def test_each_request_is_reported_once_it_was_answered() -> None:
    seen: list[Access] = []
    with serving(echo, seen) as gateway:
        call(gateway, "/mcp?x=1")
    [access] = seen
    assert (access.request.target, access.route, access.response.status) == (
        "/mcp?x=1",
        "$default",
        200,
    )


def test_a_body_nested_too_deeply_for_the_log_does_not_cost_the_connection() -> None:
    shown: list[str] = []
    gateway = Gateway({"$default": echo}, lambda event: shown.append(lines.access(event)))
    gateway.start()
    connection = HTTPConnection(urlsplit(gateway.url).netloc, timeout=10)
    try:
        for body in b"[" * 100_000, b"{}":
            connection.request("POST", "/mcp", body)
            first = connection.sock
            assert connection.getresponse().read()
            assert connection.sock is first is not None  # kept, not made anew
    finally:
        connection.close()
        gateway.stop()
    assert [line.partition("  ")[0] for line in shown] == ["POST /mcp", "POST /mcp"]
