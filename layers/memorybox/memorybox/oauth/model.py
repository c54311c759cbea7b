"""What the authorization server remembers: clients, sign-ins under way, codes, grants, visits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memorybox.accounts.model import AccountId

Scopes = frozenset[str]

READ = "memory:read"
WRITE = "memory:write"
ALL_SCOPES: Scopes = frozenset({READ, WRITE})


class Origin(StrEnum):
    """How a client came to be known to us."""

    CONFIGURED = "configured"
    REGISTERED = "registered"  # RFC 7591; nobody vouches for its name
    DOCUMENT = "document"  # client ID metadata document; its host vouches for it


class AuthMethod(StrEnum):
    """How a client proves at `/token` and `/revoke` who it is (RFC 7591, section 2)."""

    NONE = "none"
    POST = "client_secret_post"
    BASIC = "client_secret_basic"


@dataclass(frozen=True, slots=True)
class Client:
    """A program that asks for access.

    A client is forgotten at `expires_at` (None: never). `fresh_until` is set for a metadata
    document: after it, the next authorization fetches the document again.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    origin: Origin
    auth_method: AuthMethod = AuthMethod.NONE
    secret_hash: str | None = field(default=None, repr=False)
    expires_at: datetime | None = None
    fresh_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A request to `/authorize` that passed every check.

    `workspaces` is what the person narrows it to; without any, it is for all.
    """

    client_id: str
    redirect_uri: str
    state: str | None
    challenge: str
    resource: str
    scopes: Scopes
    workspaces: tuple[str, ...] = ()


class Step(StrEnum):
    """Which answer of the browser a transaction waits for."""

    CONSENT = "consent"
    DROPBOX = "dropbox"


@dataclass(frozen=True, slots=True)
class Transaction:
    """A sign-in under way, found by the hash of a random value, bound to one browser.

    The value travels in our consent form (step CONSENT) or as Dropbox's `state` (step DROPBOX);
    `browser` is the hash of the cookie that must come with it. Without a `request` it is for no
    client: the person wants to see their own account.
    """

    key: str
    step: Step
    browser: str
    request: AuthorizationRequest | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class AuthorizationCode:
    """A code that was given out, found by its hash.

    It can be traded until `expires_at`, and is remembered until `forget_at` so that a replay ends
    the grant `grant_id` that came of it. `link` is the sign-in of the account that it came of.
    """

    key: str
    grant_id: str
    account_id: AccountId
    link: int
    request: AuthorizationRequest
    expires_at: datetime
    forget_at: datetime
    used_by: str | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """What one person let one client do, with the hashes of every token that stands for it.

    `access` maps hash to expiry. `refresh` maps hash to the moment it was used, None while unused;
    both are in the order the tokens were made. `written_by` names the request that wrote this
    `version`. Without `workspaces` it is for all of them. `link` is the sign-in of the account that
    it came of; older ones do not know it.
    """

    id: str
    account_id: AccountId
    client_id: str
    resource: str
    scopes: Scopes
    access: Mapping[str, datetime] = field(repr=False)
    refresh: Mapping[str, datetime | None] = field(repr=False)
    created_at: datetime
    expires_at: datetime
    version: int
    written_by: str
    workspaces: tuple[str, ...] = ()
    link: int = 0


@dataclass(frozen=True, slots=True)
class Visit:
    """A browser that shows a person their own account, found by the hash of its cookie.

    `link` is the sign-in of the account with which it began.
    """

    key: str
    account_id: AccountId
    expires_at: datetime
    link: int
