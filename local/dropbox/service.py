"""The emulated service: its app, accounts, faults and log, and how it answers one request."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

from local.dropbox import oauth
from local.dropbox.accounts import Account, Profile
from local.dropbox.clock import EmulatedClock
from local.dropbox.control import Control
from local.dropbox.dispatch import Api, route_name
from local.dropbox.exchange import Outcome, Request, Visit
from local.dropbox.faults import Effect, Fault, Faults
from local.dropbox.grants import ALL_SCOPES, App, Grants
from local.dropbox.handouts import Handouts
from local.dropbox.links import link_answer
from local.dropbox.log import Call, RequestLog
from local.dropbox.routes.table import ROUTES
from local.dropbox.storage import MemoryStorage, Storage
from local.dropbox.webhooks import Webhooks
from local.dropbox.wire import Refusal, Response, too_many

_FOREVER = 3600.0
_LISTS = {"files/list_folder", "files/list_folder/continue"}


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
        handouts = Handouts(base_url, self.stopping.wait)
        self._handouts = handouts
        self._api = Api(self.grants, self.accounts, handouts, self._random)

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
        """No accounts, tokens, faults or calls, and the webhook's knobs as at the start."""
        self.accounts.clear()
        self.grants.clear()
        self.faults.clear()
        self.log.clear()
        self.auto_approve = None

    def answer(self, request: Request) -> Outcome:
        if request.path.startswith(Control.PREFIX):
            return Outcome(Control(self).answer(request))
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
        return Outcome(response, is_cut=effect is Effect.HALF_ANSWER, closes=effect is Effect.STALE)

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
        pages: dict[str, Callable[[], Response]] = {
            oauth.AUTHORIZE: lambda: oauth.authorization_answer(
                request, self.grants, self.accounts, self.auto_approve
            ),
            oauth.TOKEN: lambda: oauth.token_answer(request, self.grants, self.accounts),
        }
        if page := pages.get(request.path):
            return page()
        return link_answer(request, self._handouts, self.clock) or self._api.answer(visit)

    @contextmanager
    def _alone(self, visit: Visit) -> Iterator[None]:
        """Refuse what may not overlap with itself, as far as the account's knobs say so."""
        account, key = visit.account, self._key(visit)
        if account is None or key is None:
            yield
            return
        with account.lock:
            if key in account.desk.running:
                raise _overlaps(key)
            account.desk.running.add(key)
        try:
            yield
        finally:
            account.desk.running.discard(key)

    def _key(self, visit: Visit) -> str | None:
        """What a call must not run at the same time as: another of the same key."""
        name = route_name(visit.request)
        if visit.account is None or name not in ROUTES:
            return None
        if ROUTES[name].writes and visit.account.knobs.refuse_overlapping_writes:
            return _WRITE
        if name in _LISTS and visit.account.knobs.refuse_same_list_twice:
            return f"{name} {visit.request.body().decode('utf-8', 'replace')}"
        return None

    def _wait(self, due: list[Fault], effect: Effect) -> None:
        for fault in due:
            if fault.effect is effect:
                self.stopping.wait(fault.seconds + self._random.random() * fault.spread)


_WRITE = "write"


def _overlaps(key: str) -> Refusal:
    if key == _WRITE:
        return too_many("too_many_write_operations", 1)
    return too_many("too_many_requests", 1)
