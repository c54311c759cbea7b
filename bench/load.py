"""What rate each function sustains, what happens past it, and whether a flood slows `/mcp`.

    python -m bench.load [--workers 4] [--seconds 8] [--only rates|floods]

Open loop: requests come when they are due, whether or not those before them have been answered, and
each is timed from when it was due. They come from a process of its own, but it, the product and
the emulators share this machine, so the rates are its own; the ratios are what travels.
"""

import argparse
import asyncio
import hashlib
import hmac
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from threading import Event

import httpx2

from bench.tables import table
from local.product import Options, Product
from tests.e2e.tokens import sign_in

ACCOUNTS = 8
NOTES = 25
SLOWEST, FASTEST, STEP = 3.0, 640.0, 1.4
"""The rates a second that are tried, each so many times the one before."""

PATIENCE = 60.0
SUSTAINED = 1.0
"""Seconds within which nine of ten are answered at a rate that is sustained."""

WRITES = 2.0
"""A second, beside which searches are measured too: each waits for what was just written."""

QUIET = 4.0
"""Calls a second whose time is measured beside a flood."""

FLOOD = 200.0
ROUNDS = 3
"""Without and beside a flood in turn, since the machine is not always the same."""

UNLIMITED = {"CALLS_PER_MINUTE": "1000000", "SEARCHES_PER_MINUTE": "1000000"}


