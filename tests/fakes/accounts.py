"""Accounts, Dropbox's sign-in and the vault, in memory."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from urllib.parse import urlencode

from memorybox.accounts.model import (
    DROPBOX_SCOPES,
    AccessToken,
    Account,
    AccountId,
    DropboxGrant,
    SealedAccess,
    SignedIn,
)
from memorybox.accounts.ports import Removed
from memorybox.clock import Clock
from memorybox.errors import SignInEnded, Unavailable
from memorybox.oauth.opaque import challenge_of

ALICE = AccountId("dbid:alice")


def _no_step() -> None:
    """Nothing waits for a turn."""


class InMemoryAccounts:
    def __init__(self, step: Callable[[], None] = _no_step) -> None:
        self._records: dict[AccountId, Account] = {}
        self._links = count(1)
        self._step = step

    def get(self, account_id: AccountId) -> Account | None:
        self._step()
        return self._records.get(account_id)

    def link(self, signed_in: SignedIn) -> Account:
        self._step()
        before = self._records.get(signed_in.account_id)
        kept, link = before.refresh_token if before else None, next(self._links)
        account = Account(
            id=signed_in.account_id,
            name=signed_in.name,
            link=link,
            term_key=before.term_key if before else signed_in.term_key,
            refresh_token=signed_in.refresh_token or kept,
            access=signed_in.access,
            unlinked_at=None if signed_in.refresh_token or not before else before.unlinked_at,
            began=before.began if before else link - 1,
        )
        self._records[account.id] = account
        return account

    def keep_access(self, account: Account, access: SealedAccess) -> None:
        self._step()
        if (stored := self._current(account)) is not None and stored.is_linked:
            self._records[account.id] = replace(stored, access=access)

    def unlink(self, account: Account, *, at: datetime) -> None:
        self._step()
        if (stored := self._current(account)) is not None:
            self._records[account.id] = replace(
                stored, refresh_token=None, access=None, unlinked_at=stored.unlinked_at or at
            )

    def remove(self, account_id: AccountId) -> int:
        """How many records that were: an account that is linked stays."""
        stored = self._records.get(account_id)
        if stored is None or stored.is_linked:
            return 0
        del self._records[account_id]
        return 1

    def _current(self, account: Account) -> Account | None:
        stored = self._records.get(account.id)
        return stored if stored is not None and stored.link == account.link else None


class InMemoryBelongings:
    """The records of accounts, and counts of what else is kept of each."""

    def __init__(self, accounts: InMemoryAccounts) -> None:
        self.accounts = accounts
        self.kept: dict[AccountId, Removed] = {}
        self.is_down = False

    def of(self, account_id: AccountId) -> "_Belongings":
        return _Belongings(self, account_id)


@dataclass(frozen=True, slots=True)
class _Belongings:
    everyone: InMemoryBelongings
    account_id: AccountId

    def remove(self) -> Removed:
        if self.everyone.is_down:
            raise Unavailable("The store did not answer.")
        removed = self.everyone.accounts.remove(self.account_id)
        kept = self.everyone.kept.pop(self.account_id, Removed(0, 0))
        return Removed(removed + kept.records, kept.files)


class InMemoryVault:
    """Seals by writing backwards what it is for; enough to notice what is not sealed."""

    def seal(self, secret: str, *, account_id: AccountId, purpose: str) -> bytes:
        return json.dumps([account_id, purpose, secret[::-1]]).encode()

    def open(self, sealed: bytes, *, account_id: AccountId, purpose: str) -> str:
        owner, use, secret = json.loads(sealed)
        if (owner, use) != (account_id, purpose):
            raise ValueError("sealed for another account or purpose")
        return str(secret)[::-1]


@dataclass
class FakeDropbox:
    """Dropbox as seen by a sign-in: one person, who agrees to everything asked."""

    clock: Clock
    account_id: AccountId = ALICE
    name: str = "Alice"
    scopes: frozenset[str] = DROPBOX_SCOPES
    gives_refresh_token: bool = True
    is_down: bool = False
    refreshes: int = 0
    _codes: dict[str, str] = field(default_factory=dict)
    _live: dict[str, AccountId] = field(default_factory=dict)
    _behind: dict[str, str] = field(default_factory=dict)  # the refresh token of an access token
    made: list[str] = field(default_factory=list)  # every code and token

    @property
    def refresh_tokens(self) -> Mapping[str, AccountId]:
        """Those that are good, and whose they are."""
        return self._live

    def authorize_url(self, *, state: str, challenge: str) -> str:
        query = urlencode({"state": state, "code_challenge": challenge})
        return f"https://www.dropbox.com/oauth2/authorize?{query}"

    def agree(self, challenge: str) -> str:
        """The person presses Allow: the code that the browser brings back."""
        code = self._new("code")
        self._codes[code] = challenge
        return code

    def redeem(self, *, code: str, verifier: str) -> DropboxGrant:
        self._answer()
        if self._codes.pop(code, None) != challenge_of(verifier):
            raise SignInEnded("Dropbox does not take the code.")
        refresh_token = self._new("refresh")
        if self.gives_refresh_token:
            self._live[refresh_token] = self.account_id
        return DropboxGrant(
            account_id=self.account_id,
            name=self.name,
            scopes=self.scopes,
            access=self._access(refresh_token),
            refresh_token=refresh_token if self.gives_refresh_token else None,
        )

    def refresh(self, refresh_token: str) -> AccessToken:
        self._answer()
        self.refreshes += 1
        if refresh_token not in self._live:
            raise SignInEnded("invalid_grant")
        return self._access(refresh_token)

    def revoke(self, access_token: str) -> None:
        self._answer()
        self._live.pop(self._behind[access_token], None)

    def remove_app(self) -> None:
        """The person takes our access away."""
        self._live.clear()

    def _access(self, refresh_token: str) -> AccessToken:
        token = AccessToken(self._new("access"), self.clock.now() + timedelta(hours=4))
        self._behind[token.secret] = refresh_token
        return token

    def _new(self, kind: str) -> str:
        self.made.append(f"dropbox-{kind}-{len(self.made)}")
        return self.made[-1]

    def _answer(self) -> None:
        if self.is_down:
            raise Unavailable("Dropbox did not answer.")
