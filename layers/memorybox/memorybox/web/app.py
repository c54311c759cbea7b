"""Every HTTP route: what programs call, and the pages for people."""

from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from memorybox.web import mcp, oauth
from memorybox.web.door import Door
from memorybox.web.errors import add_error_pages
from memorybox.web.services import Services

if TYPE_CHECKING:
    from fastapi import FastAPI

_App = TypeVar("_App", bound=Starlette)


class Application:
    """All addresses. It makes no URL from a request: all are made from the issuer's.

    What programs call, at every turn of a conversation, is on Starlette alone. FastAPI takes longer
    to load than the rest of the function, so it comes with `pages()`: at the first request for one.
    """

    def __init__(self, services: Services) -> None:
        routes = [*mcp.routes(services), *oauth.routes(services)]
        self._program_paths = frozenset(route.path for route in routes)
        self._programs = _furnished(Starlette(routes=routes), services)
        self.pages = cache(partial(_pages, services))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_program = scope.get("path") in self._program_paths
        app = self._programs if is_program else self.pages()
        await app(scope, receive, send)


def _pages(services: Services) -> "FastAPI":
    """All that is not called by programs, and so what is at no address."""
    from fastapi import FastAPI

    from memorybox.web import account, pages, signin

    app = FastAPI(openapi_url=None, redirect_slashes=False)
    for area in (pages, signin, account):
        app.include_router(area.router(services))
    return _furnished(app, services)


def _furnished(app: _App, services: Services) -> _App:
    """With what is the same at every address."""
    add_error_pages(app)
    app.add_middleware(
        Door,
        perimeter=services.perimeter,
        is_https=services.issuer.url.startswith("https:"),
        clock=services.clock,
        references=services.references,
    )
    return app
