"""A sign-in by hand, for what needs no client but a token."""

import base64
import hashlib
import secrets
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

from tests.e2e.browser import approve

REDIRECT_URI = "http://127.0.0.1:33420/callback"


def sign_in(base_url: str, scope: str = "", **choices: str) -> dict[str, Any]:
    """Register, authorize, consent, redeem: the token answer, with the `client_id` added.

    `choices` are made on the consent page.
    """
    verifier = secrets.token_urlsafe(32)
    digest = hashlib.sha256(verifier.encode()).digest()
    registered = requests.post(
        f"{base_url}/register",
        json={"redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": "none"},
        timeout=30,
    )
    client_id = registered.json()["client_id"]
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": REDIRECT_URI,
        "state": "of the client",
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
        "scope": scope,
    }
    answered = approve(f"{base_url}/authorize?{urlencode(query)}", REDIRECT_URI, **choices)
    [code] = parse_qs(urlsplit(answered).query)["code"]
    granted = requests.post(
        f"{base_url}/token",
        data={
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": REDIRECT_URI,
            "client_id": client_id,
            "code_verifier": verifier,
        },
        timeout=30,
    )
    assert granted.status_code == requests.codes.ok, granted.text
    return {**granted.json(), "client_id": client_id}
