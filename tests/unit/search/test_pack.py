import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybox.search.model import NO_REV, Entry, Indexed, Part, Recipe, Skipped, SkipReason, Words
from memorybox.search.pack import Pack, build_pack
from memorybox.search.sections import (
    BLOCK,
    FIXED,
    FORMAT,
    PackDamaged,
    PackLost,
    PackUnknown,
    aligned,
)
from tests.unit.search.builders import (
    DIMS,
    LEXICON,
    RECIPE,
    Elsewhere,
    indexed,
    note,
    pack_of,
    part,
    seen,
    vector,
)

TWO_NOTES = build_pack(
    RECIPE,
    [note("/garden/beds/plan.md", "Beds."), note("/garden/tomatoes.md", "Tomatoes, tomatoes.")],
)

terms = st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=8).map(sorted)
words = terms.flatmap(
    lambda numbers: st.builds(
        Words,
        st.just(np.array(numbers, "<u4").tobytes()),
        st.binary(min_size=len(numbers), max_size=len(numbers)),
        st.integers(0, 65_535),
    )
)
sizes = st.integers(0, 1_000_000)
parts = st.builds(
    Part,
    sizes,
    sizes,
    st.binary(min_size=16, max_size=16),
    st.binary(min_size=DIMS, max_size=DIMS),
    words,
)


def refused_here(skipped: Skipped) -> Skipped:
    """A text is refused under the recipe of the pack that says so."""
    is_refused = skipped.reason is SkipReason.REFUSED
    return replace(skipped, recipe=RECIPE if is_refused else None)


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    paths = draw(st.lists(st.text(min_size=1), unique_by=str.lower, max_size=6))
    files = [seen(f"/garden/{path}.md") for path in paths]
    return [
        Entry(
            file,
            draw(
                st.builds(
                    Indexed,
                    st.just(file.rev),
                    st.just(file.content_hash),
                    st.just(RECIPE),
                    st.lists(parts, max_size=4).map(tuple),
                )
                | st.builds(
                    Skipped,
                    st.just(file.rev),
                    st.just(file.content_hash),
                    st.sampled_from(SkipReason),
                    st.none() | st.dates(),
                    st.none()
                    | st.builds(
                        Indexed,
                        st.just(NO_REV),
                        st.just(""),
                        st.just(RECIPE),
                        st.lists(parts, min_size=1, max_size=4).map(tuple),
                    ),
                ).map(refused_here)
                | st.none()
            ),
        )
        for file in files
    ]


@given(entries())
@settings(deadline=None, max_examples=30)
def test_what_is_packed_is_taken_out_unchanged(files: list[Entry]) -> None:
    pack = pack_of(*files)

    by_path = sorted(files, key=lambda entry: entry.seen.path_lower)
    assert pack.take(range(pack.files)) == by_path
    assert [pack.take([row])[0] for row in range(pack.files)] == by_path


@given(entries(), st.randoms())
@settings(deadline=None, max_examples=30)
def test_the_order_of_the_files_does_not_change_a_byte(files: list[Entry], random: Any) -> None:
    shuffled = random.sample(files, len(files))

    assert build_pack(RECIPE, shuffled) == build_pack(RECIPE, files)


def test_of_files_with_one_content_one_that_is_indexed_is_found() -> None:
    due = Entry(seen("/garden/a.md", content="one"))
    files = [seen(f"/garden/{name}.md", content="one") for name in "bc"]
    alike = [Entry(file, Indexed(file.rev, "one", RECIPE, ())) for file in files]
    other = Entry(seen("/garden/d.md", content="other"))

    assert pack_of(due, *alike, other).table.rows_of({"one", "other", "neither"}) == [1]


def test_a_pack_counts_its_files_and_parts() -> None:
    pack = pack_of(
        indexed("/garden/long.md", part("/garden/long.md", "one"), part("/garden/long.md", "two")),
        indexed("/garden/blank.md"),
    )

    assert (pack.recipe, pack.files, pack.parts) == (RECIPE, 2, 2)


def test_files_are_found_by_path_and_by_folder() -> None:
    pack = pack_of(
        *(
            indexed(f"/garden/{name}.md")
            for name in ("beds", "beds/plan", "beds/soil/ph", "beds!", "beds2/x")
        )
    )

    names = pack.table.paths
    row, below = pack.table.place("/garden/beds")
    assert (row, names[below]) == (None, ["/garden/beds/plan.md", "/garden/beds/soil/ph.md"])
    row, below = pack.table.place("/garden")
    assert (row, names[below]) == (None, names)
    row, below = pack.table.place("/garden/beds.md")
    assert row is not None
    assert (pack.table.seen(row), names[below]) == (seen("/garden/beds.md"), [])
    for nowhere in ("/garden/bed.md", "/garden/z.md", "/", "/garden/beds!"):
        row, below = pack.table.place(nowhere)
        assert (row, names[below]) == (None, [])


