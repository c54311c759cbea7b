"""Clients as they are seen in the field: how they register, what they ask for, how they call."""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

from tests.e2e.browser import approve

SECONDS = 30


@dataclass(frozen=True, slots=True)
class Profile:
    """One client. Without `registration` its `client_id` is the address of its document."""

    name: str
    redirect_uri: str
    revision: str
    registration: Mapping[str, object] | None = None
    client_id: str | None = None
    scope: str | None = None
    sends_resource: bool = True

    def __str__(self) -> str:
        return self.name


def _registration(uri: str, **members: object) -> Mapping[str, object]:
    return {"client_name": "Profile", "redirect_uris": [uri], **members}


_CLAUDE = "https://claude.ai/api/mcp/auth_callback"
_LOOPBACK = "http://127.0.0.1:51004/callback"
_BOTH = "memory:read memory:write"

BY_DATE = (
    Profile(
        "2025-03-26",
        _LOOPBACK,
        "2025-03-26",
        _registration("http://127.0.0.1/callback", token_endpoint_auth_method="none"),
        sends_resource=False,
    ),
    Profile(
        "2025-06-18",
        _LOOPBACK,
        "2025-06-18",
        _registration(_LOOPBACK, token_endpoint_auth_method="none"),
    ),
    Profile(
        "2025-11-25",
        _LOOPBACK,
        "2025-11-25",
        client_id="https://claude.ai/oauth/claude-code-client-metadata",
        scope=_BOTH,
    ),
    Profile(
        "2026-07-28",
        _LOOPBACK,
        "2026-07-28",
        client_id="https://claude.ai/oauth/claude-code-client-metadata",
        scope=f"{_BOTH} offline_access",
    ),
)
IN_THE_FIELD = (
    Profile(
        "claude.ai by registration",
        _CLAUDE,
        "2025-11-25",
        _registration(
            _CLAUDE,
            token_endpoint_auth_method="client_secret_post",
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=_BOTH,
        ),
        scope=" offline_access",
    ),
    Profile(
        "claude.ai by document",
        _CLAUDE,
        "2025-11-25",
        client_id="https://claude.ai/oauth/mcp-oauth-client-metadata",
        scope=f"{_BOTH} offline_access",
    ),
    Profile(
        "Claude Code",
        "http://localhost:3118/callback",
        "2026-07-28",
        client_id="https://claude.ai/oauth/claude-code-client-metadata",
        scope=_BOTH,
    ),
    Profile(
        "ChatGPT",
        "https://chatgpt.com/connector_platform_oauth_redirect",
        "2026-07-28",
        client_id="https://chatgpt.com/oauth/client.json",
        scope=f"{_BOTH} offline_access",
    ),
    Profile(
        "ChatGPT on reconnect",
        "https://chatgpt.com/connector_platform_oauth_redirect",
        "2026-07-28",
        client_id="https://chatgpt.com/oauth/client.json",
    ),
    Profile(
        "Cursor",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "2025-11-25",
        client_id="https://cursor.com/oauth/mcp-client.json",
        scope=_BOTH,
    ),
    Profile(
        "VS Code",
        "http://127.0.0.1:33418/",
        "2025-11-25",
        _registration(
            "http://127.0.0.1/",
            token_endpoint_auth_method="none",
            application_type="native",
            software_id="vscode",
        ),
    ),
    Profile(
        "a client that names no method",
        _LOOPBACK,
        "2025-06-18",
        _registration(_LOOPBACK),
    ),
)


@dataclass
class FieldClient:
    """A profile at work against one server."""

    profile: Profile
    base_url: str
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    id: str = ""
    secret: str | None = None

    def register(self) -> None:
        if self.profile.client_id is not None:
            self.id = self.profile.client_id
            return
        answer = requests.post(
            f"{self.base_url}/register", json=self.profile.registration, timeout=SECONDS
        )
        assert answer.status_code == 201, answer.text
        self.id, self.secret = answer.json()["client_id"], answer.json().get("client_secret")

    def query(self, **changed: str) -> dict[str, str]:
        """What the client asks for; an empty value leaves a parameter out."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self.profile.redirect_uri,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "scope": self.profile.scope or "",
            "resource": f"{self.base_url}/mcp" if self.profile.sends_resource else "",
        } | changed
        return {name: value for name, value in query.items() if value}

    def authorize(self, **changed: str) -> dict[str, str]:
        """The answer that a person who agrees to everything brings back."""
        url = f"{self.base_url}/authorize?{urlencode(self.query(**changed))}"
        answered = approve(url, self.profile.redirect_uri)
        return {name: value for name, [value] in parse_qs(urlsplit(answered).query).items()}

    def refused(self, **changed: str) -> dict[str, str] | requests.Response:
        """The error that the client gets back, or the page on which the person stays."""
        answer = requests.get(
            f"{self.base_url}/authorize",
            params=self.query(**changed),
            allow_redirects=False,
            timeout=SECONDS,
        )
        if answer.status_code not in (302, 303):
            return answer
        parts = urlsplit(answer.headers["location"])
        return {name: value for name, [value] in parse_qs(parts.query).items()}

    def token(self, **form: str) -> requests.Response:
        """A form to /token; an empty value leaves a field out."""
        form = {"client_id": self.id, **form}
        if self.secret:
            form["client_secret"] = self.secret
        if self.profile.sends_resource:
            form.setdefault("resource", f"{self.base_url}/mcp")
        sent = {name: value for name, value in form.items() if value}
        return requests.post(f"{self.base_url}/token", data=sent, timeout=SECONDS)

    def redeem(self, code: str, **changed: str) -> requests.Response:
        return self.token(
            **{
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": self.profile.redirect_uri,
                "code_verifier": self.verifier,
            }
            | changed
        )

    def refresh(self, token: str, **changed: str) -> requests.Response:
        return self.token(**{"grant_type": "refresh_token", "refresh_token": token} | changed)

    def revoke(self, token: str) -> requests.Response:
        form = {"client_id": self.id, "token": token}
        if self.secret:
            form["client_secret"] = self.secret
        return requests.post(f"{self.base_url}/revoke", data=form, timeout=SECONDS)

    def sign_in(self) -> dict[str, Any]:
        """The token answer of a complete sign-in."""
        self.register()
        granted = self.redeem(self.authorize()["code"])
        assert granted.status_code == 200, granted.text
        answer: dict[str, Any] = granted.json()
        return answer

    def call(self, access_token: str, method: str = "tools/list") -> requests.Response:
        """A request of the profile's revision."""
        message: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": method}
        headers = {
            "authorization": f"Bearer {access_token}",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": self.profile.revision,
        }
        if self.profile.revision == "2026-07-28":
            headers |= {"mcp-method": method}
            message["params"] = {
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": self.profile.revision,
                    "io.modelcontextprotocol/clientInfo": {"name": "profile", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            }
        return requests.post(f"{self.base_url}/mcp", json=message, headers=headers, timeout=SECONDS)
