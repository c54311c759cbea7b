from collections.abc import Sequence
from math import log
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybox.search.model import Entry, Hit, Recipe, TailEntry
from memorybox.search.pack import Pack
from memorybox.search.ranking import rank
from memorybox.search.snapshot import Snapshot
from tests.unit.search.builders import (
    DIMS,
    EAST,
    LEXICON,
    RECIPE,
    indexed,
    note,
    packed,
    part,
    seen,
    tail,
    vector,
)

WEST, NORTH = (-1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)


def search(
    tail: dict[str, TailEntry],
    packs: dict[str, list[Pack]],
    query: str = "",
    *,
    direction: Sequence[float] | None = EAST,
    scope: str | None = None,
    weight: float | None = 0.5,
    limit: int = 20,
    recipe: Recipe = RECIPE,
) -> list[Hit]:
    return rank(
        Snapshot(tail, packs),
        recipe=recipe,
        scope=scope,
        terms=LEXICON.numbers(query),
        vector=vector(*direction) if direction else None,
        weight=weight,
        limit=limit,
    )


def paths(hits: list[Hit]) -> list[str]:
    return [hit.seen.path_lower for hit in hits]


def towards_east(cosine: float) -> tuple[float, ...]:
    return (cosine, (1 - cosine**2) ** 0.5, 0.0, 0.0)


def test_without_weight_the_score_is_the_plain_cosine() -> None:
    hits = search(
        tail(note("/work/opposite.md", "tomato", WEST)),
        {
            "garden": packed(
                note("/garden/plan.md", "tomato", towards_east(0.412)),
                note("/garden/tomatoes.md", "other", towards_east(0.684)),
                note("/garden/journal.md", "tomato", towards_east(0.205)),
            )
        },
        "tomato",
        weight=0,
    )

    assert [(hit.seen.path_lower, f"{hit.score:.3f}") for hit in hits] == [
        ("/garden/tomatoes.md", "0.684"),
        ("/garden/plan.md", "0.412"),
        ("/garden/journal.md", "0.205"),
        ("/work/opposite.md", "-1.000"),
    ]


@pytest.mark.promise("P-055")
def test_words_and_meaning_are_weighed_as_in_the_formula() -> None:
    hits = search(
        tail(note("/g/x.md", "tomato tomato soil", NORTH), note("/g/y.md", "tomato", NORTH)),
        {"g": packed(note("/g/z.md", "carrot", towards_east(0.6)))},
        "tomato carrot unheard",
        weight=0.5,
    )

    # parts: 3; terms with four times the two of the path: x 11, y 9, z 9, so 29/3 on average
    tomato, carrot = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
    most = 2.2 * (tomato + carrot)

    def lex(idf: float, tf: int, length: int) -> float:
        return idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length * 3 / 29)) / most

    expected = {
        "/g/x.md": 0.5 * lex(tomato, 2, 11) / 1.5,
        "/g/y.md": 0.5 * lex(tomato, 1, 9) / 1.5,
        "/g/z.md": (0.6 + 0.5 * lex(carrot, 1, 9)) / 1.5,
    }
    assert paths(hits) == ["/g/z.md", "/g/x.md", "/g/y.md"]
    assert [hit.score for hit in hits] == pytest.approx(sorted(expected.values())[::-1], abs=1e-3)


@pytest.mark.promise("P-055")
def test_without_a_given_weight_the_search_makes_it_out_of_what_it_may_search() -> None:
    shown = tail(note("/g/x.md", "tomato", NORTH), note("/g/y.md", "bean", towards_east(0.2)))
    packs = {
        "g": packed(note("/g/z.md", "carrot", towards_east(0.4)), note("/g/y.md", "tomato", EAST)),
        "h": packed(*(note(f"/h/{i}.md", "tomato", WEST) for i in range(9))),
    }

    hits = search(shown, packs, "tomato", scope="g", weight=None)

    # cosines 0, 0.2 and 0.4; one part of three has the one word, once and at the average length
    lex = 1 / 2.2
    weight = 24 * np.std([0, 0.2, 0.4]) / np.std([lex, 0, 0])
    assert paths(hits) == ["/g/x.md", "/g/z.md", "/g/y.md"]
    assert [hit.score * (1 + weight) for hit in hits] == pytest.approx(
        [weight * lex, 0.4, 0.2], abs=5e-2
    )


