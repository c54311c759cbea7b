"""A person's own pages: what is kept of them, who may use it, and the way out."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from memorybox.accounts.model import AccountId
from memorybox.errors import Refused, SignInEnded
from memorybox.oauth.visits import form_token_of
from memorybox.web.account_pages import (
    MOST_WRITTEN,
    account_page,
    deletion_page,
    door_page,
    receipt_page,
)
from memorybox.web.cookies import Cookies
from memorybox.web.forms import own_form, redirect
from memorybox.web.services import Services

PATH = "/account"


def router(services: Services) -> APIRouter:
    own = _OwnPages(services, Cookies.of(services.issuer))
    routes = APIRouter()
    routes.add_api_route(PATH, own.show)
    routes.add_api_route(f"{PATH}/delete", own.ask_to_delete)
    for path, action in (
        ("sign-in", own.sign_in),
        ("sign-out", own.sign_out),
        ("clients", own.change_client),
        ("delete", own.delete),
    ):
        routes.add_api_route(f"{PATH}/{path}", action, methods=["POST"])
    return routes


@dataclass(frozen=True, slots=True)
class _OwnPages:
    services: Services
    cookies: Cookies

    async def show(self, request: Request) -> Response:
        return await self._shown(request, self._overview)

    async def ask_to_delete(self, request: Request) -> Response:
        return await self._shown(request, lambda _, token: deletion_page(token))

    async def sign_in(self, request: Request) -> Response:
        await own_form(request, self.services.perimeter)
        browser = self.cookies.approval.read(request)
        to_dropbox = await run_in_threadpool(
            lambda: self.services.authorizations().visit(browser=browser)
        )
        response = redirect(303, to_dropbox.url)
        self.cookies.approval.set(response, to_dropbox.browser)
        return response

    async def sign_out(self, request: Request) -> Response:
        await own_form(request, self.services.perimeter)
        cookie = self.cookies.visit.read(request)
        await run_in_threadpool(lambda: self.services.visits().end(cookie))
        response = redirect(303, PATH)
        self.cookies.visit.clear(response)
        return response

    async def change_client(self, request: Request) -> Response:
        form = await own_form(request, self.services.perimeter)
        token, grant_id, change = (form.get(name) or "" for name in ("token", "client", "change"))
        cookie = self.cookies.visit.read(request)

        def work() -> None:
            account = self.services.visits().checked(cookie, token)
            match change:
                case "disconnect":
                    self.services.connected().disconnect(account, grant_id)
                case "limit":
                    self.services.connected().limit(account, grant_id)
                case _:
                    raise Refused("This form is not readable.")

        await run_in_threadpool(work)
        return redirect(303, PATH)

    async def delete(self, request: Request) -> Response:
        form = await own_form(request, self.services.perimeter)
        cookie = self.cookies.visit.read(request)

        def work() -> Response:
            account = self.services.visits().checked(cookie, form.get("token") or "")
            receipt = self.services.deletion().delete(account)
            self.services.visits().end(cookie)
            return receipt_page(receipt)

        response = await run_in_threadpool(work)
        self.cookies.visit.clear(response)
        return response

    async def _shown(
        self, request: Request, page: Callable[[AccountId, str], Response]
    ) -> Response:
        """A page for whoever is signed in; for others, the way to sign in."""
        cookie = self.cookies.visit.read(request)
        account = await run_in_threadpool(lambda: self.services.visits().account(cookie))
        if account is None or cookie is None:
            return door_page()
        return await run_in_threadpool(page, account, form_token_of(cookie))

    def _overview(self, account: AccountId, token: str) -> Response:
        try:
            stored = self.services.connections().check(account)
            overview, spent = self.services.overview(account)
        except SignInEnded:
            return door_page()
        written = self.services.written(account)[:MOST_WRITTEN]
        name_of = self.services.clients().name_of
        return account_page(
            name=stored.name,
            token=token,
            overview=overview,
            spent=spent,
            cap=self.services.monthly_tokens,
            price=self.services.token_price,
            clients=self.services.connected().of(account),
            written=written,
            names={client_id: name_of(client_id) for client_id in {w.client_id for w in written}},
            folder=self.services.dropbox_folder,
            today=self.services.clock.now().date(),
        )
