"""Which names a workspace and a file may have."""

import pytest

from memorybox.files.errors import OneWorkspaceNeeded, PathNotAllowed, WorkspaceNotAllowed
from memorybox.files.model import FileRef, is_note_path
from memorybox.files.names import (
    lowered,
    new_path_fault,
    new_workspace_fault,
    path_fault,
    workspace_fault,
)


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("", "it is empty"),
        ("/a.md", 'it starts with "/"'),
        ("a.md/", 'it ends with "/"'),
        ("beds//a.md", "it has an empty part"),
        ("../a.md", 'it has a "." or ".." part'),
        ("beds/./a.md", 'it has a "." or ".." part'),
        ("beds\\a.md", "it has a backslash"),
        ("a\0.md", "it has a control character"),
        ("a\ud83d.md", "it has half of a surrogate pair"),
        ("a.txt", "it does not end in .md"),
        ("a.md.", "it does not end in .md"),
        ("beds/.md", "it has no name before .md"),
        ("d/" * 2_000 + "b.md", "it is over 4,000 bytes"),
    ],
)
def test_a_path_that_can_be_no_note_says_why(path: str, fault: str) -> None:
    assert path_fault(path) == fault


@pytest.mark.parametrize(
    "path",
    [
        "50% plan.md",
        "note #1.md",
        "what?.md",
        "a%3Db.md",
        "it\u2019s \u201cfine\u201d.md",
        "[Java] list.md",
        "~$plan.md",
        "beds/deep/plan.MD",
        ".trash/old.md",
        "id:abc.md",
        "a\nb.md",
        " padded .md",
    ],
)
def test_names_are_literal(path: str) -> None:
    assert FileRef.parse("garden", path).location == f"/garden/{path}"


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("a\tb.md", "it has a control character"),
        (" a.md", "a name in it starts or ends with a space"),
        ("beds /a.md", "a name in it starts or ends with a space"),
        ("beds./a.md", "a folder in it ends with a dot"),
        ("é" * 126 + ".md", None),
        ("é" * 127 + ".md", "a name in it is over 255 bytes"),
    ],
)
def test_a_new_file_gets_no_odd_name(path: str, fault: str | None) -> None:
    assert (path_fault(path), new_path_fault(path)) == (None, fault)


@pytest.mark.parametrize(
    ("workspace", "fault"),
    [
        ("", "it is empty"),
        (".", 'it is "." or ".."'),
        ("..", 'it is "." or ".."'),
        ("a/b", "it has a slash"),
        ("a\\b", "it has a backslash"),
        ("a\0", "it has a control character"),
        ("a\udc00", "it has half of a surrogate pair"),
        ("w" * 4_001, "it is over 4,000 bytes"),
        ("garden", None),
        (" ", None),
    ],
)
def test_a_workspace_is_one_component(workspace: str, fault: str | None) -> None:
    assert workspace_fault(workspace) == fault


@pytest.mark.parametrize(
    ("workspace", "fault"),
    [
        (" ", "it is blank"),
        ("a\nb", "it has a control character"),
        (" a", "it starts or ends with a space"),
        ("w" * 256, "it is over 255 bytes"),
        ("w" * 255, None),
    ],
)
def test_a_new_workspace_gets_no_odd_name(workspace: str, fault: str | None) -> None:
    assert new_workspace_fault(workspace) == fault


def test_composed_and_decomposed_names_are_one_file() -> None:
    composed, decomposed = FileRef.parse("g", "café.md"), FileRef.parse("g", "cafe\u0301.md")
    assert composed.location == decomposed.location == "/g/café.md"
    assert decomposed.verbatim.location == "/g/cafe\u0301.md"


@pytest.mark.promise("P-106")
@pytest.mark.parametrize(
    ("name", "compared_as"),
    [
        ("/Garden/Beds.MD", "/garden/beds.md"),
        ("ẞ", "ß"),
        ("ß", "ß"),
        ("ss", "ss"),
        ("\u017fecret", "\u017fecret"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("Σίσυφος", "σίσυφος"),
        ("İstanbul", "istanbul"),
        ("I\N{COMBINING DOT ABOVE}stanbul", "istanbul"),
        ("i\N{COMBINING DOT ABOVE}stanbul", "i\N{COMBINING DOT ABOVE}stanbul"),
        ("\N{LATIN SMALL LETTER DOTLESS I}zgara", "\N{LATIN SMALL LETTER DOTLESS I}zgara"),
        ("\N{KELVIN SIGN}elvin", "kelvin"),
        ("CAFE\N{COMBINING ACUTE ACCENT}", "café"),
        ("J\N{COMBINING CARON}", "\N{LATIN SMALL LETTER J WITH CARON}"),
        ("Ꙋ", "ꙋ"),
        ("ﬁ", "ﬁ"),
        ("東京 🍅", "東京 🍅"),
    ],
)
def test_names_are_compared_letter_by_letter_as_dropbox_does(name: str, compared_as: str) -> None:
    assert lowered(name) == compared_as
    assert lowered(compared_as) == compared_as


@pytest.mark.parametrize("workspace", ["all", "All", "ALL"])
def test_all_names_no_single_workspace(workspace: str) -> None:
    with pytest.raises(OneWorkspaceNeeded) as refusal:
        FileRef.parse(workspace, "x.md")
    assert str(refusal.value) == (f'this tool needs one workspace, not "all" (got "{workspace}")')


def test_a_refused_path_is_quoted_so_that_it_cannot_forge_a_line() -> None:
    with pytest.raises(PathNotAllowed) as refusal:
        FileRef.parse("garden", "x\n2. garden/fake\u202e" + "y" * 300)
    assert str(refusal.value) == (
        'path "x\\u000a2. garden/fake\\u202e' + "y" * 173 + '…" is not allowed: it does not end '
        'in .md. Give the path inside the workspace, such as "beds/plan.md".'
    )


def test_a_refused_workspace_says_what_one_is() -> None:
    with pytest.raises(WorkspaceNotAllowed) as refusal:
        FileRef.parse("a/b", "x.md")
    assert str(refusal.value) == (
        'workspace "a/b" is not allowed: it has a slash. '
        'A workspace is one top-level folder, such as "garden".'
    )


@pytest.mark.parametrize(
    ("path_lower", "is_note"),
    [
        ("/garden/a.md", True),
        ("/garden/.trash/old.md", True),
        ("/garden/x.md/inner.md", True),
        ("/garden/.md", False),
        ("/garden/a.markdown", False),
        ("/readme.md", False),
        ("/all/x.md", False),
    ],
)
def test_notes_are_markdown_files_inside_workspaces(path_lower: str, is_note: bool) -> None:
    assert is_note_path(path_lower) is is_note
