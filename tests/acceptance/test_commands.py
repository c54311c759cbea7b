"""A call that is sent again."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial

import pytest

from memorybox.mcp.toolset import ToolResult
from tests.acceptance.box import Box
from tests.acceptance.inside import InsideBox
from tests.acceptance.notes import FRUIT, T45, T71

TOMATOES = {"workspace": "garden", "path": "tomatoes.md"}
RUNNING = "The same command is still running. Try again in a few seconds. Nothing was written."


class Crash(BaseException):
    """The function ends in the middle of a call."""


def change(box: Box, tool: str) -> Mapping[str, object]:
    """The arguments of a change, after which the note reads T71."""
    if tool == "write":
        return {**TOMATOES, "text": T71}
    rev = box.dropbox.put("/garden/tomatoes.md", T45).rev
    if tool == "append":
        return {**TOMATOES, "text": FRUIT}
    edits = [{"old_text": "May.\n", "new_text": f"May.\n{FRUIT}"}]
    return {**TOMATOES, "edits": edits, "expected_rev": rev}


@pytest.mark.promise("P-203")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_repeat_gives_the_first_answer_word_for_word_and_changes_nothing(
    box: Box, tool: str
) -> None:
    call = partial(box.says, tool, **change(box, tool), command_id="once")

    first = call()
    box.dropbox.put("/garden/tomatoes.md", "changed since\n")

    assert call() == first
    assert first.endswith("\nIndexed for search.")
    assert box.dropbox.read("/garden/tomatoes.md") == b"changed since\n"
    assert box.calls_of_dropbox("files/upload") == 1


@pytest.mark.promise("P-203")
def test_null_and_absent_are_the_same_arguments(box: Box) -> None:
    first = box.says("write", **TOMATOES, text=T45, command_id="once")

    assert box.says("write", **TOMATOES, text=T45, command_id="once", expected_rev=None) == first


@pytest.mark.promise("P-203", "T-43")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_the_same_id_with_other_arguments_is_refused(box: Box, tool: str) -> None:
    arguments = change(box, tool)
    box.says(tool, **arguments, command_id="once")

    assert box.refuses(tool, **{**arguments, "workspace": "Garden"}, command_id="once") == (
        'command_id "once" was used before with other arguments. Use a new one. '
        "Nothing was written."
    )


@pytest.mark.promise("P-203")
def test_another_tool_may_use_the_same_id(box: Box) -> None:
    box.says("write", **TOMATOES, text=T45, command_id="once")
    box.says("append", **TOMATOES, text=FRUIT, command_id="once")

    assert box.dropbox.read("/garden/tomatoes.md") == T71.encode()


@pytest.mark.promise("P-203", "T-43")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_repeat_while_the_first_call_runs_is_told_to_wait(inside: InsideBox, tool: str) -> None:
    call = partial(inside.call, tool, **change(inside, tool), command_id="once")
    meanwhile: list[ToolResult] = []

    def at_the_upload() -> Iterator[None]:
        yield  # the first call begins
        inside.step = lambda: None
        meanwhile.append(call())
        yield
        yield  # its result is kept

    steps = at_the_upload()
    inside.step = lambda: next(steps)

    assert not call().is_error
    assert meanwhile == [ToolResult((RUNNING,), is_error=True)]
    assert inside.dropbox.read("/garden/tomatoes.md") == T71.encode()


@pytest.mark.promise("P-203")
def test_a_failure_is_not_kept(box: Box) -> None:
    box.dropbox.make_folder("/garden/tomatoes.md")
    call = partial(box.call, "write", **TOMATOES, text=T45, command_id="once")

    failed = call()
    box.dropbox.delete("/garden/tomatoes.md")

    assert failed.is_error
    assert not call().is_error
    assert box.dropbox.files() == {"/garden/tomatoes.md": T45.encode()}


@pytest.mark.promise("P-203")
def test_a_result_is_kept_for_24_hours(inside: InsideBox) -> None:
    call = partial(inside.says, "append", **TOMATOES, text=FRUIT, command_id="once")
    first = call()

    inside.clock.advance(timedelta(hours=23, minutes=59).total_seconds())

    assert call() == first
    assert inside.dropbox.read("/garden/tomatoes.md") == FRUIT.encode()


@pytest.mark.promise("P-203", "P-204")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_repeat_of_a_call_that_vanished_after_its_upload_finds_the_upload(
    inside: InsideBox, tool: str
) -> None:
    call = partial(inside.says, tool, **change(inside, tool), command_id="once")

    def after_the_upload() -> Iterator[None]:
        yield  # the call begins
        yield  # its upload begins
        raise Crash

    steps = after_the_upload()
    inside.step = lambda: next(steps)
    with pytest.raises(Crash):
        call()
    inside.step = lambda: None
    inside.clock.advance(inside.seconds + 5)
    rev = inside.rev("/garden/tomatoes.md")

    assert call() == f"rev: {rev}\nIndexed for search."
    assert inside.dropbox.read("/garden/tomatoes.md") == T71.encode()
    assert inside.rev("/garden/tomatoes.md") == rev


@pytest.mark.promise("P-203")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_repeat_of_a_call_that_vanished_before_its_upload_makes_the_change(
    inside: InsideBox, tool: str
) -> None:
    call = partial(inside.says, tool, **change(inside, tool), command_id="once")

    def before_the_upload() -> Iterator[None]:
        yield  # the call begins
        raise Crash

    steps = before_the_upload()
    inside.step = lambda: next(steps)
    with pytest.raises(Crash):
        call()
    inside.step = lambda: None
    inside.clock.advance(inside.seconds + 5)

    assert call().endswith("\nIndexed for search.")
    assert inside.dropbox.read("/garden/tomatoes.md") == T71.encode()
    assert inside.calls_of_dropbox("files/upload") == 1
