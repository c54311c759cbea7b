from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybox.search.vectors import Array, directions, norms, products, products_by_numpy

Product = Callable[[Array, Array], Array]

both = pytest.mark.parametrize("product", [products, products_by_numpy])


def rounded(matrix: Array) -> Array:
    return np.frombuffer(b"".join(directions(matrix)), "i1").reshape(matrix.shape)


def cosines(one: Array, other: Array) -> Array:
    wide = other.astype(float)
    found: Array = np.einsum("ij,ij->i", one, wide)
    found /= np.linalg.norm(one, axis=1) * np.linalg.norm(wide, axis=1)
    return found


def test_rounding_hardly_turns_a_vector_of_many_components() -> None:
    matrix = np.random.default_rng(0).standard_normal((300, 512))

    assert cosines(matrix, rounded(matrix)).min() > 0.9999


def test_rounding_hardly_turns_a_vector_of_two_components() -> None:
    angles = np.linspace(0, np.pi, 1_001)
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    kept = rounded(matrix)

    east = kept[:, 0] / np.linalg.norm(kept.astype(float), axis=1)
    assert np.abs(east - np.cos(angles)).max() < 0.0035
    assert np.abs(east - np.cos(angles)).mean() < 0.0001


@given(st.lists(st.integers(-127, 127), min_size=3, max_size=3).filter(any), st.floats(1e-9, 1e9))
@settings(deadline=None)
def test_what_was_rounded_keeps_its_direction_at_any_length(row: list[int], scale: float) -> None:
    once = rounded(np.array([row], float)).astype(float)

    again = rounded(scale * once)

    assert cosines(once, again) == pytest.approx([1], abs=1e-12)


def test_a_row_is_rounded_alike_in_any_company() -> None:
    matrix = np.random.default_rng(0).standard_normal((50, 64)).astype("f4")

    assert directions(matrix) == [directions(row[np.newaxis])[0] for row in matrix]


@both
@pytest.mark.parametrize("rows", [1, 3, 4_096, 4_097])
@pytest.mark.parametrize("dims", [1, 64, 1_536])
def test_products_are_exact(product: Product, rows: int, dims: int) -> None:
    random = np.random.default_rng(rows)
    matrix = random.integers(-127, 128, (rows, dims)).astype("i1")
    vector = random.integers(-127, 128, dims).astype("i1")

    assert (product(matrix, vector) == matrix.astype(int) @ vector.astype(int)).all()


@both
def test_products_of_the_largest_components_are_exact(product: Product) -> None:
    row = np.full(3_072, -127, "i1")

    assert product(np.stack([row, -row]), row).tolist() == [3_072 * 127**2, -3_072 * 127**2]


def test_norms_are_those_of_the_rows_and_never_zero() -> None:
    assert norms(np.array([[3, 4], [0, 0], [-127, 0]], "i1")).tolist() == [5, 1, 127]
