"""Reads on which tools like this one have failed: text was trimmed, split into lines, parsed, or
came from a place that the caller may not see.
"""

import pytest

from tests.acceptance.box import Box
from tests.cases import notes

AS_STORED = [
    pytest.param(text, id=f"R02: {name}")
    for name, text in [
        ("crlf", notes.CRLF),
        ("bom", notes.WITH_BOM),
        ("hard breaks", notes.HARD_BREAKS),
        ("odd line ends", notes.ODD_LINE_ENDS),
        ("bidi", notes.BIDI),
        ("zero width", notes.ZERO_WIDTH),
        ("controls", notes.CONTROLS),
        ("lone cr", notes.LONE_CR),
        ("a joined sequence at the end", f"family {notes.FAMILY}"),
        ("like json", notes.LIKE_JSON),
        ("like an answer of a tool", notes.LIKE_AN_ANSWER),
        ("odd front matter", notes.FRONT_MATTER_ODD),
    ]
] + [pytest.param(notes.of_size(1_000_000), id="R06: a million bytes")]


@pytest.mark.parametrize("text", AS_STORED)
def test_read_gives_the_text_as_it_is_stored(box: Box, text: str) -> None:
    box.dropbox.put("/garden/a.md", text)

    assert box.call("read", workspace="garden", path="a.md").texts == (
        f"rev: {box.rev('/garden/a.md')}\nsize: {len(text.encode())} bytes",
        text,
    )


def test_r04_a_name_in_another_case_is_found(box: Box) -> None:
    box.dropbox.put("/garden/Tomatoes.md", "x\n")

    assert box.call("read", workspace="GARDEN", path="tomatoes.MD").texts[1] == "x\n"


@pytest.mark.parametrize(
    ("workspace", "path"),
    [
        ("garden", "../work/x.md"),
        ("garden", "../readme.md"),
        ("garden", ".."),
        ("garden", "%2e%2e/work/x.md"),
        ("garden", "beds/../../work/x.md"),
        ("", "readme.md"),
        (".", "readme.md"),
    ],
    ids=lambda name: f"R05: {name!r}",
)
def test_nothing_outside_the_workspace_is_read(box: Box, workspace: str, path: str) -> None:
    box.dropbox.put("/work/x.md", "secret\n")
    box.dropbox.put("/readme.md", "root\n")

    refusal = box.refuses("read", workspace=workspace, path=path)

    assert "secret" not in refusal
    assert "root" not in refusal
    reason = "does not exist" if path.startswith("%") else "is not allowed"
    assert reason in refusal
