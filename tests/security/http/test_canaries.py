"""What belongs to a person leaves no trace where it does not belong, with every logger at DEBUG."""

import json
from collections.abc import Mapping

import boto3
import pytest
import requests

from local import aws
from local.product import Product
from tests.e2e.tokens import sign_in
from tests.security.http.clients import SECONDS

TEXT, QUERY = "canarytext", "canaryquery"
WORKSPACE, PATH, ID = "canaryspace", "canarypath.md", "canaryid"


def _call(product: Product, token: str, tool: str, arguments: Mapping[str, object]) -> None:
    params = {"name": tool, "arguments": arguments}
    requests.post(
        f"{product.url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        headers={"authorization": f"Bearer {token}"},
        timeout=SECONDS,
    )


def _used(product: Product) -> Mapping[str, str]:
    """The secrets of a person who has used every tool, well and badly."""
    granted = sign_in(product.url)
    file: dict[str, object] = {"workspace": WORKSPACE, "path": PATH}
    calls: list[tuple[str, dict[str, object]]] = [
        ("write", {**file, "text": f"{TEXT}\n"}),
        ("write", {**file, "text": f"{TEXT}\n"}),
        ("append", {**file, "text": f"{TEXT}\n", "command_id": ID}),
        ("patch", {**file, "edits": [{"old_text": TEXT, "new_text": ""}], "expected_rev": "no"}),
        ("read", file),
        ("read", {**file, "path": f"../{PATH}"}),
        ("list", {"workspace": WORKSPACE}),
        ("search", {"workspace": "all", "query": QUERY}),
        ("search", {"workspace": WORKSPACE, "query": QUERY, "limit": QUERY}),
        (f"{TEXT}", {TEXT: TEXT}),
    ]
    for tool, arguments in calls:
        _call(product, granted["access_token"], tool, arguments)
    requests.post(f"{product.url}/mcp", data=TEXT, timeout=SECONDS)
    return {name: granted[name] for name in ("access_token", "refresh_token")}


def _kept(product: Product) -> str:
    """Everything that is in the tables, the bucket and the queues."""
    dynamodb = boto3.client("dynamodb", **product.aws.connection)
    s3 = boto3.client("s3", **product.aws.connection)
    sqs = boto3.client("sqs", **product.aws.connection)
    kept = [
        repr(page["Items"])
        for table in (aws.MEMORY_TABLE, aws.AUTH_TABLE)
        for page in dynamodb.get_paginator("scan").paginate(TableName=table)
    ]
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=aws.BUCKET):
        for found in page.get("Contents", []):
            body = s3.get_object(Bucket=aws.BUCKET, Key=found["Key"])["Body"].read()
            kept.append(body.decode("latin-1"))
    kept += [
        repr(sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=0))
        for url in (product.aws.queue_url, product.aws.dead_letters_url)
    ]
    return "".join(kept)


@pytest.mark.requirement("D3", "A8")
def test_secrets_text_and_queries_are_logged_and_kept_nowhere(product: Product) -> None:
    secrets = _used(product)

    log, kept = product.log.read_text(), _kept(product)

    assert '"level": "DEBUG"' in log
    for name, canary in {"text": TEXT, "query": QUERY, **secrets}.items():
        assert canary not in log, f"{name} in a log"
    for name, canary in {"query": QUERY, **secrets}.items():
        assert canary not in kept, f"{name} at rest"
    assert TEXT not in kept
    for name in (WORKSPACE, PATH, ID):
        assert name not in log, "a name in a log"


@pytest.mark.requirement("D4")
def test_nothing_that_a_caller_sends_forges_a_line_of_a_log(product: Product) -> None:
    forged = '\n{"level": "ERROR", "message": "FORGED"}\n'
    requests.get(f"{product.url}/x%0a%7b%22message%22:%22FORGED%22%7d%0a", timeout=SECONDS)
    requests.post(f"{product.url}/register", json={"client_name": forged}, timeout=SECONDS)
    requests.get(
        f"{product.url}/authorize",
        params={"client_id": forged, "redirect_uri": forged},
        timeout=SECONDS,
    )
    token = sign_in(product.url)["access_token"]
    _call(product, token, "read", {"workspace": forged, "path": forged})

    lines = [json.loads(line) for line in product.log.read_text().splitlines() if line[:1] == "{"]

    assert lines
    assert [line for line in lines if line.get("message") == "FORGED"] == []
