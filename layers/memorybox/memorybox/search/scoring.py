"""The score of a part: what it means and which words it has, weighed against each other.

    score  = (cosine + weight·lex) / (1 + weight)
    weight = share(n) · spread(cosine) / spread(lex)    within 0.1..32; without lex, 0
    share  = 24/n, 3 at least                           n: terms of the query in any of them

A spread is the standard deviation over the searched parts. Cosines lie close together with one
model and far apart with another, words stand in few parts or in many: so both count in their
spreads. Few words name a thing, many describe it: the more there are, the more meaning counts.
docs/benchmarks.md shows what that finds.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

import numpy as np

from memorybox.search.vectors import Array

SHARE, LEAST_SHARE = 24.0, 3.0
LEAST, MOST = 0.1, 32.0
"""Words decide between parts of one meaning; meaning decides between parts of the same words."""

UNIT = 1 << 20
"""Numbers are summed as multiples of 1/UNIT: exactly, so in any order with the same result."""


def word_weight(cosines: Sequence[Array], lex: Sequence[Array], terms: int) -> float:
    """How much words count in a search: of its terms so many are in any of the parts.

    For each segment `lex` has a number for each searched part, and `cosines` for all of them or
    for a sample that stands for all.
    """
    parts = [len(each) for each in lex]
    in_words = _spread(lex, parts)
    if not in_words:
        return 0.0
    share = max(LEAST_SHARE, SHARE / terms)
    return min(max(LEAST, share * _spread(cosines, parts) / in_words), MOST)


def scores(cosines: Array, lex: Array, weight: float) -> Array:
    """Within -1..1, as cosines are; with a weight of 0 they are the cosines."""
    return (cosines + weight * lex) / (1 + weight)


def _spread(samples: Sequence[Array], sizes: Sequence[int]) -> float:
    """That of many numbers, of which there are samples, each of a group of such a size."""
    count = 0
    total: int | Fraction = 0
    squares: int | Fraction = 0
    for sample, size in zip(samples, sizes, strict=True):
        if len(sample):
            whole = np.rint(sample * UNIT).astype(np.int64)
            times = Fraction(size, len(sample)) if size != len(sample) else 1
            count += size
            total += times * int(whole.sum())
            squares += times * int((whole * whole).sum())
    return sqrt(count * squares - total * total) / count / UNIT if count else 0.0
