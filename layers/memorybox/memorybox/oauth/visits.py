"""A person at their own account page: who they are, for an hour, by a cookie."""

from dataclasses import dataclass
from datetime import timedelta

from memorybox.accounts.model import Account, AccountId
from memorybox.accounts.ports import Accounts
from memorybox.clock import Clock
from memorybox.oauth.errors import Forbidden
from memorybox.oauth.model import Visit
from memorybox.oauth.opaque import Random, challenge_of, digest, new_secret, same
from memorybox.oauth.store import VisitStore

VISIT_LIFE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Visits:
    """Visits begin with a sign-in at Dropbox. The cookie is known in clear to the browser alone."""

    store: VisitStore
    accounts: Accounts
    clock: Clock
    random: Random

    def begin(self, account: Account) -> str:
        """The cookie of a new visit."""
        cookie = new_secret(self.random)
        until = self.clock.now() + VISIT_LIFE
        self.store.add(Visit(digest(cookie), account.id, until, account.link))
        return cookie

    def account(self, cookie: str | None) -> AccountId | None:
        """Whose page this browser may see; None if it has to sign in first."""
        visit = self.store.get(digest(cookie)) if cookie else None
        if visit is None or visit.expires_at <= self.clock.now():
            return None
        account = self.accounts.get(visit.account_id)
        if account is not None and not account.saw(visit.link):
            return None  # the account was deleted, and its person has come back
        return visit.account_id

    def checked(self, cookie: str | None, form_token: str) -> AccountId:
        """Whose account a form of the page may change. Raises Forbidden."""
        account = self.account(cookie)
        if account is None or not cookie or not same(form_token, form_token_of(cookie)):
            raise Forbidden("You are not signed in any more. Open the account page again.")
        return account

    def end(self, cookie: str | None) -> None:
        if cookie:
            self.store.end(digest(cookie))


def form_token_of(cookie: str) -> str:
    """What the forms of a visit carry: no other site can know it, and nothing has to be kept."""
    return challenge_of(f"form {cookie}")
