"""Which files answer a query best: by their meaning and by their words.

    idf(t)    = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5))
    lex(part) = Σ idf(t)·tf·(k1+1) / (tf + k1·(1 - b + b·length/average))  /  Σ idf(t)·(k1+1)

The sums run over the terms of the query that stand in the searched parts: lex is BM25 (Robertson
and Zaragoza 2009) over the most that any part could reach, so within 0..1, and a weak match stays
a small number. N, df and average count the searched parts. A part's score is made of lex and the
cosine (`scoring`); a file has the score of its best part.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from typing import TypeVar

import numpy as np

from memorybox.search import scoring
from memorybox.search.columns import Columns
from memorybox.search.model import Hit, Indexed, Recipe, Seen, workspace_of
from memorybox.search.parallel import Parallel
from memorybox.search.probes import probes
from memorybox.search.snapshot import Snapshot
from memorybox.search.vectors import Array

K1, B = 1.2, 0.75

R = TypeVar("R")
Postings = tuple[Array, Array]

DEAD = -2.0
"""Below the score of any part: the tail hides this one."""

UNREAD = -np.inf
"""The cosine of a part whose vector stays where it is."""


def rank(
    snapshot: Snapshot,
    *,
    recipe: Recipe,
    scope: str | None,
    terms: Sequence[int],
    vector: bytes | None,
    weight: float | None,
    limit: int,
    parallel: Parallel | None = None,
) -> list[Hit]:
    """The `limit` best files, best first, equal ones by workspace and path.

    `vector` is that of the query, as it is kept of a part; without it the score is lex alone. A
    `weight` of the words takes the place of the one that this search would get. In `parallel`
    many small pieces are read of packs that are not in memory.
    """
    segments = [segment for segment in _segments(snapshot, recipe, scope) if segment.alive.any()]
    known = _known(segments, terms, parallel)
    scores = _lexical(segments, known)
    if segments and vector is not None:
        direction = np.frombuffer(vector, "i1")
        scores = _weighed(segments, scores, len(known), direction, weight=weight, parallel=parallel)
    found: list[_Found] = []
    for segment, each in zip(segments, scores, strict=True):
        found += _best_files(segment, np.where(segment.alive, each, DEAD), limit)
    found.sort(key=lambda one: (-one.score, workspace_of(one.path), one.path))
    best = found[:limit]
    waits = [_begun(parallel, one.segment, partial(one.segment.seen, one.file)) for one in best]
    return [Hit(wait(), one.score) for wait, one in zip(waits, best, strict=True)]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Parts to be searched: those of one pack, or those of the tail. Files ascend by path."""

    columns: Columns
    alive: Array
    """For each part whether it is searched."""

    paths: Sequence[str]
    """Those of the files by their numbers in `columns.file_of`."""

    seen: Callable[[int], Seen]
    """The file of such a number."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of the query."""

    df: int
    """How many of the searched parts hold it."""

    postings: Sequence[Postings]
    """Which parts of each segment do, and how often."""

    @classmethod
    def of(cls, segments: Sequence[_Segment], postings: Sequence[Postings]) -> "_Term":
        pairs = zip(segments, postings, strict=True)
        return cls(sum(int(one.alive[holders].sum()) for one, (holders, _) in pairs), postings)


@dataclass(frozen=True, slots=True)
class _Found:
    """A file that may be a hit."""

    score: float
    path: str
    segment: _Segment
    file: int


def _segments(snapshot: Snapshot, recipe: Recipe, scope: str | None) -> Iterator[_Segment]:
    for layer in snapshot.layers(scope):
        pack = layer.pack
        if pack.recipe == recipe:
            alive = (layer.live & pack.table.indexed)[pack.columns.file_of]
            yield _Segment(
                pack.columns, alive, pack.table.paths, partial(snapshot.seen, pack.table)
            )
    changed = sorted(
        (entry for entry in snapshot.changed(scope) if entry.is_indexed(recipe)),
        key=lambda entry: (entry.seen.workspace, entry.seen.path_lower),
    )
    if not changed:
        return
    parts = [entry.settled.parts for entry in changed if isinstance(entry.settled, Indexed)]
    columns = Columns.of(parts, recipe.dims)
    alive = np.ones(len(columns.file_of), bool)
    paths = [entry.seen.path_lower for entry in changed]
    yield _Segment(columns, alive, paths, lambda number: changed[number].seen)


