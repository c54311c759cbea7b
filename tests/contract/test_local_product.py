"""The local product around toy functions: what is wired to what, and what a restart keeps."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


RUN = """
    import sys, threading
    from pathlib import Path
    from local import aws
    import boto3

    cloud = aws.start(Path(sys.argv[1]))
    item = {"pk": {"S": "kept"}, "sk": {"S": "kept"}}
    boto3.client("dynamodb", **cloud.connection).put_item(TableName=aws.MEMORY_TABLE, Item=item)
    print("kept", flush=True)
    threading.Event().wait()
"""
LEFT_BEHIND = """
    import fcntl, os, signal, sys

    with open(sys.argv[1], "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"{os.getpid()} {sys.argv[2]}")
        lock.flush()
        print("held", flush=True)
        signal.pause()
"""


@contextmanager
def started(program: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The program, once it has printed something."""
    command = [sys.executable, "-c", dedent(program), *arguments]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout
        assert process.stdout.readline()
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="No other system ends the orphan by itself.")
def test_a_run_that_was_killed_does_not_keep_the_next_from_starting_with_all_it_kept(
    tmp_path: Path,
) -> None:
    with started(RUN, str(tmp_path)) as run:
        run.kill()
        run.wait()
    with aws.start(tmp_path, say=lambda _: None) as cloud:
        table = boto3.client("dynamodb", **cloud.connection)
        assert table.scan(TableName=aws.MEMORY_TABLE)["Count"] == 1


def test_what_a_killed_run_left_behind_is_asked_to_end(tmp_path: Path) -> None:
    said: list[str] = []
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    with (
        started(LEFT_BEHIND, str(tmp_path / "lock"), str(ended.pid)) as orphan,
        aws.start(tmp_path, say=said.append),
    ):
        assert orphan.wait(10) == -signal.SIGTERM
    assert said == [
        f"Stopping MiniStack in process {orphan.pid}, which a run that was killed left."
    ]
