"""How well search finds what answers a question, on public sets of texts and questions.

    python -m bench.quality --data FOLDER [--model wordllama] [--made] [SET ...]

FOLDER holds the sets and their `load.py`. With --made, questions are made out of them: for titles,
headings, days. Each set is indexed and each of its questions searched by
the product's own code, and by what it stands beside:

- grep: each word of the question that is no stop word, in any letter case; first the files in which
  most of them occur, then those in which they occur most often;
- words: our score of words alone;
- vectors: the cosine alone, of files of up to 8,000 bytes as a whole and of the parts of others.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import quality_made
from bench.quality_made import Made
from bench.quality_sets import (
    SETS,
    Found,
    Questions,
    Ranking,
    is_held_out,
    load,
    scope,
)
from bench.quality_vectors import Remembering
from bench.tables import table
from local.embedders import MODELS, Embedder
from memorybox.search.model import Entry, Indexed, Part, Recipe, Seen
from memorybox.search.pack import Pack, build_pack
from memorybox.search.parts import SPLITTING_VERSION, identity, parts_of
from memorybox.search.ranking import rank
from memorybox.search.snapshot import Snapshot
from memorybox.search.terms import STOP, TERMS_VERSION, Lexicon, plus
from memorybox.search.vectors import directions

LIMIT = 21
"""Files of a ranking that are looked at; one of them may be where the question was taken from."""

METHODS = ("grep", "words", "vectors", "ours")


@dataclass(frozen=True, slots=True)
class Index:
    """A set, indexed. The paths of the set are those of Dropbox without their first slash."""

    questions: Questions
    snapshot: Snapshot
    recipe: Recipe
    lexicon: Lexicon
    vectors: Mapping[str, bytes]
    """Of the questions."""

    @classmethod
    def of(cls, questions: Questions, model: str, embedder: Embedder) -> "Index":
        recipe = Recipe(model, embedder.dimensions, SPLITTING_VERSION, TERMS_VERSION)
        lexicon = Lexicon(b"bench")
        workspaces: dict[str, list[Entry]] = {}
        for path, text in questions.files.items():
            entry = _indexed(f"/{path}", text, recipe, lexicon, embedder)
            workspaces.setdefault(entry.seen.workspace, []).append(entry)
        packs = {name: [Pack.open(build_pack(recipe, files))] for name, files in workspaces.items()}
        asked = list(questions.queries)
        vectors = _embedded(embedder, [questions.queries[each] for each in asked])
        return cls(
            questions, Snapshot({}, packs), recipe, lexicon, dict(zip(asked, vectors, strict=True))
        )

    @property
    def parts(self) -> int:
        return sum(pack.parts for [pack] in self.snapshot.packs.values())

    def ranking(
        self,
        asked: str,
        scope: str | None,
        *,
        weight: float | None = None,
        by_words_alone: bool = False,
    ) -> Ranking:
        """The paths found for a question in a workspace; None for all of them."""
        hits = rank(
            self.snapshot,
            recipe=self.recipe,
            scope=scope and scope.lower(),
            terms=self.lexicon.numbers(self.questions.queries[asked]),
            vector=None if by_words_alone else self.vectors[asked],
            weight=weight,
            limit=LIMIT,
        )
        return [hit.seen.path_display.removeprefix("/") for hit in hits]


def _indexed(path: str, text: str, recipe: Recipe, lexicon: Lexicon, embedder: Embedder) -> Entry:
    pieces = parts_of(text.encode())
    vectors = _embedded(embedder, [piece.text for piece in pieces])
    path_words = lexicon.path_words(path.lower())
    parts = tuple(
        Part(
            piece.start,
            piece.end,
            identity(recipe.model, recipe.dims, piece.text),
            vector,
            plus(lexicon.words(piece.text), path_words),
        )
        for piece, vector in zip(pieces, vectors, strict=True)
    )
    seen = Seen(path.lower(), path, "1", path, len(text.encode()), datetime.now(UTC))
    return Entry(seen, Indexed("1", path, recipe, parts))


def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    return directions(embedder.embed(texts)) if texts else []


@dataclass(frozen=True, slots=True)
class Grep:
    """What a person finds who searches the folder for each word."""

    texts: Mapping[str, str]
    """Of each path: itself and what stands there, all in small letters."""

    @classmethod
    def of(cls, questions: Questions) -> "Grep":
        return cls({p: f"{p}\n{text}".casefold() for p, text in questions.files.items()})

    def ranking(self, question: str, scope: str | None) -> Ranking:
        words = set(re.findall(r"\w+", question.casefold())) - STOP
        found: dict[str, tuple[int, int]] = {}
        for path, text in self.texts.items():
            if scope is None or path.startswith(f"{scope}/"):
                counts = [count for word in words if (count := text.count(word))]
                found[path] = len(counts), sum(counts)
        return sorted(filter(lambda path: found[path][0], found), key=found.__getitem__)[::-1]


def rankings(name: str, index: Index) -> dict[str, dict[str, Ranking]]:
    """For each method the paths it finds for each question, without the question's own source."""
    questions, by_hand = index.questions, Grep.of(index.questions)
    found: dict[str, dict[str, Ranking]] = {method: {} for method in METHODS}
    for asked in questions.queries:
        folder = scope(questions, name, asked)
        each = {
            "grep": by_hand.ranking(questions.queries[asked], folder),
            "words": index.ranking(asked, folder, by_words_alone=True),
            "vectors": index.ranking(asked, folder, weight=0.0),
            "ours": index.ranking(asked, folder),
        }
        for method, ranking in each.items():
            source = questions.source.get(asked)
            found[method][asked] = [path for path in ranking if path != source]
    return found


