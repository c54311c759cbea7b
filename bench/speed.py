"""What ranking costs beyond the one product of matrix and query that it cannot do without.

    python -m bench.speed [--dims 512] [--tail 300] [PARTS ...]

Both are measured in turn in one run, so that their ratio says more than their times, which depend
on the machine and its load. The vectors are random; the words are as frequent as in English.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from time import perf_counter

import numpy as np

from memorybox.search.model import Entry, Indexed, Part, Recipe, Seen, TailEntry, Words
from memorybox.search.pack import Pack, build_pack
from memorybox.search.ranking import rank
from memorybox.search.snapshot import Snapshot
from memorybox.search.vectors import directions, products

DISTINCT, LENGTH = 106, 240
"""Terms of a part of 2,400 bytes of English: distinct ones, and all."""

STOPPED, VOCABULARY = 70, 50_000
"""Ranks of the words that are counted, by how frequent they are; the first are stop words."""

ROUNDS = 50
QUERY_TERMS = 6


@dataclass(frozen=True, slots=True)
class Corpus:
    """Random parts, two to a file, all in the workspace `w`."""

    recipe: Recipe
    random: np.random.Generator

    def entries(self, parts: int, rev: str) -> list[Entry]:
        when = datetime(2026, 1, 1, tzinfo=UTC)
        entries = []
        for number in range(parts // 2):
            seen = Seen(f"/w/{number:07}.md", f"/w/{number:07}.md", rev, str(number), 4_800, when)
            entries.append(
                Entry(seen, Indexed(rev, str(number), self.recipe, (self._part(), self._part())))
            )
        return entries

    def vector(self) -> bytes:
        [vector] = directions(self.random.standard_normal((1, self.recipe.dims)))
        return vector

    def terms(self, count: int) -> list[int]:
        """By Zipf's law: the n-th most frequent word is taken with a chance of about 1/n."""
        ranks = STOPPED * np.exp(self.random.random(2 * count) * np.log(VOCABULARY / STOPPED))
        distinct = self.random.permutation(np.unique(ranks.astype(int)))
        return sorted(int(rank) for rank in distinct[:count])

    def _part(self) -> Part:
        terms = np.array(self.terms(DISTINCT), "<u4")
        counts = self.random.integers(1, 4, len(terms)).astype("u1")
        words = Words(terms.tobytes(), counts.tobytes(), LENGTH)
        return Part(0, 2_400, self.random.bytes(16), self.vector(), words)


def timed(call: Callable[[], object]) -> float:
    """Milliseconds."""
    began = perf_counter()
    call()
    return 1_000 * (perf_counter() - began)


def measure(parts: int, dims: int, tail: int) -> str:
    corpus = Corpus(Recipe("random", dims, splitting=1, terms=1), np.random.default_rng(1))
    data = build_pack(corpus.recipe, corpus.entries(parts, rev="1"))
    opening = timed(lambda: Pack.open(data))
    pack = Pack.open(data)
    changed = {
        entry.seen.path_lower: TailEntry(entry.seen.path_lower, 1, entry.seen, entry.settled)
        for entry in corpus.entries(2 * tail, rev="2")
    }
    vector, terms = corpus.vector(), corpus.terms(QUERY_TERMS)
    query = np.frombuffer(vector, "i1")

    def ranked(snapshot: Snapshot, weight: float) -> Callable[[], object]:
        return lambda: rank(
            snapshot,
            recipe=corpus.recipe,
            scope="w",
            terms=terms if weight else [],
            vector=vector,
            weight=weight,
            limit=20,
        )

    calls = {
        "product": lambda: products(pack.columns.vectors[:], query),
        "cosine": ranked(Snapshot({}, {"w": [pack]}), 0.0),
        "hybrid": ranked(Snapshot({}, {"w": [pack]}), 0.5),
        "with tail": ranked(Snapshot(changed, {"w": [pack]}), 0.5),
    }
    times = {name: list[float]() for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(timed(call))
    middle = {name: median(each) for name, each in times.items()}
    return " | ".join(
        [
            f"{parts:,} x {dims}",
            f"{len(data) / 1e6:.1f} MB",
            f"{opening:.1f} ms",
            *(f"{each:.2f} ms ({each / middle['product']:.1f})" for each in middle.values()),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dims", type=int, default=512)
    parser.add_argument("--tail", type=int, default=300, help="files that changed since packing")
    parser.add_argument("parts", nargs="*", type=int, default=[10_000, 100_000])
    options = parser.parse_args()
    print("| parts | pack | open | product | cosine, top 20 | with words | with words and tail |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for parts in options.parts:
        print(f"| {measure(parts, options.dims, options.tail)} |", flush=True)


if __name__ == "__main__":
    main()
