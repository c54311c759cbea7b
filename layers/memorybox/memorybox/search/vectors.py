"""Vectors as they are kept: directions of whole numbers, a signed byte for each dimension.

A vector is rounded once, when its text is embedded, and is the same bytes ever after. Products of
such rows are whole numbers, which no order of additions and no machine rounds: a part scores the
same wherever it lies, and equal parts score alike.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PEAKS = range(127, 63, -1)
"""What the largest component of a row may become."""

BLOCK = 4_096
"""Rows that are cast at once, so that the matrix is never copied as a whole."""


def directions(matrix: Array) -> list[bytes]:
    """The rows, finite and none of them zero, each in the scale in which rounding turns it least.

    For a row of many components nearly every scale does; one of a few is seldom near whole numbers
    in all of them.
    """
    unit = matrix / np.abs(matrix).max(axis=1, keepdims=True)
    best, nearest = np.zeros_like(unit), np.full(len(unit), -np.inf)
    for peak in PEAKS:
        rounded = np.rint(unit * peak)
        cosines = np.einsum("ij,ij->i", rounded, unit) / np.linalg.norm(rounded, axis=1)
        better = cosines > nearest
        best[better], nearest[better] = rounded[better], cosines[better]
    return [row.tobytes() for row in best.astype(np.int8)]


def norms(matrix: Array) -> Array:
    """The length of each row; 1 of a row of zeros, which is so at a right angle to every other."""
    squares = np.einsum("ij,ij->i", matrix, matrix, dtype=np.int32)
    lengths: Array = np.sqrt(np.maximum(squares, 1)).astype("<f4")
    return lengths


def cosines(matrix: Array, lengths: Array, vector: Array) -> Array:
    """Of each row, of which there must be one at least, with the vector. `lengths` are theirs."""
    found: Array = products(matrix, vector) / (lengths * norms(vector[np.newaxis]))
    return found.clip(-1.0, 1.0)  # whatever the rounding


def products_by_numpy(matrix: Array, vector: Array) -> Array:
    """For machines without simsimd, and several times slower: numpy has no product of bytes."""
    wide = vector.astype(np.float64)
    blocks = (matrix[at : at + BLOCK] for at in range(0, len(matrix), BLOCK))
    return np.concatenate([block.astype(np.float64) @ wide for block in blocks])


try:
    import simsimd
except ImportError:
    products = products_by_numpy
else:

    def products(matrix: Array, vector: Array) -> Array:
        """One product for each row. There must be one row at least."""
        found: Array = np.asarray(simsimd.cdist(matrix, vector[np.newaxis], "dot")).ravel()
        return found
