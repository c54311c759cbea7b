"""An account: one Dropbox user, and what they let us do."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType

AccountId = NewType("AccountId", str)
"""Dropbox's `account_id`, taken from its token answer and from nowhere else."""

DROPBOX_SCOPES = frozenset(
    {"account_info.read", "files.metadata.read", "files.content.read", "files.content.write"}
)


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A Dropbox access token, good for about four hours."""

    secret: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class DropboxGrant:
    """What Dropbox answers when a person has agreed."""

    account_id: AccountId
    name: str
    scopes: frozenset[str]
    access: AccessToken
    refresh_token: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SealedAccess:
    """An access token as it is stored."""

    sealed: bytes = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Account:
    """The stored record of a person.

    `link` counts their sign-ins with Dropbox: what was learnt under one link never changes the
    record of a later one. It counts on from the moment of the first, the link `began`: so no link
    of a record that was deleted comes again. An account is linked while it has a refresh token;
    `unlinked_at` says since when it has none.
    """

    id: AccountId
    name: str
    link: int
    term_key: bytes = field(repr=False)
    refresh_token: bytes | None = field(repr=False)
    access: SealedAccess | None
    unlinked_at: datetime | None = None
    began: int = 0

    @property
    def is_linked(self) -> bool:
        return self.refresh_token is not None

    def saw(self, link: int) -> bool:
        """Whether `link` was a sign-in to this record, and not to one that was deleted."""
        return link > self.began


@dataclass(frozen=True, slots=True)
class SignedIn:
    """One sign-in, ready to be stored. Tokens are sealed; None means Dropbox gave none."""

    account_id: AccountId
    name: str
    refresh_token: bytes | None = field(repr=False)
    access: SealedAccess
    term_key: bytes = field(repr=False)
