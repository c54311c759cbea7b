"""Signing in with Dropbox: OAuth 2 with PKCE (RFC 7636) and offline access.

https://developers.dropbox.com/oauth-guide
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import requests
from urllib3.exceptions import HTTPError

from memorybox.accounts.model import DROPBOX_SCOPES, AccessToken, AccountId, DropboxGrant
from memorybox.clock import Clock
from memorybox.errors import SignInEnded
from memorybox.files.errors import DropboxSilent

WEB = "https://www.dropbox.com"
_API = "https://api.dropboxapi.com"
_TIMEOUTS = (3.0, 4.0)  # seconds; two tries leave a tool call time for its work
_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class DropboxOAuth:
    """DropboxSignIn on Dropbox. `web` is where people see Dropbox in their browser."""

    session: requests.Session
    app_key: str
    app_secret: str = field(repr=False)
    redirect_uri: str
    clock: Clock
    web: str = WEB

    def authorize_url(self, *, state: str, challenge: str) -> str:
        query = {
            "client_id": self.app_key,
            "response_type": "code",
            "redirect_uri": self.redirect_uri,
            "state": state,
            "token_access_type": "offline",
            "scope": " ".join(sorted(DROPBOX_SCOPES)),
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.web}/oauth2/authorize?{urlencode(query)}"

    def redeem(self, *, code: str, verifier: str) -> DropboxGrant:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "client_id": self.app_key,
            "code_verifier": verifier,
        }
        # A code is good once, so a lost answer is not asked for again.
        response = self._ask({**form, "client_secret": self.app_secret})
        if _error(response) == "invalid_request":  # Dropbox may not take both proofs at once
            response = self._ask(form)
        answer = _granted(response)
        access = self._access(answer)
        return DropboxGrant(
            account_id=AccountId(_text(answer, "account_id")),
            name=self._name(access),
            scopes=frozenset(_text(answer, "scope").split()),
            access=access,
            refresh_token=answer.get("refresh_token"),
        )

    def refresh(self, refresh_token: str) -> AccessToken:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
            "client_id": self.app_key,
            "client_secret": self.app_secret,
        }
        return self._access(_granted(self._ask(form, is_repeatable=True)))

    def revoke(self, access_token: str) -> None:
        response = self._call("auth/token/revoke", access_token)
        if response.status_code not in {HTTPStatus.OK, HTTPStatus.UNAUTHORIZED}:
            raise DropboxSilent

    def _name(self, access: AccessToken) -> str:
        with suppress(DropboxSilent, ValueError, LookupError, TypeError):
            user = self._call("users/get_current_account", access.secret).json()
            return str(user["name"]["display_name"])
        return ""

    def _access(self, answer: Mapping[str, Any]) -> AccessToken:
        seconds = answer.get("expires_in")
        if not isinstance(seconds, int):
            raise DropboxSilent
        return AccessToken(
            _text(answer, "access_token"), self.clock.now() + timedelta(seconds=seconds)
        )

    def _ask(self, form: dict[str, str], *, is_repeatable: bool = False) -> requests.Response:
        return self._post("/oauth2/token", is_repeatable, data=form)

    def _call(self, route: str, access_token: str) -> requests.Response:
        """An API route without an argument."""
        headers = {"Authorization": f"Bearer {access_token}", "Content-Type": "application/json"}
        return self._post(f"/2/{route}", is_repeatable=True, data="null", headers=headers)

    def _post(self, path: str, is_repeatable: bool, **request: Any) -> requests.Response:
        """Any answer but a server error. Raises DropboxSilent."""
        try:
            return self._post_once(path, request)
        except DropboxSilent:
            if not is_repeatable:
                raise
        self.clock.sleep(_PAUSE)
        return self._post_once(path, request)

    def _post_once(self, path: str, request: Mapping[str, Any]) -> requests.Response:
        try:
            response = self.session.post(
                _API + path, timeout=_TIMEOUTS, allow_redirects=False, **request
            )
        except (requests.RequestException, HTTPError) as error:
            raise DropboxSilent from error
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise DropboxSilent
        return response


def _granted(response: requests.Response) -> Mapping[str, Any]:
    """The body of a token answer. Raises SignInEnded on `invalid_grant`."""
    if _error(response) == "invalid_grant":
        raise SignInEnded("The access to this Dropbox has ended.")
    answer = _json(response)
    if response.status_code != HTTPStatus.OK or not isinstance(answer, dict):
        raise DropboxSilent
    return answer


def _error(response: requests.Response) -> object:
    """The error code of RFC 6749, section 5.2."""
    answer = _json(response)
    return answer.get("error") if isinstance(answer, dict) else None


def _json(response: requests.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return None


def _text(answer: Mapping[str, Any], name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise DropboxSilent
    return value
