"""Who may call: the app, the grants users gave it, and their codes and tokens."""

import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import compare_digest

from local.dropbox.clock import EmulatedClock
from local.dropbox.encoding import base64url
from local.dropbox.entries import Json

TOKEN_SECONDS = 14_400
_CODE_SECONDS = 600

ALL_SCOPES = (
    "account_info.read",
    "files.content.read",
    "files.content.write",
    "files.metadata.read",
    "sharing.read",
    "sharing.write",
)


@dataclass(frozen=True, slots=True)
class App:
    """What the App Console knows of the app."""

    key: str = "emulated-app-key"
    secret: str = field(default="emulated-app-secret", repr=False)
    redirect_uris: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ALL_SCOPES


@dataclass(frozen=True, slots=True)
class Request:
    """What a user is asked to allow, by the query of `/oauth2/authorize`."""

    redirect_uri: str | None
    scopes: tuple[str, ...]
    offline: bool
    challenge: str | None = None
    challenge_method: str = "plain"


@dataclass(slots=True)
class Grant:
    account: str
    request: Request
    refresh_token: str | None = None
    is_revoked: bool = False


@dataclass(frozen=True, slots=True)
class AccessToken:
    text: str = field(repr=False)
    grant: Grant
    scopes: tuple[str, ...]
    expires: datetime


