"""How long each tool takes over HTTP on a folder of real notes, and how soon search is complete.

Usage: python -m bench.latency FOLDER [FOLDER …], each a folder of markdown files that becomes a
workspace of its name. Everything is local: Dropbox and the model answer at once, or nearly.
"""

import argparse
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import requests

from bench.tables import table
from local.product import Options, Product
from tests.e2e.tokens import sign_in

CALLS = 40
QUERIES = (
    "how do I link to a heading in another note",
    "keep a vault in step between two devices",
    "make a table",
    "which files does a search leave out",
)

UNLIMITED = {"CALLS_PER_MINUTE": "1000000", "SEARCHES_PER_MINUTE": "1000000"}


class Session:
    """A signed-in caller that knows JSON-RPC and nothing else."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/mcp"
        self._http = requests.Session()
        token = sign_in(url)["access_token"]
        self._http.headers["authorization"] = f"Bearer {token}"

    def call(self, tool: str, **arguments: object) -> str:
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        result = self._http.post(self._url, json=message, timeout=60).json()["result"]
        assert not result["isError"], result
        return str(result["content"][-1]["text"])


def measure(folders: Sequence[Path], model: str) -> str:
    with TemporaryDirectory() as place:
        box = Path(place) / "box"
        for folder in folders:
            shutil.copytree(folder, box / folder.name)
        notes = sum(1 for _ in box.rglob("*.md"))
        options = Options(box, Path(place) / "state", model=model, environment=UNLIMITED)
        with Product(options, say=lambda _: None) as product:
            started = time.monotonic()
            session = Session(product.url)
            searches = search_until_complete(session)
            seconds = time.monotonic() - started
            rows = _each_tool(session, folders[0].name)
    return (
        f"{notes} notes in {len(folders)} workspaces, model {model}: the first search was complete "
        f"{seconds:.1f} s after sign-in began, in {searches} calls.\n\n"
        + table(("tool", "p50 ms", "p90 ms", "calls"), rows)
    )


def search_until_complete(session: Session) -> int:
    """How many searches it takes until every file is indexed."""
    for count in range(1, 1_000):
        if "not indexed yet" not in session.call("search", workspace="all", query=QUERIES[0]):
            return count
    raise AssertionError("the first index does not end")


def _each_tool(session: Session, workspace: str) -> list[tuple[str, str, str, int]]:
    files = json.loads(session.call("list", workspace=workspace))["files"]
    revs: dict[str, str] = {}

    def write(number: int) -> None:
        path = f"bench/{number}.md"
        text = session.call("write", workspace=workspace, path=path, text=f"# Note {number}\n")
        revs[path] = text.splitlines()[0].removeprefix("rev: ")

    def append(number: int) -> None:
        path = f"bench/{number}.md"
        text = session.call("append", workspace=workspace, path=path, text=f"Line {number}.\n")
        revs[path] = text.splitlines()[0].removeprefix("rev: ")

    def patch(number: int) -> None:
        path = f"bench/{number}.md"
        edits = [{"old_text": f"Line {number}.", "new_text": f"Row {number}."}]
        rev = revs[path]
        session.call("patch", workspace=workspace, path=path, edits=edits, expected_rev=rev)

    def read(number: int) -> None:
        file = files[number % len(files)]
        session.call("read", workspace=workspace, path=file["path"])

    def list_notes(_: int) -> None:
        session.call("list", workspace=workspace)

    def search(number: int) -> None:
        query = QUERIES[number % len(QUERIES)]
        session.call("search", workspace="all", query=query)

    tools = (write, append, patch, read, list_notes, search)
    return [(tool.__name__.removesuffix("_notes"), *_timed(tool)) for tool in tools]


def _timed(tool: object) -> tuple[str, str, int]:
    assert callable(tool)
    taken = []
    for number in range(CALLS):
        started = time.perf_counter()
        tool(number)
        taken.append((time.perf_counter() - started) * 1_000)
    return f"{median(taken):.0f}", f"{quantiles(taken, n=10)[-1]:.0f}", CALLS


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--model", default="minilm")
    given = parser.parse_args()
    print(measure(given.folders, given.model))