@dataclass(frozen=True, slots=True)
class Request:
    """One to send, by which anybody can send it."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """What it was answered, in a word or two, and how many seconds after it was due."""

    said: str
    seconds: float

    @property
    def is_good(self) -> bool:
        return self.said in ("done", "200", "201", "403")


Kind = Callable[[], Request]
"""Makes requests, each another."""


@dataclass(frozen=True, slots=True)
class Load:
    """Sends from a process of its own to the product at `url`."""

    url: str
    pool: ProcessPoolExecutor

    def at(self, rate: float, seconds: float, kind: Kind) -> list[Reply]:
        """The replies to requests that come evenly at a rate, for some seconds."""
        return self.begin(rate, seconds, kind)()

    def begin(self, rate: float, seconds: float, kind: Kind) -> Callable[[], list[Reply]]:
        requests = [kind() for _ in range(max(1, round(rate * seconds)))]
        return self.pool.submit(send, self.url, rate, requests).result


def send(url: str, rate: float, requests: Sequence[Request]) -> list[Reply]:
    async def all_of_them() -> list[Reply]:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
        async with httpx2.AsyncClient(
            base_url=url, timeout=PATIENCE, limits=limits, trust_env=False
        ) as http:
            began = time.monotonic()
            each = (one(http, began + n / rate, request) for n, request in enumerate(requests))
            return await asyncio.gather(*each)

    return asyncio.run(all_of_them())


async def one(http: httpx2.AsyncClient, due: float, request: Request) -> Reply:
    await asyncio.sleep(max(0.0, due - time.monotonic()))
    try:
        answer = await http.post(request.path, content=request.body, headers=request.headers)
    except httpx2.HTTPError as error:
        return Reply(type(error).__name__, time.monotonic() - due)
    return Reply(said(request, answer), time.monotonic() - due)


def said(request: Request, answer: httpx2.Response) -> str:
    if answer.status_code != httpx2.codes.OK or request.path != "/mcp":
        return str(answer.status_code)
    result = answer.json()["result"]
    return str(result["content"][0]["text"]) if result.get("isError") else "done"


class People:
    """Accounts that each have some notes, and what one of them asks."""

    def __init__(self, product: Product) -> None:
        self._number = count()
        self._secret = product.dropbox.app.secret.encode()
        self._accounts: list[tuple[str, str]] = []
        for _ in range(ACCOUNTS):
            account = product.dropbox.add_account()
            product.dropbox.auto_approve = account.account_id
            for note in range(NOTES):
                account.put(f"/garden/{note}.md", f"# Bed {note}\n\nSown with row {note}.\n")
            self._accounts.append((account.account_id, sign_in(product.url)["access_token"]))

    def read(self) -> Request:
        return self._call("read", path=f"{next(self._number) % NOTES}.md")

    def write(self) -> Request:
        number = next(self._number)
        return self._call("write", path=f"new/{number}.md", text=f"# Note {number}\n\nNew.\n")

    def search(self) -> Request:
        return self._call("search", query=f"what grows in bed {next(self._number)}")

    def webhook(self) -> Request:
        return self._webhook(self._secret)

    def forged(self) -> Request:
        """A notification that Dropbox did not sign."""
        return self._webhook(b"a guess")

    def refused(self) -> Request:
        """What reaches no function: beside it, /mcp shows what a flood costs on this machine."""
        return Request("/", {"x-long": "a" * 11_000}, b"")

    def register(self) -> Request:
        body = {"redirect_uris": ["http://127.0.0.1:1/callback"]}
        return Request("/register", {"content-type": "application/json"}, json.dumps(body).encode())

    def _webhook(self, secret: bytes) -> Request:
        account, _ = self._accounts[next(self._number) % ACCOUNTS]
        body = json.dumps({"list_folder": {"accounts": [account]}}).encode()
        signature = hmac.new(secret, body, hashlib.sha256).hexdigest()
        return Request("/dropbox/webhook", {"x-dropbox-signature": signature}, body)

    def _call(self, tool: str, **arguments: object) -> Request:
        number = next(self._number)
        _, token = self._accounts[number % ACCOUNTS]
        params = {"name": tool, "arguments": {"workspace": "garden", **arguments}}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        return Request("/mcp", headers, json.dumps(message).encode())


@contextmanager
def running(workers: int, is_throttled: bool) -> Iterator[tuple[Load, People]]:
    with TemporaryDirectory() as place, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        options = Options(
            Path(place) / "box",
            Path(place) / "state",
            model="wordllama",
            workers=workers,
            environment=UNLIMITED,
            is_throttled=is_throttled,
        )
        options.folder.mkdir()
        with Product(options, say=lambda _: None) as product:
            load, people = Load(product.url, pool), People(product)
            for kind in (people.read, people.search, people.webhook):  # start every worker
                load.at(4.0, 5.0, kind)
            yield load, people


@contextmanager
def wake(load: Load, kind: Kind) -> Iterator[None]:
    """Requests that come slowly all the time in here, whatever else does."""
    is_over = Event()

    def go_on() -> None:
        while not is_over.is_set():
            load.at(WRITES, 1.0, kind)

    with ThreadPoolExecutor(1) as threads:
        goes_on = threads.submit(go_on)
        try:
            yield
        finally:
            is_over.set()
            goes_on.result()


def sustained(load: Load, kind: Kind, seconds: float) -> tuple[float, list[Reply]]:
    """The highest rate that is sustained, and its replies."""
    best: tuple[float, list[Reply]] = (0.0, [])
    rate = SLOWEST
    while rate < FASTEST:
        replies = load.at(rate, seconds, kind)
        if not all(reply.is_good for reply in replies) or slow(replies) > SUSTAINED:
            break
        best = rate, replies
        rate *= STEP
    return best


def slow(replies: Sequence[Reply]) -> float:
    """Seconds within which nine of ten are answered."""
    return quantiles([reply.seconds for reply in replies], n=10)[-1]


def recovery(load: Load, kind: Kind) -> float:
    """Seconds until one call is answered as it should be again."""
    began = time.monotonic()
    while True:
        [reply] = load.at(1.0, 1.0, kind)
        if reply.is_good and reply.seconds < SUSTAINED:
            return time.monotonic() - began - reply.seconds
        if time.monotonic() - began > PATIENCE:
            raise AssertionError("it does not recover")


def rates(workers: int, seconds: float) -> str:
    rows = []
    with running(workers, is_throttled=False) as (load, people):
        rows += [
            row("read", load, people.read, seconds),
            row("search, nothing changes", load, people.search, seconds),
        ]
        with wake(load, people.write):
            rows.append(row(f"search, {WRITES:.0f} writes a second", load, people.search, seconds))
        rows += [
            row("write", load, people.write, seconds),
            row("notification", load, people.webhook, seconds),
        ]
    heads = (
        "what",
        "sustained a second",
        "p50 ms",
        "at four times that",
        "longest s",
        "well again after s",
    )
    return table(heads, rows)


def row(what: str, load: Load, kind: Kind, seconds: float) -> tuple[str, ...]:
    rate, replies = sustained(load, kind, seconds)
    past = load.at(4 * max(rate, SLOWEST), seconds, kind)
    times = [reply.seconds for reply in replies] or [0.0]
    return (
        what,
        f"{rate:.0f}",
        f"{1_000 * median(times):.0f}",
        told(past),
        f"{max(reply.seconds for reply in past):.1f}",
        f"{recovery(load, kind):.1f}",
    )


def floods(workers: int, seconds: float) -> str:
    rows = []
    with running(workers, is_throttled=True) as (load, people):
        for name in ("refused", "webhook", "forged", "register"):
            quiet, beside, flood = list[Reply](), list[Reply](), list[Reply]()
            for _ in range(ROUNDS):
                quiet += load.at(QUIET, seconds, people.read)
                floods = load.begin(FLOOD, seconds, getattr(people, name))
                beside += load.at(QUIET, seconds, people.read)
                flood += floods()
            before, during = (median(r.seconds for r in replies) for replies in (quiet, beside))
            rows.append(
                (
                    name,
                    told(flood),
                    f"{1_000 * before:.0f}",
                    f"{1_000 * during:.0f}",
                    f"{during / before:.2f}",
                    f"{sum(reply.is_good for reply in beside)} of {len(beside)}",
                )
            )
    heads = (
        f"flood of {FLOOD:.0f} a second",
        "answered",
        "/mcp p50 ms before",
        "beside it",
        "ratio",
        "good",
    )
    return table(heads, rows)


def told(replies: Sequence[Reply]) -> str:
    """How often each thing was answered."""
    counts = Counter(reply.said for reply in replies).most_common()
    return ", ".join(f"{number} {what}" for what, number in counts)


TABLES = {"rates": rates, "floods": floods}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each rate")
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    given = parser.parse_args()
    for name in [given.only] if given.only else TABLES:
        print(TABLES[name](given.workers, given.seconds), "\n", flush=True)


if __name__ == "__main__":
    main()
