"""How long the first search of a person with many notes takes, and what it asks of others.

    python -m bench.first_index [--data FOLDER] [NOTES ...]

The search runs in a process of its own, over the real adapters. Dropbox answers each call after
150 ms, the embedding service after 100 ms. The emulators compute on the same machine, which is no
part of the product: so the seconds are shown beside the processor time of the product alone.
"""

import argparse
import os
import resource
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import cycle, islice
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any
from zlib import crc32

import boto3
import numpy as np

from bench.tables import table
from local import aws
from local.dropbox.faults import Effect, Fault
from local.dropbox.grants import App
from local.dropbox.server import DropboxEmulator
from local.embedders import Matrix
from local.openai import EmbeddingsServer
from memorybox.accounts.model import AccountId, SealedAccess, SignedIn
from memorybox.bootstrap.process import Process
from memorybox.deadline import CALL_SECONDS, Deadline
from memorybox.search.embedder import MOST_BYTES

DROPBOX_SECONDS, EMBEDDING_SECONDS = 0.15, 0.1
DIMS = 512
NOTE_BYTES = 2_000
NOTES_A_FOLDER = 200
WORKSPACE = "garden"
LETTERS = str.maketrans("0123456789", "ghijklmnop")
MOST_SEARCHES = 20
MEGABYTE = 1024  # of the kilobytes that getrusage counts in
UNIT = 1024  # bytes of a write unit


class Scattered:
    """A model that costs next to nothing: the vector of a text is a piece of one long noise."""

    dimensions = DIMS

    def __init__(self) -> None:
        self._noise = np.random.default_rng(1).standard_normal(1 << 20).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Matrix:
        places = [crc32(text.encode()) % (len(self._noise) - DIMS) for text in texts]
        return np.stack([self._noise[place : place + DIMS] for place in places])

    def tokens(self, text: str) -> int:
        return len(text) // 4


@dataclass(frozen=True, slots=True)
class Done:
    """What the searches of one process came to."""

    seconds: Sequence[float]
    processor: float
    megabytes: float
    is_pending: bool
    calls: Mapping[str, int]
    write_units: int


class Calls:
    """The AWS calls of a session. An item weighs what a call shows of it."""

    def __init__(self, session: boto3.Session) -> None:
        self.forget()
        session.events.register("before-call", self._count)
        session.events.register("provide-client-params.dynamodb", self._weigh)

    def forget(self) -> None:
        self.made = Counter[str]()
        self.write_units = 0

    def _count(self, event_name: str, **_: object) -> None:
        self.made[event_name.split(".")[1]] += 1

    def _weigh(self, params: Mapping[str, Any], model: Any, **_: object) -> None:
        match model.name:
            case "TransactWriteItems":
                writes = [write for item in params["TransactItems"] for write in item.values()]
                self.write_units += 2 * sum(map(_units, writes))
            case "PutItem" | "UpdateItem" | "DeleteItem":
                self.write_units += _units(params)


def _units(write: Mapping[str, Any]) -> int:
    values = (write.get("Item"), write.get("ExpressionAttributeValues"), write.get("Key"))
    return ceil(max(1, sum(map(_size, filter(None, values)))) / UNIT)


def _size(value: object) -> int:
    match value:
        case Mapping():
            return sum(_size(inner) for inner in value.values())
        case bytes() | str():
            return len(value)
        case _:
            return 1


def notes(count: int, data: Path | None) -> Iterator[tuple[str, bytes]]:
    """Notes with their paths: those of a folder over and over, or invented ones."""
    random = Random(1)  # noqa: S311 - the same notes each time
    texts = cycle(_read(data)) if data else (_invented(random) for _ in cycle((0,)))
    for number, text in enumerate(islice(texts, count)):
        place = f"/{WORKSPACE}/{number // NOTES_A_FOLDER:03}/note {number:05}.md"
        yield place, f"# Note {number}\n\n{text}".encode()


def _read(data: Path) -> list[str]:
    return [file.read_text(errors="ignore") for file in sorted(data.rglob("*.md"))]


