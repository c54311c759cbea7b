"""The OAuth pages: a user allows or denies the app, the app exchanges its code."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

from local.dropbox.accounts import Account
from local.dropbox.exchange import Request
from local.dropbox.grants import Grants, OAuthRefusal
from local.dropbox.grants import Request as Asked
from local.dropbox.wire import JSON_TYPE, Refusal, Response, encoded

AUTHORIZE = "/oauth2/authorize"
TOKEN = "/oauth2/token"  # noqa: S105  # a path
DENY = "deny"

_WEB_HOSTS = {"www.dropbox.com"}
_TOKEN_HOSTS = {"api.dropboxapi.com", "api.dropbox.com", "www.dropbox.com"}
_LONGEST_STATE = 500
_RECORDED_TOKEN_TYPE = "text/javascript"  # noqa: S105  # a content type
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


@dataclass(frozen=True, slots=True)
class AuthorizationPage:
    """`auto_approve` answers for the user: an account's id, `deny`, or None to show the page."""

    grants: Grants
    accounts: Mapping[str, Account]
    auto_approve: str | None

    def answer(self, request: Request) -> Response:
        if request.host not in _WEB_HOSTS:
            raise Refusal(Response(404, b"Not Found"))
        if request.method == "POST":
            form = _form(request)
            decision = form.pop("decision", DENY)
            return self._decided(self._checked(form), form, decision)
        query = request.query
        asked = self._checked(query)
        if self.auto_approve is not None:
            return self._decided(asked, query, self.auto_approve)
        return _html(200, self._page(asked, query))

    def _checked(self, query: dict[str, str]) -> Asked:
        """What the app asks for, or an error page: never a redirect to where it does not belong."""
        app = self.grants.app
        if query.get("client_id") != app.key:
            raise _refused("Invalid client_id")
        if query.get("response_type") != "code":
            raise _refused('response_type must be "code"')
        if query.get("redirect_uri") not in app.redirect_uris:
            raise _refused("Invalid redirect_uri: it must exactly match one pre-configured")
        if len(query.get("state", "").encode()) > _LONGEST_STATE:
            raise _refused("state: longer than 500 bytes")
        if unknown := query.keys() - _KNOWN_PARAMETERS:
            raise _refused(f"Unknown parameter: {min(unknown)}")
        scopes = tuple(query["scope"].split()) if query.get("scope") else app.scopes
        if not set(scopes) <= {*app.scopes, "openid", "email", "profile"}:
            raise _refused("Invalid scope: the app does not have it")
        method = query.get("code_challenge_method", "plain")
        if method not in {"plain", "S256"}:
            raise _refused("Invalid code_challenge_method")
        return Asked(
            redirect_uri=query.get("redirect_uri"),
            scopes=scopes,
            offline=query.get("token_access_type") == "offline",
            challenge=query.get("code_challenge"),
            challenge_method=method,
        )

    def _decided(self, asked: Asked, query: dict[str, str], decision: str) -> Response:
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
        uri = asked.redirect_uri or ""
        separator = "&" if urlsplit(uri).query else "?"
        return Response(302, headers={"Location": uri + separator + urlencode(answer)})

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


def token_answer(request: Request, grants: Grants) -> Response:
    """`/oauth2/token`: the parameters may be in the form or, as the JS SDK does, in the query."""
    if request.host not in _TOKEN_HOSTS or request.method != "POST":
        raise Refusal(Response(404, b"Not Found"))
    try:
        answer = grants.exchange({**request.query, **_form(request)}, _basic(request))
    except OAuthRefusal as refusal:
        error = {"error": refusal.error, "error_description": refusal.description}
        return Response(400, encoded(error), JSON_TYPE)
    return Response(200, encoded(answer), _RECORDED_TOKEN_TYPE)


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
