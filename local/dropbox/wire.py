"""How Dropbox answers: results, route errors, and the refusals that every route shares."""

import json
from dataclasses import dataclass, field
from typing import Any

from local.dropbox.entries import Json

JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: bytes = b""
    content_type: str = TEXT_TYPE
    headers: dict[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """A call that is not done. It carries the whole answer."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"{response.status} {response.body.decode(errors='replace')}")
        self.response = response


class RouteError(Exception):
    """A 409 of the route's own error union, as `path/conflict/file`."""

    def __init__(self, tags: str, **fields: object) -> None:
        super().__init__(tags)
        self.tags, self.fields = tags, fields

    @property
    def error(self) -> Json:
        return union(self.tags, **self.fields)


class UploadError(RouteError):
    """The 409 of files/upload alone: its `path` is a struct, so the reason sits inside, flat."""

    @property
    def error(self) -> Json:
        tag, _, reason = self.tags.partition("/")
        return {".tag": tag, "reason": union(reason), **self.fields}


def union(tags: str, **fields: object) -> Json:
    """`a/b` as nested unions, the fields of a struct flat in the innermost."""
    outer, *inner = tags.split("/", 1)
    return {".tag": outer, outer: union(inner[0], **fields)} if inner else {".tag": outer, **fields}


def encoded(value: object) -> bytes:
    return json.dumps(value).encode("ascii")


def result(value: object) -> Response:
    return Response(200, encoded(value), JSON_TYPE)


def tagged_error(status: int, tags: str, error: Json, *, dots: int, **headers: str) -> Response:
    body = encoded({"error_summary": f"{tags}/{'.' * dots}", "error": error})
    return Response(status, body, JSON_TYPE, headers)


def bad_request(text: str) -> Refusal:
    return Refusal(Response(400, text.encode()))


def bad_argument(route: str, place: str, text: str) -> Refusal:
    return bad_request(f'Error in call to API function "{route}": {place}: {text}')


def unauthorized(tags: str, **fields: object) -> Refusal:
    body = encoded({"error_summary": f"{tags}/", "error": union(tags, **fields)})
    challenge = {"Www-Authenticate": 'Bearer realm="Dropbox-API"'}
    return Refusal(Response(401, body, JSON_TYPE, challenge))


def too_many(reason: str, retry_after: int) -> Refusal:
    """The recorded form: the wait is in the header only."""
    body = {"error_summary": f"{reason}/..", "error": {"reason": {".tag": reason}}}
    return Refusal(Response(429, encoded(body), JSON_TYPE, {"Retry-After": str(retry_after)}))


def decoded(data: bytes) -> Any:
    """The JSON value of a body or header; raises ValueError."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
