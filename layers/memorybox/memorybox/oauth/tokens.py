"""The token endpoint: a code becomes a grant, a refresh token a new pair; and revocation.

A grant is one record with the hashes of all its tokens, so a write to it is a write to the whole
family. Refresh tokens rotate (RFC 9700, section 4.14.2), and a used one is taken for a while
longer: a client that lost the answer, or runs in two processes, comes back with the old one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memorybox.clock import Clock
from memorybox.errors import Unavailable
from memorybox.oauth.clients import Clients
from memorybox.oauth.errors import OAuthError, Unauthorized
from memorybox.oauth.metadata import Issuer, scope_text
from memorybox.oauth.model import AuthorizationCode, Client, Grant
from memorybox.oauth.opaque import Random, challenge_of, digest, new_secret, same
from memorybox.oauth.parameters import Parameters
from memorybox.oauth.store import CodeStore, GrantStore

REUSE_GRACE = timedelta(seconds=120)
IDLE_LIFE = timedelta(days=90)
WHOLE_LIFE = timedelta(days=365)
MAX_ACCESS = 10
MAX_UNUSED = 10
MAX_USED = 32
_MAX_TRIES = 16

_TOKEN = re.compile(r"mem_(?P<kind>[ar]t)_(?P<grant>[0-9a-f]{24})\.[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


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


@dataclass(frozen=True, slots=True)
class Tokens:
    """Gives tokens out, checks them, and ends them."""

    issuer: Issuer
    clients: Clients
    codes: CodeStore
    grants: GrantStore
    clock: Clock
    random: Random
    access_life: timedelta

    def issue(
        self, form: Parameters, authorization: str | None, *, request_id: str
    ) -> Mapping[str, object]:
        """The answer to a POST to /token. Raises OAuthError."""
        _refuse_repeated(form)
        client = self.clients.authenticated(form, authorization)
        match form.get("grant_type"):
            case "authorization_code":
                return self._exchanged(client, form, request_id)
            case "refresh_token":
                return self._refreshed(client, form, request_id)
            case None:
                raise OAuthError("invalid_request", "grant_type is missing")
            case _:
                raise OAuthError("unsupported_grant_type", "unknown grant_type")

    def revoke(self, form: Parameters, authorization: str | None) -> None:
        """End the grant of a token (RFC 7009). A token that is not the client's changes nothing."""
        _refuse_repeated(form)
        client = self.clients.authenticated(form, authorization)
        token = form.get("token")
        if token is None:
            raise OAuthError("invalid_request", "token is missing")
        grant = self._grant_of(token)
        if (
            grant is not None
            and grant.client_id == client.id
            and digest(token) in (*grant.access, *grant.refresh)
        ):
            self.grants.end(grant.id)

    def check(self, authorization: str | None) -> Grant:
        """The grant behind an Authorization header (RFC 6750). Raises Unauthorized."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthorized("no bearer token", presented=False)
        token = token.strip(" ")
        grant = self._grant_of(token, kind="at")
        if grant is None:
            raise Unauthorized("unknown token or ended grant", presented=True)
        expires_at = _expiry(grant, digest(token))
        if expires_at is None:
            raise Unauthorized("unknown or replaced token", presented=True)
        if min(expires_at, grant.expires_at) <= self.clock.now():
            raise Unauthorized("expired token", presented=True)
        if grant.resource != self.issuer.resource:
            raise Unauthorized("token for another resource", presented=True)
        return grant

    def end_all(self, grant: Grant) -> None:
        """End this grant and every other one of its account: Dropbox no longer lets us in."""
        self.grants.end(grant.id)
        for other in self.grants.of_account(grant.account_id):
            self.grants.end(other.id)

    def _exchanged(self, client: Client, form: Parameters, request_id: str) -> Mapping[str, object]:
        code = self._matched(client, form)
        if code.used_by is None and code.expires_at <= self.clock.now():
            raise _invalid_grant("expired code")
        self.clients.keep(client)
        pair = Pair.new(code.grant_id, self.random)
        grant = self._begun(code, pair, request_id)
        if not self.codes.use(code.key, request_id=request_id):
            # Somebody has both the code and its verifier a second time (RFC 6749, 4.1.2).
            self.grants.end(code.grant_id)
            raise _invalid_grant("code used again")
        if not self.grants.add(grant):
            raise _invalid_grant("code used again at the same time")
        return self._answer(grant, pair)

    def _matched(self, client: Client, form: Parameters) -> AuthorizationCode:
        """The code, if all that came with it fits; so a wrong try touches nothing."""
        code = self.codes.get(digest(form.get("code") or ""))
        if code is None or code.forget_at <= self.clock.now():
            raise _invalid_grant("unknown code")
        if code.request.client_id != client.id:
            raise _invalid_grant("code of another client")
        if code.request.redirect_uri != form.get("redirect_uri"):
            raise _invalid_grant("another redirect_uri")
        self._check_resource(form)
        verifier = form.get("code_verifier") or ""
        if not _VERIFIER.fullmatch(verifier) or not same(
            challenge_of(verifier), code.request.challenge
        ):
            raise _invalid_grant("wrong code_verifier")
        return code

    def _refreshed(self, client: Client, form: Parameters, request_id: str) -> Mapping[str, object]:
        token = form.get("refresh_token") or ""
        self._check_resource(form)
        self.clients.keep(client)
        for _ in range(_MAX_TRIES):
            grant = self._refreshable(client, token)
            pair = Pair.new(grant.id, self.random)
            rotated = self._rotated(grant, digest(token), pair, request_id)
            if self.grants.replace(rotated):
                return self._answer(rotated, pair)
        raise Unavailable("Too many refreshes of one grant at once.")

    def _refreshable(self, client: Client, token: str) -> Grant:
        grant, now = self._grant_of(token, kind="rt"), self.clock.now()
        if grant is None or grant.client_id != client.id:
            raise _invalid_grant("unknown token or ended grant")
        if grant.expires_at <= now:
            raise _invalid_grant("expired grant")
        if digest(token) not in grant.refresh:
            raise _invalid_grant("unknown token")
        used_at = grant.refresh[digest(token)]
        if used_at is not None and now - used_at > REUSE_GRACE:
            self.grants.end(grant.id)
            raise _invalid_grant("used token came back")
        unused = sum(used is None for used in grant.refresh.values())
        if used_at is not None and unused >= MAX_UNUSED:
            raise _invalid_grant("too many unused tokens")
        return grant

    def _begun(self, code: AuthorizationCode, pair: Pair, request_id: str) -> Grant:
        now = self.clock.now()
        return Grant(
            id=code.grant_id,
            account_id=code.account_id,
            client_id=code.request.client_id,
            resource=code.request.resource,
            scopes=code.request.scopes,
            access={digest(pair.access): now + self.access_life},
            refresh={digest(pair.refresh): None},
            created_at=now,
            expires_at=now + IDLE_LIFE,
            version=1,
            written_by=request_id,
        )

    def _rotated(self, grant: Grant, used: str, pair: Pair, request_id: str) -> Grant:
        now = self.clock.now()
        access = {**grant.access, digest(pair.access): now + self.access_life}
        live = [(key, expires_at) for key, expires_at in access.items() if expires_at > now]
        refresh = {**grant.refresh, used: grant.refresh[used] or now, digest(pair.refresh): None}
        spent = [key for key, used_at in refresh.items() if used_at is not None]
        forgotten = set(spent[:-MAX_USED])
        return replace(
            grant,
            access=dict(live[-MAX_ACCESS:]),
            refresh={key: at for key, at in refresh.items() if key not in forgotten},
            expires_at=min(now + IDLE_LIFE, grant.created_at + WHOLE_LIFE),
            version=grant.version + 1,
            written_by=request_id,
        )

    def _answer(self, grant: Grant, pair: Pair) -> Mapping[str, object]:
        return {
            "access_token": pair.access,
            "token_type": "Bearer",
            "expires_in": int(self.access_life.total_seconds()),
            "refresh_token": pair.refresh,
            "scope": scope_text(grant.scopes),
        }

    def _grant_of(self, token: str, kind: str | None = None) -> Grant | None:
        """The grant that a token names; whether the token is one of its own is still to be seen."""
        found = _TOKEN.fullmatch(token)
        if found is None or kind not in (None, found["kind"]):
            return None
        return self.grants.get(found["grant"])

    def _check_resource(self, form: Parameters) -> None:
        if not self.issuer.owns(form.get("resource") or self.issuer.resource):
            raise OAuthError("invalid_target", "resource is not ours")


def _expiry(grant: Grant, key: str) -> datetime | None:
    return next((at for known, at in grant.access.items() if same(known, key)), None)


def _refuse_repeated(form: Parameters) -> None:
    if form.repeated:
        raise OAuthError("invalid_request", "a parameter came twice")


def _invalid_grant(reason: str) -> OAuthError:
    return OAuthError("invalid_grant", reason)
