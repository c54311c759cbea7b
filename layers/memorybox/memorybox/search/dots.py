"""The dot product of each row of a float16 matrix with a vector, read where it lies."""

import numpy as np

from memorybox.search.columns import Array

BLOCK = 4_096
"""Rows that are cast at once, so that the matrix is never copied as a whole."""


def dots_by_numpy(matrix: Array, vector: Array) -> Array:
    """For machines without simsimd, and several times slower: numpy has no float16 product.

    Not by `@`: BLAS may round equal rows differently, and equal files then change places.
    """
    wide = vector.astype(np.float32)
    blocks = (matrix[at : at + BLOCK] for at in range(0, len(matrix), BLOCK))
    return np.concatenate([np.einsum("ij,j", block.astype(np.float32), wide) for block in blocks])


try:
    import simsimd
except ImportError:
    dots = dots_by_numpy
else:

    def dots(matrix: Array, vector: Array) -> Array:
        """One product for each row. There must be one row at least."""
        products: Array = np.asarray(simsimd.cdist(matrix, vector[np.newaxis], "dot")).ravel()
        return products
