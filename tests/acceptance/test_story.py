"""The story of a note, and the examples that a model and the documentation are shown."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from memorybox.mcp.toolset import Example
from memorybox.toolsets.catalogue import MEMORY
from tests.acceptance.box import Box
from tests.acceptance.inside import InsideBox
from tests.acceptance.notes import FRUIT, T45, T71

TOMATOES = {"workspace": "garden", "path": "tomatoes.md"}
A, B, C = (
    "0165f1c6d7426cd000000033b284821",
    "0165f1c6dcfb473000000033b284821",
    "0165f1c6e1a5ff2000000033b284821",
)
STORED_BEFORE: Mapping[tuple[str, int], Sequence[tuple[str, str]]] = {
    ("read", 0): [(B, T71)],
    ("write", 0): [],
    ("write", 1): [(A, T45)],
    ("write", 2): [(A, T45)],
    ("append", 0): [(A, T45)],
    ("patch", 0): [(B, T71)],
    ("patch", 1): [(B, T71), (C, T71.replace("6", "8"))],
}
"""What the note holds before each example, with the revs that the examples make up."""


@pytest.mark.promise("P-015", "P-033", "P-034", "P-040", "P-049", "P-050", "P-055", "T-02", "T-03")
def test_the_story_of_a_note(box: Box) -> None:
    def changed(current: str, expected: str) -> str:
        return (
            f'The file "tomatoes.md" in workspace "garden" is at rev "{current}", '
            f'not "{expected}". It changed since you read it. Nothing was written.'
        )

    edits = [{"old_text": "6 seedlings", "new_text": "8 seedlings"}]

    first = box.says("write", **TOMATOES, text=T45)
    a = box.rev("/garden/tomatoes.md")
    assert first == f"rev: {a}\nIndexed for search."
    assert box.refuses("write", **TOMATOES, text=T45) == (
        'The file "tomatoes.md" in workspace "garden" already exists. '
        "To replace it, pass its current rev as expected_rev."
    )

    second = box.says("append", **TOMATOES, text=FRUIT)
    b = box.rev("/garden/tomatoes.md")
    assert second == f"rev: {b}\nIndexed for search."
    assert '"path":"tomatoes.md","size":71,' in box.says("list", workspace="garden")
    assert box.call("read", **TOMATOES).texts == (f"rev: {b}\nsize: 71 bytes", T71)

    third = box.says("patch", **TOMATOES, edits=edits, expected_rev=b)
    c = box.rev("/garden/tomatoes.md")
    assert third == f"rev: {c}\nIndexed for search."
    assert box.refuses("patch", **TOMATOES, edits=edits, expected_rev=b) == changed(c, b)
    assert box.refuses("write", **TOMATOES, text=T45, expected_rev=a) == changed(c, a)

    assert len({a, b, c}) == 3
    assert box.dropbox.files() == {"/garden/tomatoes.md": T71.replace("6", "8").encode()}
    assert box.says("search", workspace="garden", query="when did the tomatoes fruit").startswith(
        "1. garden/tomatoes.md  score 0."
    )


def _examples(*tools: str) -> list[tuple[str, int, Example]]:
    return [
        (tool.name, number, example)
        for tool in MEMORY.tools
        if tool.name in tools
        for number, example in enumerate(tool.examples)
    ]


@pytest.mark.promise("P-001")
@pytest.mark.parametrize(
    ("tool", "number", "example"), _examples("read", "write", "append", "patch")
)
def test_the_examples_for_one_file_are_what_the_product_answers(
    box: Box, tool: str, number: int, example: Example
) -> None:
    real: dict[str, str] = {}
    for rev, text in STORED_BEFORE[tool, number]:
        real[rev] = box.dropbox.put("/garden/tomatoes.md", text).rev
    arguments = dict(example.arguments)
    if "expected_rev" in arguments:
        arguments["expected_rev"] = real[str(arguments["expected_rev"])]

    result = box.call(tool, **arguments)

    made_up = {value: name for name, value in real.items()}
    new = example.result.texts[0].splitlines()[0].removeprefix("rev: ")
    made_up.setdefault(box.rev("/garden/tomatoes.md"), new)
    assert result.is_error == example.result.is_error
    assert tuple(_replaced(text, made_up) for text in result.texts) == example.result.texts


@pytest.mark.promise("P-001", "E1", "E2")
@pytest.mark.parametrize(("tool", "number", "example"), _examples("list"))
def test_the_examples_of_list_are_what_the_product_answers(
    box: Box, tool: str, number: int, example: Example
) -> None:
    for moment, location, size in [
        (datetime(2026, 10, 29, 18, 2, 11, tzinfo=UTC), "/garden/beds/plan.md", 240),
        (datetime(2026, 10, 30, 22, 40, 57, tzinfo=UTC), "/work/projects/search.md", 1803),
        (datetime(2026, 10, 31, 5, 46, 6, tzinfo=UTC), "/garden/tomatoes.md", 71),
    ]:
        box.time_is(moment)
        box.dropbox.put(location, "x" * size)

    assert box.call(tool, **example.arguments) == example.result


@pytest.mark.promise("P-001", "E3")
@pytest.mark.parametrize(("tool", "number", "example"), _examples("search"))
def test_the_example_of_search_is_what_the_product_answers(
    inside: InsideBox, tool: str, number: int, example: Example
) -> None:
    inside.weight = 0.0
    inside.model.chosen[str(example.arguments["query"])] = [1.0]
    for path, cosine in [("tomatoes", 0.684), ("beds/plan", 0.412), ("journal", 0.205)]:
        inside.dropbox.put(f"/garden/{path}.md", path)
        inside.model.chosen[path] = [cosine, (1 - cosine**2) ** 0.5]

    assert inside.call(tool, **example.arguments) == example.result


def _replaced(text: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text