class OAuthRefusal(Exception):
    """An error of RFC 6749, section 5.2."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(f"{error}: {description}")
        self.error, self.description = error, description


class Grants:
    """`on_change` is called after tokens came or went; codes live too short to be kept."""

    def __init__(self, app: App, clock: EmulatedClock) -> None:
        self.app = app
        self.on_change: Callable[[], None] = lambda: None
        self.secret_with_verifier_allowed = True  # not known how Dropbox answers the two together
        self._clock = clock
        self._codes: dict[str, tuple[Grant, datetime]] = {}
        self._refresh: dict[str, Grant] = {}
        self._access: dict[str, AccessToken] = {}
        self._lock = threading.Lock()

    def code(self, account: str, request: Request) -> str:
        """The user allowed: a code that buys one token answer."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            until = self._clock.now() + timedelta(seconds=_CODE_SECONDS)
            self._codes[code] = (Grant(account, request), until)
        return code

    def issue(self, account: str, scopes: tuple[str, ...] = ALL_SCOPES) -> tuple[str, str]:
        """An access and a refresh token without any page, for tests."""
        grant = Grant(account, Request(redirect_uri=None, scopes=scopes, offline=True))
        with self._lock:
            tokens = self._access_token(grant, scopes).text, self._refresh_token(grant)
        self.on_change()
        return tokens

    def access(self, token: str) -> AccessToken | None:
        with self._lock:
            return self._access.get(token)

    def is_expired(self, token: AccessToken) -> bool:
        return self._clock.now() >= token.expires

    def revoke(self, grant: Grant) -> None:
        """Ends its refresh token and all its access tokens."""
        grant.is_revoked = True
        self.on_change()

    def unlink(self, account: str) -> None:
        """The user disconnects the app: every token of theirs ends, for good."""
        with self._lock:
            for grant in self._standing():
                grant.is_revoked = grant.account == account
        self.on_change()

    def snapshot(self) -> Json:
        """What `restore` needs to know the tokens again."""
        with self._lock:
            grants = list({id(grant): grant for grant in self._standing()}.values())
            return {
                "grants": [asdict(grant) for grant in grants],
                "access": [
                    (one.text, grants.index(one.grant), one.scopes, one.expires.isoformat())
                    for one in self._access.values()
                    if one.grant in grants
                ],
            }

    def restore(self, snapshot: Json) -> None:
        grants = [_restored(fields) for fields in snapshot["grants"]]
        with self._lock:
            self._refresh = {one.refresh_token: one for one in grants if one.refresh_token}
            for text, index, scopes, expires in snapshot["access"]:
                until = datetime.fromisoformat(expires)
                self._access[text] = AccessToken(text, grants[index], tuple(scopes), until)

    def is_linked(self, account: str) -> bool:
        """Whether the user gave a grant that still stands."""
        with self._lock:
            return any(grant.account == account for grant in self._standing())

    def _standing(self) -> Iterator[Grant]:
        for grant in [*self._refresh.values(), *(one.grant for one in self._access.values())]:
            if not grant.is_revoked:
                yield grant

    def clear(self) -> None:
        with self._lock:
            for tokens in (self._codes, self._refresh, self._access):
                tokens.clear()

    def exchange(self, form: dict[str, str], basic: tuple[str, str] | None) -> Json:
        """Answer `/oauth2/token`. Raises OAuthRefusal."""
        key, secret = basic or (form.get("client_id", ""), form.get("client_secret"))
        self._check_client(key, secret)
        exchanges = {
            "authorization_code": self._exchange_code,
            "refresh_token": self._exchange_refresh_token,
        }
        exchange = exchanges.get(form.get("grant_type", ""))
        if exchange is None:
            raise OAuthRefusal("unsupported_grant_type", "grant_type is not supported")
        with self._lock:
            answer = exchange(form, secret)
        self.on_change()
        return answer

    def _check_client(self, key: str, secret: str | None) -> None:
        known = compare_digest(key.encode(), self.app.key.encode())
        right = secret is None or compare_digest(secret.encode(), self.app.secret.encode())
        if not (known and right):
            raise OAuthRefusal("invalid_client", "Invalid client_id or client_secret")

    def _exchange_code(self, form: dict[str, str], secret: str | None) -> Json:
        grant, until = self._codes.pop(form.get("code", ""), (None, None))
        if grant is None or until is None or self._clock.now() >= until:
            raise OAuthRefusal("invalid_grant", "code doesn't exist or has expired")
        request = grant.request
        if form.get("redirect_uri") != request.redirect_uri:
            raise OAuthRefusal("invalid_grant", "redirect_uri mismatch")
        self._check_verifier(form.get("code_verifier"), request, secret)
        answer = self._token_answer(grant, request.scopes)
        answer |= {
            "account_id": grant.account,
            "scope": " ".join(request.scopes),
        }
        if request.offline:
            answer["refresh_token"] = self._refresh_token(grant)
        return answer

    def _check_verifier(self, verifier: str | None, request: Request, secret: str | None) -> None:
        if request.challenge is None:
            if verifier is not None:
                raise OAuthRefusal("invalid_grant", "code_verifier was not expected")
            if secret is None:
                raise OAuthRefusal("invalid_client", "client_secret is missing")
            return
        if verifier is None:
            raise OAuthRefusal("invalid_grant", "code_verifier is missing")
        if secret is not None and not self.secret_with_verifier_allowed:
            raise OAuthRefusal("invalid_request", "client_secret and code_verifier are both given")
        if _challenge(verifier, request.challenge_method) != request.challenge:
            raise OAuthRefusal("invalid_grant", "invalid code verifier")

    def _exchange_refresh_token(self, form: dict[str, str], secret: str | None) -> Json:
        grant = self._refresh.get(form.get("refresh_token", ""))
        if grant is None:
            raise OAuthRefusal("invalid_grant", "refresh token is malformed")
        if grant.is_revoked:
            raise OAuthRefusal("invalid_grant", "refresh token is invalid or revoked")
        if secret is None and grant.request.challenge is None:
            raise OAuthRefusal("invalid_client", "client_secret is missing")
        scopes = tuple(form["scope"].split()) if form.get("scope") else grant.request.scopes
        if not set(scopes) <= set(grant.request.scopes):
            raise OAuthRefusal("invalid_scope", "scope was not granted")
        return self._token_answer(grant, scopes)

    def _token_answer(self, grant: Grant, scopes: tuple[str, ...]) -> Json:
        token = self._access_token(grant, scopes)
        return {"access_token": token.text, "token_type": "bearer", "expires_in": TOKEN_SECONDS}

    def _access_token(self, grant: Grant, scopes: tuple[str, ...]) -> AccessToken:
        expires = self._clock.now() + timedelta(seconds=TOKEN_SECONDS)
        token = AccessToken("sl.u." + secrets.token_urlsafe(96), grant, scopes, expires)
        self._access[token.text] = token
        return token

    def _refresh_token(self, grant: Grant) -> str:
        grant.refresh_token = secrets.token_urlsafe(48)
        self._refresh[grant.refresh_token] = grant
        return grant.refresh_token


def _restored(fields: Json) -> Grant:
    """A grant whose scopes became a list on the way through JSON."""
    request = fields["request"]
    asked = Request(**{**request, "scopes": tuple(request["scopes"])})
    return Grant(fields["account"], asked, fields["refresh_token"])


def _challenge(verifier: str, method: str) -> str:
    if method == "S256":  # RFC 7636, section 4.2
        return base64url(sha256(verifier.encode()).digest())
    return verifier
