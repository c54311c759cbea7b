"""The pages of a sign-in: the client's request, the person's consent, the way back from Dropbox."""

import logging

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from memorybox.accounts.model import AccountId
from memorybox.errors import Refused, Unavailable
from memorybox.oauth.authorize import SendTo
from memorybox.oauth.errors import Forbidden
from memorybox.oauth.parameters import Parameters
from memorybox.web.bodies import read_form
from memorybox.web.consent import consent_page
from memorybox.web.cookies import Cookie
from memorybox.web.services import Services

_log = logging.getLogger(__name__)


def router(services: Services) -> APIRouter:
    routes = APIRouter()
    is_https = services.issuer.url.startswith("https:")
    # The first is set by whoever sends the browser here, the second by the person's consent alone.
    form_cookie = Cookie("form", is_https=is_https)
    approval_cookie = Cookie("approval", is_https=is_https)

    async def authorize(request: Request) -> Response:
        query, browser = _query(request), form_cookie.read(request)
        outcome = await run_in_threadpool(
            lambda: services.authorizations().begin(query, browser=browser)
        )
        if isinstance(outcome, SendTo):
            return _redirect(302, outcome.url)
        response = consent_page(outcome)
        form_cookie.set(response, outcome.browser)
        return response

    async def consent(request: Request) -> Response:
        if not services.perimeter.admits_origin(request.headers.get("origin")):
            raise Forbidden("This form was sent from another site.")
        form = await _form(request)
        form_token, form_browser = form.get("token") or "", form_cookie.read(request)
        if form.get("decision") != "approve":
            denied = await run_in_threadpool(
                lambda: services.authorizations().deny(
                    form_token=form_token, form_browser=form_browser
                )
            )
            return _redirect(303, denied.url)
        approved = await run_in_threadpool(
            lambda: services.authorizations().approve(
                form_token=form_token,
                form_browser=form_browser,
                browser=approval_cookie.read(request),
                read_only=form.get("access") == "read",
            )
        )
        response = _redirect(303, approved.url)
        approval_cookie.set(response, approved.browser)
        return response

    async def dropbox_callback(request: Request) -> Response:
        query, browser = _query(request), approval_cookie.read(request)
        outcome = await run_in_threadpool(
            lambda: services.authorizations().complete(
                state=query.get("state") or "",
                browser=browser,
                code=query.get("code"),
            )
        )
        if outcome.signed_in is not None:
            await run_in_threadpool(_announce, services, outcome.signed_in)
        return _redirect(302, outcome.url)

    routes.add_api_route("/authorize", authorize)
    routes.add_api_route("/consent", consent, methods=["POST"])
    routes.add_api_route("/dropbox/callback", dropbox_callback)
    return routes


def _announce(services: Services, account_id: AccountId) -> None:
    """A first index that does not begin now begins with the first search."""
    try:
        services.signed_in(account_id)
    except Unavailable:
        _log.warning("A sign-in could not be announced")


def _query(request: Request) -> Parameters:
    try:
        return Parameters.parse(request.scope["query_string"].decode("ascii"))
    except ValueError:
        raise Refused("The request of the program that sent you here is not readable.") from None


async def _form(request: Request) -> Parameters:
    try:
        return await read_form(request)
    except ValueError:
        raise Refused("This form is not readable.") from None


def _redirect(status: int, url: str) -> Response:
    """302 after a GET, 303 after a POST; never one that would send a form on."""
    return Response(status_code=status, headers={"location": url})
