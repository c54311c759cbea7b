"""A grant: one record with the hashes of a whole family of tokens, and how it changes.

A write to the record is a write to the family: to end it ends every token. Refresh tokens rotate
(RFC 9700, section 4.14.2), and a used one stays good for a while: a client that lost the answer,
or that runs in two processes, comes back with the old one.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memorybox.oauth.model import AuthorizationCode, Grant, Scopes
from memorybox.oauth.opaque import Random, digest, new_secret, same

REUSE_GRACE = timedelta(seconds=120)
IDLE_LIFE = timedelta(days=90)
WHOLE_LIFE = timedelta(days=365)
MAX_ACCESS = 10
MAX_UNUSED = 10
"""Pairs that one used token may give while none of them is used: enough for every race."""

MAX_KEPT = 32
"""Of the refresh tokens that were used, and of those that were not.

A lost answer leaves a token behind that nobody has. Were those counted, a year of such losses would
lock out a client that did nothing wrong; so the oldest of them are forgotten.
"""

_TOKEN = re.compile(r"mem_[ar]t_(?P<grant>[0-9a-f]{24})\.[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Pair:
    """An access token and a refresh token of one grant, in clear: to be given out, never stored."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)

    @classmethod
    def new(cls, grant_id: str, random: Random) -> "Pair":
        return cls(
            access=f"mem_at_{grant_id}.{new_secret(random)}",
            refresh=f"mem_rt_{grant_id}.{new_secret(random)}",
        )


def grant_id_of(token: str) -> str | None:
    """The grant that a token says it is of, or None if it is no token of ours at all."""
    found = _TOKEN.fullmatch(token)
    return found and found["grant"]


def begin(
    code: AuthorizationCode, pair: Pair, *, now: datetime, access_until: datetime, request_id: str
) -> Grant:
    """The grant that comes of a code."""
    return Grant(
        id=code.grant_id,
        account_id=code.account_id,
        client_id=code.request.client_id,
        resource=code.request.resource,
        scopes=code.request.scopes,
        access={digest(pair.access): access_until},
        refresh={digest(pair.refresh): None},
        created_at=now,
        expires_at=now + IDLE_LIFE,
        version=1,
        written_by=request_id,
        workspaces=code.request.workspaces,
        link=code.link,
    )


def rotate(
    grant: Grant, used: str, pair: Pair, *, now: datetime, access_until: datetime, request_id: str
) -> Grant:
    """The grant after its refresh token `used` was traded for `pair`."""
    access = {**grant.access, digest(pair.access): access_until}
    live = [(key, until) for key, until in access.items() if until > now]
    key = digest(used)
    refresh = {**grant.refresh, key: grant.refresh[key] or now, digest(pair.refresh): None}
    spent = [key for key, used_at in refresh.items() if used_at is not None]
    unused = [key for key, used_at in refresh.items() if used_at is None]
    forgotten = {*spent[:-MAX_KEPT], *unused[:-MAX_KEPT]}
    return replace(
        grant,
        access=dict(live[-MAX_ACCESS:]),
        refresh={key: used_at for key, used_at in refresh.items() if key not in forgotten},
        expires_at=min(now + IDLE_LIFE, grant.created_at + WHOLE_LIFE),
        version=grant.version + 1,
        written_by=request_id,
    )


def access_expiry(grant: Grant, token: str) -> datetime | None:
    """Until when an access token is good, or None if it is none of this grant."""
    key = digest(token)
    until = next((until for known, until in grant.access.items() if same(known, key)), None)
    return until and min(until, grant.expires_at)


def has_token(grant: Grant, token: str) -> bool:
    """Whether a token of either kind is one of this grant."""
    return digest(token) in (*grant.access, *grant.refresh)


def count_unused_since(grant: Grant, token: str) -> int:
    """How many unused refresh tokens are younger than `token`."""
    keys = list(grant.refresh)
    younger = keys[keys.index(digest(token)) + 1 :]
    return sum(grant.refresh[key] is None for key in younger)


def renewed_at(grant: Grant) -> datetime:
    """When its tokens were last given out, which is about when the client was last in use.

    A client in use comes for a new pair whenever its access token has expired, so this costs no
    write of its own.
    """
    return max([grant.created_at, *(used_at for used_at in grant.refresh.values() if used_at)])


def limited(grant: Grant, scopes: Scopes, *, request_id: str) -> Grant:
    """The grant with no more than `scopes`; its tokens stay good."""
    return replace(
        grant,
        scopes=grant.scopes & scopes,
        version=grant.version + 1,
        written_by=request_id,
    )
