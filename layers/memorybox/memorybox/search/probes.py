"""Which vectors a search reads of packs that are not in memory.

The postings say which words each part has, the centre of its cluster about what it means. So the
clusters are read first whose best part would score most, if each had the direction of its centre.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from memorybox.search.columns import Columns
from memorybox.search.vectors import Array, cosines, norms

SHARE, SHARE_BY_MEANING = 0.03, 0.15
"""How many of the parts are compared with the query: more if none of its words is in any."""

LEAST = 6_000
"""So many at least: the best of few parts lie in as many clusters as the best of many."""

Probe = tuple[int, slice]
"""Which of the columns, and which rows of their vectors."""


def probes(
    columns: Sequence[Columns],
    alive: Sequence[Array],
    lex: Sequence[Array],
    vector: Array,
    weight: float,
) -> list[Probe]:
    """The clusters to read, best first. Of each part it is given whether it lives, and its lex."""
    clusters: list[Probe] = []
    scores, sizes = list[Array](), list[Array]()
    for at, each in enumerate(columns):
        if each.is_apart and len(each.centres):
            starts = each.bounds[:-1]
            lives = alive[at][each.part_at]
            words = lex[at][each.part_at] * lives
            meaning = cosines(each.centres, norms(each.centres), vector)
            scores.append(meaning + weight * np.maximum.reduceat(words, starts))
            sizes.append(np.add.reduceat(lives, starts, dtype=int))
            clusters += [(at, slice(*rows)) for rows in pairwise(each.bounds.tolist())]
    if not clusters:
        return []
    best = np.argsort(-np.concatenate(scores), kind="stable")
    parts = np.concatenate(sizes)[best]
    share = SHARE if weight else SHARE_BY_MEANING
    enough = max(LEAST, share * parts.sum())
    chosen = best[(np.cumsum(parts) - parts < enough) & (parts > 0)]
    return [clusters[number] for number in chosen.tolist()]
