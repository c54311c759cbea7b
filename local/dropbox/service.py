"""The emulated service: its app, accounts, faults and log, and how it answers one request."""

import threading
from contextlib import AbstractContextManager, nullcontext
from random import Random

from local.dropbox import oauth
from local.dropbox.accounts import Account, Profile
from local.dropbox.clock import EmulatedClock
from local.dropbox.dispatch import Api, route_name
from local.dropbox.exchange import Outcome, Request, Visit
from local.dropbox.faults import Effect, Fault, Faults
from local.dropbox.grants import ALL_SCOPES, App, Grants
from local.dropbox.handouts import Handouts
from local.dropbox.links import link_answer
from local.dropbox.log import Call, RequestLog
from local.dropbox.overlaps import alone
from local.dropbox.routes.table import ROUTES
from local.dropbox.storage import MemoryStorage, Storage
from local.dropbox.webhooks import Webhooks
from local.dropbox.wire import Refusal, Response

_FOREVER = 3600.0


class Service:
    """Everything but the socket. State is looked at and steered through its attributes."""

    def __init__(
        self, app: App, clock: EmulatedClock, *, base_url: str, webhook_url: str | None, seed: int
    ) -> None:
        self.app = app
        self.clock = clock
        self.grants = Grants(app, clock)
        self.webhooks = Webhooks(webhook_url, app.secret, self.grants.is_linked)
        self.faults = Faults()
        self.log = RequestLog()
        self.accounts: dict[str, Account] = {}
        self.auto_approve: str | None = None
        """Who answers the authorization page by itself: an account_id, or `deny`."""
        self.stopping = threading.Event()
        self._random = Random(seed)  # noqa: S311  # replayable choices, no secrets
        self._handouts = Handouts(base_url, self.stopping.wait)
        self._api = Api(self.grants, self.accounts, self._handouts, self._random)

    def add_account(
        self, profile: Profile | None = None, storage: Storage | None = None
    ) -> Account:
        """A user with an empty app folder, or with what `storage` holds."""
        account = Account(
            len(self.accounts) + 1,
            profile or Profile(),
            self.clock,
            storage or MemoryStorage(),
            on_change=self.webhooks.changed,
        )
        self.accounts[account.account_id] = account
        return account

    def token(self, account: Account, scopes: tuple[str, ...] = ALL_SCOPES) -> str:
        """An access token, as if the user had just allowed the app."""
        return self.grants.issue(account.account_id, scopes)[0]

    def reset(self) -> None:
        """No accounts, tokens, links, faults or calls any more."""
        self.accounts.clear()
        self.grants.clear()
        self._handouts.clear()
        self.faults.clear()
        self.log.clear()
        self.auto_approve = None

    def answer(self, request: Request) -> Outcome:
        """Answer as Dropbox would, or as a fault wants it, and log the call."""
        name = route_name(request)
        visit = Visit(request, self._api.account_of(request))
        account_id = visit.account.account_id if visit.account else None
        due = self.faults.take(name, account_id)
        outcome = self._suffer(visit, due)
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

    def _suffer(self, visit: Visit, due: list[Fault]) -> Outcome:
        """The answer, as far as the faults that are due let it come about."""
        hit = next((fault for fault in due if not fault.is_delay), None)
        effect = hit.effect if hit else None
        if effect is Effect.LOST_REQUEST:
            return Outcome(None)
        if effect is Effect.HANG:
            self.stopping.wait(_FOREVER)
            return Outcome(None)
        response = self._in_time(visit, due, hit)
        if effect is Effect.LOST_RESPONSE:
            return Outcome(None)
        return Outcome(
            response, is_cut=effect is Effect.HALF_ANSWER, goes_stale=effect is Effect.STALE
        )

    def _in_time(self, visit: Visit, due: list[Fault], hit: Fault | None) -> Response:
        try:
            with self._alone(visit):
                self._wait(due, Effect.DELAY)
                if hit and hit.effect is Effect.ANSWER:
                    return hit.answer
                response = self._respond(visit)
                self._wait(due, Effect.DELAY_ANSWER)
        except Refusal as refusal:
            return refusal.response
        committed = hit and hit.effect is Effect.ANSWER_AFTER_COMMIT
        return hit.answer if hit and committed else response

    def _respond(self, visit: Visit) -> Response:
        request = visit.request
        match request.path:
            case oauth.AUTHORIZE:
                return oauth.authorization_answer(
                    request, self.grants, self.accounts, self.auto_approve
                )
            case oauth.TOKEN:
                return oauth.token_answer(request, self.grants, self.accounts)
            case _:
                link = link_answer(request, self._handouts, self.clock)
                return link or self._api.answer(visit)

    def _alone(self, visit: Visit) -> AbstractContextManager[None]:
        route = ROUTES.get(route_name(visit.request))
        if route is None or visit.account is None:
            return nullcontext()
        return alone(visit.request, route, visit.account)

    def _wait(self, due: list[Fault], effect: Effect) -> None:
        for fault in due:
            if fault.effect is effect:
                self.stopping.wait(fault.seconds + self._random.random() * fault.spread)
