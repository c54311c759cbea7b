"""The OAuth pages and the token endpoint."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import dropbox
import pytest
import requests

from local.dropbox.encoding import base64url
from local.dropbox.grants import App
from local.dropbox.sdk import LoopbackSession
from local.dropbox.server import DropboxEmulator

CALLBACK = "https://box.example/callback"
APP = App(redirect_uris=(CALLBACK,))
VERIFIER = "v" * 43
ASKED = {
    "client_id": APP.key,
    "response_type": "code",
    "redirect_uri": CALLBACK,
    "state": "s t",
    "token_access_type": "offline",
    "code_challenge": base64url(sha256(VERIFIER.encode()).digest()),
    "code_challenge_method": "S256",
}


@pytest.fixture
def emulator() -> Iterator[DropboxEmulator]:
    with DropboxEmulator(APP) as started:
        yield started


def authorize(emulator: DropboxEmulator, method: str = "GET", **form: str) -> requests.Response:
    url = f"{emulator.base_url}/oauth2/authorize"
    options: dict[str, Any] = {"data" if method == "POST" else "params": {**ASKED, **form}}
    return requests.request(method, url, allow_redirects=False, timeout=5, **options)


def returned(answer: requests.Response) -> dict[str, str]:
    """The parameters with which the browser is sent back to the app."""
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(CALLBACK + "?")
    return dict(parse_qsl(urlsplit(answer.headers["Location"]).query))


def test_a_user_allows_the_app_on_a_page_and_the_code_buys_tokens(
    emulator: DropboxEmulator,
) -> None:
    ann = emulator.add_account()
    page = authorize(emulator)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert ann.profile.email in page.text
    back = returned(authorize(emulator, "POST", decision=ann.account_id))
    assert back["state"] == "s t"
    form = {
        "grant_type": "authorization_code",
        "code": back["code"],
        "redirect_uri": CALLBACK,
        "client_id": APP.key,
        "code_verifier": VERIFIER,
    }
    with LoopbackSession(emulator.base_url) as session:
        url = "https://api.dropboxapi.com/oauth2/token"
        answer = session.request("POST", url, data=form)
        assert answer.headers["Content-Type"] == "text/javascript"
        assert answer.json()["account_id"] == ann.account_id
        again = session.request("POST", url, data=form)
        assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
        token = answer.json()["refresh_token"]
        client = dropbox.Dropbox(oauth2_refresh_token=token, app_key=APP.key, session=session)
        assert client.users_get_current_account().account_id == ann.account_id
        client.auth_token_revoke()
        with pytest.raises(dropbox.exceptions.AuthError):
            client.users_get_current_account()


def test_a_user_denies_the_app(emulator: DropboxEmulator) -> None:
    emulator.auto_approve = "deny"
    back = returned(authorize(emulator))
    assert (back["error"], back["state"]) == ("access_denied", "s t")


@pytest.mark.parametrize(
    "wrong",
    [
        {"client_id": "other"},
        {"redirect_uri": CALLBACK + "/"},
        {"response_type": "token"},
        {"scope": "team_data.member"},
        {"state": "x" * 501},
        {"surprise": "1"},
    ],
)
def test_a_wrong_request_ends_on_an_error_page(
    emulator: DropboxEmulator, wrong: dict[str, str]
) -> None:
    emulator.auto_approve = emulator.add_account().account_id
    answer = authorize(emulator, **wrong)
    assert (answer.status_code, answer.headers.get("Location")) == (400, None)
