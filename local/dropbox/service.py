"""The emulated service: its app, accounts, faults and log, and how it answers one request."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from local.dropbox import dispatch, oauth
from local.dropbox.accounts import Account, Profile
from local.dropbox.calls import Route
from local.dropbox.clock import EmulatedClock
from local.dropbox.exchange import Outcome, Request
from local.dropbox.faults import Effect, Fault, Faults
from local.dropbox.grants import ALL_SCOPES, App, Grants
from local.dropbox.log import Call, RequestLog
from local.dropbox.storage import MemoryStorage, Storage
from local.dropbox.wire import Refusal, Response, too_many

_FOREVER = 3600.0
_MOST_DOTS = 3


@dataclass(slots=True)
class _Visit:
    """What is known of a request so far, for the log."""

    account: Account | None = None
    argument: Any = None
    response: Response | None = None


class Service:
    def __init__(self, app: App, clock: EmulatedClock, *, seed: int = 0) -> None:
        self.app = app
        self.clock = clock
        self.grants = Grants(app, clock)
        self.faults = Faults()
        self.log = RequestLog()
        self.accounts: dict[str, Account] = {}
        self.auto_approve: str | None = None
        """Who answers the authorization page by itself: an account_id, or `deny`."""
        self.stopping = threading.Event()
        self._random = Random(seed)  # noqa: S311  # replayable choices, no secrets

    def add_account(
        self, profile: Profile | None = None, storage: Storage | None = None
    ) -> Account:
        number = len(self.accounts) + 1
        account = Account(
            number,
            profile or Profile(),
            self.clock,
            storage or MemoryStorage(),
            on_change=self._changed,
        )
        self.accounts[account.account_id] = account
        return account

    def token(self, account: Account, scopes: tuple[str, ...] = ALL_SCOPES) -> str:
        """An access token, as if the user had just allowed the app."""
        return self.grants.issue(account.account_id, scopes)[0]

    def _changed(self, account: Account) -> None:
        pass

    def answer(self, request: Request) -> Outcome:
        name = request.path.removeprefix(dispatch.PREFIX).lstrip("/")
        visit = _Visit(self._account_of(request))
        account_id = visit.account.account_id if visit.account else None
        due = self.faults.take(name, account_id)
        hit = next((fault for fault in due if not fault.is_delay), None)
        outcome = self._suffer(request, visit, due, hit)
        self.log.add(
            Call(
                at=self.clock.now(),
                host=request.host,
                route=name,
                account=account_id,
                argument=visit.argument,
                status=outcome.response.status if outcome.response else None,
                fault=", ".join(fault.effect for fault in due) or None,
            )
        )
        return outcome

    def _suffer(
        self, request: Request, visit: _Visit, due: list[Fault], hit: Fault | None
    ) -> Outcome:
        effect = hit.effect if hit else None
        if effect is Effect.LOST_REQUEST:
            return Outcome(None)
        if effect is Effect.HANG:
            self.stopping.wait(_FOREVER)
            return Outcome(None)
        try:
            with self._occupied(request, visit.account):
                self._wait(due, Effect.DELAY)
                response = self._respond(request, visit, hit)
                self._wait(due, Effect.DELAY_ANSWER)
        except Refusal as refusal:
            response = refusal.response
        if effect is Effect.LOST_RESPONSE:
            return Outcome(None)
        if hit and effect is Effect.ANSWER_AFTER_COMMIT:
            response = hit.answer
        return Outcome(
            response, is_cut=effect is Effect.HALF_ANSWER, closes=effect is Effect.STALE
        )

    def _respond(self, request: Request, visit: _Visit, hit: Fault | None) -> Response:
        body = request.body()
        if hit and hit.effect is Effect.ANSWER:
            return hit.answer
        if request.path == oauth.AUTHORIZE:
            return oauth.AuthorizationPage(self.grants, self.accounts, self.auto_approve).answer(
                request
            )
        if request.path == oauth.TOKEN:
            return oauth.token_answer(request, self.grants)
        route = dispatch.find_route(request)
        caller = dispatch.authenticate(request, route, self.grants, self.accounts.get)
        visit.argument = dispatch.raw_argument(request, route, body)
        return dispatch.run(route, request, caller, body, visit.argument, self._dots())

    def _account_of(self, request: Request) -> Account | None:
        header = request.headers.get("Authorization", "")
        access = self.grants.access(header.removeprefix("Bearer ").strip())
        return self.accounts.get(access.grant.account) if access else None

    @contextmanager
    def _occupied(self, request: Request, account: Account | None) -> Iterator[None]:
        """Writes of an account hold each other up, as far as its knobs say so."""
        route = dispatch.ROUTES.get(request.path.removeprefix(dispatch.PREFIX))
        if account is None or route is None or not route.writes:
            yield
            return
        refuses = account.knobs.refuse_overlapping_writes
        if refuses and not account.writing.acquire(blocking=False):
            raise too_many("too_many_write_operations", 1)
        try:
            yield
        finally:
            if refuses:
                account.writing.release()

    def _wait(self, due: list[Fault], effect: Effect) -> None:
        for fault in due:
            if fault.effect is effect:
                self.stopping.wait(fault.seconds + self._random.random() * fault.spread)

    def _dots(self) -> int:
        return self._random.randint(0, _MOST_DOTS)
