"""The rig catches every fault that is planted: one that misses any proves nothing."""

import pytest

from tests.simulation.planted import PLANTED, Planted
from tests.simulation.rig import failure, try_seeds

ENOUGH = 4_000
"""Histories within which each has to be caught; those of `make simulate` are 25 times as many."""


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_is_caught(planted: Planted) -> None:
    seed = try_seeds(range(ENOUGH), planted.parts, planted.drawn)

    assert seed is not None
    assert failure(planted.drawn(seed)) is None  # it is the fault that was caught, and nothing else