def test_a_file_named_so_comes_before_one_that_mentions_it_twice() -> None:
    pack = packed(note("/garden/a.md", "tomato tomato"), note("/garden/tomatoes.md", "in June"))

    assert paths(search({}, {"garden": pack}, "tomatoes.md", limit=1)) == ["/garden/tomatoes.md"]


def test_without_a_vector_the_words_alone_count() -> None:
    pack = packed(note("/garden/a.md", "carrot", EAST), note("/garden/b.md", "tomato", WEST))

    first, second = search({}, {"garden": pack}, "tomato", direction=None)

    assert (first.seen.path_lower, second.seen.path_lower) == ("/garden/b.md", "/garden/a.md")
    assert 0 < first.score <= 1
    assert second.score == 0


def test_a_query_of_unheard_words_is_ranked_by_meaning() -> None:
    pack = packed(note("/garden/a.md", "x", NORTH), note("/garden/b.md", "x", EAST))

    assert [
        (hit.seen.path_lower, hit.score) for hit in search({}, {"garden": pack}, "zebra", weight=1)
    ] == [("/garden/b.md", 0.5), ("/garden/a.md", 0.0)]


def test_a_file_has_the_score_of_its_best_part() -> None:
    path = "/garden/long.md"
    long = indexed(path, *(part(path, str(i), NORTH) for i in range(4)), part(path, "end", EAST))

    [first, second] = search(
        {}, {"garden": packed(long, note("/garden/a.md", "a", towards_east(0.9)))}, weight=0
    )

    assert (first.seen.path_lower, first.score) == (path, 1.0)
    assert second.seen.path_lower == "/garden/a.md"


def test_only_the_scope_is_ranked_and_counted() -> None:
    packs = {
        "garden": packed(note("/garden/a.md", "tomato carrot", NORTH)),
        "work": packed(*(note(f"/work/{i}.md", "tomato", EAST) for i in range(9))),
    }
    changed = tail(note("/work/tail.md", "tomato", EAST))

    assert search(changed, packs, "tomato", scope="garden") == search(
        {}, {"garden": packs["garden"]}, "tomato"
    )
    assert len(search(changed, packs, "tomato", scope="work")) == 10
    assert len(search(changed, packs, "tomato")) == 11


def test_what_the_tail_hides_is_neither_ranked_nor_counted() -> None:
    kept = note("/garden/kept.md", "tomato", NORTH)
    pack = packed(
        kept,
        note("/garden/beds/gone.md", "tomato tomato", EAST),
        note("/garden/changed.md", "tomato", EAST),
        note("/garden/new.md", "tomato", EAST),
    )
    new = note("/garden/new.md", "carrot", NORTH, rev="2")
    changed = Entry(seen("/garden/changed.md", rev="2"))

    hits = search(tail("/garden/beds", changed, new), {"garden": pack}, "tomato carrot")

    assert hits == search({}, {"garden": packed(kept, new)}, "tomato carrot")


def test_a_file_that_changed_is_not_ranked_by_its_old_parts() -> None:
    old = note("/garden/a.md", "tomato")
    changed = Entry(seen("/garden/a.md", rev="2"), old.settled)

    assert search(tail(changed), {}, "tomato") == []


def test_vectors_of_another_model_are_not_ranked() -> None:
    other = Recipe("another", DIMS, splitting=1, terms=1)
    snapshot = tail(note("/garden/b.md", "b")), {"garden": packed(note("/garden/a.md", "a"))}

    assert search(*snapshot, recipe=other) == []