def test_the_files_below_a_path_that_is_a_file_are_found() -> None:
    pack = pack_of(*(indexed(f"/garden/x.md{rest}") for rest in ("", "!.md", "/inner.md", "0.md")))

    row, below = pack.table.place("/garden/x.md")

    assert row == 0
    assert pack.table.paths[below] == ["/garden/x.md/inner.md"]


def test_a_file_of_older_rules_is_due_and_keeps_its_vectors() -> None:
    older = Recipe("model", DIMS, splitting=1, terms=0)
    entry = indexed("/garden/a.md", part("/garden/a.md", "a"), recipe=older)

    pack = pack_of(entry)

    [taken] = pack.take([0])
    assert taken.is_due(RECIPE, date(2026, 11, 30))
    assert isinstance(taken.settled, Indexed)
    assert isinstance(entry.settled, Indexed)
    assert taken.settled.parts == entry.settled.parts
    assert not pack.table.indexed.any()


def test_a_file_of_another_model_is_due_without_parts() -> None:
    other = Recipe("another", DIMS, splitting=1, terms=1)
    pack = pack_of(indexed("/garden/a.md", part("/garden/a.md", "a"), recipe=other))

    assert pack.take([0]) == [Entry(seen("/garden/a.md"), None)]


def test_a_text_that_another_model_refused_is_due() -> None:
    file, tomorrow = seen("/garden/a.md"), date(2026, 12, 1)
    refused = partial(Skipped, file.rev, file.content_hash, SkipReason.REFUSED, tomorrow)
    other = Recipe("another", DIMS, splitting=1, terms=1)

    [taken] = pack_of(Entry(file, refused(recipe=other))).take([0])
    [here] = pack_of(Entry(file, refused(recipe=RECIPE))).take([0])

    assert taken == Entry(file, None)
    assert here == Entry(file, refused(recipe=RECIPE))


def test_a_file_that_changed_since_it_was_settled_is_not_packed() -> None:
    stale = Entry(seen("/garden/a.md", rev="2"), Indexed("1", "hash", RECIPE, ()))

    with pytest.raises(ValueError, match="rev"):
        build_pack(RECIPE, [stale])


def test_no_word_of_a_note_is_in_its_pack() -> None:
    pack = build_pack(RECIPE, [note("/garden/a.md", "cucumber")])

    assert b"cucumber" not in pack


def test_the_matrix_is_read_where_it_lies_and_cannot_be_changed() -> None:
    buffer = aligned(len(TWO_NOTES))
    buffer[:] = TWO_NOTES

    pack = Pack.open(buffer)

    vectors = pack.columns.vectors[:]
    assert np.shares_memory(vectors, np.frombuffer(buffer, np.uint8))
    assert vectors.ctypes.data % 64 == 0
    assert not vectors.flags.writeable


def test_every_cut_off_pack_is_damaged() -> None:
    for size in range(len(TWO_NOTES)):
        with pytest.raises(PackDamaged):
            Pack.open(TWO_NOTES[:size])


def test_bytes_behind_a_pack_are_damage() -> None:
    with pytest.raises(PackDamaged):
        Pack.open(TWO_NOTES + b"\0")


@pytest.mark.parametrize("at", range(8))
def test_another_magic_or_format_is_unknown(at: int) -> None:
    with pytest.raises(PackUnknown):
        Pack.open(flipped(at))


@given(st.integers(8, len(TWO_NOTES) - 1))
@settings(deadline=None, max_examples=30)
def test_every_other_flipped_byte_is_damage(at: int) -> None:
    with pytest.raises(PackDamaged):
        Pack.open(flipped(at))


def flipped(at: int) -> bytes:
    return TWO_NOTES[:at] + bytes([TWO_NOTES[at] ^ 0x10]) + TWO_NOTES[at + 1 :]


def set_files(head: dict[str, Any]) -> None:
    head["files"] = 3


def set_parts(head: dict[str, Any]) -> None:
    head["parts"] = 1


def set_dims(head: dict[str, Any]) -> None:
    head["recipe"]["dims"] = 2 * DIMS


def set_size(head: dict[str, Any]) -> None:
    head["size"] -= 1


def drop_a_section(head: dict[str, Any]) -> None:
    del head["sections"]["codes"]


def drop_the_recipe(head: dict[str, Any]) -> None:
    del head["recipe"]


def shorten_a_column(head: dict[str, Any]) -> None:
    head["sections"]["lengths"][2] = [1]


def shorten_the_codes(head: dict[str, Any]) -> None:
    head["sections"]["codes"][2][0] -= 1


