"""Appends on which tools like this one have failed: a line that sticks to the one before was
mended, line ends were changed, the same text came twice.
"""

from dataclasses import dataclass

import pytest

from tests.acceptance.box import Box
from tests.cases import notes


@dataclass(frozen=True, slots=True)
class Append:
    """An append and what the file is then."""

    id: str
    title: str
    before: str
    text: str
    after: str


APPENDS = (
    Append("A01", "no line end is added", "- eggs", "- cheese\n", "- eggs- cheese\n"),
    Append(
        "A02",
        "dashes come as they are given",
        notes.SETEXT,
        "\n\n---\n\n## Two\n",
        f"{notes.SETEXT}\n\n---\n\n## Two\n",
    ),
    Append(
        "A07", "CRLF stays, new text is as given", notes.CRLF, "- new\n", f"{notes.CRLF}- new\n"
    ),
    Append("A08", "after a byte order mark alone", notes.BOM, "hi\n", f"{notes.BOM}hi\n"),
    Append("A09", "after a character beyond the BMP", "party 🎉", "!", "party 🎉!"),
    Append(
        "A09",
        "after a joined sequence, which grows",
        f"family {notes.FAMILY}",
        "\N{ZERO WIDTH JOINER}👦",
        f"family {notes.FAMILY}\N{ZERO WIDTH JOINER}👦",
    ),
    Append("A11", "nothing to add", "x", "", "x"),
)


@pytest.mark.parametrize("case", APPENDS, ids=lambda case: case.id)
def test_an_append_adds_the_given_bytes_and_no_others(box: Box, case: Append) -> None:
    box.dropbox.put("/garden/a.md", case.before)

    box.says("append", workspace="garden", path="a.md", text=case.text)

    assert box.dropbox.read("/garden/a.md") == case.after.encode()


def test_a12_nothing_added_to_a_missing_file_makes_an_empty_one(box: Box) -> None:
    box.says("append", workspace="garden", path="new.md", text="")

    assert box.dropbox.files() == {"/garden/new.md": b""}


@pytest.mark.parametrize(
    ("command", "after"),
    [
        pytest.param({}, b"x\n- paid 40\n- paid 40\n", id="A13: without an id"),
        pytest.param({"command_id": "7"}, b"x\n- paid 40\n", id="A13: with an id"),
    ],
)
def test_a_client_that_sends_an_append_again(
    box: Box, command: dict[str, object], after: bytes
) -> None:
    box.dropbox.put("/garden/a.md", "x\n")

    for _ in range(2):
        box.says("append", workspace="garden", path="a.md", text="- paid 40\n", **command)

    assert box.dropbox.read("/garden/a.md") == after


def test_a14_a_name_in_capitals_is_the_file_that_is_there(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", "x\n")

    box.says("append", workspace="garden", path="TOMATOES.md", text="y\n")

    assert box.dropbox.files() == {"/garden/tomatoes.md": b"x\ny\n"}
