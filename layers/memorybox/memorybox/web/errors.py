"""What goes wrong on a page, in plain words."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from memorybox.accounts.rates import LimitReached
from memorybox.errors import Refused, Unavailable
from memorybox.oauth.errors import Forbidden, OAuthError
from memorybox.web import oauth
from memorybox.web.html import message


def add_error_pages(app: Starlette) -> None:
    """Answer for each error that a route may raise."""
    handlers: Mapping[type[Exception], Any] = {  # Any: each takes its own kind of error
        Forbidden: _forbidden,
        Refused: _refused,
        LimitReached: _limited,
        Unavailable: _unavailable,
        OAuthError: oauth.refusal,
        HTTPException: _absent,
    }
    for error, handler in handlers.items():
        app.add_exception_handler(error, handler)


async def _forbidden(_request: Request, error: Forbidden) -> Response:
    return message("Please begin again", str(error), 403)


async def _refused(_request: Request, error: Refused) -> Response:
    return message("That did not work", str(error), 400)


async def _limited(_request: Request, error: LimitReached) -> Response:
    response = message("Not now", str(error), 429)
    response.headers["retry-after"] = str(error.seconds)
    return response


async def _unavailable(_request: Request, _error: Unavailable) -> Response:
    response = message("Please wait", "Something we need did not answer. Try again soon.", 503)
    response.headers["retry-after"] = "5"
    return response


async def _absent(request: Request, error: HTTPException) -> Response:
    text = "There is nothing at this address."
    response = _said(request.headers, "Not here", text, error.detail, error.status_code)
    response.headers.update(error.headers or {})
    return response


def failure(headers: Headers, reference: str) -> Response:
    """The answer to a request that broke something of ours."""
    text = f"Something went wrong on our side (reference {reference}). Try again in a minute."
    return _said(headers, "Something went wrong", text, text, 500)


def _said(headers: Headers, title: str, text: str, error: str, status: int) -> Response:
    """A page for a person, JSON for a program."""
    if "text/html" in headers.get("accept", ""):
        return message(title, text, status)
    return Response(json.dumps({"error": error}), status, media_type="application/json")
