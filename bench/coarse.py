"""What a search of packs that are not in memory misses, and what it reads.

    python -m bench.coarse --data FOLDER [--model wordllama] [PARTS ...]

The texts are those of the public sets. To have many parts that lie as those of
notes do, they are cut into windows of 200 characters, each from the middle of the one before (of
100, where a character is more than a byte); the files come into packs of about 50,000 parts in no
order. Every question is asked twice: of packs in memory, where all vectors are compared, and of
the same packs on disk.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

from bench.quality_sets import Questions, load
from bench.speed import FULL, File, timed
from bench.tables import table
from local.embedders import MODELS, Embedder
from memorybox.search.clusters import Clusters
from memorybox.search.model import Entry, Indexed, Part, Recipe, Seen
from memorybox.search.pack import Pack, build_pack
from memorybox.search.ranking import rank
from memorybox.search.snapshot import Snapshot
from memorybox.search.terms import Lexicon
from memorybox.search.vectors import directions

LANGUAGES = ("en", "de", "ja", "ko", "zh")
SETS = ("locomo", "cranfield", "scifact", *(f"obsidian-{each}" for each in LANGUAGES))
ASKED = 40
"""Questions of each set."""

SIZES = (50_000, 100_000, 160_000)
WINDOW = 200
HITS = 20
LEXICON = Lexicon(b"bench")


@dataclass(frozen=True, slots=True)
class Question:
    terms: Sequence[int]
    vector: bytes | None

    def answer(self, packs: Sequence[Pack]) -> list[str]:
        """The paths of the best files."""
        hits = rank(
            Snapshot({}, {"w": packs}),
            recipe=packs[0].recipe,
            scope="w",
            terms=self.terms,
            vector=self.vector,
            weight=None,
            limit=HITS,
        )
        return [hit.seen.path_lower for hit in hits]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Files in no order, and questions."""

    recipe: Recipe
    entries: Sequence[Entry]
    questions: Sequence[Question]

    @classmethod
    def of(cls, sets: Sequence[Questions], model: str, embedder: Embedder) -> "Corpus":
        recipe = Recipe(model, embedder.dimensions, splitting=1, terms=1)
        texts = [text for each in sets for text in each.files.values()]
        asked = [text for each in sets for text in evenly(list(each.queries.values()))]
        vectors = embedded(embedder, asked)
        order = np.random.default_rng(1).permutation(len(texts))
        return cls(
            recipe,
            [
                file(f"/w/{at:06}", texts[number], recipe, embedder)
                for at, number in enumerate(order)
            ],
            [Question(LEXICON.numbers(t), v) for t, v in zip(asked, vectors, strict=True)],
        )

    def packs(self, parts: int) -> Iterator[list[Entry]]:
        """What is in each pack of the first so many parts."""
        number_of = np.cumsum([len(parts_of(entry)) for entry in self.entries])
        for start in range(0, parts, FULL):
            first, last = np.searchsorted(number_of, (start, min(start + FULL, parts)))
            if first < last:
                yield [*self.entries[first:last]]


def file(path: str, text: str, recipe: Recipe, embedder: Embedder) -> Entry:
    """The file with a part for each window."""
    pieces = windows(text)
    parts = tuple(
        Part(0, len(piece), bytes(16), vector, LEXICON.words(piece))
        for piece, vector in zip(pieces, embedded(embedder, pieces), strict=True)
    )
    seen = Seen(path, path, "1", path, len(text), datetime(2026, 1, 1, tzinfo=UTC))
    return Entry(seen, Indexed("1", path, recipe, parts))


def parts_of(entry: Entry) -> Sequence[Part]:
    return entry.settled.parts if isinstance(entry.settled, Indexed) else ()


def windows(text: str) -> list[str]:
    wide = len(text.encode()) > 1.5 * len(text)
    size = WINDOW // 2 if wide else WINDOW
    step = size // 2
    pieces = (text[at : at + size] for at in range(0, max(1, len(text) - step), step))
    return [piece for piece in pieces if not piece.isspace()]


def embedded(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    return directions(embedder.embed(texts)) if texts else []


def evenly(texts: Sequence[str]) -> Sequence[str]:
    return texts[:: max(1, len(texts) // ASKED)][:ASKED]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Packs, in memory and on disk."""

    held: Sequence[Pack]
    files: Sequence[File]

    @classmethod
    def of(cls, corpus: Corpus, parts: int, folder: Path) -> "Shelf":
        built = [build_pack(corpus.recipe, entries) for entries in corpus.packs(parts)]
        for number, data in enumerate(built):
            (folder / str(number)).write_bytes(data)
        files = [File(folder / str(number)) for number in range(len(built))]
        return cls([Pack.open(data) for data in built], files)

    def ask(self, questions: Sequence[Question]) -> tuple[float, float]:
        """How much of the full answer is found without it, and bytes read for that, on average."""
        before, found = self.read, list[float]()
        for question in questions:
            expected = question.answer(self.held)
            apart = question.answer([Pack.over(file) for file in self.files])
            found.append(len({*expected} & {*apart}) / len(expected))
        return fmean(found), (self.read - before) / len(questions)

    @property
    def read(self) -> int:
        return sum(file.total for file in self.files)

    def spread_error(self, question: Question) -> float:
        """How far the spread of the sampled cosines is from that of all, as a share of it."""
        vector = np.frombuffer(question.vector or b"", "i1")
        columns = [pack.columns for pack in self.held]
        full = [each.cosines(slice(0, len(each.file_of)), vector) for each in columns]
        sampled = [each.cosines(each.sampled, vector) for each in columns]
        return float(abs(np.concatenate(sampled).std() / np.concatenate(full).std() - 1))


def measure(corpus: Corpus, parts: int, folder: Path) -> list[str]:
    """The line of the table for so many parts."""
    shelf, questions = Shelf.of(corpus, parts, folder), corpus.questions
    matrices = [pack.columns.vectors[:] for pack in shelf.held]
    size, vectors = sum(file.size for file in shelf.files), sum(each.nbytes for each in matrices)
    _, without = shelf.ask([replace(each, vector=None) for each in questions])
    recall, read = shelf.ask(questions)
    by_meaning, read_by_meaning = shelf.ask([replace(each, terms=()) for each in questions])
    return [
        f"{sum(pack.parts for pack in shelf.held):,}",
        f"{len(shelf.held)}",
        f"{size / 1e6:,.1f}",
        f"{recall:.3f}",
        f"{(read - without) / vectors:.1%}",
        f"{read / 1e6:,.1f} ({read / size:.1%})",
        f"{by_meaning:.3f}",
        f"{read_by_meaning / 1e6:,.1f} ({read_by_meaning / size:.1%})",
        f"{fmean(map(shelf.spread_error, questions)):.1%}",
        f"{fmean(timed(partial(Clusters.of, each)) for each in matrices):,.0f}",
    ]


HEADS = (
    "parts",
    "packs",
    "MB",
    f"recall@{HITS}",
    "of the vectors read",
    "of all read, MB",
    f"by meaning alone: recall@{HITS}",
    "of all read, MB",
    "spread of the cosines off by",
    "clustering a pack, ms",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--model", choices=sorted(MODELS), default="wordllama")
    parser.add_argument("parts", nargs="*", type=int, default=SIZES)
    options = parser.parse_args()
    sets = [load(options.data, name) for name in SETS]
    corpus = Corpus.of(sets, options.model, MODELS[options.model]())
    rows = []
    for parts in options.parts:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(corpus, parts, Path(folder)))
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
