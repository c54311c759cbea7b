"""The account page, with the whole product behind it."""

import json
import time

import boto3
import pytest
from playwright.sync_api import Page

from local import aws
from local.product import Product
from tests.e2e.tokens import sign_in
from tests.pages.loopback import Client, Listener
from tests.pages.steps import allow_at_dropbox, approve, sign_in_to_account, words

PATIENCE = 60.0
"""Seconds after which what should go by itself counts as not gone."""


def _call(product: Product, token: str, tool: str, **arguments: object) -> int:
    client = Client(product.url, "http://127.0.0.1:33418/callback")
    return client.call(token, tool, **arguments).status_code


def test_a_person_sees_their_notes_and_what_cannot_be_found(product: Product, page: Page) -> None:
    token = sign_in(product.url)["access_token"]
    file = {"workspace": "cellar", "path": "wine.md"}
    _call(product, token, "write", **file, text="x" * 1_000_001)
    _call(product, token, "search", workspace="all", query="tomatoes")

    sign_in_to_account(page, product.url)

    said = words(page)
    assert "Compared with your Dropbox just now. Everything that can be indexed is." in said
    assert "cellar/wine.md has over 1,000,000 bytes. Split it to make it findable." in said
    cells = page.get_by_role("row", name="garden").get_by_role("cell")
    assert cells.all_inner_texts()[:2] == ["2", "2"]
    assert page.get_by_role("img", name="of this month's tokens used").count() == 1


def test_a_person_sees_which_client_wrote_which_note(
    product: Product, page: Page, listener: Listener
) -> None:
    client = Client(product.url, listener.redirect_uri, "Cursor")
    page.goto(client.authorize_url)
    approve(page)
    allow_at_dropbox(page)
    page.wait_for_url(f"{listener.redirect_uri}**")
    token = client.redeem(listener.answers[0]["code"]).json()["access_token"]
    note = {"workspace": "garden", "path": "beds #1/50 % off.md", "text": "- Beans\n"}
    for _ in range(2):
        client.call(token, "append", **note)

    sign_in_to_account(page, product.url)

    rows = page.get_by_role("listitem").filter(has_text="beds #1/50 % off.md")
    changed, made = rows.all_inner_texts()
    links = rows.first.get_by_role("link").all()
    assert "changed by Cursor" in changed
    assert "made by Cursor" in made
    assert [link.get_attribute("href") for link in links] == [
        "https://www.dropbox.com/home/Apps/LLMemoryBox/garden/beds%20%231?preview=50%20%25%20off.md",
        "https://www.dropbox.com/history/Apps/LLMemoryBox/garden/beds%20%231/50%20%25%20off.md",
    ]


@pytest.mark.requirement("C9")
def test_a_client_is_made_read_only_and_then_disconnected(product: Product, page: Page) -> None:
    token = sign_in(product.url)["access_token"]
    file = {"workspace": "garden", "path": "limited.md", "text": "no"}
    sign_in_to_account(page, product.url)
    card = page.locator("form.card").first

    card.get_by_role("button", name="Make").click()
    limited = _call(product, token, "list", workspace="all"), _call(product, token, "write", **file)
    page.locator("form.card").first.get_by_role("button", name="Disconnect").click()
    page.wait_for_load_state()

    assert limited == (200, 403)
    assert _call(product, token, "list", workspace="all") == 401


@pytest.mark.requirement("D5")
def test_who_deletes_their_data_leaves_nothing_behind_but_their_notes(
    product: Product, page: Page
) -> None:
    granted = sign_in(product.url)
    token, account = granted["access_token"], product.account.account_id
    _call(product, token, "search", workspace="all", query="tomatoes")
    notes = sorted(path.name for path in product.options.folder.rglob("*.md"))
    sign_in_to_account(page, product.url)
    page.get_by_role("link", name="Delete my data").click()
    page.get_by_role("button", name="Delete my data").click()

    said = words(page)
    assert "Nothing that names you is kept any more." in said
    assert "Your notes are untouched in your Dropbox." in said
    assert _call(product, token, "list", workspace="all") == 401
    assert sorted(path.name for path in product.options.folder.rglob("*.md")) == notes

    page.goto(f"{product.url}/account")
    assert page.get_by_role("button", name="Sign in with Dropbox").count() == 1
    # A first index may still be under way. What it leaves is found by the next message.
    end = time.monotonic() + PATIENCE
    while _woken(product, account) and _traces(product, account):
        assert time.monotonic() < end


def _woken(product: Product, account: str) -> bool:
    """Whether the indexer is content with a message for this account."""
    body = json.dumps({"account": account, "paths": ["/garden/tomatoes.md"]})
    sent = {"SentTimestamp": str(int(1_000 * time.time()))}
    record = {"messageId": "1", "body": body, "attributes": sent, "eventSource": "aws:sqs"}
    answer = product.functions["indexer"].invoke({"Records": [record]})
    assert answer == {"batchItemFailures": []}
    return True


def _traces(product: Product, account: str) -> list[str]:
    """Where the account's id still stands in the tables and the bucket, old versions included."""
    dynamodb = boto3.client("dynamodb", **product.aws.connection)
    s3 = boto3.client("s3", **product.aws.connection)
    items = [
        str(item)
        for table in (aws.MEMORY_TABLE, aws.AUTH_TABLE)
        for page in dynamodb.get_paginator("scan").paginate(TableName=table)
        for item in page["Items"]
    ]
    objects = [
        str(found)
        for page in s3.get_paginator("list_object_versions").paginate(Bucket=aws.BUCKET)
        for found in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
    ]
    return [
        trace
        for trace in items + objects
        if account in trace and "code#" not in trace and "visit#" not in trace
    ]
