"""write: makes a file or replaces a whole one, never what the caller has not seen."""

from functools import partial

import pytest

from local.dropbox.knobs import SameBytes
from tests.acceptance.box import Box
from tests.acceptance.notes import T45, T71
from tests.cases.notes import ODD_TEXTS

TOMATOES = {"workspace": "garden", "path": "tomatoes.md"}
EXISTS = (
    'The file "tomatoes.md" in workspace "garden" already exists. '
    "To replace it, pass its current rev as expected_rev."
)
GONE = (
    'The file "tomatoes.md" in workspace "garden" does not exist. '
    "To create it, call write without expected_rev. Nothing was written."
)


def changed(box: Box, expected: str) -> str:
    return (
        f'The file "tomatoes.md" in workspace "garden" is at rev '
        f'"{box.rev("/garden/tomatoes.md")}", not "{expected}". '
        "It changed since you read it. Nothing was written."
    )


@pytest.mark.promise("P-033", "P-038", "T-06", "L-1")
@pytest.mark.parametrize("rest", [{}, {"expected_rev": None, "command_id": None}])
def test_write_without_a_rev_makes_the_file(box: Box, rest: dict[str, object]) -> None:
    answer = box.says("write", **TOMATOES, text=T45, **rest)

    assert answer == f"rev: {box.rev('/garden/tomatoes.md')}\nIndexed for search."
    assert box.dropbox.files() == {"/garden/tomatoes.md": T45.encode()}


@pytest.mark.promise("P-033", "P-039", "T-02")
@pytest.mark.parametrize("text", [T45, "something else\n", ""])
def test_write_without_a_rev_refuses_a_file_that_exists_even_with_the_same_text(
    box: Box, text: str
) -> None:
    box.dropbox.put("/garden/tomatoes.md", T45)

    assert box.refuses("write", **TOMATOES, text=text) == EXISTS


@pytest.mark.promise("P-033", "P-039", "T-02")
@pytest.mark.parametrize("path", ["Tomatoes.md", "TOMATOES.MD"])
@pytest.mark.parametrize("workspace", ["garden", "Garden"])
def test_a_name_in_another_letter_case_is_the_same_file(
    box: Box, workspace: str, path: str
) -> None:
    box.dropbox.put("/garden/tomatoes.md", T45)

    assert box.refuses("write", workspace=workspace, path=path, text="x") == (
        f'The file "{path}" in workspace "{workspace}" already exists. '
        "To replace it, pass its current rev as expected_rev."
    )


@pytest.mark.promise("P-033", "T-02")
def test_of_two_creators_at_once_exactly_one_wins(box: Box) -> None:
    results = box.together(
        *[partial(box.call, "write", **TOMATOES, text="one\n") for _ in range(2)]
    )

    assert sorted(result.texts[0] for result in results) == [
        EXISTS,
        f"rev: {box.rev('/garden/tomatoes.md')}\nIndexed for search.",
    ]
    assert box.dropbox.files() == {"/garden/tomatoes.md": b"one\n"}


@pytest.mark.promise("P-034", "P-015", "T-06")
def test_write_with_the_current_rev_replaces_the_whole_file(box: Box) -> None:
    first = box.dropbox.put("/garden/tomatoes.md", T71)
    text = T45.replace("6", "8")

    answer = box.says("write", **TOMATOES, text=text, expected_rev=first.rev)

    assert box.rev("/garden/tomatoes.md") != first.rev
    assert answer == f"rev: {box.rev('/garden/tomatoes.md')}\nIndexed for search."
    assert box.dropbox.files() == {"/garden/tomatoes.md": text.encode()}


@pytest.mark.promise("P-016", "P-034", "P-050", "T-03")
@pytest.mark.parametrize("text", ["mine\n", "theirs\n", "before\n"])
def test_write_with_an_old_rev_is_refused_even_if_the_text_is_the_stored_one(
    box: Box, text: str
) -> None:
    old = box.dropbox.put("/garden/tomatoes.md", "before\n").rev
    box.dropbox.put("/garden/tomatoes.md", "theirs\n")

    refusal = box.refuses("write", **TOMATOES, text=text, expected_rev=old)

    assert refusal == changed(box, old)


@pytest.mark.promise("P-016", "T-04")
def test_a_file_that_was_deleted_stays_deleted(box: Box) -> None:
    old = box.dropbox.put("/garden/tomatoes.md", T45).rev
    box.dropbox.delete("/garden/tomatoes.md")

    assert box.refuses("write", **TOMATOES, text=T71, expected_rev=old) == GONE
    assert box.dropbox.files() == {}


