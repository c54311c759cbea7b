"""Every HTTP route, on one application."""

from fastapi import FastAPI

from memorybox.web import account, mcp, oauth, pages, signin
from memorybox.web.door import Door
from memorybox.web.errors import add_error_pages
from memorybox.web.services import Services


def create_app(services: Services) -> FastAPI:
    """The application. It makes no URL from a request: all are made from the issuer's."""
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    for area in (pages, mcp, oauth, signin, account):
        app.include_router(area.router(services))
    add_error_pages(app)
    app.add_middleware(
        Door,
        perimeter=services.perimeter,
        is_https=services.issuer.url.startswith("https:"),
        references=services.references,
    )
    return app
