from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybox.search.scoring import scores, word_weight


@pytest.mark.parametrize(("terms", "share"), [(2, 12), (4, 6), (6, 4), (8, 3), (40, 3)])
def test_in_units_of_their_spread_few_words_count_more_than_many(terms: int, share: float) -> None:
    cosines, lex = np.array([0.3, 0.1, 0.1, 0.3]), np.array([0.0, 0.0, 0.0, 0.8])

    weight = word_weight([cosines], [lex], terms)

    assert weight == pytest.approx(share * 0.1 / (0.8 * sqrt(3) / 4), rel=1e-4)
    assert scores(cosines, lex, weight) == pytest.approx((cosines + weight * lex) / (1 + weight))


def test_without_a_word_in_common_the_scores_are_the_cosines() -> None:
    cosines, lex = np.array([0.3, -0.1]), np.zeros(2)

    assert word_weight([cosines], [lex], 0) == 0
    assert scores(cosines, lex, 0).tolist() == [0.3, -0.1]


def test_among_parts_of_one_meaning_words_decide() -> None:
    assert word_weight([np.array([0.5, 0.5])], [np.array([0.0, 0.8])], 1) == 0.1


def test_among_parts_of_the_same_words_meaning_decides() -> None:
    cosines, lex = np.array([0.9, -0.9]), np.array([0.4, 0.401])

    weight = word_weight([cosines], [lex], 1)

    assert weight == 32
    assert np.argmax(scores(cosines, lex, weight)) == 0


def test_a_sample_of_the_cosines_stands_for_those_of_its_segment() -> None:
    few, many = np.array([0.5, 0.25]), np.array([0.0, 0.125])
    lex = [np.array([0.0, 0.5]), np.arange(8) / 8]

    assert word_weight([few, many], lex, 4) == word_weight([few, np.tile(many, 4)], lex, 4)
    assert word_weight([few[:0], many[:0]], lex, 4) == 0.1


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1)), min_size=1, max_size=30), st.data())
def test_the_order_of_the_parts_and_where_they_lie_change_no_bit(
    parts: list[tuple[float, float]], data: st.DataObject
) -> None:
    def weight(*groups: list[tuple[float, float]]) -> float:
        pairs = [np.array(group, float).reshape(-1, 2) for group in groups]
        return word_weight([each[:, 0] for each in pairs], [each[:, 1] for each in pairs], 4)

    other = data.draw(st.permutations(parts))
    cut = data.draw(st.integers(0, len(parts)))

    assert weight(other[:cut], other[cut:]) == weight(parts)
