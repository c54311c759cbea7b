"""What other memories and stores find, and how fast, beside ours on the same notes and model.

    python -m bench.peers --data FOLDER [--questions 100] [--peer NAME ...] [SET ...]

Ours is the whole product, asked over HTTP; a peer is asked over its own interface, by turns with
ours, so that both meet what else the machine does. All use one embeddings server and its model.
Each peer is installed in a place of its own at the first run; one that cannot be installed or
asked within its time has a line that says so, and what it said is in a log beside that place.
"""

import argparse
import asyncio
import re
import sys
import time
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from os import cpu_count, getloadavg
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from zlib import crc32

from bench.latency import UNLIMITED, Session, search_until_complete
from bench.peers_asked import FILES, PEERS, Job, Peer, Search
from bench.quality_sets import Found, Questions, Ranking, load
from bench.tables import table
from local.product import Options, Product

SETS = ("obsidian-en", "locomo-all")
MODEL = "wordllama"
LONGEST = 30 * 60.0
"""Seconds that a peer may take for all: to take the notes in, and to answer."""

WARM_UP = 5
HEADS = ("", "R@1", "R@3", "R@8", "nDCG@10", "MRR", "p50 ms", "ours by turns", "times ours")


@dataclass(slots=True)
class Answers:
    """What was found for each question, and how many milliseconds each search took."""

    found: dict[str, Ranking] = field(default_factory=dict)
    taken: list[float] = field(default_factory=list)
    taken_by_ours: list[float] = field(default_factory=list)

    def cells(self, questions: Questions) -> list[str]:
        found = {
            asked: [path for path in ranking if path != questions.source.get(asked)]
            for asked, ranking in self.found.items()
        }
        theirs, ours = median(self.taken), median(self.taken_by_ours)
        times = f"{theirs:.1f}", f"{ours:.1f}", f"{theirs / ours:.2f}"
        return [*Found.of(found, questions.relevant).cells(), *times]


def ours(product: Product) -> Search:
    session = Session(product.url)
    search_until_complete(session)

    async def search(question: str) -> Ranking:
        text = session.call("search", workspace="all", query=question, limit=FILES)
        return re.findall(r"^\d+\. (.+)  score \S+$", text, re.MULTILINE)

    return search


async def ask(search: Search, beside: Search, asked: Mapping[str, str]) -> Answers:
    answers = Answers()
    for question in list(asked.values())[:WARM_UP]:
        await search(question)
    for each, question in asked.items():
        answers.found[each], taken = await _timed(search, question)
        answers.taken.append(taken)
        answers.taken_by_ours.append((await _timed(beside, question))[1])
    return answers


async def _timed(search: Search, question: str) -> tuple[Ranking, float]:
    began = time.perf_counter()
    found = await search(question)
    return found, 1_000 * (time.perf_counter() - began)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One set, on which each peer is asked beside ours."""

    questions: Questions
    asked: Mapping[str, str]
    product: Product
    ours: Search
    place: Path

    async def rows(self, name: str, peer: Peer) -> list[list[str]]:
        """One for each kind of search, and for a failure the last."""
        rows: list[list[str]] = []
        try:
            async with asyncio.timeout(LONGEST), peer(self._job(name)) as searches:
                for kind, search in searches.items():
                    answers = await ask(search, self.ours, self.asked)
                    label = f"{name}, {kind}" if kind else name
                    rows.append([label, *answers.cells(self.questions)])
        except Exception as error:  # noqa: BLE001 - whatever a peer fails of, the others are asked
            traceback.print_exception(error)
            failed = f"does not run here: {type(error).__name__}"
            rows.append([name, *["-"] * (len(HEADS) - 2), failed])
        for row in rows:
            print(*row, sep="  ", file=sys.stderr, flush=True)
        return rows

    def _job(self, name: str) -> Job:
        place = self.place / re.sub(r"\W+", "-", name)
        (state := place / "state").mkdir(parents=True)
        embeddings = self.product.embeddings
        files = self.questions.files
        notes = written(files, place / "notes")
        return Job(files, notes, state, embeddings.url, embeddings.dimensions)


def written(files: Mapping[str, str], folder: Path) -> Path:
    """The folder, with these files."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


async def measure(folder: Path, name: str, most: int, chosen: Sequence[str]) -> str:
    """The table of one set."""
    questions = load(folder, name)
    asked = dict(sorted(questions.queries.items(), key=lambda one: crc32(one[0].encode()))[:most])
    with TemporaryDirectory() as temporary:
        place = Path(temporary)
        box = written(questions.files, place / "box")
        options = Options(box, place / "product", model=MODEL, environment=UNLIMITED)
        with Product(options, say=lambda _: None) as product:
            search = ours(product)

            @asynccontextmanager
            async def itself(_: Job) -> AsyncIterator[Mapping[str, Search]]:
                yield {"": search}

            comparison = Comparison(questions, asked, product, search, place)
            rows = await comparison.rows("Memory Box", itself)
            for peer in chosen:
                rows += await comparison.rows(peer, PEERS[peer])
    about = f"{name}: {len(questions.files):,} notes, {len(asked):,} of its questions, {MODEL}"
    load_average = f"a load of {getloadavg()[2]:.0f} on {cpu_count()} processors"
    return f"{about}, at {load_average}\n\n{table(HEADS, rows)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--questions", type=int, default=100, help="of each set, at most")
    parser.add_argument("--peer", action="append", choices=sorted(PEERS))
    parser.add_argument("sets", nargs="*", default=SETS)
    options = parser.parse_args()
    if not (options.data / "load.py").is_file():
        print(f"skipped: no sets in {options.data}")
        return
    peers = options.peer or list(PEERS)
    for name in options.sets:
        printed = asyncio.run(measure(options.data, name, options.questions, peers))
        print(printed, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
