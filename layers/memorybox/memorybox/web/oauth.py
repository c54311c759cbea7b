"""What clients call to find us and to get tokens. Open to every origin: no cookie is read here."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memorybox.accounts.rates import LimitReached
from memorybox.errors import Unavailable
from memorybox.oauth.clients import MAX_METADATA_BYTES
from memorybox.oauth.errors import OAuthError
from memorybox.oauth.parameters import Parameters
from memorybox.web.bodies import read, read_form
from memorybox.web.services import Services

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

_OPEN = {"access-control-allow-origin": "*"}
_PREFLIGHT = {
    **_OPEN,
    "access-control-allow-methods": "GET, POST, OPTIONS",
    "access-control-allow-headers": "authorization, content-type, mcp-protocol-version",
    "access-control-max-age": "3600",
}
_METADATA = {**_OPEN, "cache-control": "max-age=3600"}

_RESOURCE_PATHS = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
)
_SERVER_PATHS = (
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/openid-configuration",
)


def routes(services: Services) -> list[Route]:
    async def register(request: Request) -> Response:
        body = await read(request, MAX_METADATA_BYTES)
        return _json(await _run(lambda: services.clients().register(body)), 201)

    async def token(request: Request) -> Response:
        form, authorization = await _form(request), request.headers.get("authorization")
        return _json(await _run(lambda: services.tokens().issue(form, authorization)))

    async def revoke(request: Request) -> Response:
        form, authorization = await _form(request), request.headers.get("authorization")
        await _run(lambda: services.tokens().revoke(form, authorization))
        return Response(headers=_OPEN)

    documents = {
        **dict.fromkeys(_RESOURCE_PATHS, services.issuer.resource_document()),
        **dict.fromkeys(_SERVER_PATHS, services.issuer.server_document()),
    }
    endpoints = {"/register": register, "/token": token, "/revoke": revoke}
    return [
        *(Route(path, _showing(document), methods=["GET"]) for path, document in documents.items()),
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in endpoints.items()),
        *(Route(path, _preflight, methods=["OPTIONS"]) for path in (*documents, *endpoints)),
    ]


async def refusal(request: Request, error: OAuthError) -> Response:
    """An error as RFC 6749, section 5.2, has it: the code, and not how we came to it."""
    _log.info("A request was refused", extra={"code": error.code, "reason": error.reason})
    headers: dict[str, str] = {}
    if error.code == "invalid_client" and "authorization" in request.headers:
        headers["www-authenticate"] = 'Basic realm="memorybox"'
    if error.code == "temporarily_unavailable":
        headers["retry-after"] = str(error.retry_after)
    return _json({"error": error.code}, error.status, headers=_OPEN | headers)


def _showing(document: Mapping[str, object]) -> Callable[[Request], Awaitable[Response]]:
    async def show(_: Request) -> Response:
        return _json(document, headers=_METADATA)

    return show


async def _preflight(_: Request) -> Response:
    return Response(status_code=204, headers=_PREFLIGHT)


async def _form(request: Request) -> Parameters:
    try:
        return await read_form(request)
    except ValueError as error:
        raise OAuthError("invalid_request", str(error)) from None


async def _run(work: Callable[[], _T]) -> _T:
    """Trouble of ours is not the client's: on any other error it would drop its tokens."""
    try:
        return await run_in_threadpool(work)
    except LimitReached as reached:
        raise OAuthError(
            "temporarily_unavailable", str(reached), status=429, retry_after=reached.seconds
        ) from reached
    except Unavailable as error:
        raise OAuthError("temporarily_unavailable", str(error), status=503) from error


def _json(
    body: Mapping[str, object], status: int = 200, *, headers: Mapping[str, str] = _OPEN
) -> Response:
    return Response(json.dumps(body), status, headers, media_type="application/json")
