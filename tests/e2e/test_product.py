"""What a person sees of the whole product beyond a single tool call."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from local.dropbox.knobs import Connection
from local.gateway import Gateway
from local.product import Options, Product
from tests.e2e.clients import Kept, connected
from tests.e2e.clients import sign_in as sign_in_officially
from tests.e2e.tokens import sign_in

pytestmark = pytest.mark.e2e

PATIENCE = 60.0
"""Seconds after which what should happen by itself counts as not happening."""


def post(product: Product, token: str, method: str, **params: object) -> requests.Response:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"authorization": f"Bearer {token}"}
    return requests.post(f"{product.url}/mcp", json=message, headers=headers, timeout=30)


def call(product: Product, token: str, tool: str, **arguments: object) -> list[str]:
    answer = post(product, token, "tools/call", name=tool, arguments=arguments).json()
    return [block["text"] for block in answer["result"]["content"]]


def eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.2)
    return held


def names(answer: requests.Response) -> list[str]:
    return [tool["name"] for tool in answer.json()["result"]["tools"]]


def test_a_note_made_with_an_editor_is_found_by_the_next_search(product: Product) -> None:
    token = sign_in(product.url)["access_token"]
    workspace = product.options.folder / "by-hand"
    workspace.mkdir()
    (workspace / "bees.md").write_text("The bees swarmed in June.\n")

    [found] = call(product, token, "search", workspace="by-hand", query="when did the bees swarm")

    assert found.startswith("1. by-hand/bees.md  score ")
    assert "\n" not in found


def test_a_change_by_another_app_is_indexed_without_a_search(product: Product) -> None:
    sign_in(product.url)
    text = "Nobody searches for the quinces.\n"
    product.account.put("/unsearched/quinces.md", text)
    assert eventually(lambda: text in product.embeddings.received.inputs)


def test_a_change_is_followed_through_the_logs_by_one_id(product: Product) -> None:
    if not isinstance(product, Product):
        pytest.skip("what MiniStack's functions log is not kept")

    def lines() -> list[dict[str, Any]]:
        kept = product.log.read_text().splitlines()
        return [json.loads(line) for line in kept if line.startswith("{")]

    def of(service: str, message: str) -> set[str]:
        return {
            line["request_id"]
            for line in lines()
            if line.get("service") == service and line["message"] == message
        }

    def is_followed() -> bool:
        """Whether one was; one that the indexer meets at its work wakes nobody, so each is new."""
        product.account.put("/followed/pears.md", f"The pears had ripened by {time.monotonic()}.\n")
        return bool(of("webhook", "Changes noted") & of("indexer", "A message was done"))

    sign_in(product.url)
    assert eventually(is_followed)
    assert all(line.get("request_id", "none") != "none" for line in lines())


def test_a_client_that_may_only_read_sees_no_tool_that_writes(product: Product) -> None:
    token = sign_in(product.url, access="read")["access_token"]
    refused = post(
        product,
        token,
        "tools/call",
        name="write",
        arguments={"workspace": "garden", "path": "no.md", "text": "no"},
    )
    assert names(post(product, token, "tools/list")) == ["list", "read", "search"]
    assert refused.status_code == requests.codes.forbidden
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]
    assert not (product.options.folder / "garden" / "no.md").exists()


def test_a_revoked_client_must_sign_in_again(product: Product) -> None:
    granted = sign_in(product.url)
    before = post(product, granted["access_token"], "tools/list")
    requests.post(
        f"{product.url}/revoke",
        data={"token": granted["refresh_token"], "client_id": granted["client_id"]},
        timeout=30,
    )
    after = post(product, granted["access_token"], "tools/list")
    assert (before.status_code, after.status_code) == (200, 401)


def test_a_client_finds_the_sign_in_although_a_gateway_renames_the_challenge(
    product: Product, gateway: Gateway
) -> None:
    async def list_tools() -> int:
        url = f"{product.url}/mcp"
        async with connected(url, sign_in_officially(url, Kept())) as client:
            return len((await client.list_tools()).tools)

    gateway.renames_challenge = True
    try:
        assert asyncio.run(list_tools()) == 6
    finally:
        gateway.renames_challenge = False


def test_who_removed_the_app_in_dropbox_is_asked_to_sign_in_again(product: Product) -> None:
    token = sign_in(product.url)["access_token"]
    read: dict[str, Any] = {"name": "list", "arguments": {"workspace": "all"}}
    product.account.set(connection=Connection.UNLINKED)
    try:
        refused = post(product, token, "tools/call", **read)
    finally:
        product.account.set(connection=Connection.LINKED)
    assert refused.status_code == requests.codes.unauthorized
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    again = sign_in(product.url)["access_token"]
    assert post(product, again, "tools/call", **read).status_code == requests.codes.ok


def test_a_restart_keeps_notes_sign_in_and_index(tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    options = Options(tmp_path / "box", tmp_path / "state", model="hashed")
    with Product(options, say=lambda _: None) as product:
        token = sign_in(product.url)["access_token"]
        note = {"workspace": "garden", "path": "a.md"}
        call(product, token, "write", **note, text="The hedge was cut.\n")
        [found] = call(product, token, "search", workspace="all", query="hedge")
        read = call(product, token, "read", **note)
        port = int(product.url.rpartition(":")[2])
    options = Options(tmp_path / "box", tmp_path / "state", port=port, model="hashed")
    with Product(options, say=lambda _: None) as product:
        assert call(product, token, "read", **note) == read
        assert call(product, token, "search", workspace="all", query="hedge") == [found]
        assert product.embeddings.received.inputs == ["hedge"]
