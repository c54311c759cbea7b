import numpy as np
import pytest

from memorybox.search.clusters import FEW, SAMPLE, Clusters
from memorybox.search.vectors import Array

RANDOM = np.random.default_rng(0)
BUNCHES = RANDOM.normal(size=(100, 16))
"""Directions around which rows lie."""


def bunched(rows: int) -> Array:
    """Rows near these directions, in no order."""
    wide = BUNCHES[RANDOM.integers(len(BUNCHES), size=rows)] + RANDOM.normal(size=(rows, 16)) / 4
    rounded: Array = np.rint(127 * wide / np.abs(wide).max(axis=1, keepdims=True)).astype("i1")
    return rounded


def unit(matrix: Array) -> Array:
    lengths: Array = np.linalg.norm(matrix.astype(float), axis=1, keepdims=True)
    directions: Array = matrix / lengths
    return directions


def test_few_rows_are_left_as_they_are() -> None:
    clusters = Clusters.of(bunched(FEW))

    assert clusters.order.tolist() == list(range(FEW))
    assert clusters.bounds.tolist() == [FEW]
    assert clusters.centres.shape == (0, 16)


def test_behind_the_sample_each_row_lies_with_those_of_its_centre() -> None:
    matrix = bunched(20_000)

    clusters = Clusters.of(matrix)

    assert sorted(clusters.order.tolist()) == list(range(20_000))
    assert (clusters.bounds[0], clusters.bounds[-1]) == (SAMPLE, 20_000)
    sizes = np.diff(clusters.bounds.astype(int))
    assert sizes.min() > 0
    rest = matrix[clusters.order[SAMPLE:]]
    nearest = (unit(rest) @ unit(clusters.centres).T).argmax(axis=1)
    own = np.repeat(np.arange(len(sizes)), sizes)
    assert (nearest == own).mean() > 0.98  # centres are rounded
    assert np.einsum("ij,ij->i", unit(rest), unit(clusters.centres)[own]).mean() > 0.9


def test_the_sample_lies_as_all_rows_do() -> None:
    matrix = unit(bunched(20_000))
    clusters = Clusters.of((127 * matrix).astype("i1"))

    cosines = matrix @ unit(BUNCHES[:1])[0]

    sampled = cosines[clusters.order[:SAMPLE]]
    assert sampled.std() == pytest.approx(cosines.std(), rel=0.15)
    assert (np.diff(clusters.order[:SAMPLE]) > 0).all()


def test_the_same_rows_have_the_same_clusters() -> None:
    matrix = bunched(10_000)

    first, second = Clusters.of(matrix), Clusters.of(matrix.copy())

    for one, other in zip(
        (first.order, first.bounds, first.centres),
        (second.order, second.bounds, second.centres),
        strict=True,
    ):
        assert (one == other).all()


@pytest.mark.parametrize("row", [[0] * 16, [7] * 16])
def test_rows_that_are_all_alike_are_one_cluster(row: list[int]) -> None:
    clusters = Clusters.of(np.tile(np.array(row, "i1"), (FEW + 1, 1)))

    assert clusters.bounds.tolist() == [SAMPLE, FEW + 1]
    assert len(clusters.centres) == 1
