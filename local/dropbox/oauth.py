"""The OAuth pages: a user allows or denies the app, the app exchanges its code."""

import hmac
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

from local.dropbox.accounts import Account
from local.dropbox.encoding import base64url
from local.dropbox.exchange import Request
from local.dropbox.grants import TOKEN_SECONDS, App, Grants, OAuthRefusal
from local.dropbox.grants import Request as Asked
from local.dropbox.wire import JSON_TYPE, Refusal, Response, encoded

AUTHORIZE = "/oauth2/authorize"
TOKEN = "/oauth2/token"  # noqa: S105  # a path
DENY = "deny"

_WEB_HOSTS = {"www.dropbox.com"}
_TOKEN_HOSTS = {"api.dropboxapi.com", "api.dropbox.com", "www.dropbox.com"}
_LONGEST_STATE = 500
_RECORDED_TOKEN_TYPE = "text/javascript"  # noqa: S105  # a content type
_SIGN_IN_SCOPES = {"openid", "email", "profile"}
_KNOWN_PARAMETERS = {
    "client_id",
    "response_type",
    "redirect_uri",
    "state",
    "token_access_type",
    "scope",
    "include_granted_scopes",
    "code_challenge",
    "code_challenge_method",
    "force_reapprove",
    "disable_signup",
    "locale",
    "require_role",
    "nonce",
}


def authorization_answer(
    request: Request, grants: Grants, accounts: Mapping[str, Account], auto_approve: str | None
) -> Response:
    """`auto_approve` answers for the user: an account's id, `deny`, or None to show the page."""
    if request.host not in _WEB_HOSTS:
        raise Refusal(Response(404, b"Not Found"))
    page = _AuthorizationPage(grants, accounts)
    if request.method == "POST":
        form = _form(request)
        decision = form.pop("decision", DENY)
        return page.decided(form, decision)
    if auto_approve is not None:
        return page.decided(request.query, auto_approve)
    return page.shown(request.query)


@dataclass(frozen=True, slots=True)
class _AuthorizationPage:
    grants: Grants
    accounts: Mapping[str, Account]

    def shown(self, query: dict[str, str]) -> Response:
        asked = self._checked(query)
        return _html(200, self._page(asked, query))

    def decided(self, query: dict[str, str], decision: str) -> Response:
        """Back to the app, with a code or with the user's refusal."""
        asked = self._checked(query)
        if decision == DENY:
            answer = {
                "error": "access_denied",
                "error_description": "The user chose not to give your app access "
                "to their Dropbox account.",
            }
        elif decision in self.accounts:
            answer = {"code": self.grants.code(decision, asked)}
        else:
            raise _refused("No such account")
        if "state" in query:
            answer["state"] = query["state"]
        uri = query["redirect_uri"]
        separator = "&" if urlsplit(uri).query else "?"
        return Response(302, headers={"Location": uri + separator + urlencode(answer)})

    def _checked(self, query: dict[str, str]) -> Asked:
        """What the app asks for, or an error page: never a redirect to where it does not belong."""
        app = self.grants.app
        problem = _problem(query, app)
        if problem:
            raise _refused(problem)
        return Asked(
            redirect_uri=query["redirect_uri"],
            scopes=_scopes(query, app),
            offline=query.get("token_access_type") == "offline",
            challenge=query.get("code_challenge"),
            challenge_method=query.get("code_challenge_method", "plain"),
        )

    def _page(self, asked: Asked, query: dict[str, str]) -> str:
        hidden = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
            for name, value in query.items()
        )
        allow = "".join(
            f'<button name="decision" value="{escape(account.account_id)}">'
            f"Allow as {escape(account.profile.email)}</button> "
            for account in self.accounts.values()
        )
        scopes = "".join(f"<li>{escape(scope)}</li>" for scope in asked.scopes)
        return (
            "<!doctype html><title>Emulated Dropbox</title><h1>Emulated Dropbox</h1>"
            f"<p>The app {escape(self.grants.app.key)} asks for:</p><ul>{scopes}</ul>"
            f'<form method="post" action="{AUTHORIZE}">{hidden}{allow}'
            f'<button name="decision" value="{DENY}">Deny</button></form>'
        )


def _problem(query: dict[str, str], app: App) -> str | None:
    """Why this request gets an error page."""
    problems = {
        "Invalid client_id": query.get("client_id") != app.key,
        'response_type must be "code"': query.get("response_type") != "code",
        "Invalid redirect_uri: it must exactly match one of the app's": (
            query.get("redirect_uri") not in app.redirect_uris
        ),
        "state is longer than 500 bytes": len(query.get("state", "").encode()) > _LONGEST_STATE,
        "Unknown parameter": not query.keys() <= _KNOWN_PARAMETERS,
        "Invalid scope": not set(_scopes(query, app)) <= {*app.scopes, *_SIGN_IN_SCOPES},
        "Invalid code_challenge_method": (
            query.get("code_challenge_method", "plain") not in {"plain", "S256"}
        ),
    }
    return next((text for text, is_so in problems.items() if is_so), None)


def _scopes(query: dict[str, str], app: App) -> tuple[str, ...]:
    return tuple(query["scope"].split()) if query.get("scope") else app.scopes


def token_answer(request: Request, grants: Grants, accounts: Mapping[str, Account]) -> Response:
    """`/oauth2/token`: the parameters may be in the form or, as the JS SDK does, in the query."""
    if request.host not in _TOKEN_HOSTS or request.method != "POST":
        raise Refusal(Response(404, b"Not Found"))
    try:
        answer = grants.exchange({**request.query, **_form(request)}, _basic(request))
    except OAuthRefusal as refusal:
        error = {"error": refusal.error, "error_description": refusal.description}
        return Response(400, encoded(error), JSON_TYPE)
    if account := accounts.get(answer.get("account_id", "")):
        answer["uid"] = str(account.uid)
        if "openid" in answer["scope"].split():
            answer["id_token"] = _id_token(account, grants.app)
    return Response(200, encoded(answer), _RECORDED_TOKEN_TYPE)


def _id_token(account: Account, app: App) -> str:
    """OpenID Connect's claims. Signed with the app's secret, for Dropbox's own keys are its."""
    claims = {
        "iss": "https://www.dropbox.com",
        "sub": account.account_id,
        "aud": app.key,
        "iat": int(account.now().timestamp()),
        "exp": int(account.now().timestamp()) + TOKEN_SECONDS,
        "email": account.profile.email,
        "email_verified": account.profile.email_verified,
    }
    head, body = (base64url(encoded(part)) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    signature = hmac.digest(app.secret.encode(), f"{head}.{body}".encode(), "sha256")
    return f"{head}.{body}.{base64url(signature)}"


def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl(request.body().decode("utf-8", "replace"), keep_blank_values=True))


def _basic(request: Request) -> tuple[str, str] | None:
    scheme, _, encoded_pair = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        key, _, secret = b64decode(encoded_pair).decode().partition(":")
    except ValueError:
        return None
    return key, secret


def _html(status: int, page: str) -> Response:
    return Response(status, page.encode(), "text/html; charset=utf-8")


def _refused(text: str) -> Refusal:
    page = f"<!doctype html><title>Error (400)</title><h1>Error (400)</h1><p>{escape(text)}</p>"
    return Refusal(_html(400, page))
