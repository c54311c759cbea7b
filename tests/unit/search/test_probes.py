"""Searches of packs that are not in memory, beside those of the same packs in memory."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from memorybox.search.model import Entry, Hit
from memorybox.search.pack import Pack, build_pack
from memorybox.search.probes import LEAST, probes
from memorybox.search.ranking import rank
from memorybox.search.snapshot import Snapshot
from tests.unit.search.builders import (
    DIMS,
    EAST,
    LEXICON,
    RECIPE,
    Elsewhere,
    indexed,
    note,
    part,
    tail,
    vector,
)

PARTS = 10
RANDOM = np.random.default_rng(0)


def files(folder: str, count: int) -> list[Entry]:
    """Files of ten parts that lie in bunches, one in fifty of them with the word tomato."""
    plain, word = part("/x", "x"), part("/x", "x tomato").words
    bunches = RANDOM.integers(-120, 121, (200, DIMS))
    vectors = bunches[RANDOM.integers(len(bunches), size=count * PARTS)]
    vectors = (vectors + RANDOM.integers(-7, 8, vectors.shape)).astype("i1")
    parts = [
        replace(plain, vector=row.tobytes(), words=plain.words if number % 50 else word)
        for number, row in enumerate(vectors)
    ]
    return [
        indexed(f"/{folder}/{number:05}.md", *parts[PARTS * number : PARTS * (number + 1)])
        for number in range(count)
    ]


OLD, NEW = build_pack(RECIPE, files("g", 3_000), 1), build_pack(RECIPE, files("g/n", 1_000), 2)


def search(
    packs: Sequence[Pack], query: str = "tomato", *, weight: float | None = 0.5, hidden: str = ""
) -> list[Hit]:
    return rank(
        Snapshot(tail(*([hidden] if hidden else [])), {"g": packs}),
        recipe=RECIPE,
        scope="g",
        terms=LEXICON.numbers(query),
        vector=vector(*EAST),
        weight=weight,
        limit=20,
    )


def held() -> list[Pack]:
    return [Pack.open(OLD), Pack.open(NEW)]


def apart() -> list[Pack]:
    return [Pack.over(Elsewhere(OLD)), Pack.over(Elsewhere(NEW))]


@pytest.mark.parametrize("query", ["tomato", "unheard"])
def test_the_best_are_found_by_reading_some_of_the_vectors(query: str) -> None:
    elsewhere = [Elsewhere(OLD), Elsewhere(NEW)]
    packs = [Pack.over(each) for each in elsewhere]
    clusters = sum(len(pack.columns.centres) for pack in packs)
    for each in elsewhere:
        each.read_at.clear()

    hits = search(packs, query)

    assert hits == search(held(), query)
    reads = sum(
        len(each.read_at) for each in elsewhere
    )  # one a cluster, and those of words and hits
    assert reads < clusters / 3


def test_a_part_with_the_words_is_found_wherever_it_points() -> None:
    west = note("/g/zebra.md", "zebra", (-1.0, 0.0, 0.0, 0.0))
    data = build_pack(RECIPE, [*files("g", 1_000), west])

    first, *_ = search([Pack.over(Elsewhere(data))], "zebra", weight=None)

    assert first.seen == west.seen


def test_some_packs_may_be_in_memory_and_others_not() -> None:
    assert search([*held()[:1], *apart()[1:]]) == search(held())


@pytest.mark.parametrize("query", ["tomato", "unheard"])
def test_what_is_hidden_is_not_found_and_takes_the_place_of_nothing(query: str) -> None:
    data = build_pack(RECIPE, [*files("g", 1_000), *files("g/n", 3_000)])

    hits = search([Pack.over(Elsewhere(data))], query, hidden="/g/n")

    assert hits == search([Pack.open(data)], query, hidden="/g/n")
    assert len(hits) == 20
    assert not any(hit.seen.path_lower.startswith("/g/n/") for hit in hits)


def test_the_weight_of_the_words_is_that_of_a_sample() -> None:
    found, expected = search(apart(), weight=None), search(held(), weight=None)

    assert [hit.seen for hit in found] == [hit.seen for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], rel=0.05)


def test_parts_that_are_hidden_count_for_nothing() -> None:
    columns, query = apart()[0].columns, np.frombuffer(vector(*EAST), "i1")
    lex = RANDOM.random(len(columns.part_at))
    alive = RANDOM.random(len(lex)) < 0.5
    [(_, nearest), *_] = probes([columns], [alive], [lex], query, 0.1)
    alive[columns.part_at[nearest]] = False

    chosen = probes([columns], [alive], [np.where(alive, lex, 0)], query, 0.1)

    assert chosen == probes([columns], [alive], [np.where(alive, lex, 1)], query, 0.1)
    living = [int(alive[columns.part_at[rows]].sum()) for _, rows in chosen]
    assert min(living) > 0
    assert sum(living[:-1]) < LEAST <= sum(living)
