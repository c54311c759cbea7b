"""What ranking costs beside the one product of matrix and query that it cannot do without.

    python -m bench.speed [--dims 512] [PARTS ...]

Times are those of the processors, the least of some rounds in which all figures of a line are
measured in turn: so the ratios hold on a machine that is busy with other things, too. The vectors
are random; the words are as frequent as in English. An index of more than 50,000 parts is one
of several packs that are alike.
"""

import argparse
import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from bench.tables import table
from memorybox.search.model import Entry, Indexed, Part, Recipe, Seen, TailEntry, Words
from memorybox.search.pack import Pack, build_pack
from memorybox.search.ranking import rank
from memorybox.search.sections import aligned
from memorybox.search.snapshot import Snapshot
from memorybox.search.vectors import directions, products

DISTINCT, LENGTH = 106, 240
"""Terms of a part of 2,400 bytes of English: distinct ones, and all."""

STOPPED, VOCABULARY = 70, 50_000
"""Ranks of the words that are counted, by how frequent they are; the first are stop words."""

SIZES = (100, 10_000, 100_000, 1_000_000)
FULL = 50_000
TAIL = 300
ROUNDS = 15
QUERY_TERMS = 6
PRODUCTS = ("wide", "narrow", "packs")
TODAY = date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Random parts, two to a file, all in the workspace `w`."""

    recipe: Recipe
    random: np.random.Generator

    def entries(self, parts: int, rev: str) -> list[Entry]:
        when = datetime(2026, 1, 1, tzinfo=UTC)
        vectors = self.vectors(parts)
        entries = []
        for number in range(parts // 2):
            path, digest = f"/w/{number:07}.md", f"{number:064x}"
            seen = Seen(path, path, rev, digest, 4_800, when)
            two = vectors[2 * number : 2 * number + 2]
            settled = Indexed(rev, digest, self.recipe, tuple(map(self._part, two)))
            entries.append(Entry(seen, settled))
        return entries

    def vectors(self, count: int) -> list[bytes]:
        """As `directions` leaves them, which would take long for so many."""
        wide = self.random.standard_normal((count, self.recipe.dims), np.float32)
        wide *= 127 / np.abs(wide).max(axis=1, keepdims=True)
        return [row.tobytes() for row in np.rint(wide).astype(np.int8)]

    def terms(self, count: int) -> list[int]:
        """By Zipf's law: the n-th most frequent word is taken with a chance of about 1/n."""
        ranks = STOPPED * np.exp(self.random.random(2 * count) * np.log(VOCABULARY / STOPPED))
        distinct = self.random.permutation(np.unique(ranks.astype(int)))
        return sorted(int(rank) for rank in distinct[:count])

    def _part(self, vector: bytes) -> Part:
        terms = np.array(self.terms(DISTINCT), "<u4")
        counts = self.random.integers(1, 4, len(terms)).astype("u1")
        words = Words(terms.tobytes(), counts.tobytes(), LENGTH)
        return Part(0, 2_400, self.random.bytes(16), vector, words)


@dataclass(slots=True)
class File:
    """A pack on disk, as a Source that counts what is read of it."""

    path: Path
    key: str = ""
    size: int = field(init=False)
    total: int = 0

    def __post_init__(self) -> None:
        self.size = self.path.stat().st_size

    def read(self, start: int, end: int) -> memoryview:
        buffer = aligned(end - start)
        with self.path.open("rb") as file:
            file.seek(start)
            file.readinto(buffer)
        self.total += end - start
        return buffer


def timed(call: Callable[[], object]) -> float:
    """Milliseconds of a processor."""
    began = process_time()
    call()
    return 1_000 * (process_time() - began)


def in_turn(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least of each, in milliseconds."""
    times = {name: list[float]() for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(timed(call))
    return {name: min(each) for name, each in times.items()}


def peak(call: Callable[[], object]) -> int:
    """Bytes that the call had in memory at most, beside what was there before."""
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def measure(parts: int, dims: int, folder: Path) -> list[str]:
    """The line of the table for an index of so many parts."""
    corpus = Corpus(Recipe("random", dims, splitting=1, terms=1), np.random.default_rng(1))
    entries = corpus.entries(min(parts, FULL), rev="1")
    building = timed(lambda: build_pack(corpus.recipe, entries))
    data, count = build_pack(corpus.recipe, entries), -(-parts // FULL)
    copies = [bytearray(data) for _ in range(count)]
    opening = timed(lambda: [Pack.open(copy) for copy in copies])
    packs = [Pack.open(copy) for copy in copies]
    changed = {
        entry.seen.path_lower: TailEntry(entry.seen.path_lower, 1, entry.seen, entry.settled)
        for entry in corpus.entries(2 * TAIL, rev="2")
    }
    [vector] = directions(corpus.random.standard_normal((1, dims)))
    query, terms = np.frombuffer(vector, "i1"), corpus.terms(QUERY_TERMS)
    narrow = corpus.random.random((parts, dims // 4), np.float32)
    wide = corpus.random.random((parts, dims), np.float32)

    def ranked(tail: dict[str, TailEntry], packs: Sequence[Pack]) -> object:
        return rank(
            Snapshot(tail, {"w": packs}),
            recipe=corpus.recipe,
            scope="w",
            terms=terms,
            vector=vector,
            weight=None,
            limit=20,
        )

    times = in_turn(
        {
            "wide": lambda: wide @ wide[0],
            "narrow": lambda: narrow @ narrow[0],
            "packs": lambda: [products(pack.columns.vectors[:], query) for pack in packs],
            "search": partial(ranked, {}, packs),
            "tail": partial(ranked, changed, packs),
        }
    )

    def fold() -> bytes:
        new = Snapshot(changed, {"w": packs}).fold("w", corpus.recipe, TODAY, merged=())
        return build_pack(corpus.recipe, new.entries, 2, new.hides)

    def apart() -> object:
        return ranked({}, [Pack.over(file) for file in files])

    folding = timed(fold)
    files = []
    for number, copy in enumerate(copies):
        (folder / str(number)).write_bytes(copy)
        files.append(File(folder / str(number)))
    away = min(timed(apart) for _ in range(3))
    read = sum(file.total for file in files) / 3
    most = peak(apart)
    return [
        f"{parts:,}",
        f"{count * len(data) / 1e6:,.1f}",
        f"{len(data) / min(parts, FULL):,.0f}",
        f"{min(parts, FULL) / building:,.0f}",
        f"{opening:,.1f}",
        *(f"{times[name]:,.2f}" for name in PRODUCTS),
        f"{times['search']:,.2f}",
        " / ".join(f"{times['search'] / times[name]:.1f}" for name in PRODUCTS),
        f"{times['tail']:,.2f}",
        f"{folding:,.0f} / {len(fold()) / 1e6:.2f}",
        f"{away:,.0f} / {read / 1e6:,.1f} / {most / 1e6:,.0f}",
    ]


HEADS = (
    "parts",
    "packs, MB",
    "bytes a part",
    "packed, parts a ms",
    "opened, ms",
    "numpy's product of as many float32, ms",
    "of float32 in as many bytes, ms",
    "product of the packs, ms",
    "search, ms",
    "times these products",
    f"with {TAIL} files changed, ms",
    "fold of these: ms / MB written",
    "search apart: ms / MB read / MB held",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dims", type=int, default=512)
    parser.add_argument("parts", nargs="*", type=int, default=SIZES)
    options = parser.parse_args()
    rows = []
    for parts in options.parts:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(parts, options.dims, Path(folder)))
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
