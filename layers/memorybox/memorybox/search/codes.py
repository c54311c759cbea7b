"""The bits that say which parts hold a term, and how often: about ten for each part.

Elias (1974) and Fano (1971): of numbers that ascend, the low bits are kept as they are, and of what
is left the differences in unary. So many numbers below such a bound take the same bits, whichever
they are. Behind them is the count of each.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from memorybox.search.vectors import Array

COUNT_BITS = 4
OFTEN = (1 << COUNT_BITS) - 1
"""Stands for itself and for all greater counts, about one of a hundred."""


@dataclass(frozen=True, slots=True)
class Code:
    """How a term is coded that so many parts hold. Many terms are coded at once, a row for each."""

    held_by: int
    low: int
    """Bits of the number of a part that are kept as they are."""

    upper: int
    """Bits for the rest of all these numbers: a one for each, behind a zero for each step up."""

    @classmethod
    def of(cls, held_by: int, parts: int) -> Self:
        """That of a term which so many of so many parts hold."""
        low = (parts // held_by).bit_length() - 1
        return cls(held_by, low, held_by + (parts - 1 >> low))

    @property
    def bits(self) -> int:
        return self.upper + self.held_by * (self.low + COUNT_BITS)

    def encoded(self, holders: Array, counts: Array) -> Array:
        """A row for each term, a byte for each bit. The holders of each ascend."""
        upper, rows = np.zeros((len(holders), self.upper), "u1"), np.arange(len(holders))
        upper[rows[:, np.newaxis], (holders >> self.low) + np.arange(self.held_by)] = 1
        times = np.minimum(counts, OFTEN).astype("u4")
        lower = times << self.low | holders & (1 << self.low) - 1
        planes = (lower >> self._shifts & 1).astype("u1").swapaxes(0, 1)
        return np.concatenate([upper, planes.reshape(len(upper), -1)], axis=1)

    def decoded(self, bits: Array) -> tuple[Array, Array]:
        """The holders and the counts of which such rows were made."""
        rows = np.arange(len(bits))[:, np.newaxis]
        [ones] = bits[:, : self.upper].view(bool).ravel().nonzero()
        rest = (ones - np.arange(len(ones))).reshape(len(bits), -1)
        rest -= rows * (self.upper - self.held_by)
        planes = bits[:, self.upper :].reshape(len(bits), -1, self.held_by).swapaxes(0, 1)
        lower = np.bitwise_or.reduce(np.left_shift(planes, self._shifts, order="C"))
        holders = rest << self.low | lower & (1 << self.low) - 1
        return holders, (lower >> self.low).astype("u1")

    @property
    def _shifts(self) -> Array:
        """Low bits and counts lie in planes: the lowest bits of all, the next ones, and so on."""
        return np.arange(self.low + COUNT_BITS, dtype="u4")[:, np.newaxis, np.newaxis]
