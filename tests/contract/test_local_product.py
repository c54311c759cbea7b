"""The local product around toy functions: what is wired to what, and what a restart keeps."""

import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from urllib.request import urlopen

import boto3
import pytest

from local import aws
from local.ministack import DidNotStart
from local.product import Options, Product

MCP = """
    import os
    import urllib.request

    def handler(event, context):
        answer = urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models")
        return {"statusCode": answer.status, "body": os.environ["EXTRA"]}
"""
WEBHOOK = """
    import os
    import boto3

    sqs = boto3.client("sqs")

    def handler(event, context):
        sqs.send_message(QueueUrl=os.environ["QUEUE_URL"], MessageBody=event["body"])
        return {"statusCode": 200}
"""
INDEXER = """
    import os
    import boto3

    table = boto3.client("dynamodb")

    def handler(event, context):
        for record in event["Records"]:
            item = {"pk": {"S": "seen"}, "sk": {"S": record["body"]}}
            table.put_item(TableName=os.environ["MEMORY_TABLE"], Item=item)
"""


def options(home: Path) -> Options:
    for name, source in {"mcp": MCP, "webhook": WEBHOOK, "indexer": INDEXER}.items():
        (home / "functions" / name).mkdir(parents=True, exist_ok=True)
        (home / "functions" / name / "app.py").write_text(dedent(source))
    return Options(
        folder=home / "box",
        state=home / "state",
        model="hashed",
        workers=1,
        functions=home / "functions",
        environment={"EXTRA": "from the options"},
    )


def rows(product: Product) -> int:
    table = boto3.client("dynamodb", **product.aws.connection)
    return table.scan(TableName=aws.MEMORY_TABLE)["Count"]


def eventually(holds: Callable[[], object]) -> None:
    patience = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < patience
        time.sleep(0.05)


def test_an_edit_in_the_folder_reaches_the_indexer_and_all_of_it_survives_a_restart(
    tmp_path: Path,
) -> None:
    lines: list[str] = []
    with Product(options(tmp_path), lines.append) as product:
        with urlopen(f"{product.url}/anything") as answer:  # noqa: S310 - it is on loopback
            assert (answer.status, answer.read()) == (200, b"from the options")
        (tmp_path / "box/kitchen/bread.md").unlink()  # one of the notes that a new folder gets
        token, _ = product.dropbox.grants.issue(product.account.account_id)
        (tmp_path / "box/garden/new.md").write_text("edited")
        eventually(lambda: any(line.startswith("index ") for line in lines))
        kept = rows(product)
        account = product.account
        rev = account.get("/garden/new.md")
    with Product(options(tmp_path), lines.append) as product:
        assert rows(product) == kept > 0
        assert product.account.account_id == account.account_id
        assert product.account.get("/garden/new.md") == rev
        assert product.dropbox.grants.access(token)
        assert not (tmp_path / "box/kitchen/bread.md").exists()
    assert {line.partition("  ")[0] for line in lines} == {
        "GET /anything",
        "POST /dropbox/webhook",
        "index",
    }


def test_a_state_folder_serves_one_run_at_a_time(tmp_path: Path) -> None:
    with aws.start(tmp_path), pytest.raises(DidNotStart, match="in use by another run"):
        aws.start(tmp_path)
