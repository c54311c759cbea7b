"""From a request to an API route: host, token, scope, content type, argument, result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from local.dropbox.accounts import Account
from local.dropbox.calls import Call, Download, Route
from local.dropbox.entries import Json
from local.dropbox.exchange import Request
from local.dropbox.grants import AccessToken, Grants
from local.dropbox.knobs import AppFolder, Connection
from local.dropbox.routes.table import ROUTES
from local.dropbox.wire import (
    JSON_TYPE,
    Refusal,
    Response,
    RouteError,
    bad_argument,
    bad_request,
    decoded,
    encoded,
    result,
    tagged_error,
    unauthorized,
)

PREFIX = "/2/"
_CORS = "text/plain; charset=dropbox-cors-hack"
_CONTENT_TYPES = {
    "rpc": (JSON_TYPE, f"{JSON_TYPE}; charset=utf-8", _CORS),
    "upload": ("application/octet-stream", _CORS),
    "download": ("", "text/plain", "text/plain; charset=utf-8", "application/octet-stream"),
}
_HEADER = 'HTTP header "Dropbox-API-Arg"'


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose call it is; `access` is None for the routes that take no token."""

    account: Account
    access: AccessToken


def find_route(request: Request) -> Route:
    """The route that this host has at this path, or a 404."""
    route = ROUTES.get(request.path.removeprefix(PREFIX))
    if route is None or route.domain != request.host:
        raise Refusal(Response(404, b"Not Found"))
    if request.method != "POST" and not (route.style == "download" and request.method == "GET"):
        raise bad_request("This API function only accepts POST requests.")
    return route


def authenticate(
    request: Request, route: Route, grants: Grants, accounts: Callable[[str], Account | None]
) -> Caller:
    header = request.headers.get("Authorization") or request.query.get("authorization", "")
    if not header:
        raise bad_request('Must provide HTTP header "Authorization" or URL parameter "authorization".')
    access = grants.access(header.removeprefix("Bearer ").strip())
    account = accounts(access.grant.account) if access else None
    if access is None or account is None or access.grant.is_revoked:
        raise unauthorized("invalid_access_token")
    knobs = account.knobs
    if knobs.app_disabled:
        raise bad_request("This app is currently disabled.")
    if knobs.connection is Connection.UNLINKED or knobs.app_folder is AppFolder.UNAUTHORIZED:
        raise unauthorized("invalid_access_token")
    if knobs.connection is Connection.SUSPENDED:
        raise unauthorized("user_suspended")
    if grants.is_expired(access):
        raise unauthorized("expired_access_token")
    if route.scope and route.scope not in access.scopes:
        raise unauthorized("missing_scope", required_scope=route.scope)
    return Caller(account, access)


def raw_argument(request: Request, route: Route, body: bytes) -> Any:
    """The JSON of the argument as it was sent, or a 400 in Dropbox's words."""
    _check_content_type(request, route)
    if route.style == "rpc":
        place, text = "request body", body
    else:
        place = _HEADER
        given = request.headers.get("Dropbox-API-Arg") or request.query.get("arg")
        if given is None:
            raise bad_request(f'Must provide {_HEADER} or URL parameter "arg".')
        if not given.isascii():
            raise bad_argument(route.name, place, "could not decode input as JSON")
        text = given.encode()
    if route.takes_nothing and not text:
        return None
    try:
        return decoded(text)
    except ValueError:
        raise bad_argument(route.name, place, "could not decode input as JSON") from None


def _check_content_type(request: Request, route: Route) -> None:
    given = request.headers.get("Content-Type", "")
    allowed = _CONTENT_TYPES[route.style]
    if given.lower() in allowed or (route.takes_nothing and not given):
        return
    expected = ", ".join(f'"{one}"' for one in allowed if one)
    raise bad_argument(
        route.name, f'Bad HTTP "Content-Type" header: "{given}"', f"Expecting one of {expected}"
    )


def run(
    route: Route, request: Request, caller: Caller, body: bytes, argument: Any, dots: int
) -> Response:
    place = "request body" if route.style == "rpc" else _HEADER
    try:
        decoded_argument = route.decode(argument)
    except ValueError as error:
        raise bad_argument(route.name, place, str(error)) from error
    account = caller.account
    call = Call(route.name, account, caller.access.grant, body, request.headers)
    try:
        if account.knobs.app_folder is AppFolder.CONFLICT and route.name.startswith("files/"):
            raise RouteError("path/not_found")
        answer = route.run(call, decoded_argument)
    except RouteError as error:
        return tagged_error(409, error.tags, error.error, dots=dots)
    if route.writes and account.knobs.app_folder is AppFolder.NOT_FOUND:
        account.set(app_folder=AppFolder.PRESENT)
    if isinstance(answer, Download):
        return _download(answer, request)
    return result(_with_news(account, answer))


def _with_news(account: Account, answer: Json | None) -> Json | None:
    if answer is not None and account.knobs.unknown_fields:
        return {**answer, "added_in_a_later_version": {"value": 1}}
    return answer


def _download(answer: Download, request: Request) -> Response:
    headers = {
        "Dropbox-API-Result": encoded(answer.result).decode(),
        "Original-Content-Length": str(len(answer.data)),
    }
    if answer.etag is not None:
        headers["Etag"] = f'W/"{answer.etag}"'
        if request.headers.get("If-None-Match") == headers["Etag"]:
            return Response(304, headers=headers)
    binary = "application/octet-stream"
    if not answer.ranges:
        return Response(200, answer.data, binary, headers)
    headers["Accept-Ranges"] = "bytes"
    part = _range(request.headers.get("Range", ""), len(answer.data))
    if part is None:
        return Response(200, answer.data, binary, headers)
    if part.start >= len(answer.data):
        headers["Content-Range"] = f"bytes */{len(answer.data)}"
        return Response(416, b"", binary, headers)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(answer.data)}"
    return Response(206, answer.data[part.start : part.stop], binary, headers)


def _range(header: str, size: int) -> range | None:
    """The one byte range of RFC 9110, section 14.1.2; anything else is ignored."""
    unit, _, spec = header.partition("=")
    first, dash, last = spec.partition("-")
    if unit != "bytes" or not dash or "," in spec or not (first or last).isdigit():
        return None
    if not first:
        return range(max(0, size - int(last)), size)
    return range(int(first), min(size, int(last) + 1) if last.isdigit() else size)
