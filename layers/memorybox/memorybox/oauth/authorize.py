"""An authorization, from the client's request to the code it gets.

The browser goes three steps: the client sends it to `begin`, which asks the person; `approve` takes
the answer and sends it on to Dropbox; Dropbox sends it to `complete`, which sends it back to the
client. A person who wants to see their own account goes to Dropbox straight from `visit`. Each step
is tied to the one before by a random value in the page or address and by a cookie, and both must
fit: so nobody can be made to finish what another began.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from memorybox.accounts.model import Account, AccountId
from memorybox.accounts.rates import LimitReached
from memorybox.accounts.service import Connections
from memorybox.clock import Clock
from memorybox.errors import Refused, SignInEnded, Unavailable
from memorybox.oauth.clients import Clients
from memorybox.oauth.errors import Forbidden, OAuthError
from memorybox.oauth.metadata import Issuer, scopes_of
from memorybox.oauth.model import (
    READ,
    AuthorizationCode,
    AuthorizationRequest,
    Client,
    Scopes,
    Step,
    Transaction,
)
from memorybox.oauth.opaque import (
    SECRET_LENGTH,
    Random,
    challenge_of,
    digest,
    new_id,
    new_secret,
    same,
)
from memorybox.oauth.parameters import Parameters
from memorybox.oauth.redirects import is_allowed, is_registered, with_answer
from memorybox.oauth.store import CodeStore, TransactionStore
from memorybox.oauth.workspaces import workspaces_of

STEP_LIFE = timedelta(minutes=10)
CODE_LIFE = timedelta(seconds=60)
CODE_MEMORY = timedelta(minutes=10)
READ_ONLY: Scopes = frozenset({READ})

_TOO_LATE = (
    "This page is too old, was used before, or was opened in another browser. "
    "Go back to your assistant and connect again."
)
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_COOKIE = re.compile(rf"[A-Za-z0-9_-]{{{SECRET_LENGTH}}}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SendTo:
    """Redirect the browser to the client. `signed_in` is set once a sign-in is complete."""

    url: str
    signed_in: AccountId | None = None


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Show the consent page, with `form_token` in its form and `browser` in a cookie."""

    client: Client
    request: AuthorizationRequest
    form_token: str
    browser: str


@dataclass(frozen=True, slots=True)
class GoToDropbox:
    """Redirect the browser to Dropbox, with `browser` in a cookie."""

    url: str
    browser: str


@dataclass(frozen=True, slots=True)
class ShowAccount:
    """Show the person their own account."""

    account: Account

    @property
    def signed_in(self) -> AccountId:
        return self.account.id


