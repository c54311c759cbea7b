"""The public sets, and how well a ranking of their files answers a question.

A set comes from the `load.py` of the folder of sets. For their licences the sets are no part of
this repository.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from importlib.util import module_from_spec, spec_from_file_location
from math import log2
from pathlib import Path
from statistics import fmean
from typing import Protocol
from zlib import crc32

Ranking = Sequence[str]

EVERYWHERE = ("locomo-all", "locomo-long")
"""All chats are searched together, not the one that was asked about."""

SETS = (
    "locomo",
    *EVERYWHERE,
    "cranfield",
    "scifact",
    *(f"obsidian-{language}" for language in ("en", "de", "ja", "ko", "zh")),
    *(f"obsidian-en-to-{language}" for language in ("en", "de", "ja", "ko", "zh")),
)


class Questions(Protocol):
    """A set as its `load.py` gives it. Paths start with the workspace; a scope may be "all"."""

    files: Mapping[str, str]
    queries: Mapping[str, str]
    relevant: Mapping[str, Set[str]]
    scope: Mapping[str, str]
    source: Mapping[str, str]
    """The file from which a question was taken: left out of its ranking."""


@dataclass(frozen=True, slots=True)
class Found:
    """Means over the questions. Every relevant file counts alike."""

    recall_1: float
    recall_3: float
    recall_8: float
    ndcg_10: float
    mrr: float

    @classmethod
    def of(cls, rankings: Mapping[str, Ranking], relevant: Mapping[str, Set[str]]) -> "Found":
        each = [(ranking, relevant[asked]) for asked, ranking in rankings.items()]
        return cls(
            recall_1=fmean(recall(*one, first=1) for one in each),
            recall_3=fmean(recall(*one, first=3) for one in each),
            recall_8=fmean(recall(*one, first=8) for one in each),
            ndcg_10=fmean(ndcg(*one) for one in each),
            mrr=fmean(reciprocal_rank(*one) for one in each),
        )

    def cells(self) -> list[str]:
        return [f"{getattr(self, field.name):.3f}" for field in fields(self)]


def load(folder: Path, name: str) -> Questions:
    """The set of that name. Raises FileNotFoundError if there are no sets in the folder."""
    place = folder / "load.py"
    spec = spec_from_file_location("load", place)
    if spec is None or spec.loader is None or not place.is_file():
        raise FileNotFoundError(place)
    module = module_from_spec(spec)
    sys.modules["load"] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    questions: Questions = module.load(name.removesuffix("-all"))
    return questions


def scope(questions: Questions, name: str, asked: str) -> str | None:
    """The workspace in which a question of the set is searched; None for all of them."""
    workspace = questions.scope[asked]
    return None if name in EVERYWHERE or workspace == "all" else workspace


def is_held_out(asked: str) -> bool:
    """Whether a question is of the half that had no say in how the ranking was chosen."""
    return crc32(asked.encode()) % 2 == 1


def ndcg(ranking: Ranking, relevant: Set[str], first: int = 10) -> float:
    gain = sum(1 / log2(at + 2) for at, path in enumerate(ranking[:first]) if path in relevant)
    return gain / sum(1 / log2(at + 2) for at in range(min(first, len(relevant))))


def recall(ranking: Ranking, relevant: Set[str], first: int) -> float:
    return len(relevant & set(ranking[:first])) / len(relevant)


def reciprocal_rank(ranking: Ranking, relevant: Set[str]) -> float:
    return next((1 / (at + 1) for at, path in enumerate(ranking) if path in relevant), 0.0)


def distinct(paths: Iterator[str]) -> Ranking:
    """Each path where it first came."""
    return list(dict.fromkeys(paths))
