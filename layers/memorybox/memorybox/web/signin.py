"""The pages of a sign-in: the client's request, the person's consent, the way back from Dropbox."""

import logging

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from memorybox.accounts.model import AccountId
from memorybox.errors import Refused, Unavailable
from memorybox.oauth.authorize import SendTo
from memorybox.oauth.parameters import Parameters
from memorybox.web.bodies import read_query
from memorybox.web.consent import consent_page
from memorybox.web.cookies import Cookies
from memorybox.web.forms import own_form, redirect
from memorybox.web.services import Services

_log = logging.getLogger(__name__)


def router(services: Services) -> APIRouter:
    routes = APIRouter()
    cookies = Cookies.of(services.issuer)

    async def authorize(request: Request) -> Response:
        query, browser = _query(request), cookies.form.read(request)
        outcome = await run_in_threadpool(
            lambda: services.authorizations().begin(query, browser=browser)
        )
        if isinstance(outcome, SendTo):
            return redirect(302, outcome.url)
        response = consent_page(outcome)
        cookies.form.set(response, outcome.browser)
        return response

    async def consent(request: Request) -> Response:
        form = await own_form(request, services.perimeter)
        form_token, form_browser = form.get("token") or "", cookies.form.read(request)
        if form.get("decision") != "approve":
            denied = await run_in_threadpool(
                lambda: services.authorizations().deny(
                    form_token=form_token, form_browser=form_browser
                )
            )
            return redirect(303, denied.url)
        approved = await run_in_threadpool(
            lambda: services.authorizations().approve(
                form_token=form_token,
                form_browser=form_browser,
                browser=cookies.approval.read(request),
                read_only=form.get("access") == "read",
                workspaces=form.get("workspaces") or "",
            )
        )
        response = redirect(303, approved.url)
        cookies.approval.set(response, approved.browser)
        return response

    async def dropbox_callback(request: Request) -> Response:
        query, browser = _query(request), cookies.approval.read(request)
        outcome = await run_in_threadpool(
            lambda: services.authorizations().complete(
                state=query.get("state") or "",
                browser=browser,
                code=query.get("code"),
            )
        )
        if outcome.signed_in is not None:
            await run_in_threadpool(_announce, services, outcome.signed_in)
        if isinstance(outcome, SendTo):
            return redirect(302, outcome.url)
        account = outcome.account
        visit = await run_in_threadpool(lambda: services.visits().begin(account))
        response = redirect(302, f"{services.issuer.url}/account")
        cookies.visit.set(response, visit)
        return response

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
        return read_query(request)
    except ValueError:
        raise Refused("The request of the program that sent you here is not readable.") from None