def shorten_the_table(head: dict[str, Any]) -> None:
    head["sections"]["records"][2] = [1]


def misplace_a_section(head: dict[str, Any]) -> None:
    head["sections"]["codes"][0] += 64


def describe_no_type(head: dict[str, Any]) -> None:
    head["sections"]["codes"][1] = []


def retype_a_section(head: dict[str, Any]) -> None:
    head["sections"]["codes"][1] = [["", "no type"]]


@pytest.mark.parametrize(
    "change",
    [
        set_files,
        set_parts,
        set_dims,
        set_size,
        drop_a_section,
        drop_the_recipe,
        shorten_a_column,
        shorten_the_codes,
        shorten_the_table,
        misplace_a_section,
        retype_a_section,
        describe_no_type,
    ],
)
def test_a_head_that_does_not_fit_is_damage(change: Callable[[dict[str, Any]], None]) -> None:
    *_, length = FIXED.unpack_from(TWO_NOTES)
    head = TWO_NOTES[FIXED.size : FIXED.size + length]
    described = 4 + int.from_bytes(head[:4], "little")
    about = json.loads(head[4:described])
    change(about)
    text = json.dumps(about).encode()
    other = len(text).to_bytes(4, "little") + text + head[described:]
    padded = other.ljust(len(other) + -(FIXED.size + len(other)) % 64, b"\0")
    body = TWO_NOTES[FIXED.size + length + -(FIXED.size + length) % 64 :]
    fixed = FIXED.pack(b"MBPK", FORMAT, zlib.crc32(padded), len(other))

    with pytest.raises(PackDamaged):
        Pack.open(fixed + padded + body)


def a_long_note(parts: int) -> Entry:
    first, vectors = part("/garden/long.md", "x"), np.random.default_rng(0).bytes(parts * DIMS)
    return indexed(
        "/garden/long.md",
        *(
            replace(
                first,
                identity=number.to_bytes(16, "little"),
                vector=vectors[number * DIMS : (number + 1) * DIMS],
                words=LEXICON.words(f"word{number}"),
            )
            for number in range(parts)
        ),
    )


LONG_NOTE = a_long_note(3_000)


def test_a_pack_that_is_not_in_memory_is_the_same() -> None:
    entries = [LONG_NOTE, note("/garden/tomatoes.md", "Tomatoes.")]
    data = build_pack(RECIPE, entries, 7, hides={2: [1, 3], 5: [2]})

    held, apart = Pack.open(data), Pack.over(Elsewhere(data))

    assert apart.take([0, 1]) == held.take([0, 1]) == entries
    assert (apart.number, apart.recipe, apart.files, apart.parts) == (7, RECIPE, 2, 3_001)
    assert {number: list(rows) for number, rows in apart.hides.items()} == {2: [1, 3], 5: [2]}
    [term] = LEXICON.numbers("word7")
    assert [list(each) for each in apart.columns.holding(term)] == [[7], [1]]


def test_what_is_packed_in_clusters_is_taken_out_unchanged() -> None:
    entry = a_long_note(9_000)
    data = build_pack(RECIPE, [entry])

    held, apart = Pack.open(data), Pack.over(Elsewhere(data))

    assert len(held.columns.centres) > 1
    assert held.take([0]) == apart.take([0]) == [entry]
    assert isinstance(entry.settled, Indexed)
    some = {each.identity: each.vector for each in entry.settled.parts[::1_000]}
    assert held.columns.vectors_of(some) == apart.columns.vectors_of(some) == some


def test_of_vectors_that_are_not_in_memory_the_sample_comes_with_the_front() -> None:
    data = build_pack(RECIPE, [a_long_note(9_000)])
    source = Elsewhere(data)
    held, apart = Pack.open(data).columns, Pack.over(source).columns
    query = np.frombuffer(vector(1, 2, 3, 4), "i1")
    source.read_at.clear()

    for rows in (held.sampled, slice(4_000, 5_000)):
        assert (apart.cosines(rows, query) == held.cosines(rows, query)).all()

    [(start, end)] = source.read_at
    assert 1_000 * DIMS <= end - start <= 2 * BLOCK


def test_damage_in_a_pack_that_is_not_in_memory_is_found_where_it_is_read() -> None:
    data = build_pack(RECIPE, [LONG_NOTE])
    for at in range(0, len(data), BLOCK // 2):
        broken = Elsewhere(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with pytest.raises(PackLost):
            Pack.over(broken).take([0])


def test_a_pack_that_is_not_in_memory_and_cut_off_is_damaged() -> None:
    for size in range(0, len(TWO_NOTES), 16):
        with pytest.raises(PackDamaged):
            Pack.over(Elsewhere(TWO_NOTES[:size]))