def _invented(random: Random) -> str:
    """Words as frequent, and as often repeated, as in English: 140 of 330 are distinct."""
    words = (_word(int(np.exp(random.random() ** 2.5 * 10.8))) for _ in range(NOTE_BYTES // 6))
    return " ".join(words)


def _word(number: int) -> str:
    return f"{number * 2_654_435_761 % (1 << 32):x}"[: 3 + number % 6].translate(LETTERS)


def measure(count: int, data: Path | None) -> tuple[object, ...]:
    """A row of the table."""
    with ExitStack() as running:
        folder = Path(running.enter_context(TemporaryDirectory()))
        app = App()
        secrets = {"dropbox-app-key": app.key, "dropbox-app-secret": app.secret}
        cloud = running.enter_context(aws.start(folder, secrets=secrets, say=lambda _: None))
        dropbox = running.enter_context(DropboxEmulator(app))
        model = running.enter_context(EmbeddingsServer(Scattered()))
        person = dropbox.add_account()
        for place, text in notes(count, data):
            person.put(place, text)
        delay = Fault("files/*", Effect.DELAY, times=None, seconds=DROPBOX_SECONDS)
        dropbox.faults.add(delay)
        person.set(page_size=2_000)  # the most that Dropbox gives
        model.delay(EMBEDDING_SECONDS)
        environment = cloud.environment | {
            "DROPBOX_BASE_URL": dropbox.base_url,
            "OPENAI_BASE_URL": model.url,
            "EMBEDDING_MODEL": "scattered",
            "EMBEDDING_DIMENSIONS": str(DIMS),
            "TMPDIR": str(folder),
        }
        tokens = dropbox.grants.issue(person.account_id)
        process = running.enter_context(ProcessPoolExecutor(1, get_context("spawn")))
        done = process.submit(search_all, environment, person.account_id, tokens).result()
        searches, received = len(done.seconds), model.received
        requests = received.requests - searches - 1  # those of the queries, and the one before
        sent = sum(len(text.encode()) for text in received.inputs)
        return (
            f"{count:,}",
            f"{searches}{' or more' if done.is_pending else ''}",
            f"{done.seconds[0]:.1f} s",
            f"{done.processor:.1f} s",
            f"{done.megabytes:.0f} MB",
            dropbox.log.count("files/*"),
            done.calls["dynamodb"],
            f"{done.write_units:,}",
            done.calls["s3"],
            requests,
            f"{sent / requests / MOST_BYTES:.0%}",
        )


def search_all(
    environment: Mapping[str, str], account: str, tokens: tuple[str, str | None]
) -> Done:
    """Search, as somebody who has just signed in, until nothing is left to index."""
    os.environ.update(environment)
    session = boto3.Session()
    boto3.DEFAULT_SESSION = session
    process, calls = Process(os.environ), Calls(session)
    person = AccountId(account)
    sign_in(process, person, tokens)
    process.embedder.embed(["loaded now"], Deadline.after(CALL_SECONDS, process.clock))
    calls.forget()
    before, seconds, is_pending = process_time(), list[float](), True
    while is_pending and len(seconds) < MOST_SEARCHES:
        began = perf_counter()
        with process.call(person, CALL_SECONDS) as call:
            query = {"workspace": WORKSPACE, "query": f"query {len(seconds)}"}
            answer = call.tools.call("search", query)
        seconds.append(perf_counter() - began)
        is_pending = "not indexed yet" in answer.texts[0]
        print(f"  search {len(seconds)}: {seconds[-1]:.1f} s", file=sys.stderr)
    return Done(
        tuple(seconds),
        process_time() - before,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE,
        is_pending,
        calls.made,
        calls.write_units,
    )


def sign_in(process: Process, person: AccountId, tokens: tuple[str, str | None]) -> None:
    """Link the account with tokens that Dropbox gave."""
    access, refresh = tokens
    seal = partial(process.connections.vault.seal, account_id=person)
    soon = process.clock.now() + timedelta(hours=4)
    process.connections.accounts.link(
        SignedIn(
            account_id=person,
            name="Ann",
            refresh_token=seal(str(refresh), purpose="dropbox refresh token"),
            access=SealedAccess(seal(access, purpose="dropbox access token"), soon),
            term_key=bytes(16),
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of notes to take, instead of invented")
    parser.add_argument("notes", nargs="*", type=int, default=[1_000, 10_000])
    given = parser.parse_args()
    heads = (
        "notes",
        "searches needed",
        "first search",
        "processor time",
        "peak memory",
        "Dropbox calls",
        "DynamoDB calls",
        "write units",
        "S3 calls",
        "embedding requests",
        "full",
    )
    print(table(heads, [measure(count, given.data) for count in given.notes]))


if __name__ == "__main__":
    main()
