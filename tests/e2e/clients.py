"""The official Python client, signed in to the product."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.e2e.browser import approve

REDIRECT_URI = "http://127.0.0.1:33418/callback"

INDEXED = (
    "Indexed for search.",
    "Not indexed for search yet: there was no time left. The next search indexes it.",
)
"""What is said of a note after it was written; the second if the webhook's indexer has it."""


class Kept(TokenStorage):
    """What a client remembers between its runs."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def sign_in(
    url: str,
    kept: Kept,
    *,
    document: str | None = None,
    redirect_uri: str = REDIRECT_URI,
    **choices: str,
) -> OAuthClientProvider:
    """The sign-in of the official client, known by a metadata `document` or registered anew.

    `choices` are made on the consent page.
    """
    answers: list[str] = []

    async def open_browser(authorize_url: str) -> None:
        answers.append(approve(authorize_url, redirect_uri, **choices))

    async def wait_for_answer() -> AuthorizationCodeResult:
        answer = {name: values[0] for name, values in parse_qs(urlsplit(answers[-1]).query).items()}
        return AuthorizationCodeResult(**answer)

    return OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="End-to-end test",
            redirect_uris=[AnyUrl(redirect_uri)],
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="none",
        ),
        storage=kept,
        redirect_handler=open_browser,
        callback_handler=wait_for_answer,
        client_metadata_url=document,
    )


@asynccontextmanager
async def connected(
    url: str, auth: OAuthClientProvider, mode: str = "auto"
) -> AsyncIterator[Client]:
    """The official client, connected to the MCP server at `url`."""
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client
