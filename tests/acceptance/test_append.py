"""append: adds to the end of a note, whoever else writes."""

from functools import partial

import pytest

from local.dropbox.faults import Effect, Fault
from tests.acceptance.box import Box
from tests.acceptance.notes import FRUIT, T45, T71
from tests.cases.notes import ODD_TEXTS

TOMATOES = {"workspace": "garden", "path": "tomatoes.md"}


@pytest.mark.promise("P-040", "P-045", "T-06", "L-1")
def test_append_adds_right_behind_the_last_character(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", T45)

    answer = box.says("append", **TOMATOES, text=FRUIT)

    assert answer == f"rev: {box.rev('/garden/tomatoes.md')}\nIndexed for search."
    assert box.dropbox.files() == {"/garden/tomatoes.md": T71.encode()}


@pytest.mark.promise("P-040", "P-201")
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_whatever_a_file_ends_in_its_bytes_stay_and_nothing_comes_between(
    box: Box, name: str
) -> None:
    box.dropbox.put("/garden/tomatoes.md", ODD_TEXTS[name])

    box.says("append", **TOMATOES, text="- cheese\n")

    assert box.dropbox.read("/garden/tomatoes.md") == ODD_TEXTS[name] + b"- cheese\n"


@pytest.mark.promise("P-041")
def test_the_description_tells_to_start_with_a_newline(box: Box) -> None:
    tools = {shown["name"]: shown for shown in box.request("tools/list", {})["tools"]}

    assert tools["append"]["inputSchema"]["properties"]["text"]["description"] == (
        "The text to add. Start it with a newline for a new line, and with a blank line for a new "
        "block: most files do not end in a newline, and none is added."
    )


@pytest.mark.promise("P-042", "P-035")
def test_append_makes_a_missing_file_and_its_folders(box: Box) -> None:
    answer = box.says("append", workspace="garden", path="beds/deep/plan.md", text="peas\n")

    assert answer == f"rev: {box.rev('/garden/beds/deep/plan.md')}\nIndexed for search."
    assert box.dropbox.files() == {"/garden/beds/deep/plan.md": b"peas\n"}


@pytest.mark.promise("P-042")
def test_two_appends_at_once_to_a_missing_file_are_both_in_it(box: Box) -> None:
    box.together(
        *[partial(box.says, "append", **TOMATOES, text=text) for text in ("one\n", "two\n")]
    )

    assert box.dropbox.read("/garden/tomatoes.md") in {b"one\ntwo\n", b"two\none\n"}


@pytest.mark.promise("P-043", "P-202")
def test_appends_at_once_all_succeed_and_none_is_lost(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", T45)
    texts = [f"- entry {number}\n" for number in range(5)]

    results = box.together(*[partial(box.call, "append", **TOMATOES, text=text) for text in texts])

    assert [result.is_error for result in results] == [False] * 5
    stored = box.dropbox.read("/garden/tomatoes.md").decode()
    assert stored.startswith(T45)
    assert sorted(stored.removeprefix(T45).splitlines(keepends=True)) == texts


@pytest.mark.promise("P-043", "T-21")
def test_append_takes_no_rev(box: Box) -> None:
    refusal = box.refuses(
        "append", **TOMATOES, text="x", expected_rev="0165f1c6d7426cd000000033b284821"
    )

    assert refusal == (
        'append does not know the argument "expected_rev". '
        "It takes workspace, path, text, command_id. Nothing was written."
    )


@pytest.mark.promise("P-044", "P-015")
def test_to_add_nothing_writes_nothing(box: Box) -> None:
    rev = box.dropbox.put("/garden/tomatoes.md", T45).rev

    answer = box.says("append", **TOMATOES, text="")

    assert answer == f"rev: {rev}\nIndexed for search."
    assert box.calls_of_dropbox("files/upload") == 0


@pytest.mark.promise("P-044", "L-5")
def test_to_add_nothing_to_a_missing_file_makes_an_empty_one(box: Box) -> None:
    answer = box.says("append", **TOMATOES, text="")

    assert answer == (
        f"rev: {box.rev('/garden/tomatoes.md')}\nNot indexed for search: the file has no text."
    )
    assert box.dropbox.files() == {"/garden/tomatoes.md": b""}


@pytest.mark.promise("P-044", "P-203")
def test_the_same_append_twice_is_there_twice(box: Box) -> None:
    for _ in range(2):
        box.says("append", **TOMATOES, text="- paid 40\n")

    assert box.dropbox.read("/garden/tomatoes.md") == b"- paid 40\n- paid 40\n"


@pytest.mark.promise("P-044", "T-26")
def test_nothing_is_added_to_what_is_no_text(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", b"caf\xe9")

    assert box.refuses("append", **TOMATOES, text="x") == (
        'The file "tomatoes.md" in workspace "garden" is not UTF-8 text, '
        "so it cannot be changed here. Nothing was written."
    )
    assert box.dropbox.read("/garden/tomatoes.md") == b"caf\xe9"


@pytest.mark.promise("P-040", "P-031")
def test_append_finds_the_file_in_another_letter_case(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", "x\n")

    box.says("append", workspace="Garden", path="TOMATOES.md", text="y\n")

    assert box.dropbox.files() == {"/garden/tomatoes.md": b"x\ny\n"}


@pytest.mark.promise("T-32")
def test_append_does_not_take_a_folder_for_a_file(box: Box) -> None:
    box.dropbox.make_folder("/garden/plan.md")

    assert box.refuses("append", workspace="garden", path="plan.md", text="x") == (
        'A folder is at "plan.md" in workspace "garden". Choose another name. Nothing was written.'
    )


@pytest.mark.promise("P-110", "T-25b")
def test_append_does_not_change_a_file_over_ten_million_bytes(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", b"a" * 10_000_001)

    assert box.refuses("append", **TOMATOES, text="x") == (
        'The file "tomatoes.md" in workspace "garden" has 10000001 bytes; '
        "files over 10,000,000 bytes cannot be changed here. Nothing was written."
    )


@pytest.mark.promise("P-110", "P-068", "L-3")
def test_append_changes_a_file_of_ten_million_bytes(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", b"a" * 9_999_999)

    assert box.says("append", **TOMATOES, text="x") == (
        f"rev: {box.rev('/garden/tomatoes.md')}\n"
        "Not indexed for search: the file is over 1,000,000 bytes."
    )


@pytest.mark.promise("P-204", "P-043")
@pytest.mark.parametrize("effect", [Effect.LOST_RESPONSE, Effect.LOST_REQUEST, Effect.HALF_ANSWER])
def test_an_upload_whose_answer_is_lost_is_neither_lost_nor_doubled(
    box: Box, effect: Effect
) -> None:
    box.dropbox.put("/garden/tomatoes.md", T45)
    box.breaks(Fault("files/upload", effect))

    answer = box.says("append", **TOMATOES, text=FRUIT)

    assert answer == f"rev: {box.rev('/garden/tomatoes.md')}\nIndexed for search."
    assert box.dropbox.read("/garden/tomatoes.md") == T71.encode()
