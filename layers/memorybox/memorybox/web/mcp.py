"""POST /mcp: who may call, and the way to the sign-in for those who may not."""

import json
import logging
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memorybox.errors import SignInEnded, Unavailable
from memorybox.mcp.messages import MAX_BODY_BYTES
from memorybox.mcp.server import Answer, InsufficientScope
from memorybox.oauth.errors import Unauthorized
from memorybox.oauth.model import Grant
from memorybox.web.bodies import read
from memorybox.web.services import Services

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_PREFLIGHT = {
    "access-control-allow-methods": "POST, OPTIONS",
    "access-control-allow-headers": (
        "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, "
        "mcp-session-id, last-event-id"
    ),
    "access-control-max-age": "3600",
}
_FOREIGN_ORIGIN = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Origin not allowed"}}

_log = logging.getLogger(__name__)


def routes(services: Services) -> list[Route]:
    """One endpoint under both spellings: a redirect would cost a client its body or its token."""

    async def endpoint(request: Request) -> Response:
        origin = request.headers.get("origin")
        if not services.perimeter.admits_origin(origin):
            return _json(403, _FOREIGN_ORIGIN)
        answer = await _answer(services, request)
        if origin is not None:
            answer.headers["access-control-allow-origin"] = origin
            answer.headers["access-control-expose-headers"] = "WWW-Authenticate, Retry-After"
            answer.headers["vary"] = "Origin"
        return answer

    return [Route(path, endpoint, methods=_METHODS) for path in ("/mcp", "/mcp/")]


async def _answer(services: Services, request: Request) -> Response:
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=_PREFLIGHT)
    try:
        grant = await run_in_threadpool(_checked, services, request.headers.get("authorization"))
        if request.method != "POST":
            return Response(status_code=405, headers={"allow": "POST, OPTIONS"})
        body = await read(request, MAX_BODY_BYTES)
        answer = await run_in_threadpool(_served, services, grant, _headers(request), body)
        return Response(answer.body, answer.status, answer.headers)
    except Unauthorized as error:
        _log.info("A call was refused", extra={"reason": error.reason})
        return _challenge(services, 401, "invalid_token" if error.presented else None)
    except InsufficientScope:
        return _challenge(services, 403, "insufficient_scope")
    except Unavailable:
        return _json(503, {"error": "temporarily_unavailable"}, {"retry-after": "5"})


def _checked(services: Services, authorization: str | None) -> Grant:
    return services.tokens().check(authorization)


def _served(services: Services, grant: Grant, headers: Mapping[str, str], body: bytes) -> Answer:
    try:
        return services.mcp(grant).answer(headers, body, grant.scopes)
    except SignInEnded:
        services.tokens().end_all(grant)
        raise Unauthorized("Dropbox no longer lets us in", presented=True) from None


def _headers(request: Request) -> Mapping[str, str]:
    """One value for each name, as RFC 9110, section 5.2, joins them."""
    names = request.headers.keys()
    return {name: ", ".join(request.headers.getlist(name)) for name in names}


def _challenge(services: Services, status: int, error: str | None) -> Response:
    issuer = services.issuer
    body = issuer.challenge_body(error or "unauthorized")
    return _json(status, body, {"www-authenticate": issuer.challenge(error)})


def _json(
    status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> Response:
    compact = json.dumps(body, separators=(",", ":"))
    return Response(compact, status, headers, media_type="application/json")
