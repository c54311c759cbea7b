"""patch: replaces pieces of a note, all of them or none."""

import json
from functools import partial

import pytest

from tests.acceptance.box import Box
from tests.acceptance.notes import T71
from tests.cases.notes import CRLF, MIXED_ENDS, ODD_TEXTS

A = {"workspace": "garden", "path": "a.md"}
UNKNOWN = "0165f1c6d7426cd000000033b284821"
CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"
READ_AGAIN = "Read the file again and copy the text exactly."


def edit(old: str, new: str) -> dict[str, str]:
    return {"old_text": old, "new_text": new}


def patched(box: Box, text: str | bytes, *edits: dict[str, str]) -> bytes:
    """The bytes of a note after a patch that succeeds."""
    rev = box.dropbox.put("/garden/a.md", text).rev
    answer = box.says("patch", **A, edits=edits, expected_rev=rev)
    assert answer.splitlines()[0] == f"rev: {box.rev('/garden/a.md')}"
    return box.dropbox.read("/garden/a.md")


def refused(box: Box, text: str | bytes, *edits: dict[str, str]) -> str:
    """What a patch says that fails."""
    rev = box.dropbox.put("/garden/a.md", text).rev
    refusal = box.refuses("patch", **A, edits=edits, expected_rev=rev)
    assert box.calls_of_dropbox("files/upload") == 0
    return refusal


def not_found(number: int, of: int, hint: str) -> str:
    return (
        f'Edit {number} of {of}: old_text does not occur in the file "a.md" '
        f'in workspace "garden". {hint} Nothing was written.'
    )


def ambiguous(number: int, of: int, count: int, lines: str) -> str:
    return (
        f'Edit {number} of {of}: old_text occurs {count} times in the file "a.md" in workspace '
        f'"garden" (lines {lines}), it must occur exactly once. Add more of the text around it. '
        "Nothing was written."
    )


@pytest.mark.promise("P-049", "P-015", "T-06", "L-1")
def test_a_patch_replaces_the_text_and_answers_the_new_rev(box: Box) -> None:
    old = box.dropbox.put("/garden/a.md", T71).rev

    answer = box.says("patch", **A, edits=[edit("6 seedlings", "8 seedlings")], expected_rev=old)

    assert box.rev("/garden/a.md") != old
    assert answer == f"rev: {box.rev('/garden/a.md')}\nIndexed for search."
    assert box.dropbox.read("/garden/a.md") == T71.replace("6", "8").encode()


@pytest.mark.promise("P-046")
@pytest.mark.parametrize("text", ["$&", r"\1", "{0}", "%s", "(a+b)*[c]{2}^$ . | ?", r"\g<0>"])
def test_old_and_new_text_are_literal(box: Box, text: str) -> None:
    assert patched(box, f"cost {text} end", edit(text, "X")) == b"cost X end"
    assert patched(box, "cost X end", edit("X", text)) == f"cost {text} end".encode()


@pytest.mark.promise("P-046")
def test_an_empty_new_text_deletes(box: Box) -> None:
    assert patched(box, "one\ntwo\nthree\n", edit("two\n", "")) == b"one\nthree\n"


@pytest.mark.promise("P-046", "T-28")
@pytest.mark.parametrize(
    ("text", "old", "count", "lines"),
    [
        ("aaa", "aa", 2, "1"),
        ("x = 1\nx = 1\nx = 1\n", "x = 1\nx = 1", 2, "1, 2"),
        ("- a\n- b\n- a\n", "- a", 2, "1, 3"),
        ("a\n" * 9, "a", 9, "1, 2, 3, 4, 5, …"),
        ("one\rone\r\none", "one", 3, "1, 2, 3"),
    ],
)
def test_old_text_that_occurs_more_than_once_is_refused_with_all_its_places(
    box: Box, text: str, old: str, count: int, lines: str
) -> None:
    assert refused(box, text, edit(old, "X")) == ambiguous(1, 1, count, lines)


@pytest.mark.promise("P-046", "T-27")
@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        ("one\r\ntwo\nthree\r\n", "one\ntwo", "The file has CRLF line ends."),
        ("\tone two", "    one two", "The file has tabs where old_text has spaces."),
        (f"it{CURLY}s", "it's", "The file has curly quotes where old_text has straight ones."),
        ("“yes”", '"yes"', "The file has curly quotes where old_text has straight ones."),
        ("it's", f"it{CURLY}s", READ_AGAIN),
        ("Cafe\u0301", "Café", READ_AGAIN),
        ("a &amp; b", "a & b", READ_AGAIN),
        ("- [ ] water", "- [ ] prune", READ_AGAIN),
        ("", "anything", READ_AGAIN),
    ],
)
def test_old_text_that_does_not_occur_is_refused_with_one_hint(
    box: Box, text: str, old: str, hint: str
) -> None:
    assert refused(box, text, edit(old, "X")) == not_found(1, 1, hint)