def test_parts_of_older_rules_are_kept_in_a_pack_but_not_ranked() -> None:
    older = Recipe("model", DIMS, splitting=1, terms=0)
    outdated = indexed("/garden/old.md", part("/garden/old.md", "tomato"), recipe=older)
    pack = packed(outdated, note("/garden/new.md", "tomato"))

    assert [each.parts for each in pack] == [2]
    assert paths(search({}, {"garden": pack}, "tomato")) == ["/garden/new.md"]


def test_files_without_parts_are_no_hits() -> None:
    pack = packed(indexed("/garden/blank.md"), Entry(seen("/garden/due.md")))

    assert search(tail(indexed("/garden/empty.md")), {"garden": pack}, "blank") == []
    assert search({}, {}, "blank") == []


def test_equal_files_stand_by_workspace_then_path() -> None:
    names = ["/a b/x.md", "/a/b/x.md", "/a/b.md", "/a/é.md", "/b/a.md", "/a/z.md"]
    entries = [indexed(name, part("/same.md", "same")) for name in names]
    expected = ["/a/b.md", "/a/b/x.md", "/a/z.md", "/a/é.md", "/a b/x.md", "/b/a.md"]

    in_tail = search(tail(*entries), {}, "same")
    in_packs = search(
        {},
        {
            workspace: packed(*(e for e in entries if e.seen.workspace == workspace))
            for workspace in ("b", "a b", "a")
        },
        "same",
    )

    assert paths(in_tail) == paths(in_packs) == expected
    assert in_tail == in_packs
    assert paths(search(tail(*entries), {}, "same", limit=3)) == expected[:3]


@pytest.mark.promise("P-055")
def test_three_calls_over_a_hundred_equal_files_are_identical() -> None:
    entries = [
        indexed(f"/garden/{i:02}.md", part("/garden/same.md", "same", (3, 1, 4, 1)))
        for i in range(100)
    ]
    Random(1).shuffle(entries)
    split_up = tail(*entries[:20]), {"garden": packed(*entries[20:])}

    answers = [search(*split_up, "same", direction=(2, 7, 1, 8), limit=8) for _ in range(3)]

    assert answers == [answers[0]] * 3
    assert paths(answers[0]) == [f"/garden/{i:02}.md" for i in range(8)]


directions = st.lists(st.floats(-1, 1), min_size=DIMS, max_size=DIMS).filter(
    lambda numbers: max(map(abs, numbers)) > 1e-3
)
notes = st.lists(
    st.tuples(st.sampled_from(["bed", "soil", "bed bed soil", "tomato", ""]), directions),
    max_size=12,
)


@given(notes, directions, st.none() | st.floats(0, 5), st.integers(1, 20), st.integers(0, 12))
@settings(deadline=None)
def test_where_a_file_lies_changes_no_byte_of_the_answer(
    found: list[tuple[str, list[float]]],
    direction: list[float],
    weight: float | None,
    limit: int,
    cut: int,
) -> None:
    entries = [note(f"/g/{i}.md", text, towards) for i, (text, towards) in enumerate(found)]

    def answer(in_tail: list[Entry], in_pack: list[Entry]) -> list[Hit]:
        return search(
            tail(*in_tail),
            {"g": packed(*in_pack)},
            "bed soil",
            direction=direction,
            weight=weight,
            limit=limit,
        )

    hits = answer(entries[:cut], entries[cut:])

    assert hits == answer(entries, []) == answer([], entries)
    assert len(hits) == min(limit, len(entries))
    assert all(-1 <= hit.score <= 1 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_vector_that_is_no_direction_scores_as_like_nothing() -> None:
    broken = bytes(DIMS)
    path = "/garden/broken.md"
    entry = part(path, "x")
    damaged = type(entry)(entry.start, entry.end, entry.identity, broken, entry.words)

    hits = search(
        tail(indexed(path, damaged), note("/garden/a.md", "x", towards_east(0.5))), {}, weight=0
    )

    assert [(hit.seen.path_lower, round(hit.score, 3)) for hit in hits] == [
        ("/garden/a.md", 0.5),
        (path, 0.0),
    ]