@pytest.mark.promise("P-016")
def test_of_two_replacements_of_one_rev_one_wins(box: Box) -> None:
    old = box.dropbox.put("/garden/tomatoes.md", T45).rev

    results = box.together(
        *[
            partial(box.call, "write", **TOMATOES, text=text, expected_rev=old)
            for text in ("one\n", "two\n")
        ]
    )

    assert sorted(result.texts[0] for result in results) == [
        changed(box, old),
        f"rev: {box.rev('/garden/tomatoes.md')}\nIndexed for search.",
    ]


@pytest.mark.promise("P-035", "P-005")
def test_missing_folders_are_made_to_any_depth(box: Box) -> None:
    box.says("write", workspace="garden", path="beds/deep/er/plan.md", text="peas\n")

    assert box.dropbox.files() == {"/garden/beds/deep/er/plan.md": b"peas\n"}


@pytest.mark.promise("P-035", "T-32")
@pytest.mark.parametrize("expected_rev", [None, "0165f1c6d7426cd000000033b284821"])
def test_a_folder_with_the_name_of_the_file_is_in_the_way(
    box: Box, expected_rev: str | None
) -> None:
    box.dropbox.make_folder("/garden/plan.md")

    assert box.refuses(
        "write", workspace="garden", path="plan.md", text="x", expected_rev=expected_rev
    ) == (
        'A folder is at "plan.md" in workspace "garden". Choose another name. Nothing was written.'
    )


@pytest.mark.promise("P-035", "T-33")
@pytest.mark.parametrize("tool", ["write", "append"])
def test_a_file_where_a_folder_is_needed_is_in_the_way(box: Box, tool: str) -> None:
    box.dropbox.put("/garden/beds/plan.md", "x")

    assert box.refuses(tool, workspace="garden", path="beds/plan.md/a/b.md", text="x") == (
        '"beds/plan.md" in workspace "garden" is a file, so it cannot hold "beds/plan.md/a/b.md". '
        "Choose another name. Nothing was written."
    )


@pytest.mark.promise("P-036", "P-015")
@pytest.mark.parametrize("manner", SameBytes)
def test_writing_what_is_stored_answers_the_same_rev_and_uploads_nothing(
    box: Box, manner: SameBytes
) -> None:
    rev = box.dropbox.put("/garden/tomatoes.md", T71).rev
    box.dropbox.set(same_bytes_update=manner)

    answer = box.says("write", **TOMATOES, text=T71, expected_rev=rev)

    assert answer == f"rev: {rev}\nIndexed for search."
    assert box.rev("/garden/tomatoes.md") == rev
    assert box.calls_of_dropbox("files/upload") == 0


@pytest.mark.promise("P-037", "P-201")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello\nworld",
        "hello\\nworld",
        "---\ntitle: x\n---\nbody\n",
        "&lt;b&gt; &amp; %20 \\u00e9",
        "cafe\N{COMBINING ACUTE ACCENT} and café",
        "\N{ZERO WIDTH NO-BREAK SPACE}bom\r\nlines\rof\nall kinds\0\x1b[31m",
        "🍅 \N{ZERO WIDTH JOINER}",
    ],
)
def test_the_stored_bytes_are_the_text_and_nothing_else(box: Box, text: str) -> None:
    box.says("write", **TOMATOES, text=text)

    assert box.dropbox.files() == {"/garden/tomatoes.md": text.encode()}


@pytest.mark.promise("P-201")
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_odd_texts_are_written_byte_for_byte(box: Box, name: str) -> None:
    box.says("write", **TOMATOES, text=ODD_TEXTS[name].decode())

    assert box.dropbox.read("/garden/tomatoes.md") == ODD_TEXTS[name]


@pytest.mark.promise("P-034", "T-26")
def test_a_file_that_is_no_text_can_be_replaced_whole(box: Box) -> None:
    rev = box.dropbox.put("/garden/tomatoes.md", b"\xff\xfe").rev

    box.says("write", **TOMATOES, text=T45, expected_rev=rev)

    assert box.dropbox.read("/garden/tomatoes.md") == T45.encode()


@pytest.mark.promise("T-34b")
def test_a_full_dropbox_is_named(box: Box) -> None:
    box.dropbox.set(space=10)

    assert box.refuses("write", **TOMATOES, text=T45) == (
        "This Dropbox is full. Free some space and try again. Nothing was written."
    )
