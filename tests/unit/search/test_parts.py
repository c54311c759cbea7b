from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybox.search.parts import TextPart, identity, parts_of, split


def sizes(text: str) -> list[int]:
    return [len(part) for part in split(text.encode())]


DAYS = [f"Day {i}: the beds were watered and weeded.\n\n" for i in range(1, 501)]


@pytest.mark.promise("P-066")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a" * 8_000, [8_000]),
        ("a" * 8_001, [2_000, 2_000, 2_000, 2_001]),
        ("a" * 100_000, [2_000] * 50),
        ("\N{GRINNING FACE}" * 3_000, [2_000] * 6),
        (("a" * 1_698 + "\n\n") * 5, [1_700] * 5),
        (("a" * 1_698 + "\r\n\r\n") * 5, [1_702] * 5),
        ("| a | b |\n" * 1_700, [2_000] * 8 + [1_000]),
        ("word " * 3_000, [2_000] * 7 + [1_000]),
        (
            "x" * 700 + "\n\n" + "y" * 2_600 + "\n\n" + "z" * 6_000,
            [702, 2_000, 602, 2_000, 2_000, 2_000],
        ),
        (
            "".join(DAYS),
            [1668, 1548, 1692, 1936, 1540, 2288, 1408, 1672, 1936, 1452, 2024, 1276, 1452],
        ),
    ],
)
def test_cuts_fall_at_the_promised_places(text: str, expected: list[int]) -> None:
    assert sizes(text) == expected


@pytest.mark.promise("P-209")
@pytest.mark.parametrize(
    "edited",
    [
        ["A new line.\n\n", *DAYS],
        [*DAYS[:249], "A new line.\n\n", *DAYS[249:]],
        [*DAYS, "A new line.\n\n"],
        [*DAYS[:249], *DAYS[250:]],
        [*DAYS[:249], DAYS[249].replace("the", "all"), *DAYS[250:]],
    ],
    ids=["insert at the top", "insert in the middle", "append", "delete", "change"],
)
def test_a_small_edit_makes_one_new_part(edited: list[str]) -> None:
    before, after = (split("".join(days).encode()) for days in (DAYS, edited))

    assert len(set(after) - set(before)) == 1


# Long runs of one thing, since short random texts never reach the size that is cut.
runs = st.tuples(
    st.sampled_from(
        ["a", "Ж", "字", "\N{GRINNING FACE}", " ", "\t", "\n", "\r", "\r\n", "\n\n", "\r\n\r\n"]
    ),
    st.integers(1, 3_000),
)
texts = st.lists(runs | st.tuples(st.text(), st.just(1)), max_size=12).map(
    lambda found: "".join(text * count for text, count in found)
)


@pytest.mark.promise("P-066")
@given(texts)
@settings(deadline=None)
def test_the_parts_joined_are_the_file(text: str) -> None:
    assert b"".join(split(text.encode())) == text.encode()


@given(texts)
@settings(deadline=None)
def test_each_part_of_a_cut_file_has_500_to_2500_bytes(text: str) -> None:
    parts = split(text.encode())

    assert len(parts) <= 1 or all(500 <= len(part) <= 2_500 for part in parts)


@given(texts)
@settings(deadline=None)
def test_no_cut_falls_inside_a_character_or_a_line_end(text: str) -> None:
    parts = split(text.encode())

    assert "".join(part.decode() for part in parts) == text
    assert not any(
        one.endswith(b"\r") and other.startswith(b"\n") for one, other in pairwise(parts)
    )


@pytest.mark.parametrize("letter", "abcdefgh")
def test_a_line_end_at_the_last_place_of_a_part_is_not_cut(letter: str) -> None:
    assert sizes(letter * 2_499 + "\r\n" + letter * 7_000)[0] == 2_000


@pytest.mark.parametrize(
    "unit",
    [b"a", b" ", b"\n", b"\r", b"\r\n", b"a\n", b"a\n\n", b"word ", "字".encode(), b"\n a"],
)
def test_a_text_without_places_to_cut_takes_linear_time(unit: bytes) -> None:
    small, large = unit * (30_000 // len(unit)), unit * (300_000 // len(unit))

    assert seconds(large) < 30 * seconds(small)


def seconds(data: bytes) -> float:
    began = process_time()
    split(data)
    return process_time() - began


def test_a_part_of_white_space_only_is_left_out() -> None:
    blank, word = "\n" * 9_000, "x" * 2_000

    parts = parts_of((word + blank + word).encode())

    assert (parts[0].start, parts[-1].end) == (0, 13_000)
    assert all(part.text.strip() for part in parts)
    assert sum(part.end - part.start for part in parts) < 9_000


@pytest.mark.parametrize("text", ["", "\n" * 9_000, " \t\r\n\u2003"])
def test_a_blank_file_has_no_part(text: str) -> None:
    assert parts_of(text.encode()) == ()


def test_a_short_file_is_one_part_with_its_bytes() -> None:
    assert parts_of("<|endoftext|> Ж\r\n".encode()) == (TextPart(0, 18, "<|endoftext|> Ж\r\n"),)


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        parts_of(b"a" * 9_000 + b"\xff")


def test_the_identity_of_a_part_tells_model_dims_and_text_apart() -> None:
    same = identity("m", 4, "text")

    assert len(same) == 16
    assert identity("m", 4, "text") == same
    assert (
        len({same, identity("n", 4, "text"), identity("m", 8, "text"), identity("m", 4, "")}) == 4
    )
