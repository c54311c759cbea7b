"""The token endpoint: a code becomes a grant, a refresh token a new pair; and revocation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from memorybox.accounts.ports import Accounts
from memorybox.clock import Clock
from memorybox.errors import Unavailable
from memorybox.oauth import grants
from memorybox.oauth.clients import Clients
from memorybox.oauth.errors import OAuthError, Unauthorized
from memorybox.oauth.grants import Pair
from memorybox.oauth.metadata import Issuer, scope_text
from memorybox.oauth.model import AuthorizationCode, Client, Grant
from memorybox.oauth.opaque import Random, challenge_of, digest, new_id, same
from memorybox.oauth.parameters import Parameters
from memorybox.oauth.store import CodeStore, GrantStore

_MAX_TRIES = 16
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Gives tokens out, checks them, and ends them."""

    issuer: Issuer
    clients: Clients
    codes: CodeStore
    grants: GrantStore
    accounts: Accounts
    clock: Clock
    random: Random
    access_life: timedelta

    def issue(self, form: Parameters, authorization: str | None) -> Mapping[str, object]:
        """The answer to a POST to /token. Raises OAuthError."""
        _refuse_repeated(form)
        client = self.clients.authenticated(form, authorization)
        match form.get("grant_type"):
            case "authorization_code":
                return self._exchanged(client, form)
            case "refresh_token":
                return self._refreshed(client, form)
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
        grant = self._named_by(token)
        if grant and grant.client_id == client.id and grants.has_token(grant, token):
            self.grants.end(grant.id)

    def check(self, authorization: str | None) -> Grant:
        """The grant behind an Authorization header (RFC 6750). Raises Unauthorized."""
        scheme, _, token = (authorization or "").partition(" ")
        token = token.strip(" ")
        if scheme.lower() != "bearer":
            raise Unauthorized("no bearer token", presented=False)
        grant = self._named_by(token)
        if grant is None:
            raise Unauthorized("unknown token or ended grant", presented=True)
        expires_at = grants.access_expiry(grant, token)
        if expires_at is None:
            raise Unauthorized("unknown or replaced token", presented=True)
        if expires_at <= self.clock.now():
            raise Unauthorized("expired token", presented=True)
        if grant.resource != self.issuer.resource:
            raise Unauthorized("token for another resource", presented=True)
        return grant

    def end_all(self, grant: Grant) -> None:
        """Dropbox no longer lets us in: end this grant and every other one of its account.

        If the person has signed in again meanwhile, nothing ends: Dropbox lets us in with that.
        """
        account = self.accounts.get(grant.account_id)
        if account is not None and account.is_linked:
            return
        last = account.link if account else grant.link
        self.grants.end(grant.id)
        for other in self.grants.of_account(grant.account_id):
            if other.link <= last:
                self.grants.end(other.id)

    def _exchanged(self, client: Client, form: Parameters) -> Mapping[str, object]:
        code, now = self._matched(client, form), self.clock.now()
        if code.used_by is None and code.expires_at <= now:
            raise _invalid_grant("expired code")
        self.clients.keep(client)
        request_id = new_id(self.random)
        if not self.codes.use(code.key, request_id=request_id):
            # Somebody has both the code and its verifier a second time (RFC 6749, 4.1.2).
            self.grants.end(code.grant_id)
            raise _invalid_grant("code used again")
        pair = Pair.new(code.grant_id, self.random)
        until = now + self.access_life
        grant = grants.begin(code, pair, now=now, access_until=until, request_id=request_id)
        if not self.grants.add(grant):
            raise _invalid_grant("code used again at the same time")
        if not self._is_signed_in(grant):  # last: a deletion sees the grant or is seen
            self.grants.end(grant.id)
            raise _invalid_grant("the account was deleted")
        return self._answer(grant, pair)

    def _is_signed_in(self, grant: Grant) -> bool:
        account = self.accounts.get(grant.account_id)
        return account is not None and account.is_linked and account.saw(grant.link)

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

    def _refreshed(self, client: Client, form: Parameters) -> Mapping[str, object]:
        """A new pair. Whoever loses the race for the record reads it again and gets a pair too."""
        token = form.get("refresh_token") or ""
        self._check_resource(form)
        request_id = new_id(self.random)
        for _ in range(_MAX_TRIES):
            grant, now = self._refreshable(client, token), self.clock.now()
            self.clients.keep(client)
            pair = Pair.new(grant.id, self.random)
            until = now + self.access_life
            rotated = grants.rotate(
                grant, token, pair, now=now, access_until=until, request_id=request_id
            )
            if self.grants.replace(rotated):
                return self._answer(rotated, pair)
        raise Unavailable("Too many refreshes of one grant at once.")

    def _refreshable(self, client: Client, token: str) -> Grant:
        grant, now = self._named_by(token), self.clock.now()
        if grant is None or grant.client_id != client.id:
            raise _invalid_grant("unknown token or ended grant")
        if grant.expires_at <= now:
            raise _invalid_grant("expired grant")
        if digest(token) not in grant.refresh:
            raise _invalid_grant("unknown token")
        used_at = grant.refresh[digest(token)]
        if used_at is None:
            return grant
        if now - used_at > grants.REUSE_GRACE:
            self.grants.end(grant.id)
            raise _invalid_grant("used token came back")
        if grants.count_unused_since(grant, token) >= grants.MAX_UNUSED:
            raise _invalid_grant("too many unused tokens")
        return grant

    def _answer(self, grant: Grant, pair: Pair) -> Mapping[str, object]:
        return {
            "access_token": pair.access,
            "token_type": "Bearer",
            "expires_in": int(self.access_life.total_seconds()),
            "refresh_token": pair.refresh,
            "scope": scope_text(grant.scopes),
        }

    def _named_by(self, token: str) -> Grant | None:
        """The grant that a token says it is of; whether that is true is still to be seen."""
        grant_id = grants.grant_id_of(token)
        return self.grants.get(grant_id) if grant_id else None

    def _check_resource(self, form: Parameters) -> None:
        if not self.issuer.owns(form.get("resource") or self.issuer.resource):
            raise OAuthError("invalid_target", "resource is not ours")


def _refuse_repeated(form: Parameters) -> None:
    if form.repeated:
        raise OAuthError("invalid_request", "a parameter came twice")


def _invalid_grant(reason: str) -> OAuthError:
    return OAuthError("invalid_grant", reason)
