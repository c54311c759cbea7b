"""Patches on which tools like this one have failed: two are accepted where one was meant, line
ends are changed, a mark at the start hides the text, an id of a version crashes the call.
"""

import json
from dataclasses import dataclass
from functools import partial

import pytest

from tests.acceptance.box import Box
from tests.cases import notes

NOTHING = " Nothing was written."
READ_AGAIN = "Read the file again and copy the text exactly."
EMPTY = (
    "Edit 1 of 1: old_text is empty. "
    "To add text use append, to replace the whole file use write." + NOTHING
)
NOT_EDITS = (
    'edits must be a list with at least one {"old_text": "...", "new_text": "..."}.' + NOTHING
)
NO_REV = "patch needs expected_rev. Read the file and pass the rev it gives." + NOTHING
REV = "0165f1c6d7426cd000000033b284821"
A9 = {"old_text": "A=1", "new_text": "A=9"}
B9 = {"old_text": "B=2", "new_text": "B=9"}


def not_found(hint: str) -> str:
    return (
        'Edit 1 of 1: old_text does not occur in the file "a.md" in workspace "garden". '
        f"{hint}{NOTHING}"
    )


def not_a_rev(rev: str) -> str:
    return f'expected_rev "{rev}" is not a rev. Read the file and pass the rev it gives.{NOTHING}'


