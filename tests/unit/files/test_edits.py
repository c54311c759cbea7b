"""The edits of a patch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybox.files.edits import apply
from memorybox.files.errors import EditAmbiguous, EditEmpty, EditNotFound
from memorybox.files.model import Edit, FileRef

REF = FileRef.parse("garden", "a.md")


def patched(text: str, *edits: tuple[str, str]) -> str:
    return apply([Edit(old, new) for old, new in edits], text, REF)


def refusal(error: type[Exception], text: str, *edits: tuple[str, str]) -> str:
    with pytest.raises(error) as raised:
        patched(text, *edits)
    return str(raised.value)


def test_each_edit_works_on_the_result_of_those_before_it() -> None:
    assert patched("A=1\n", ("A=1", "A=2"), ("A=2", "A=3")) == "A=3\n"


def test_an_edit_that_became_ambiguous_is_refused() -> None:
    assert refusal(EditAmbiguous, "A=1\nB=2\n", ("A=1", "B=2"), ("B=2", "C=3")) == (
        'Edit 2 of 2: old_text occurs 2 times in the file "a.md" in workspace "garden" '
        "(lines 1, 2), it must occur exactly once. Add more of the text around it."
    )


def test_overlapping_occurrences_count() -> None:
    assert "old_text occurs 2 times" in refusal(EditAmbiguous, "aaa", ("aa", "b"))
    text = "x = 1\nx = 1\nx = 1\n"
    assert "occurs 2 times" in refusal(EditAmbiguous, text, ("x = 1\nx = 1", ""))


def test_at_most_five_line_numbers_are_named() -> None:
    assert "occurs 7 times" in refusal(EditAmbiguous, "x\n" * 7, ("x", "y"))
    assert "(lines 1, 2, 3, 4, 5, …)" in refusal(EditAmbiguous, "x\n" * 7, ("x", "y"))
    assert "(lines 1, 3)" in refusal(EditAmbiguous, "x\r\n\rx\r", ("x", "y"))


def test_a_long_run_of_one_letter_is_counted_at_once() -> None:
    assert "occurs 100001 times" in refusal(EditAmbiguous, "a" * 200_000, ("a" * 100_000, "b"))


@pytest.mark.parametrize("special", ["$&", "\\1", "{0}", "%s", "(a+b)*[c]{2}^$ . | ?"])
def test_text_is_literal_on_both_sides(special: str) -> None:
    assert patched(f"<{special}>", (special, f"[{special}]")) == f"<[{special}]>"


def test_an_empty_old_text_is_refused_on_an_empty_file_too() -> None:
    assert refusal(EditEmpty, "", ("", "x")) == (
        "Edit 1 of 1: old_text is empty. To add text use append, to replace the whole file use "
        "write."
    )


def test_a_text_may_become_empty() -> None:
    assert patched("abc\n", ("abc\n", "")) == ""


def test_all_other_bytes_stay() -> None:
    assert patched("alpha\r\nbeta\ngamma\r", ("gamma", "GAMMA")) == "alpha\r\nbeta\nGAMMA\r"
    assert patched("\ufeff# T \t\0\n", ("T", "U")) == "\ufeff# U \t\0\n"


def test_line_ends_follow_a_file_that_has_crlf_only() -> None:
    text = "- Planted in May.\r\n- First fruit.\r\n"
    edited = patched(text, ("May.\n- First", "May.\n- Second"))
    assert edited == "- Planted in May.\r\n- Second fruit.\r\n"


def test_a_text_found_as_given_goes_in_as_given() -> None:
    assert patched("one\r\ntwo\r\n", ("two", "2\n3")) == "one\r\n2\n3\r\n"


@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        ("a\r\nb\nc\n", "a\nb", "The file has CRLF line ends."),
        ("a\tb\n", "a    b", "The file has tabs where old_text has spaces."),
        ("it\u2019s\n", "it's", "The file has curly quotes where old_text has straight ones."),
        ("abc\n", "abd", "Read the file again and copy the text exactly."),
        ("it's\n", "it\u2019s", "Read the file again and copy the text exactly."),
        ("a &amp; b\n", "a & b", "Read the file again and copy the text exactly."),
    ],
)
def test_a_text_that_is_not_found_gets_one_hint(text: str, old: str, hint: str) -> None:
    assert refusal(EditNotFound, text, (old, "x")) == (
        f'Edit 1 of 1: old_text does not occur in the file "a.md" in workspace "garden". {hint}'
    )


@given(st.text("ab\r\n", max_size=12), st.text("ab\r\n", min_size=1, max_size=3), st.text("xy"))
def test_a_patch_replaces_the_one_occurrence_or_says_how_many_there_are(
    text: str, old: str, new: str
) -> None:
    count = sum(text.startswith(old, at) for at in range(len(text)))
    if count == 1:
        before, after = text.split(old)
        assert patched(text, (old, new)) == before + new + after
    elif count > 1:
        assert f"occurs {count} times" in refusal(EditAmbiguous, text, (old, new))
