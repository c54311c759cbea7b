"""An order of vectors in which like ones lie together, so that a search need not read all of them.

Spherical k-means (Dhillon and Modha 2001): a row belongs to the centre with the greatest cosine,
and a centre is the direction of the sum of its rows. The first rows are in no cluster: drawn
evenly from all, they show how all of them lie.
"""

from dataclasses import dataclass

import numpy as np

from memorybox.search.vectors import BLOCK, Array

FEW = 8_192
"""A matrix of up to so many rows is read whole: all of it is sample."""

SAMPLE = 512
ROWS = 128
"""Those of a cluster, on average: at 512 dimensions 64 kB, which is one read."""

LEARNT_FROM = 24
"""Rows for each centre that decide where the centres are."""

ROUNDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """An order of rows: the sample, then one cluster after another."""

    order: Array
    """For each place the row that comes there; ascending in the sample and in each cluster."""

    bounds: Array
    """u32: the place where each cluster begins; at last, where they all end."""

    centres: Array
    """i8: the direction of each."""

    @classmethod
    def of(cls, matrix: Array) -> "Clusters":
        """Those of rows of signed bytes. The same rows have the same clusters."""
        rows, dims = matrix.shape
        if rows <= FEW:
            return cls(np.arange(rows), np.array([rows], "<u4"), np.empty((0, dims), "i1"))
        sampled = _evenly(rows, SAMPLE)
        rest = np.delete(np.arange(rows), sampled)
        centres = _centres(_unit(matrix[_evenly(rows, LEARNT_FROM * (rows // ROWS))]), rows // ROWS)
        blocks = (matrix[rest[at : at + BLOCK]] for at in range(0, len(rest), BLOCK))
        nearest = np.concatenate([_nearest(_unit(block), centres) for block in blocks])
        used, sizes = np.unique(nearest, return_counts=True)
        return cls(
            order=np.concatenate([sampled, rest[np.argsort(nearest, kind="stable")]]),
            bounds=np.cumsum([len(sampled), *sizes]).astype("<u4"),
            centres=_rounded(centres[used]),
        )


def _centres(rows: Array, count: int) -> Array:
    """Where so many clusters of these unit vectors have their centres."""
    centres = rows[_evenly(len(rows), count)]
    for _ in range(ROUNDS):
        nearest = _nearest(rows, centres)
        order = np.argsort(nearest, kind="stable")
        used, starts = np.unique(nearest[order], return_index=True)
        centres[used] = _unit(np.add.reduceat(rows[order], starts))
    return centres


def _nearest(rows: Array, centres: Array) -> Array:
    nearest: Array = (rows @ centres.T).argmax(axis=1)
    return nearest


def _unit(matrix: Array) -> Array:
    """The rows as float32 numbers, each of length 1; a row of zeros stays one."""
    wide = matrix.astype(np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Array = wide / np.where(lengths > 0, lengths, 1)
    return unit


def _rounded(matrix: Array) -> Array:
    """The rows in signed bytes, the greatest number of each made 127."""
    peaks = np.abs(matrix).max(axis=1, keepdims=True)
    rounded: Array = np.rint(matrix * (127 / np.where(peaks > 0, peaks, 1))).astype("i1")
    return rounded


def _evenly(of: int, count: int) -> Array:
    """The numbers of some rows, ascending, as far from one another as can be."""
    some = min(of, count)
    return np.arange(some) * of // some