@dataclass(frozen=True, slots=True)
class Measured:
    """One set: what each method finds, in all and in the half that was held out."""

    name: str
    questions: int
    parts: int
    found: Mapping[str, Found]
    held_out: Mapping[str, Found]

    @classmethod
    def of(cls, name: str, index: Index) -> "Measured":
        relevant, found = index.questions.relevant, rankings(name, index)
        held_out = {
            method: {asked: paths for asked, paths in each.items() if is_held_out(asked)}
            for method, each in found.items()
        }
        return cls(
            name,
            len(index.questions.queries),
            index.parts,
            {method: Found.of(each, relevant) for method, each in found.items()},
            {method: Found.of(each, relevant) for method, each in held_out.items()},
        )

    def row(self) -> list[str]:
        return [
            f"{self.name} ({self.questions:,})",
            f"{self.parts:,}",
            *(f"{self.found[method].ndcg_10:.3f}" for method in METHODS),
            f"{_beside_the_better(self.found):.3f}",
            f"{_beside_the_better(self.held_out):.3f}",
        ]

    def details(self) -> list[list[str]]:
        return [[self.name, method, *self.found[method].cells()] for method in METHODS]


def _beside_the_better(found: Mapping[str, Found]) -> float:
    return found["ours"].ndcg_10 / max(found["words"].ndcg_10, found["vectors"].ndcg_10)


def tables(model: str, measured: Sequence[Measured]) -> str:
    """What is printed and published of one model."""
    summary = ("set (questions)", "parts", *METHODS, "ours : better", "held out")
    details = ("set", "method", "R@1", "R@3", "R@8", "nDCG@10", "MRR")
    return "\n\n".join(
        [
            f"nDCG@10 with {model}",
            table(summary, [each.row() for each in measured]),
            f"<details><summary>All figures with {model}</summary>",
            table(details, [row for each in measured for row in each.details()]),
            "</details>",
        ]
    )


def _questions(folder: Path, name: str) -> Questions:
    kind, _, of = name.rpartition(": ")
    questions = load(folder, of)
    return Made.of(kind, questions) if kind else questions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--model", choices=sorted(MODELS), default="wordllama")
    parser.add_argument("--made", action="store_true", help="of titles, headings, days")
    parser.add_argument("sets", nargs="*")
    options = parser.parse_args()
    if not (options.data / "load.py").is_file():
        print(f"skipped: no sets in {options.data}")
        return
    embedder = Remembering(options.model)
    measured = []
    for name in options.sets or (quality_made.SETS if options.made else SETS):
        index = Index.of(_questions(options.data, name), options.model, embedder)
        measured.append(Measured.of(name, index))
        print(*measured[-1].row(), file=sys.stderr, flush=True)
    print(tables(options.model, measured))


if __name__ == "__main__":
    main()
