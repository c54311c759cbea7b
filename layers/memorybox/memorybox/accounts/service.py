"""Signing in with Dropbox, and the access token of each account from then on."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from memorybox.accounts.model import (
    DROPBOX_SCOPES,
    AccessToken,
    Account,
    AccountId,
    DropboxGrant,
    SealedAccess,
    SignedIn,
)
from memorybox.accounts.ports import Accounts, DropboxSignIn, Vault
from memorybox.accounts.rates import Gate, LimitReached
from memorybox.clock import Clock
from memorybox.errors import Refused, SignInEnded, Unavailable

REFRESH_BEFORE_EXPIRY = timedelta(seconds=300)
TERM_KEY_BYTES = 16

_REFRESH = "dropbox refresh token"
_ACCESS = "dropbox access token"


@dataclass(frozen=True, slots=True)
class _Held:
    """A token in memory, with the record it came from."""

    account: Account
    token: AccessToken


@dataclass(frozen=True, slots=True)
class Connections:
    """Our connections to people's Dropbox. One object serves a whole process."""

    accounts: Accounts
    dropbox: DropboxSignIn
    vault: Vault
    clock: Clock
    random: Callable[[int], bytes]
    sign_ups: Gate
    _held: dict[AccountId, _Held] = field(default_factory=dict, init=False, repr=False)

    def sign_in(self, *, code: str, verifier: str) -> Account:
        """Finish a sign-in with the code that Dropbox gave the browser.

        Raises Refused, and stores nothing, if the person did not let us do what we need, and
        LimitReached if too many people are new today.
        """
        grant = self.dropbox.redeem(code=code, verifier=verifier)
        if not grant.scopes >= DROPBOX_SCOPES:
            missing = ", ".join(sorted(DROPBOX_SCOPES - grant.scopes))
            raise Refused(f"Dropbox did not allow all that is needed (missing: {missing}).")
        known = self.accounts.get(grant.account_id)
        if grant.refresh_token is None and not (known and known.is_linked):
            raise Refused("Dropbox allowed access for a few hours only. Connect again.")
        if known is None:
            self._admit(grant)
        account = self.accounts.link(
            SignedIn(
                account_id=grant.account_id,
                name=grant.name,
                refresh_token=self._sealed_refresh(grant),
                access=self._sealed(grant.account_id, grant.access),
                term_key=self.random(TERM_KEY_BYTES),
            )
        )
        self._held[account.id] = _Held(account, grant.access)
        if known is not None and grant.refresh_token is not None:
            self._give_back(known, current=grant.refresh_token)
        return account

    def access_token(
        self, account_id: AccountId, *, since: int = 0, refused: str | None = None
    ) -> str:
        """An access token that Dropbox takes for some minutes to come.

        Nothing that is held of a link before `since` is used. `refused` is a token that Dropbox
        did not take; it is not given again. Two callers that refresh at once both get a good token.
        Raises SignInEnded if the person must sign in again.
        """
        held = self._of(account_id, since)
        if held is None or not self._is_good(held.token, refused):
            held = self._held[account_id] = self._renewed(account_id, refused)
        return held.token.secret

    def check(self, account_id: AccountId) -> Account:
        """The record, whatever is held in memory. Raises SignInEnded if it is not linked any more.

        For work that no grant was looked up for: each person's last word is in their record.
        """
        account = self.accounts.get(account_id)
        held = self._held.get(account_id)
        if held and (account is None or account.link != held.account.link):
            del self._held[account_id]
        if account is None or not account.is_linked:
            raise SignInEnded("The access to this Dropbox has ended.")
        return account

    def term_key(self, account_id: AccountId, *, since: int = 0) -> bytes:
        """The key under which the words of this account are hashed. Raises SignInEnded.

        It is that of the link `since` or of a later one: a deletion makes an end of it.
        """
        held = self._of(account_id, since)
        if held is None:
            held = self._held[account_id] = self._renewed(account_id, None)
        return held.account.term_key

    def ended(self, account_id: AccountId, token: str) -> None:
        """Note that Dropbox takes neither this token any more, nor another of the same sign-in.

        A sign-in newer than the token stays as it is.
        """
        held = self._held.get(account_id)
        if held is not None and held.token.secret == token:
            del self._held[account_id]
            self.accounts.unlink(held.account, at=self.clock.now())

    def disconnect(self, account_id: AccountId) -> None:
        """End our access to this Dropbox, however lately it was given. The files in it stay."""
        while (account := self.accounts.get(account_id)) and account.is_linked:
            self._held.pop(account_id, None)  # perhaps of an earlier sign-in than the last
            with suppress(SignInEnded):
                token = self.access_token(account_id)
                self.dropbox.revoke(token)
                self.ended(account_id, token)

    def _of(self, account_id: AccountId, since: int) -> _Held | None:
        held = self._held.get(account_id)
        return held if held and held.account.link >= since else None

    def _renewed(self, account_id: AccountId, refused: str | None) -> _Held:
        account = self.accounts.get(account_id)
        if account is None or account.refresh_token is None:
            self._held.pop(account_id, None)
            raise SignInEnded("The access to this Dropbox has ended.")
        stored = self._opened(account)
        if stored is not None and self._is_good(stored, refused):
            return _Held(account, stored)
        try:
            fresh = self.dropbox.refresh(
                self.vault.open(account.refresh_token, account_id=account.id, purpose=_REFRESH)
            )
        except SignInEnded:
            # Either the record says so from now on, or the person has signed in again meanwhile.
            self.accounts.unlink(account, at=self.clock.now())
            return self._renewed(account_id, refused)
        except Unavailable:
            if stored is None or stored.secret == refused or stored.expires_at <= self.clock.now():
                raise
            return _Held(account, stored)
        self.accounts.keep_access(account, self._sealed(account.id, fresh))
        return _Held(account, fresh)

    def _is_good(self, token: AccessToken, refused: str | None) -> bool:
        lasts = token.expires_at - self.clock.now() > REFRESH_BEFORE_EXPIRY
        return lasts and token.secret != refused

    def _admit(self, grant: DropboxGrant) -> None:
        """Take in a new person, or give back the access that they have just allowed."""
        try:
            self.sign_ups.enter()
        except LimitReached:
            with suppress(Unavailable):
                self.dropbox.revoke(grant.access.secret)
            raise

    def _give_back(self, known: Account, *, current: str) -> None:
        """End the access of an earlier sign-in at Dropbox, which keeps each until it is revoked.

        The sign-in is done without it. Calls under way with the earlier access find the new one.
        """
        if known.refresh_token is None:
            return
        with suppress(SignInEnded, Unavailable):
            earlier = self.vault.open(known.refresh_token, account_id=known.id, purpose=_REFRESH)
            if earlier != current:
                self.dropbox.revoke(self.dropbox.refresh(earlier).secret)

    def _sealed(self, account_id: AccountId, token: AccessToken) -> SealedAccess:
        sealed = self.vault.seal(token.secret, account_id=account_id, purpose=_ACCESS)
        return SealedAccess(sealed, token.expires_at)

    def _sealed_refresh(self, grant: DropboxGrant) -> bytes | None:
        secret = grant.refresh_token
        if secret is None:
            return None
        return self.vault.seal(secret, account_id=grant.account_id, purpose=_REFRESH)

    def _opened(self, account: Account) -> AccessToken | None:
        access = account.access
        if access is None:
            return None
        secret = self.vault.open(access.sealed, account_id=account.id, purpose=_ACCESS)
        return AccessToken(secret, access.expires_at)
