"""Payload format 2.0: what an HTTP API makes of a request, and of a function's answer.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

MAX_HEAD: Final = 10_240  # bytes of request line and headers
MAX_BODY: Final = 10 * 1024 * 1024

_TEXT: Final = frozenset({"application/javascript", "application/json", "application/xml"})


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it came over the wire."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    source_ip: str

    @property
    def path(self) -> str:
        """Decoded, as the gateway hands it on: `%2F` is a slash by then."""
        return unquote(self.target.partition("?")[0])


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    @classmethod
    def message(cls, status: HTTPStatus, text: str) -> "HttpResponse":
        """An answer of the gateway itself."""
        body = json.dumps({"message": text}).encode()
        return cls(status, [("content-type", "application/json")], body)


def head_size(request: HttpRequest) -> int:
    """What counts against MAX_HEAD."""
    line = len(f"{request.method} {request.target} HTTP/1.1\r\n")
    return line + sum(len(f"{name}: {value}\r\n") for name, value in request.headers)


def route_key(request: HttpRequest, routes: Iterable[str]) -> str:
    """The route that takes the request: `METHOD /path`, or `$default`."""
    key = f"{request.method} {request.path}"
    return key if key in routes else "$default"


def to_event(request: HttpRequest, route: str, request_id: str, now: datetime) -> dict[str, Any]:
    """The event for the function behind `route`."""
    headers = _joined(request.headers)
    cookies = headers.pop("cookie", None)
    host = headers.get("host", "")
    _, _, query = request.target.partition("?")
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": request.path,
        "rawQueryString": query,
        "headers": headers | _forwarded(headers, request.source_ip, host),
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": host.partition(":")[0],
            "domainPrefix": host.partition(".")[0],
            "http": {
                "method": request.method,
                "path": request.path,
                "protocol": "HTTP/1.1",
                "sourceIp": request.source_ip,
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": request_id,
            "routeKey": route,
            "stage": "$default",
            "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "timeEpoch": int(now.timestamp() * 1000),
        },
        "isBase64Encoded": False,
    }
    if cookies is not None:
        event["cookies"] = [cookie.strip() for cookie in cookies.split(";")]
    if parameters := _joined(parse_qsl(query, keep_blank_values=True), lower=False):
        event["queryStringParameters"] = parameters
    if request.body and _is_text(headers.get("content-type", "")):
        event["body"] = request.body.decode(errors="replace")
    elif request.body:
        event["body"] = base64.b64encode(request.body).decode()
        event["isBase64Encoded"] = True
    return event


def to_response(answer: object, request_id: str) -> HttpResponse:
    """The response for a function's answer. One that breaks the format is a 500."""
    try:
        return _response(answer, request_id)
    except (AttributeError, TypeError, ValueError, binascii.Error):
        return HttpResponse.message(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal Server Error")


def _response(answer: Any, request_id: str) -> HttpResponse:
    identity = ("apigw-requestid", request_id)
    if not isinstance(answer, dict) or "statusCode" not in answer:
        body = json.dumps(answer).encode()
        return HttpResponse(200, [("content-type", "application/json"), identity], body)
    headers = [
        (name.lower(), _text(value)) for name, value in (answer.get("headers") or {}).items()
    ]
    cookies = [("set-cookie", cookie) for cookie in answer.get("cookies") or []]
    body = (answer.get("body") or "").encode()
    if answer.get("isBase64Encoded"):
        body = base64.b64decode(body, validate=True)
    return HttpResponse(int(answer["statusCode"]), [*headers, *cookies, identity], body)


def _text(value: object) -> str:
    """Header values may be numbers and booleans."""
    return value if isinstance(value, str) else json.dumps(value)


def _joined(pairs: Iterable[tuple[str, str]], *, lower: bool = True) -> dict[str, str]:
    """Repeated names become one, their values joined with commas."""
    joined: dict[str, str] = {}
    for given, value in pairs:
        name = given.lower() if lower else given
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _forwarded(headers: dict[str, str], source_ip: str, host: str) -> dict[str, str]:
    before = headers.get("x-forwarded-for")
    return {
        "x-forwarded-for": f"{before}, {source_ip}" if before else source_ip,
        "x-forwarded-port": host.rpartition(":")[2] if ":" in host else "80",
        "x-forwarded-proto": "http",
    }


def _is_text(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind in _TEXT
