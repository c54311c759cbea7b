"""What one call of each tool asks of Dropbox, DynamoDB, S3, KMS and the embedding service.

The function runs in this process, so that its AWS calls can be counted where they leave it; what it
talks to is the local product. Counted when warm: each call was made once before.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import boto3

from bench.tables import table
from local.payload import HttpRequest, to_event
from local.product import Options, Product
from tests.e2e.tokens import sign_in

_INVOCATION = SimpleNamespace(aws_request_id="bench")
"""What Lambda would tell the function of the invocation, as far as it asks."""

BOUNDS = """\
Bounds: read 1 Dropbox + 1 DynamoDB; write 1 upload + 5 DynamoDB + 1 embedding; search with nothing
changed 1 Dropbox + 1 embedding + 4 DynamoDB + 0 S3."""


class Counted:
    """The function `mcp` in this process, and what it asked of others."""

    def __init__(self, product: Product, handler: Callable[[Any, Any], Any], token: str) -> None:
        self._product, self._handler, self._token = product, handler, token
        self.aws: Counter[str] = Counter()

    def call(self, tool: str, **arguments: object) -> tuple[str, Mapping[str, int]]:
        """The text of the answer, and how many calls it took to whom."""
        self.aws.clear()
        uploads = self._product.dropbox.log.count("files/upload")
        dropbox = len(self._product.dropbox.log.calls("*"))
        embeddings = self._product.embeddings.received.requests
        text = self._ask(tool, arguments)
        uploads = self._product.dropbox.log.count("files/upload") - uploads
        return text, {
            "uploads": uploads,
            "Dropbox": len(self._product.dropbox.log.calls("*")) - dropbox - uploads,
            "DynamoDB": self.aws["dynamodb"],
            "S3": self.aws["s3"],
            "others": self.aws.total() - self.aws["dynamodb"] - self.aws["s3"],
            "embeddings": self._product.embeddings.received.requests - embeddings,
        }

    def _ask(self, tool: str, arguments: Mapping[str, object]) -> str:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        headers = [
            ("host", "127.0.0.1"),
            ("content-type", "application/json"),
            ("authorization", f"Bearer {self._token}"),
        ]
        request = HttpRequest("POST", "/mcp", headers, json.dumps(message).encode(), "127.0.0.1")
        answer = self._handler(
            to_event(request, "$default", "bench", datetime.now(UTC)), _INVOCATION
        )
        result = json.loads(answer["body"])["result"]
        assert not result["isError"], result
        return str(result["content"][0]["text"])


def measure() -> str:
    """The table of counts, as text."""
    with ExitStack() as open_things:
        folder = Path(open_things.enter_context(TemporaryDirectory()))
        (folder / "box").mkdir()
        options = Options(folder / "box", folder / "state", model="wordllama")
        product = open_things.enter_context(Product(options, say=lambda _: None))
        product.dropbox.webhooks.url = None  # the webhook function would be counted along
        counted = _in_this_process(product)
        rows = [(name, *counts.values()) for name, counts in _story(counted).items()]
    heads = (
        "call",
        "Dropbox uploads",
        "other Dropbox",
        "DynamoDB",
        "S3",
        "other AWS",
        "embeddings",
    )
    return f"{table(heads, rows)}\n\n{BOUNDS}"


def _in_this_process(product: Product) -> Counted:
    os.environ.update(product.functions["mcp"].settings.environment)
    boto3.setup_default_session()
    from functions.mcp.app import handler

    counted = Counted(product, handler, sign_in(product.url)["access_token"])

    def count(event_name: str, **_: object) -> None:
        counted.aws[event_name.split(".")[1]] += 1

    session = boto3.DEFAULT_SESSION
    assert session is not None
    session.events.register("before-call", count)
    return counted


def _story(counted: Counted) -> Mapping[str, Mapping[str, int]]:
    note = {"workspace": "garden", "path": "tomatoes.md"}
    query = {"workspace": "garden", "query": "when did the tomatoes fruit"}
    counts = {}
    for turn in ("cold", "warm"):  # other texts each time: the process remembers the vectors
        note = note | {"path": f"{turn}.md"}
        text, counts["write, new file"] = counted.call(
            "write", **note, text=f"# Tomatoes, {turn}\n"
        )
        rev = _rev(text)
        text, counts["write, replacing"] = counted.call(
            "write", **note, text=f"# More tomatoes, {turn}\n", expected_rev=rev
        )
        text, counts["append"] = counted.call("append", **note, text="- Fruit on 20 June.\n")
        _, counts["patch"] = counted.call(
            "patch",
            **note,
            edits=[{"old_text": "20 June", "new_text": "21 June"}],
            expected_rev=_rev(text),
        )
        _, counts["read"] = counted.call("read", **note)
        _, counts["list"] = counted.call("list", workspace="garden")
        _, counts["search, after a change"] = counted.call("search", **query)
        _, counts["search, nothing changed"] = counted.call("search", **query)
        _, counts["write with a command_id"] = counted.call(
            "write", **note | {"path": f"{turn}-2.md"}, text=f"# T, {turn}\n", command_id=turn
        )
        counted.call("search", **query)
    return counts


def _rev(text: str) -> str:
    return text.splitlines()[0].removeprefix("rev: ")


if __name__ == "__main__":
    print(measure())