@pytest.mark.promise("P-046", "T-29")
@pytest.mark.parametrize("text", ["abc\n", ""])
def test_an_empty_old_text_is_refused_on_any_file(box: Box, text: str) -> None:
    assert refused(box, text, edit("", "X")) == (
        "Edit 1 of 1: old_text is empty. "
        "To add text use append, to replace the whole file use write. Nothing was written."
    )


@pytest.mark.promise("P-047")
def test_each_edit_works_on_the_result_of_those_before(box: Box) -> None:
    assert patched(box, "A=1\n", edit("A=1", "A=2"), edit("A=2", "A=3")) == b"A=3\n"


@pytest.mark.promise("P-047", "T-28")
def test_an_edit_that_earlier_ones_made_ambiguous_is_refused(box: Box) -> None:
    assert refused(box, "A=1\nB=2\n", edit("A=1", "B=2"), edit("B=2", "C=3")) == ambiguous(
        2, 2, 2, "1, 2"
    )


@pytest.mark.promise("P-048", "T-27")
def test_if_one_edit_fails_none_is_written(box: Box) -> None:
    assert refused(box, "A=1\n", edit("A=1", "A=2"), edit("B", "C")) == not_found(2, 2, READ_AGAIN)
    assert box.dropbox.read("/garden/a.md") == b"A=1\n"


@pytest.mark.promise("P-048")
def test_all_edits_are_one_upload(box: Box) -> None:
    patched(box, "A=1\nB=2\n", edit("A=1", "A=2"), edit("B=2", "B=3"))

    assert box.calls_of_dropbox("files/upload") == 1


@pytest.mark.promise("P-049", "T-30")
@pytest.mark.parametrize("rest", [{}, {"expected_rev": None}])
def test_a_patch_without_a_rev_is_refused(box: Box, rest: dict[str, object]) -> None:
    assert box.refuses("patch", **A, edits=[edit("a", "b")], **rest) == (
        "patch needs expected_rev. Read the file and pass the rev it gives. Nothing was written."
    )
    assert box.calls_of_dropbox() == 0


@pytest.mark.promise("P-050", "P-016", "T-03")
def test_the_same_patch_sent_again_says_that_the_file_changed(box: Box) -> None:
    old = box.dropbox.put("/garden/a.md", T71).rev
    patch = partial(
        box.call, "patch", **A, edits=[edit("6 seedlings", "8 seedlings")], expected_rev=old
    )

    first, second = patch(), patch()

    assert not first.is_error
    assert second.texts == (
        f'The file "a.md" in workspace "garden" is at rev "{box.rev("/garden/a.md")}", '
        f'not "{old}". It changed since you read it. Nothing was written.',
    )


@pytest.mark.promise("P-050", "T-03")
def test_the_rev_is_looked_at_before_the_edits(box: Box) -> None:
    old = box.dropbox.put("/garden/a.md", "one").rev
    new = box.dropbox.put("/garden/a.md", b"\xff").rev

    assert box.refuses("patch", **A, edits=[edit("nowhere", "X")], expected_rev=old) == (
        f'The file "a.md" in workspace "garden" is at rev "{new}", not "{old}". '
        "It changed since you read it. Nothing was written."
    )


@pytest.mark.promise("P-050", "P-202")
def test_of_two_patches_with_one_rev_one_wins(box: Box) -> None:
    old = box.dropbox.put("/garden/a.md", "A=1\nB=2\n").rev

    results = box.together(
        *[
            partial(box.call, "patch", **A, edits=[change], expected_rev=old)
            for change in (edit("A=1", "A=9"), edit("B=2", "B=9"))
        ]
    )

    new = box.rev("/garden/a.md")
    assert sorted(result.texts[0] for result in results) == [
        f'The file "a.md" in workspace "garden" is at rev "{new}", not "{old}". '
        "It changed since you read it. Nothing was written.",
        f"rev: {new}\nIndexed for search.",
    ]
    assert box.dropbox.read("/garden/a.md") in {b"A=9\nB=2\n", b"A=1\nB=9\n"}


@pytest.mark.promise("P-051", "P-201")
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_every_byte_outside_the_matches_stays(box: Box, name: str) -> None:
    odd = ODD_TEXTS[name]

    assert patched(box, odd + b"<here>" + odd, edit("<here>", "there")) == odd + b"there" + odd


@pytest.mark.promise("P-052")
def test_in_a_file_of_crlf_alone_a_line_end_stands_for_crlf(box: Box) -> None:
    assert patched(box, CRLF, edit("May.\n- First", "May.\n- Second")) == (
        CRLF.replace("First", "Second").encode()
    )


@pytest.mark.promise("P-052")
def test_text_that_is_found_as_given_is_replaced_as_given(box: Box) -> None:
    assert patched(box, CRLF, edit("6 seedlings", "8\nseedlings")) == (
        CRLF.replace("6 seedlings", "8\nseedlings").encode()
    )