def _known(
    segments: Sequence[_Segment], terms: Sequence[int], parallel: Parallel | None
) -> list[_Term]:
    waits = [
        [_begun(parallel, segment, partial(segment.columns.holding, term)) for segment in segments]
        for term in terms
    ]
    held = [_Term.of(segments, [wait() for wait in each]) for each in waits]
    return [term for term in held if term.df]


def _begun(parallel: Parallel | None, segment: _Segment, work: Callable[[], R]) -> Callable[[], R]:
    """The work on a segment, begun at once if it has to wait for what is not in memory."""
    return parallel.start(work) if parallel and segment.columns.is_apart else work


def _lexical(segments: Sequence[_Segment], known: Sequence[_Term]) -> list[Array]:
    """lex of each part of each segment."""
    lex = [np.zeros(len(segment.alive)) for segment in segments]
    alive = sum(int(segment.alive.sum()) for segment in segments)
    length = sum(int(segment.columns.lengths[segment.alive].sum()) for segment in segments)
    most = 0.0
    for term in known:
        idf = log(1 + (alive - term.df + 0.5) / (term.df + 0.5))
        most += idf * (K1 + 1)
        for segment, scores, (holders, tf) in zip(segments, lex, term.postings, strict=True):
            relative = segment.columns.lengths[holders] * (alive / length)
            scores[holders] += idf * (K1 + 1) * tf / (tf + K1 * (1 - B + B * relative))
    return [scores / most if most else scores for scores in lex]


def _weighed(
    segments: Sequence[_Segment],
    lex: Sequence[Array],
    terms: int,
    vector: Array,
    *,
    weight: float | None,
    parallel: Parallel | None,
) -> list[Array]:
    """The score of each part of each segment that is searched; below DEAD that of the others.

    `terms` is how many of the query are in any of the parts.
    """
    columns = [segment.columns for segment in segments]
    alive = [segment.alive for segment in segments]
    cosines = [np.full(len(each), UNREAD) for each in alive]
    for known, here in zip(cosines, columns, strict=True):
        rows = here.sampled if here.is_apart else slice(0, len(known))
        known[here.part_at[rows]] = here.cosines(rows, vector)
    if weight is None:
        weight = scoring.word_weight(
            [known[able & (known > UNREAD)] for known, able in zip(cosines, alive, strict=True)],
            [each[able] for each, able in zip(lex, alive, strict=True)],
            terms,
        )
    chosen = probes(columns, alive, lex, vector, weight)
    waits = [
        _begun(parallel, segments[at], partial(columns[at].cosines, rows, vector))
        for at, rows in chosen
    ]
    for (at, rows), wait in zip(chosen, waits, strict=True):
        cosines[at][columns[at].part_at[rows]] = wait()
    return [scoring.scores(*each, weight) for each in zip(cosines, lex, strict=True)]


def _best_files(segment: _Segment, scores: Array, limit: int) -> Iterator[_Found]:
    file_of = segment.columns.file_of
    starts = np.flatnonzero(np.append(True, file_of[1:] != file_of[:-1]))
    best = np.maximum.reduceat(scores, starts)
    least = np.partition(best, -limit)[-limit] if len(best) > limit else DEAD
    able = np.flatnonzero((best >= least) & (best > DEAD))
    for number in able[np.argsort(-best[able], kind="stable")][:limit]:
        file = int(file_of[starts[number]])
        yield _Found(float(best[number]), segment.paths[file], segment, file)