@dataclass(frozen=True, slots=True)
class Change:
    """A patch that succeeds."""

    id: str
    title: str
    before: str
    old: str
    new: str
    after: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A patch that is refused, and changes nothing."""

    id: str
    title: str
    before: str
    old: str
    says: str


CHANGES = (
    Change("P07", "a pattern is text", notes.PATTERN, "(a+b)*[c]{2}^$ . | ?", "X", "cost X end\n"),
    Change(
        "P08",
        "every CRLF outside stays",
        notes.CRLF,
        "6 seedlings",
        "8 seedlings",
        notes.CRLF.replace("6", "8"),
    ),
    Change(
        "P09",
        "a line end of old_text stands for CRLF, and new_text follows",
        notes.CRLF,
        "May.\n- First",
        "May.\n- Second",
        notes.CRLF.replace("First", "Second"),
    ),
    Change(
        "P10",
        "mixed line ends stay",
        notes.MIXED_ENDS,
        "gamma",
        "GAMMA",
        "alpha\r\nbeta\nGAMMA\r\ndelta\rend\n",
    ),
    Change(
        "P11",
        "lone carriage returns stay",
        notes.LONE_CR,
        "two",
        "2",
        "line one\rline 2\rline three\r",
    ),
    Change(
        "P12",
        "a byte order mark stays after an edit elsewhere",
        notes.WITH_BOM,
        "first line",
        "second line",
        f"{notes.BOM}# Title\nsecond line\n",
    ),
    Change(
        "P13",
        "a byte order mark does not hide the first letter",
        notes.WITH_BOM,
        "# Title",
        "# Heading",
        f"{notes.BOM}# Heading\nfirst line\n",
    ),
    Change(
        "P16",
        "curly quotes of new_text are kept",
        notes.CURLY,
        "“yes”",
        "“no”",
        notes.CURLY.replace("yes", "no"),
    ),
    Change(
        "P30",
        "an empty new_text deletes",
        notes.CHORES,
        "- [ ] feed\n",
        "",
        "- [ ] water\n- [ ] water\n",
    ),
    Change("P31", "what is left may be empty", "x", "x", "", ""),
    Change(
        "P38",
        "odd line ends stay",
        notes.ODD_LINE_ENDS,
        "para",
        "PARA",
        notes.ODD_LINE_ENDS.replace("para", "PARA"),
    ),
    Change(
        "P39",
        "control characters stay",
        notes.CONTROLS,
        "red",
        "blue",
        notes.CONTROLS.replace("red", "blue"),
    ),
    Change(
        "P40",
        "blanks at line ends stay",
        notes.HARD_BREAKS,
        "two",
        "2",
        notes.HARD_BREAKS.replace("two", "2"),
    ),
)

REFUSALS = (
    Refusal("P04", "an empty old_text", "abc\n", "", EMPTY),
    Refusal("P05", "an empty old_text in an empty file", "", "", EMPTY),
    Refusal(
        "P15",
        "a straight quote is not a curly one",
        notes.CURLY,
        "it's",
        not_found("The file has curly quotes where old_text has straight ones."),
    ),
    Refusal("P21", "text that is not there", notes.CHORES, "- [ ] prune", not_found(READ_AGAIN)),
    Refusal(
        "P22",
        "text that is there twice",
        notes.CHORES,
        "- [ ] water",
        'Edit 1 of 1: old_text occurs 2 times in the file "a.md" in workspace "garden" '
        "(lines 1, 3), it must occur exactly once. Add more of the text around it." + NOTHING,
    ),
    Refusal(
        "P37",
        "a composed letter is not a decomposed one",
        notes.DECOMPOSED,
        "Café",
        not_found(READ_AGAIN),
    ),
    Refusal(
        "P43",
        "text that is not in a very large file",
        notes.of_size(1_000_001),
        "ZZZ-not-there",
        not_found(READ_AGAIN),
    ),
)


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.id)
def test_a_patch_changes_the_match_and_nothing_else(box: Box, case: Change) -> None:
    rev = box.dropbox.put("/garden/a.md", case.before).rev
    edits = [{"old_text": case.old, "new_text": case.new}]

    answer = box.says("patch", workspace="garden", path="a.md", edits=edits, expected_rev=rev)

    assert box.dropbox.read("/garden/a.md") == case.after.encode()
    assert answer.startswith(f"rev: {box.rev('/garden/a.md')}\n")


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.id)
def test_a_patch_that_does_not_fit_is_refused(box: Box, case: Refusal) -> None:
    rev = box.dropbox.put("/garden/a.md", case.before).rev
    edits = [{"old_text": case.old, "new_text": "X"}]

    refusal = box.refuses("patch", workspace="garden", path="a.md", edits=edits, expected_rev=rev)

    assert refusal == case.says
    assert box.dropbox.read("/garden/a.md") == case.before.encode()


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param(json.dumps([A9]), id="P32: a list as JSON text"),
        pytest.param(A9, id="P33: one edit without a list"),
    ],
)
def test_edits_come_in_more_than_one_form(box: Box, edits: object) -> None:
    rev = box.dropbox.put("/garden/a.md", notes.TWO_LINES).rev

    box.says("patch", workspace="garden", path="a.md", edits=edits, expected_rev=rev)

    assert box.dropbox.read("/garden/a.md") == b"A=9\nB=2\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param({"edits": [], "expected_rev": REV}, NOT_EDITS, id="P34: no edits"),
        pytest.param({"edits": [A9]}, NO_REV, id="P36: no rev"),
        *[
            pytest.param({"edits": [A9], "expected_rev": rev}, not_a_rev(rev), id=f"{case}: {rev}")
            for case, rev in [
                ("P35a", "abc"),
                ("P35b", ""),
                ("P35c", REV.upper()),
                ("P35d", f"{REV} "),
                ("P35e", "null"),
                ("P35f", "latest"),
            ]
        ],
    ],
)
def test_arguments_that_no_patch_can_have_are_refused(
    box: Box, arguments: dict[str, object], says: str
) -> None:
    box.dropbox.put("/garden/a.md", notes.TWO_LINES)

    assert box.refuses("patch", workspace="garden", path="a.md", **arguments) == says
    assert box.dropbox.read("/garden/a.md") == notes.TWO_LINES.encode()


def test_p28_of_two_patches_at_once_one_wins_and_one_is_told_so(box: Box) -> None:
    rev = box.dropbox.put("/garden/a.md", notes.TWO_LINES).rev

    results = box.together(
        *[
            partial(
                box.call,
                "patch",
                workspace="garden",
                path="a.md",
                edits=[edit],
                expected_rev=rev,
            )
            for edit in (A9, B9)
        ]
    )

    new = box.rev("/garden/a.md")
    assert sorted(result.texts[0] for result in results) == [
        f'The file "a.md" in workspace "garden" is at rev "{new}", not "{rev}". '
        "It changed since you read it. Nothing was written.",
        f"rev: {new}\nIndexed for search.",
    ]
    assert box.dropbox.read("/garden/a.md") in {b"A=9\nB=2\n", b"A=1\nB=9\n"}
