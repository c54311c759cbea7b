"""How well search finds what answers a question, on public sets of texts and questions.

    python -m bench.quality --data FOLDER [--model wordllama] [SET ...]

FOLDER holds the sets and their `load.py`; for their licences they are no part of this repository.
Each set is indexed and each of its questions searched by the product's own code.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from math import log2
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Protocol

from local.embedders import MODELS, Embedder
from memorybox.search.model import Entry, Indexed, Part, Recipe, Seen
from memorybox.search.pack import Pack, build_pack
from memorybox.search.parts import SPLITTING_VERSION, identity, parts_of
from memorybox.search.ranking import rank
from memorybox.search.snapshot import Snapshot
from memorybox.search.terms import TERMS_VERSION, Lexicon, plus
from memorybox.search.vectors import directions

SETS = ("locomo", "locomo-all", "locomo-long", "cranfield", "scifact", "obsidian-en")
EVERYWHERE = ("locomo-all", "locomo-long")
"""All chats are searched together, not the one that was asked about."""

WEIGHTS = (0.0, 0.3, 0.5, 0.7, 1.0)
DEFAULT_WEIGHT = 0.5
LIMIT = 21
"""Files of a ranking that are looked at; one of them may be where the question was taken from."""

CHOSEN_WITH = {
    "minilm": {
        "locomo": 0.795,
        "locomo-all": 0.755,
        "locomo-long": 0.855,
        "cranfield": 0.438,
        "scifact": 0.735,
        "obsidian-en": 0.601,
        "obsidian-de": 0.534,
        "obsidian-ja": 0.273,
        "obsidian-ko": 0.392,
        "obsidian-zh": 0.334,
    },
    "wordllama": {
        "locomo": 0.795,
        "locomo-all": 0.753,
        "locomo-long": 0.851,
        "cranfield": 0.393,
        "scifact": 0.651,
        "obsidian-en": 0.574,
        "obsidian-de": 0.529,
        "obsidian-ja": 0.546,
        "obsidian-ko": 0.556,
        "obsidian-zh": 0.517,
    },
}
"""nDCG@10 at the default weight when the rules were chosen: farther off, a rule has changed."""

TOLERANCE = 0.01

Ranking = Sequence[str]
Relevant = set[str]


class Questions(Protocol):
    """A set as its `load.py` gives it. Paths start with the workspace; a scope may be "all"."""

    files: Mapping[str, str]
    queries: Mapping[str, str]
    relevant: Mapping[str, Relevant]
    scope: Mapping[str, str]
    source: Mapping[str, str]


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

    def rankings(self, weight: float | None, *, everywhere: bool) -> dict[str, Ranking]:
        """The paths found for each question; without a weight by words alone."""
        return {each: self._ranking(each, weight, everywhere) for each in self.questions.queries}

    def _ranking(self, asked: str, weight: float | None, everywhere: bool) -> Ranking:
        scope = self.questions.scope[asked].lower()
        hits = rank(
            self.snapshot,
            recipe=self.recipe,
            scope=None if everywhere or scope == "all" else scope,
            terms=self.lexicon.numbers(self.questions.queries[asked]),
            vector=None if weight is None else self.vectors[asked],
            weight=weight or 0.0,
            limit=LIMIT,
        )
        paths = (hit.seen.path_display.removeprefix("/") for hit in hits)
        return [path for path in paths if path != self.questions.source.get(asked)]


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


def ndcg(ranking: Ranking, relevant: Relevant, first: int = 10) -> float:
    """Every relevant file counts alike."""
    gain = sum(1 / log2(at + 2) for at, path in enumerate(ranking[:first]) if path in relevant)
    return gain / sum(1 / log2(at + 2) for at in range(min(first, len(relevant))))


def recall(ranking: Ranking, relevant: Relevant, first: int) -> float:
    return len(relevant.intersection(ranking[:first])) / len(relevant)


def reciprocal_rank(ranking: Ranking, relevant: Relevant) -> float:
    return next((1 / (at + 1) for at, path in enumerate(ranking) if path in relevant), 0.0)


def measure(name: str, index: Index, chosen: float | None) -> bool:
    """Print the row of a set; whether its figure is the one with which the rules were chosen."""
    relevant = index.questions.relevant
    everywhere = name in EVERYWHERE
    found = {w: index.rankings(w, everywhere=everywhere) for w in (*WEIGHTS, None)}

    def mean(weight: float | None) -> float:
        return fmean(ndcg(ranking, relevant[each]) for each, ranking in found[weight].items())

    best = found[DEFAULT_WEIGHT].items()
    shares = [
        *(
            fmean(recall(ranking, relevant[each], first) for each, ranking in best)
            for first in (1, 3, 8)
        ),
        fmean(recall(ranking, relevant[each], 8) > 0 for each, ranking in best),
        fmean(reciprocal_rank(ranking, relevant[each]) for each, ranking in best),
    ]
    figures = [*(mean(weight) for weight in (None, *WEIGHTS)), *shares]
    print(
        f"| {name} ({len(relevant):,}) | {index.parts:,} | "
        + " | ".join(f"{figure:.3f}" for figure in figures)
        + f" | {chosen or '-'} |",
        flush=True,
    )
    return chosen is None or abs(mean(DEFAULT_WEIGHT) - chosen) <= TOLERANCE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--model", choices=sorted(CHOSEN_WITH), default="wordllama")
    parser.add_argument("sets", nargs="*", default=SETS)
    options = parser.parse_args()
    if not (options.data / "load.py").is_file():
        print(f"skipped: no sets in {options.data}")
        return 0

    load, embedder = _loader(options.data).load, MODELS[options.model]()
    weights = " | ".join(f"w = {weight:g}" for weight in WEIGHTS)
    print(f"nDCG@10 with {options.model}; the shares are those of w = {DEFAULT_WEIGHT}")
    print(f"| set (queries) | parts | words | {weights} | R@1 | R@3 | R@8 | hit@8 | MRR | chosen |")
    print("|---|" + "--:|" * (len(WEIGHTS) + 8))
    as_chosen = [
        measure(
            name,
            Index.of(load(name.removesuffix("-all")), options.model, embedder),
            CHOSEN_WITH[options.model].get(name),
        )
        for name in options.sets
    ]
    return 0 if all(as_chosen) else 1


def _loader(folder: Path) -> ModuleType:
    spec = spec_from_file_location("load", folder / "load.py")
    if spec is None or spec.loader is None:
        raise ImportError(folder)
    module = module_from_spec(spec)
    sys.modules["load"] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