@pytest.mark.promise("P-052", "T-27")
def test_in_a_file_of_mixed_line_ends_nothing_is_taken_for_something_else(box: Box) -> None:
    assert refused(box, MIXED_ENDS, edit("gamma\ndelta", "X")) == not_found(
        1, 1, "The file has CRLF line ends."
    )


@pytest.mark.promise("P-053", "P-015")
def test_a_patch_that_changes_nothing_answers_the_same_rev_and_uploads_nothing(box: Box) -> None:
    rev = box.dropbox.put("/garden/a.md", "A=1\n").rev

    answer = box.says("patch", **A, edits=[edit("A=1", "A=1")], expected_rev=rev)

    assert answer == f"rev: {rev}\nIndexed for search."
    assert box.calls_of_dropbox("files/upload") == 0


@pytest.mark.promise("P-053", "L-5")
def test_a_patch_may_leave_an_empty_file(box: Box) -> None:
    rev = box.dropbox.put("/garden/a.md", "x").rev

    answer = box.says("patch", **A, edits=[edit("x", "")], expected_rev=rev)

    assert answer == (
        f"rev: {box.rev('/garden/a.md')}\nNot indexed for search: the file has no text."
    )
    assert box.dropbox.files() == {"/garden/a.md": b""}


@pytest.mark.promise("P-054")
@pytest.mark.parametrize(
    "edits",
    [
        [edit("A=1", "A=7")],
        edit("A=1", "A=7"),
        json.dumps([edit("A=1", "A=7")]),
        json.dumps(edit("A=1", "A=7")),
    ],
)
def test_edits_may_be_a_list_or_one_object_and_either_as_json_text(box: Box, edits: object) -> None:
    rev = box.dropbox.put("/garden/a.md", "A=1\nB=2\n").rev

    box.says("patch", **A, edits=edits, expected_rev=rev)

    assert box.dropbox.read("/garden/a.md") == b"A=7\nB=2\n"


@pytest.mark.promise("P-054", "T-31")
@pytest.mark.parametrize(
    "edits",
    [
        [],
        "[]",
        "not json",
        "[" * 100_000,
        7,
        ["A=1"],
        [{"old_text": "A=1"}],
        [{"old_text": "A=1", "new_text": None}],
        [{"old_text": "A=1", "new_text": "A=2", "all": True}],
    ],
)
def test_edits_of_any_other_form_are_refused(box: Box, edits: object) -> None:
    assert box.refuses("patch", **A, edits=edits, expected_rev=UNKNOWN) == (
        'edits must be a list with at least one {"old_text": "...", "new_text": "..."}. '
        "Nothing was written."
    )
    assert box.calls_of_dropbox() == 0


@pytest.mark.promise("P-110", "T-31")
def test_there_are_at_most_a_hundred_edits(box: Box) -> None:
    text = "".join(f"<{number}>" for number in range(100))
    edits = [edit(f"<{number}>", f"{number},") for number in range(100)]

    assert patched(box, text, *edits).startswith(b"0,1,2,")
    assert box.refuses("patch", **A, edits=[*edits, edit("a", "b")], expected_rev=UNKNOWN) == (
        "At most 100 edits in one call. Nothing was written."
    )


@pytest.mark.promise("P-054", "T-04")
@pytest.mark.parametrize("path", ["a.md", "beds/a.md"])
def test_a_file_that_is_not_there_cannot_be_patched(box: Box, path: str) -> None:
    assert box.refuses(
        "patch", workspace="garden", path=path, edits=[edit("a", "b")], expected_rev=UNKNOWN
    ) == (
        f'The file "{path}" in workspace "garden" does not exist. '
        "To create it, call write without expected_rev. Nothing was written."
    )


@pytest.mark.promise("P-054", "T-26")
def test_what_is_no_text_cannot_be_patched(box: Box) -> None:
    assert refused(box, b"caf\xe9", edit("caf", "tea")) == (
        'The file "a.md" in workspace "garden" is not UTF-8 text, so it cannot be changed here. '
        "Nothing was written."
    )


@pytest.mark.promise("P-110", "T-25b")
def test_a_file_over_ten_million_bytes_cannot_be_patched(box: Box) -> None:
    assert refused(box, b"a" * 10_000_001, edit("b", "c")) == (
        'The file "a.md" in workspace "garden" has 10000001 bytes; '
        "files over 10,000,000 bytes cannot be changed here. Nothing was written."
    )


@pytest.mark.promise("P-052", "P-051")
def test_a_byte_order_mark_stays_and_blocks_no_match(box: Box) -> None:
    assert patched(box, b"\xef\xbb\xbf# Title\n", edit("# Title", "# Heading")) == (
        b"\xef\xbb\xbf# Heading\n"
    )
