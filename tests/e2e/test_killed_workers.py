"""No word is lost although processes vanish under the load of the official clients.

The whole product, with four workers of each function.
"""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import requests

from local.product import Options, Product
from tests.e2e.tokens import sign_in
from tests.e2e.writers import in_python, in_typescript

pytestmark = pytest.mark.e2e

NOTES = ("plan.md", "beds/roses.md", "log.md")
SECONDS = 30.0
"""Of load while workers are killed."""

WRITERS = 200
OLD_ENOUGH = 6.0
"""Seconds after which a worker is surely started: Lambda does not replace one that cannot start."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    place = tmp_path_factory.mktemp("killed")
    (place / "box").mkdir()
    environment = {"CALLS_PER_MINUTE": "100000", "SEARCHES_PER_MINUTE": "100000"}
    options = Options(
        place / "box", place / "state", model="hashed", workers=4, environment=environment
    )
    with Product(options, say=lambda _: None) as product:
        yield product


class Client:
    """An assistant that sends a call again, with the same command_id, until it has an answer."""

    def __init__(self, product: Product) -> None:
        self._url = f"{product.url}/mcp"
        self._headers = {
            "authorization": f"Bearer {sign_in(product.url)['access_token']}",
            "mcp-protocol-version": "2025-11-25",
            "accept": "application/json, text/event-stream",
        }

    def call(self, tool: str, **arguments: object) -> str | None:
        """The text of a success; None if it was refused, or no answer ever came."""
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        for _ in range(12):
            answer = self._post(message)
            if answer and not answer["isError"]:
                return str(answer["content"][0]["text"])
            if answer and "expected_rev" in answer["content"][0]["text"]:
                return None
            time.sleep(1)
        return None

    def _post(self, message: object) -> dict[str, Any] | None:
        try:
            reply = requests.post(self._url, json=message, headers=self._headers, timeout=40)
        except requests.RequestException:
            return None
        if reply.status_code != requests.codes.ok:
            return None
        result: dict[str, Any] = reply.json()["result"]
        return result


def append(client: Client, path: str, text: str) -> str | None:
    return client.call("append", workspace="garden", path=path, text=text, command_id=text.strip())


@pytest.mark.promise("P-202", "P-203")
def test_every_acknowledged_text_is_in_the_folder_once_although_workers_are_killed(
    product: Product,
) -> None:
    url, is_over = f"{product.url}/mcp", Event()
    killer = Thread(target=partial(kill, is_over, random.Random(7)))
    with ThreadPoolExecutor(5) as clients:
        writers = [
            clients.submit(in_python, url, "python", NOTES, is_over),
            clients.submit(in_typescript, "sdk", "legacy", url, NOTES, is_over),
            clients.submit(in_typescript, "client", "modern", url, NOTES, is_over),
        ]
        searcher = clients.submit(search, Client(product), is_over)
        killer.start()
        time.sleep(SECONDS)
        is_over.set()
        killer.join()
        searcher.result()
        lines = [writer.result() for writer in writers]

    held = everything(product)
    for each in lines:
        assert each.acknowledged
        counts = {text: held.count(text) for text in each.acknowledged}
        assert counts == dict.fromkeys(each.acknowledged, 1)
        assert all(held.count(text) <= 1 for text in each.sent)
    assert waits_for(lambda: indexed(product) == folder(product))


def search(client: Client, is_over: Event) -> None:
    while not is_over.wait(1):
        client.call("search", workspace="all", query="what did the writers do")


@pytest.mark.promise("P-202")
def test_no_line_of_200_writers_on_one_note_is_lost_or_doubled(product: Product) -> None:
    client = Client(product)
    lines = [f"- writer {number};\n" for number in range(WRITERS)]

    with ThreadPoolExecutor(12) as writers:
        answers = list(writers.map(partial(append, client, "many.md"), lines))

    held = product.account.read("/garden/many.md").decode()
    assert None not in answers
    assert sorted(held.splitlines(keepends=True)) == sorted(lines)


def kill(is_over: Event, choices: random.Random) -> None:
    """SIGKILL some worker of this process now and then, as Lambda does."""
    seen: dict[int, float] = {}
    while not is_over.wait(choices.uniform(1.0, 3.0)):
        now = time.monotonic()
        seen = {pid: seen.get(pid, now) for pid in workers()}
        old = [pid for pid, since in seen.items() if now - since > OLD_ENOUGH]
        if old:
            os.kill(choices.choice(old), signal.SIGKILL)


def workers() -> list[int]:
    """The processes that this one has started to run a function."""
    children = Path("/proc/self/task").glob("*/children")
    pids = [int(pid) for each in children for pid in each.read_text().split()]
    return [pid for pid in pids if b"awslambdaric" in command_of(pid)]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def everything(product: Product) -> str:
    return "".join(data.decode() for data in product.account.files().values())


def folder(product: Product) -> set[str]:
    return {path[1:] for path in product.account.files()}


def indexed(product: Product) -> set[str]:
    """The notes that a search gives, if it says that it has left out none."""
    answer = Client(product).call("search", workspace="all", query="writer", limit=20) or ""
    if "not indexed" in answer.lower():
        return set()
    return {line.split(". ", 1)[1].split("  score ")[0] for line in answer.splitlines()}


def waits_for(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(1)
    return held
