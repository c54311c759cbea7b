"""From a request to an API route: host, token, scope, content type, argument."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from local.dropbox.accounts import Account
from local.dropbox.calls import Call, Download, Route
from local.dropbox.downloads import download_response
from local.dropbox.entries import Json
from local.dropbox.exchange import Request, Visit
from local.dropbox.grants import AccessToken, Grants
from local.dropbox.handouts import Handouts
from local.dropbox.knobs import AppFolder, Connection
from local.dropbox.listing import Cursor, CursorMalformed
from local.dropbox.roots import check_path_root
from local.dropbox.routes.table import ROUTES
from local.dropbox.wire import (
    JSON_TYPE,
    Refusal,
    Response,
    RouteError,
    bad_argument,
    bad_request,
    decoded,
    result,
    tagged_error,
    unauthorized,
)

_PREFIX = "/2/"
_CORS = "text/plain; charset=dropbox-cors-hack"
_CONTENT_TYPES = {
    "rpc": (JSON_TYPE, f"{JSON_TYPE}; charset=utf-8", _CORS),
    "upload": ("application/octet-stream", _CORS),
    "download": ("", "text/plain", "text/plain; charset=utf-8", "application/octet-stream"),
}
_HEADER = 'HTTP header "Dropbox-API-Arg"'
_UNSIGNED = 'Must provide HTTP header "Authorization" or URL parameter "authorization".'
_METADATA = "files/get_metadata"
_MOST_DOTS = 3


def route_name(request: Request) -> str:
    """`files/upload`, also for what is no API route: `oauth2/token`."""
    return request.path.removeprefix(_PREFIX).lstrip("/")


@dataclass(frozen=True, slots=True)
class Api:
    grants: Grants
    accounts: Mapping[str, Account]
    handouts: Handouts
    random: Random

    def account_of(self, request: Request) -> Account | None:
        """Whose token it carries, whether or not it is still good."""
        access = self.grants.access(_bearer(request))
        return self.accounts.get(access.grant.account) if access else None

    def answer(self, visit: Visit) -> Response:
        request = visit.request
        body = request.body()
        route = _found(request)
        access = self._access(visit, route) if route.needs_token else None
        visit.argument = _argument(request, route, body)
        argument = _decoded(route, visit.argument)
        account = visit.account if access else self._owner(argument)
        if account is None:
            raise bad_argument(route.name, _place(route), "cursor: unsupported cursor type")
        call = Call(
            route=route.name,
            place=_place(route),
            account=account,
            revoke=lambda: self.grants.revoke(access.grant) if access else None,
            body=body,
            handouts=self.handouts,
        )
        try:
            answer = _run(route, call, argument)
        except RouteError as error:
            dots = self.random.randint(0, _MOST_DOTS)
            return tagged_error(409, error.tags, error.error, dots=dots)
        if isinstance(answer, Download):
            return download_response(answer, request)
        return result(_with_news(account, answer))

    def _access(self, visit: Visit, route: Route) -> AccessToken:
        bearer = _bearer(visit.request)
        if not bearer:
            raise bad_request(_UNSIGNED)
        access = self.grants.access(bearer)
        if access is None or visit.account is None or access.grant.is_revoked:
            raise unauthorized("invalid_access_token")
        _check_connection(visit.account)
        if self.grants.is_expired(access):
            raise unauthorized("expired_access_token")
        if route.scope and route.scope not in access.scopes:
            raise unauthorized("missing_scope", required_scope=route.scope)
        check_path_root(visit.request, visit.account)
        return access

    def _owner(self, argument: Any) -> Account | None:
        """Whose cursor a call without a token carries."""
        try:
            return self.accounts.get(Cursor.parse(argument.cursor).account)
        except CursorMalformed:
            return None


def _bearer(request: Request) -> str:
    header = request.headers.get("Authorization") or request.query.get("authorization", "")
    return header.removeprefix("Bearer ").strip()


def _found(request: Request) -> Route:
    route = ROUTES.get(route_name(request))
    if route is None or route.domain != request.host:
        raise Refusal(Response(404, b"Not Found"))
    if request.method != "POST" and not (route.style == "download" and request.method == "GET"):
        raise bad_request("This API function only accepts POST requests.")
    return route


def _check_connection(account: Account) -> None:
    if account.knobs.app_disabled:
        raise bad_request("This app is currently disabled.")
    if account.knobs.connection is Connection.SUSPENDED:
        raise unauthorized("user_suspended")
    if (
        account.knobs.connection is Connection.UNLINKED
        or account.knobs.app_folder is AppFolder.UNAUTHORIZED
    ):
        raise unauthorized("invalid_access_token")


def _place(route: Route) -> str:
    return "request body" if route.style == "rpc" else _HEADER


def _argument(request: Request, route: Route, body: bytes) -> Any:
    """The JSON of the argument as it was sent, or a 400 in Dropbox's words."""
    _check_content_type(request, route)
    text = body if route.style == "rpc" else _header_argument(request, route)
    if route.takes_nothing and not text:
        return None
    try:
        return decoded(text)
    except ValueError:
        raise _undecodable(route) from None


def _header_argument(request: Request, route: Route) -> bytes:
    given = request.headers.get("Dropbox-API-Arg") or request.query.get("arg")
    if given is None:
        raise bad_request(f'Must provide {_HEADER} or URL parameter "arg".')
    if not given.isascii():
        raise _undecodable(route)
    return given.encode()


def _undecodable(route: Route) -> Refusal:
    return bad_argument(route.name, _place(route), "could not decode input as JSON")


def _check_content_type(request: Request, route: Route) -> None:
    given = request.headers.get("Content-Type", "")
    allowed = _CONTENT_TYPES[route.style]
    if given.lower() in allowed or (route.takes_nothing and not given):
        return
    expected = ", ".join(f'"{one}"' for one in allowed if one)
    place = f'Bad HTTP "Content-Type" header: "{given}"'
    raise bad_argument(route.name, place, f"Expecting one of {expected}")


def _decoded(route: Route, argument: Any) -> Any:
    if route.name == _METADATA and isinstance(argument, dict) and argument.get("path") == "":
        # Its pattern does not take the root either, but this is what the service says.
        raise bad_argument(route.name, _place(route), "path: The root folder is unsupported.")
    try:
        return route.decode(argument)
    except ValueError as error:
        raise bad_argument(route.name, _place(route), str(error)) from error


def _run(route: Route, call: Call, argument: Any) -> Json | Download | None:
    account = call.account
    if account.knobs.app_folder is AppFolder.CONFLICT and route.name.startswith("files/"):
        raise RouteError("path/not_found")
    answer = route.run(call, argument)
    if route.writes and account.knobs.app_folder is AppFolder.NOT_FOUND:
        account.set(app_folder=AppFolder.PRESENT)
    return answer


def _with_news(account: Account, answer: Json | None) -> Json | None:
    if answer is not None and account.knobs.unknown_fields:
        return {**answer, "added_in_a_later_version": {"value": 1}}
    return answer
