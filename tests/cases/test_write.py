"""Writes on which tools like this one have failed: equal bytes passed for success, a deleted file
came back, a path led out of its workspace, a name was decoded.
"""

from functools import partial

import pytest

from tests.acceptance.box import Box

EXISTS = " already exists. To replace it, pass its current rev as expected_rev."
NOTHING = " Nothing was written."


def existing(path: str, workspace: str = "garden") -> str:
    return f'The file "{path}" in workspace "{workspace}"{EXISTS}'


def not_allowed(path: str, reason: str) -> str:
    return (
        f'path "{path}" is not allowed: {reason}. '
        f'Give the path inside the workspace, such as "beds/plan.md".{NOTHING}'
    )


@pytest.mark.parametrize(
    ("workspace", "path", "text"),
    [
        pytest.param("garden", "tomatoes.md", "same\n", id="W02: the very same text"),
        pytest.param("garden", "Tomatoes.md", "y\n", id="W07: a name in another case"),
        pytest.param("Garden", "tomatoes.md", "y\n", id="W08: a workspace in another case"),
    ],
)
def test_a_file_that_exists_is_not_made_again(
    box: Box, workspace: str, path: str, text: str
) -> None:
    box.dropbox.put("/garden/tomatoes.md", "same\n")

    assert box.refuses("write", workspace=workspace, path=path, text=text) == existing(
        path, workspace
    )
    assert box.dropbox.files() == {"/garden/tomatoes.md": b"same\n"}


def test_w03_an_old_rev_is_refused_even_with_the_stored_text(box: Box) -> None:
    old = box.dropbox.put("/garden/a.md", "v1\n").rev
    box.says("append", workspace="garden", path="a.md", text="v2\n")

    refusal = box.refuses(
        "write", workspace="garden", path="a.md", text="v1\nv2\n", expected_rev=old
    )

    assert refusal == (
        f'The file "a.md" in workspace "garden" is at rev "{box.rev("/garden/a.md")}", '
        f'not "{old}". It changed since you read it. Nothing was written.'
    )


def test_w04_a_file_that_was_deleted_since_it_was_read_does_not_come_back(box: Box) -> None:
    old = box.dropbox.put("/garden/a.md", "v1\n").rev
    box.dropbox.delete("/garden/a.md")

    refusal = box.refuses("write", workspace="garden", path="a.md", text="v2\n", expected_rev=old)

    assert refusal == (
        'The file "a.md" in workspace "garden" does not exist. '
        f"To create it, call write without expected_rev.{NOTHING}"
    )
    assert box.dropbox.files() == {}


def test_w06_of_two_that_make_a_file_with_the_same_text_exactly_one_wins(box: Box) -> None:
    results = box.together(
        *[partial(box.call, "write", workspace="garden", path="log.md", text="one\n")] * 2
    )

    assert sorted(result.texts[0] for result in results) == [
        existing("log.md"),
        f"rev: {box.rev('/garden/log.md')}\nIndexed for search.",
    ]
    assert box.dropbox.files() == {"/garden/log.md": b"one\n"}


def test_w10_an_empty_file_is_written_and_needs_no_embedding(box: Box) -> None:
    assert box.says("write", workspace="garden", path="e.md", text="") == (
        f"rev: {box.rev('/garden/e.md')}\nNot indexed for search: the file has no text."
    )
    assert box.dropbox.files() == {"/garden/e.md": b""}
    assert box.embeddings.received.requests == 0


def test_w12_front_matter_is_neither_added_nor_read(box: Box) -> None:
    text = "---\ntitle: x\n---\nbody\n"

    box.says("write", workspace="garden", path="m.md", text=text)

    assert box.dropbox.files() == {"/garden/m.md": text.encode()}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        pytest.param(path, not_allowed(shown, reason), id=case)
        for case, path, shown, reason in [
            ("W13a", "../work/x.md", "../work/x.md", 'it has a "." or ".." part'),
            ("W13b", "..", "..", 'it has a "." or ".." part'),
            ("W13c", "beds/../../work/x.md", "beds/../../work/x.md", 'it has a "." or ".." part'),
            ("W13d", "/garden/x.md", "/garden/x.md", 'it starts with "/"'),
            ("W13e", "beds//x.md", "beds//x.md", "it has an empty part"),
            ("W13f", "./x.md", "./x.md", 'it has a "." or ".." part'),
            ("W13g", "beds\\x.md", "beds\\x.md", "it has a backslash"),
            ("W13h", "x.md\0.txt", "x.md\\u0000.txt", "it has a control character"),
            ("W13i", "x\ny.md", "x\\u000ay.md", "it has a control character"),
            ("W13j", "", "", "it is empty"),
            ("W13k", ".md", ".md", "it has no name before .md"),
            ("W13l", "beds/.md", "beds/.md", "it has no name before .md"),
            ("W13m", "x.txt", "x.txt", "it does not end in .md"),
            ("W13n", "x.md/", "x.md/", 'it ends with "/"'),
            ("W13p", " x.md", " x.md", "a name in it starts or ends with a space"),
            ("W13q", "x.md ", "x.md ", "it does not end in .md"),
            ("W13r", "beds./x.md", "beds./x.md", "a folder in it ends with a dot"),
            ("W13s", "id:abc", "id:abc", "it does not end in .md"),
            ("W13t", "rev:0165f1c6d7426cd", "rev:0165f1c6d7426cd", "it does not end in .md"),
        ]
    ],
)
def test_a_path_that_is_none_is_refused_in_words(box: Box, path: str, says: str) -> None:
    box.dropbox.put("/work/x.md", "secret\n")

    assert box.refuses("write", workspace="garden", path=path, text="pwn\n") == says
    assert box.dropbox.files() == {"/work/x.md": b"secret\n"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("..%2fwork%2fx.md", id="W13o: encoded dots and slashes"),
        pytest.param("ns:123/x.md", id="W13u: the form of a namespace"),
    ],
)
def test_a_path_that_only_looks_dangerous_is_a_literal_name(box: Box, path: str) -> None:
    box.dropbox.put("/work/x.md", "secret\n")

    box.says("write", workspace="garden", path=path, text="x\n")

    assert box.dropbox.files() == {"/work/x.md": b"secret\n", f"/garden/{path}": b"x\n"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("café.md", id="W16: Latin"),
        pytest.param("トマト.md", id="W16: Japanese"),
        pytest.param("грядка/план.md", id="W16: Cyrillic"),
        pytest.param("גינה.md", id="W16: Hebrew"),
        pytest.param("🗂️ hub.md", id="W17: an emoji"),
    ],
)
def test_a_name_of_any_script_is_kept(box: Box, path: str) -> None:
    box.says("write", workspace="garden", path=path, text="x\n")

    assert box.dropbox.files() == {f"/garden/{path}": b"x\n"}


def test_w17_a_dropbox_that_takes_no_emoji_is_answered_for_in_one_sentence(box: Box) -> None:
    box.dropbox.set(emoji_allowed=False)

    assert box.refuses("write", workspace="garden", path="🗂️ hub.md", text="x\n") == (
        f'Dropbox does not take the name "🗂️ hub.md". Choose another name.{NOTHING}'
    )


def test_w18_two_unicode_forms_of_a_name_are_one_file(box: Box) -> None:
    decomposed = "cafe\N{COMBINING ACUTE ACCENT}.md"
    box.says("write", workspace="garden", path="café.md", text="nfc\n")

    assert box.refuses("write", workspace="garden", path=decomposed, text="nfd\n") == existing(
        decomposed
    )
    assert box.dropbox.files() == {"/garden/café.md": b"nfc\n"}
