"""The official Python client works with the product after a full sign-in."""

import asyncio
from typing import Any

import pytest
from mcp import Client
from mcp.shared.auth import OAuthClientInformationFull
from mcp.types import CallToolResult, TextContent
from pydantic import AnyUrl

from local.product import Product
from tests.e2e.agreed import CONFIDENTIAL, PUBLIC, SECRET
from tests.e2e.clients import INDEXED, REDIRECT_URI, Kept, connected, sign_in

pytestmark = pytest.mark.e2e

T45 = "# Tomatoes\n\n- Planted 6 seedlings on 12 May.\n"


async def texts(client: Client, tool: str, **arguments: object) -> list[str]:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error
    return [block.text for block in result.content if isinstance(block, TextContent)]


@pytest.mark.promise("P-212")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_note_is_written_added_to_read_patched_and_found(product: Product, mode: str) -> None:
    async def story() -> None:
        url = f"{product.url}/mcp"
        async with connected(url, sign_in(url, Kept()), mode) as client:
            file = {"workspace": f"garden-{mode}", "path": "tomatoes.md"}
            [written] = await texts(client, "write", **file, text=T45)
            assert written.partition("\n")[2] in INDEXED
            [appended] = await texts(client, "append", **file, text="- First fruit on 20 June.\n")
            heading, text = await texts(client, "read", **file)
            rev = appended.splitlines()[0].removeprefix("rev: ")
            assert heading == f"rev: {rev}\nsize: 71 bytes"
            assert text == T45 + "- First fruit on 20 June.\n"
            edits = [{"old_text": "6 seedlings", "new_text": "8 seedlings"}]
            await texts(client, "patch", **file, edits=edits, expected_rev=rev)
            [found] = await texts(
                client, "search", workspace=file["workspace"], query="when did the tomatoes fruit"
            )
            assert found.startswith(f"1. garden-{mode}/tomatoes.md  score 0.")
            [listed] = await texts(client, "list", workspace="all")
            assert f'"workspace":"garden-{mode}","path":"tomatoes.md","size":71' in listed

    asyncio.run(story())


@pytest.mark.parametrize(
    ("client_id", "secret", "method"),
    [(PUBLIC, None, "none"), (CONFIDENTIAL, SECRET, "client_secret_basic")],
)
def test_a_client_that_was_agreed_on_by_hand_signs_in_without_registering(
    product: Product, client_id: str, secret: str | None, method: Any
) -> None:
    kept = Kept()
    kept.client = OAuthClientInformationFull(
        client_id=client_id,
        client_secret=secret,
        token_endpoint_auth_method=method,
        redirect_uris=[AnyUrl(REDIRECT_URI)],
    )

    async def story() -> list[str]:
        url = f"{product.url}/mcp"
        async with connected(url, sign_in(url, kept)) as client:
            note = {"workspace": client_id, "path": "note.md"}
            await texts(client, "append", **note, text="- Agreed.\n")
            return await texts(client, "read", **note)

    assert asyncio.run(story())[1] == "- Agreed.\n"
    assert kept.client.client_id == client_id


def test_a_client_known_by_its_document_signs_in_though_it_cannot_be_fetched(
    product: Product,
) -> None:
    async def list_tools() -> int:
        url = f"{product.url}/mcp"
        kept = Kept()
        auth = sign_in(
            url,
            kept,
            document="https://claude.ai/oauth/claude-code-client-metadata",
            redirect_uri="http://localhost:33421/callback",
        )
        async with connected(url, auth) as client:
            return len((await client.list_tools()).tools)

    assert asyncio.run(list_tools()) == 6
