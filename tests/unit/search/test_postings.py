"""Words by part and by term: the same in whatever form, and small."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybox.search.codes import OFTEN, Code
from memorybox.search.model import Entry, Indexed, Part, Words
from memorybox.search.pack import Pack, build_pack
from memorybox.search.postings import Occurrences
from memorybox.search.sections import BLOCK, PackDamaged
from memorybox.search.vectors import Array
from tests.unit.search.builders import DIMS, RECIPE, Elsewhere, seen


def words(counts: Mapping[int, int]) -> Words:
    """A part with each of these terms so often."""
    terms = sorted(counts)
    numbers = np.array(terms, "<u4").tobytes()
    return Words(numbers, bytes(counts[term] for term in terms), 240)


def plain(*columns: Array) -> list[list[int]]:
    return [column.tolist() for column in columns]


def rows(occurrences: Occurrences) -> list[list[int]]:
    return plain(occurrences.holders, occurrences.terms, occurrences.counts)


some_words = st.dictionaries(st.integers(0, 30), st.integers(0, 255), max_size=12).map(words)


@given(st.lists(some_words, max_size=40))
@settings(deadline=None, max_examples=50)
def test_words_are_by_term_what_they_are_by_part(parts: list[Words]) -> None:
    counted = Occurrences.of(parts)
    coded = counted.coded()

    for term in range(32):
        assert plain(*coded.holding(term)) == plain(*counted.holding(term))
    everywhere = np.ones(len(parts), bool)
    assert rows(coded.among(everywhere)) == rows(counted)
    for chosen in (~everywhere, np.arange(len(parts)) % 3 == 1):
        assert rows(coded.among(chosen)) == rows(counted.among(chosen))


@pytest.mark.parametrize(
    ("holders", "parts"),
    [
        ([0], 1),
        ([0], 2),
        ([1], 2),
        ([0, 1, 2], 3),
        ([0, 1, 2, 3, 4, 5, 6], 8),
        ([1_000_000], 1_000_001),
        ([0, 65_535, 65_536, 99_999], 100_000),
        ([99_996, 99_997, 99_998, 99_999], 100_000),
        ([0, 1, 2, 3], 100_000),
        ([*range(0, 50_000, 2)], 50_000),
    ],
)
def test_a_code_holds_parts_from_the_first_to_the_last(holders: list[int], parts: int) -> None:
    code = Code.of(len(holders), parts)
    counts = [1] * len(holders)

    row = code.encoded(np.array([holders], "<u4"), np.array([counts], "u1"))
    [found], [times] = code.decoded(row)

    assert row.shape == (1, code.bits)
    assert plain(found, times) == [holders, counts]


def test_a_count_of_any_size_is_kept() -> None:
    sizes = [OFTEN - 1, OFTEN, 0, OFTEN + 1, 255, 1]
    coded = Occurrences.of([words({7: size, 8: 255 - size}) for size in sizes]).coded()

    assert plain(*coded.holding(7)) == [[0, 1, 2, 3, 4, 5], sizes]
    assert plain(*coded.holding(8)) == [[0, 1, 2, 3, 4, 5], [255 - size for size in sizes]]


def a_note(path: str, *parts: Words, dims: int = DIMS) -> Entry:
    """A note of these parts, each with a vector of its own."""
    random, file = np.random.default_rng(1), seen(path, rev="f" * 31, content="0" * 64)
    made = (Part(0, 9, random.bytes(16), random.bytes(dims), each) for each in parts)
    recipe = replace(RECIPE, dims=dims)
    return Entry(file, Indexed(file.rev, file.content_hash, recipe, tuple(made)))


RANDOM = np.random.default_rng(2)
FREQUENT = build_pack(
    RECIPE,
    [
        a_note(
            "/garden/long.md",
            *(
                words(dict.fromkeys(np.flatnonzero(RANDOM.random(100) < 0.5).tolist(), 1))
                for _ in range(2_000)
            ),
        )
    ],
)
"""Terms 0 to 99 in a thousand parts each."""


def test_the_parts_of_a_term_that_are_not_in_memory_are_one_read_and_the_same() -> None:
    source = Elsewhere(FREQUENT)
    whole, apart = Pack.open(FREQUENT).columns, Pack.over(source).columns

    for term in range(101):
        source.read_at.clear()
        found = plain(*apart.holding(term))

        assert found == plain(*whole.holding(term))
        assert [end - start <= 2 * BLOCK for start, end in source.read_at] == [True] * (term < 100)


def test_damage_is_found_in_those_terms_that_it_hits() -> None:
    whole, at = Pack.open(FREQUENT).columns, len(FREQUENT) - 3 * BLOCK
    broken = FREQUENT[:at] + bytes([FREQUENT[at] ^ 0x10]) + FREQUENT[at + 1 :]
    apart = Pack.over(Elsewhere(broken)).columns

    damaged = 0
    for term in range(100):
        try:
            assert plain(*apart.holding(term)) == plain(*whole.holding(term))
        except PackDamaged:
            damaged += 1

    assert 10 < damaged < 50


def test_a_part_takes_at_most_1200_bytes_with_as_many_terms_as_in_chinese() -> None:
    """180 pairs of characters in each of 600 parts, which have 40 different ones a part in all."""
    random, dims, parts = np.random.default_rng(3), 512, list[Words]()
    for _ in range(600):
        ranks = np.unique((42_000 ** random.random(600)).astype(int))
        terms = random.permutation(ranks)[:180] * 2_654_435_761 % 2**32
        counts = random.geometric(0.6, len(terms))
        parts.append(words(dict(zip(terms.tolist(), counts.tolist(), strict=True))))
    notes = [
        a_note(f"/Garden/Beds and plants {number}.md", each, dims=dims)
        for number, each in enumerate(parts)
    ]

    data = build_pack(replace(RECIPE, dims=dims), notes)

    assert {len(each.counts) for each in parts} == {180}
    assert 38 < len(np.unique(Occurrences.of(parts).terms)) / len(parts) < 42
    assert len(data) / len(parts) <= 1_200
