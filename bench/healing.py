"""What a lost pack costs: one of eight workspaces has lost its index, and three people search.

    python -m bench.healing [NOTES]

Each searches in a process that never met the account before, until nothing is left out. Dropbox
answers each call after 150 ms, the embedding service after 100 ms.
"""

import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import boto3

from bench.first_index import (
    DIMS,
    DROPBOX_SECONDS,
    EMBEDDING_SECONDS,
    Calls,
    Scattered,
    notes,
    sign_in,
)
from bench.tables import table
from local import aws
from local.aws import Aws
from local.dropbox.faults import Effect, Fault
from local.dropbox.grants import App
from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from memorybox.accounts.model import AccountId
from memorybox.bootstrap.process import Process
from memorybox.deadline import CALL_SECONDS

NOTES = 500
"""In each workspace."""

WORKSPACES = 8
LOST, KEPT = "space 3", "space 5"
QUERY = "which notes"


def measure(count: int) -> str:
    """The table, as text."""
    with ExitStack() as running:
        folder = Path(running.enter_context(TemporaryDirectory()))
        app = App()
        secrets = {"dropbox-app-key": app.key, "dropbox-app-secret": app.secret}
        cloud = running.enter_context(aws.start(folder, secrets=secrets, say=lambda _: None))
        dropbox = running.enter_context(DropboxEmulator(app))
        model = running.enter_context(EmbeddingsServer(Scattered()))
        os.environ |= cloud.environment | {
            "DROPBOX_BASE_URL": dropbox.base_url,
            "OPENAI_BASE_URL": model.url,
            "EMBEDDING_MODEL": "scattered",
            "EMBEDDING_DIMENSIONS": str(DIMS),
        }
        boto3.setup_default_session()
        session = boto3.DEFAULT_SESSION
        assert session is not None
        person = dropbox.add_account()
        for number, (place, text) in enumerate(notes(WORKSPACES * count, None)):
            person.put(f"/space {number % WORKSPACES}{place}", text)
        account = AccountId(person.account_id)
        sign_in(Process(os.environ), account, dropbox.grants.issue(person.account_id))
        search(account, "all")
        lose(cloud, account)
        tempfile.tempdir = str(folder)  # no process has a copy
        person.set(page_size=2_000)
        dropbox.faults.add(Fault("files/*", Effect.DELAY, times=None, seconds=DROPBOX_SECONDS))
        model.delay(EMBEDDING_SECONDS)
        dropbox.log.clear()
        model.forget()
        calls, scopes = Calls(session), ("all", LOST, KEPT)
        with ThreadPoolExecutor(len(scopes)) as people:
            answers = list(people.map(partial(search, account), scopes))
        received = model.received
        rows = [
            ("searches until nothing is left out", *(len(each) for each in answers)),
            ("the last answered after, s", *(f"{each[-1]:.1f}" for each in answers)),
            ("calls of Dropbox", dropbox.log.count("files/*"), "", ""),
            ("calls of DynamoDB", calls.made["dynamodb"], "", ""),
            ("calls of S3", calls.made["s3"], "", ""),
            ("embedding requests", received.requests, "", ""),
            ("notes embedded", len(received.inputs) - received.inputs.count(QUERY), "", ""),
            ("entries in the tail afterwards", in_the_tail(account), "", ""),
        ]
    return table((f"{WORKSPACES} times {count} notes", *scopes), rows)


def search(account: AccountId, workspace: str) -> list[float]:
    """Search until nothing is left out; when each answer came, in seconds."""
    process, began, seconds = Process(os.environ), perf_counter(), list[float]()
    is_pending = True
    while is_pending:
        with process.call(account, CALL_SECONDS) as call:
            answer = call.tools.call("search", {"workspace": workspace, "query": QUERY})
        seconds.append(perf_counter() - began)
        is_pending = "not indexed yet" in answer.texts[0]
        print(f"  {workspace}: {seconds[-1]:.1f} s", file=sys.stderr)
    return seconds


def lose(cloud: Aws, account: AccountId) -> None:
    with Process(os.environ).call(account, CALL_SECONDS) as call:
        pointer = call.index_run.catalog.load().state.packs[LOST]
    store = boto3.client("s3", **cloud.connection)
    for ref in pointer.packs:
        store.delete_object(Bucket=aws.BUCKET, Key=ref.key)


def in_the_tail(account: AccountId) -> int:
    with Process(os.environ).call(account, CALL_SECONDS) as call:
        return len(call.index_run.catalog.load().state.tail)


if __name__ == "__main__":
    print(measure(int(sys.argv[1]) if len(sys.argv) > 1 else NOTES))