@dataclass(frozen=True, slots=True)
class Authorizations:
    """The authorization endpoint and what follows it."""

    issuer: Issuer
    clients: Clients
    transactions: TransactionStore
    codes: CodeStore
    connections: Connections
    clock: Clock
    random: Random

    def begin(self, query: Parameters, *, browser: str | None) -> AskPerson | SendTo:
        """Check a request to /authorize. `browser` is the form cookie, if the browser has one.

        Raises Refused where it would be wrong to send the browser anywhere (RFC 6749, 4.1.2.1).
        """
        if query.repeated & {"client_id", "redirect_uri"}:
            raise Refused("The request of the program that sent you here is ambiguous.")
        redirect_uri = query.get("redirect_uri") or ""
        if not is_allowed(redirect_uri):
            raise _not_registered()  # before a document is fetched for it
        client = self.clients.asking(query.get("client_id"))
        if not is_registered(redirect_uri, client.redirect_uris):
            raise _not_registered()
        try:
            request = self._checked(client, redirect_uri, query)
        except OAuthError as error:
            _log.info("An authorization request was refused", extra={"reason": str(error)})
            return self._failed(redirect_uri, query.get("state"), error.code)
        token = new_secret(self.random)
        cookie = self._cookie(browser)
        self._add(Step.CONSENT, token, cookie, request)
        return AskPerson(client, request, token, cookie)

    def approve(
        self,
        *,
        form_token: str,
        form_browser: str | None,
        browser: str | None,
        read_only: bool,
        workspaces: str = "",
    ) -> GoToDropbox:
        """The person agrees. `browser` is the cookie of an earlier approval, if there is one.

        `workspaces` are names with commas between them. Raises Refused if they cannot be.
        """
        named = workspaces_of(workspaces)
        request = self._asked(form_token, form_browser)
        scopes = READ_ONLY if read_only else request.scopes
        return self._go_to_dropbox(browser, replace(request, scopes=scopes, workspaces=named))

    def visit(self, *, browser: str | None) -> GoToDropbox:
        """The person wants to see their own account, and Dropbox tells who they are."""
        return self._go_to_dropbox(browser, None)

    def deny(self, *, form_token: str, form_browser: str | None) -> SendTo:
        """The person does not agree."""
        request = self._asked(form_token, form_browser)
        return self._failed(request.redirect_uri, request.state, "access_denied")

    def complete(
        self, *, state: str, browser: str | None, code: str | None
    ) -> SendTo | ShowAccount:
        """Dropbox sent the browser back, with a code or without one.

        Raises Refused, and stores nothing, if Dropbox granted less than is needed, and LimitReached
        if too many people are new today.
        """
        request = self._take(Step.DROPBOX, state, browser)
        verifier = _verifier(state, browser or "")
        if request is None:
            return self._visited(code, verifier)
        if not code:
            return self._failed(request.redirect_uri, request.state, "access_denied")
        try:
            account = self.connections.sign_in(code=code, verifier=verifier)
            issued = self._issue(request, account)
        except SignInEnded:
            return self._failed(request.redirect_uri, request.state, "access_denied")
        except LimitReached:
            raise  # the person should read why
        except Unavailable:
            return self._failed(request.redirect_uri, request.state, "temporarily_unavailable")
        answer = self._answer({"code": issued}, request.state)
        return SendTo(with_answer(request.redirect_uri, answer), account.id)

    def _visited(self, code: str | None, verifier: str) -> ShowAccount:
        ended = "Dropbox did not confirm who you are. Sign in again."
        if not code:
            raise Refused(ended)
        try:
            return ShowAccount(self.connections.sign_in(code=code, verifier=verifier))
        except SignInEnded:
            raise Refused(ended) from None

    def _checked(
        self, client: Client, redirect_uri: str, query: Parameters
    ) -> AuthorizationRequest:
        if query.repeated:
            raise OAuthError("invalid_request", "a parameter came twice")
        if query.get("response_type") != "code":
            raise OAuthError("unsupported_response_type", "response_type is not code")
        challenge = query.get("code_challenge") or ""
        if query.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(challenge):
            raise OAuthError("invalid_request", "no S256 code_challenge")
        if not self.issuer.owns(query.get("resource") or self.issuer.resource):
            raise OAuthError("invalid_target", "resource is not ours")
        return AuthorizationRequest(
            client_id=client.id,
            redirect_uri=redirect_uri,
            state=query.get("state"),
            challenge=challenge,
            resource=self.issuer.resource,
            scopes=scopes_of(query.get("scope")),
        )

    def _go_to_dropbox(
        self, browser: str | None, request: AuthorizationRequest | None
    ) -> GoToDropbox:
        state, cookie = new_secret(self.random), self._cookie(browser)
        self._add(Step.DROPBOX, state, cookie, request)
        challenge = challenge_of(_verifier(state, cookie))
        url = self.connections.dropbox.authorize_url(state=state, challenge=challenge)
        return GoToDropbox(url, cookie)

    def _add(
        self, step: Step, token: str, browser: str, request: AuthorizationRequest | None
    ) -> None:
        self.transactions.add(
            Transaction(
                key=digest(token),
                step=step,
                browser=digest(browser),
                request=request,
                expires_at=self.clock.now() + STEP_LIFE,
            )
        )

    def _asked(self, form_token: str, browser: str | None) -> AuthorizationRequest:
        """The request that the person has decided on. Every one on our form is of a client."""
        request = self._take(Step.CONSENT, form_token, browser)
        if request is None:
            raise Forbidden(_TOO_LATE)
        return request

    def _take(self, step: Step, token: str, browser: str | None) -> AuthorizationRequest | None:
        """The request of a transaction, for the one caller who has both of its secrets."""
        key = digest(token)
        transaction = self.transactions.get(key)
        if (
            transaction is None
            or transaction.step is not step
            or transaction.expires_at <= self.clock.now()
            or browser is None
            or not same(digest(browser), transaction.browser)
            or not self.transactions.take(key, request_id=new_id(self.random))
        ):
            raise Forbidden(_TOO_LATE)
        return transaction.request

    def _issue(self, request: AuthorizationRequest, account: Account) -> str:
        code, now = new_secret(self.random), self.clock.now()
        self.codes.add(
            AuthorizationCode(
                key=digest(code),
                grant_id=new_id(self.random),
                account_id=account.id,
                request=request,
                expires_at=now + CODE_LIFE,
                forget_at=now + CODE_MEMORY,
                link=account.link,
            )
        )
        return code

    def _cookie(self, browser: str | None) -> str:
        """One value for each browser, so that two tabs do not disturb each other."""
        if browser is not None and _COOKIE.fullmatch(browser):
            return browser
        return new_secret(self.random)

    def _failed(self, redirect_uri: str, state: str | None, error: str) -> SendTo:
        return SendTo(with_answer(redirect_uri, self._answer({"error": error}, state)))

    def _answer(self, answer: Mapping[str, str], state: str | None) -> Mapping[str, str]:
        """With `iss` (RFC 9207), and with the state exactly as it came."""
        return {**answer, **({} if state is None else {"state": state}), "iss": self.issuer.url}


def _not_registered() -> Refused:
    return Refused(
        "The program that sent you here wants the answer at an address that it did not register."
    )


def _verifier(state: str, browser: str) -> str:
    """The code verifier for Dropbox: only hashes of its two halves are kept by us."""
    return challenge_of(f"{state}.{browser}")
