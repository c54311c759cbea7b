"""What a request becomes for a function, and what its answer becomes for the client."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from local.payload import HttpRequest, HttpResponse, head_size, route_key, to_event, to_response

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
JSON = ("content-type", "application/json")


def request(
    method: str = "POST",
    target: str = "/mcp",
    headers: Sequence[tuple[str, str]] = (),
    body: bytes = b"",
) -> HttpRequest:
    return HttpRequest(method, target, headers, body, "127.0.0.1")


def test_a_request_becomes_an_event_of_payload_format_2() -> None:
    arrived = request(
        target="/mcp?a=1",
        headers=[("Host", "127.0.0.1:8080"), ("User-Agent", "claude"), ("Content-Type", "text/x")],
        body=b"{}",
    )
    assert to_event(arrived, "$default", "id-1", NOON) == {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/mcp",
        "rawQueryString": "a=1",
        "queryStringParameters": {"a": "1"},
        "headers": {
            "host": "127.0.0.1:8080",
            "user-agent": "claude",
            "content-type": "text/x",
            "x-forwarded-for": "127.0.0.1",
            "x-forwarded-port": "8080",
            "x-forwarded-proto": "http",
        },
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": "127.0.0.1",
            "domainPrefix": "127",
            "http": {
                "method": "POST",
                "path": "/mcp",
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "claude",
            },
            "requestId": "id-1",
            "routeKey": "$default",
            "stage": "$default",
            "time": "30/Nov/2026:12:00:00 +0000",
            "timeEpoch": 1796040000000,
        },
        "body": "{}",
        "isBase64Encoded": False,
    }


def test_the_path_is_decoded_and_the_query_is_not() -> None:
    event = to_event(request(target="/a%20b%2Fc%252F?q=a%20b&q=c+d&empty="), "$default", "", NOON)
    assert event["rawPath"] == "/a b/c%2F"
    assert event["rawQueryString"] == "q=a%20b&q=c+d&empty="
    assert event["queryStringParameters"] == {"q": "a b,c d", "empty": ""}


def test_without_query_cookies_and_body_the_keys_are_absent() -> None:
    event = to_event(request(), "$default", "", NOON)
    assert not {"queryStringParameters", "cookies", "body"} & event.keys()


def test_repeated_headers_are_joined_and_names_are_lower_case() -> None:
    event = to_event(request(headers=[("X-A", "1"), ("x-a", "2")]), "$default", "", NOON)
    assert event["headers"]["x-a"] == "1,2"


def test_cookies_leave_the_headers_for_a_list() -> None:
    event = to_event(request(headers=[("Cookie", "a=1; b=2=3")]), "$default", "", NOON)
    assert event["cookies"] == ["a=1", "b=2=3"]
    assert "cookie" not in event["headers"]


@pytest.mark.parametrize(
    ("content_type", "encoded"),
    [
        ("application/json", False),
        ("Application/JSON; charset=utf-8", False),
        ("text/plain", False),
        ("application/xml", False),
        ("application/javascript", False),
        ("application/x-www-form-urlencoded", True),
        ("application/octet-stream", True),
        ("", True),
    ],
)
def test_a_body_that_is_not_known_to_be_text_arrives_as_base64(
    content_type: str, encoded: bool
) -> None:
    arrived = request(headers=[("content-type", content_type)], body="é".encode())
    event = to_event(arrived, "$default", "", NOON)
    assert (event["body"], event["isBase64Encoded"]) == (
        ("w6k=", True) if encoded else ("é", False)
    )


def test_the_client_joins_the_end_of_the_forwarded_addresses() -> None:
    event = to_event(request(headers=[("X-Forwarded-For", "9.9.9.9")]), "$default", "", NOON)
    assert event["headers"]["x-forwarded-for"] == "9.9.9.9, 127.0.0.1"


@pytest.mark.parametrize(
    ("method", "target", "route"),
    [
        ("POST", "/dropbox/webhook?challenge=x", "POST /dropbox/webhook"),
        ("PUT", "/dropbox/webhook", "$default"),
        ("POST", "/dropbox/webhook/", "$default"),
        ("POST", "/mcp", "$default"),
    ],
)
def test_a_route_is_method_and_path(method: str, target: str, route: str) -> None:
    routes = ["GET /dropbox/webhook", "POST /dropbox/webhook", "$default"]
    assert route_key(request(method, target), routes) == route


def test_the_size_of_the_head_is_that_of_the_request_line_and_all_headers() -> None:
    wire = b"POST /mcp HTTP/1.1\r\nhost: x\r\na: bc\r\n"
    assert head_size(request(headers=[("host", "x"), ("a", "bc")])) == len(wire)


def test_an_answer_becomes_a_response_with_a_header_for_each_cookie() -> None:
    answer = {
        "statusCode": 401,
        "headers": {"WWW-Authenticate": "Bearer", "x-count": 3, "x-true": True},
        "cookies": ["a=1; Path=/", "b=2"],
        "body": "é",
        "isBase64Encoded": False,
    }
    assert to_response(answer, "id-1") == HttpResponse(
        401,
        [
            ("www-authenticate", "Bearer"),
            ("x-count", "3"),
            ("x-true", "true"),
            ("set-cookie", "a=1; Path=/"),
            ("set-cookie", "b=2"),
            ("apigw-requestid", "id-1"),
        ],
        "é".encode(),
    )


def test_a_base64_body_is_sent_as_bytes() -> None:
    answer = {"statusCode": 200, "body": "/wA=", "isBase64Encoded": True}
    assert to_response(answer, "").body == b"\xff\x00"


def test_an_answer_without_a_status_is_the_body_of_a_200() -> None:
    assert to_response({"a": 1}, "") == HttpResponse(
        200, [JSON, ("apigw-requestid", "")], b'{"a": 1}'
    )


@pytest.mark.parametrize(
    "answer",
    [
        {"statusCode": "many"},
        {"statusCode": None},
        {"statusCode": 200, "headers": [1]},
        {"statusCode": 200, "body": 1},
        {"statusCode": 200, "body": "%", "isBase64Encoded": True},
    ],
)
def test_an_answer_that_breaks_the_format_is_a_500(answer: object) -> None:
    assert to_response(answer, "") == HttpResponse(
        500, [JSON], b'{"message": "Internal Server Error"}'
    )
