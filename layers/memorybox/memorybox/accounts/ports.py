"""What the accounts need from outside.

Every method may raise `Unavailable`: nothing is known about its effect, and it may be repeated.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memorybox.accounts.model import (
    AccessToken,
    Account,
    AccountId,
    DropboxGrant,
    SealedAccess,
    SignedIn,
)


class Accounts(Protocol):
    """The account records. Each method is one read or one conditional write of one item."""

    def get(self, account_id: AccountId) -> Account | None:
        """The record as last written (a consistent read), or None for a stranger."""

    def link(self, signed_in: SignedIn) -> Account:
        """Store a sign-in and return the record as it is now.

        Makes the record if it is missing. `link` becomes greater than it ever was, in a deleted
        record too; `began` stays less than all those of this record. The term key is kept
        if there is one, and so is the refresh token if `signed_in` has none; with one, the account
        is no longer unlinked. Other attributes of the item (cursor, markers) are left alone.
        """

    def keep_access(self, account: Account, access: SealedAccess) -> None:
        """Store a fresh access token, if the stored link is still `account.link`; else nothing."""

    def unlink(self, account: Account, *, at: datetime) -> None:
        """Drop both tokens, if the stored link is still `account.link`; else nothing.

        The account is unlinked since `at`, or since an earlier time that is stored already.
        """


class DropboxSignIn(Protocol):
    """Dropbox as OAuth 2 authorization server, with one fixed redirect to `/dropbox/callback`."""

    def authorize_url(self, *, state: str, challenge: str) -> str:
        """Where to send the browser: PKCE S256, offline access, exactly `DROPBOX_SCOPES`."""

    def redeem(self, *, code: str, verifier: str) -> DropboxGrant:
        """Trade a code for tokens.

        `account_id` comes from the token answer alone; `name` is empty if Dropbox did not tell it.
        Raises SignInEnded if Dropbox does not take the code, Unavailable for anything else.
        """

    def refresh(self, refresh_token: str) -> AccessToken:
        """A new access token. The refresh token stays as it is.

        Raises SignInEnded on `invalid_grant`, and Unavailable for anything else.
        """

    def revoke(self, access_token: str) -> None:
        """End this access token and the refresh token behind it. An ended one is no error."""


class Vault(Protocol):
    """Seals secrets, so that a reader of the tables learns nothing."""

    def seal(self, secret: str, *, account_id: AccountId, purpose: str) -> bytes:
        """`secret` in a form that opens only with the same account and purpose."""

    def open(self, sealed: bytes, *, account_id: AccountId, purpose: str) -> str:
        """The secret again. Anything but `Unavailable` means that it was sealed for another."""


@dataclass(frozen=True, slots=True)
class Removed:
    """How much was removed: records of the tables, and files with all their versions."""

    records: int
    files: int


class Belongings(Protocol):
    """All that is kept under the name of one account."""

    def remove(self) -> Removed:
        """Remove every record, file and old version of a file. What is gone already is no error.

        Removes nothing while the account is linked: its person has signed in meanwhile. Raises
        Unavailable where there was no time for all: the rest goes when it is called again.
        """
