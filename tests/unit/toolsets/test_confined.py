"""Tools that may be used in some workspaces only."""

import pytest

from memorybox.mcp.toolset import ToolResult
from memorybox.toolsets.catalogue import MEMORY
from memorybox.toolsets.confined import ConfinedTools

DONE = ToolResult(("done",))
TOOLS = ConfinedTools(MEMORY, ("garden", "Café"), lambda _name, _arguments: DONE)
REFUSAL = 'This connection may use these workspaces only: "garden", "Café". Name one of them.'


@pytest.mark.parametrize("workspace", ["garden", "GARDEN", "Café", "Cafe\u0301"])
def test_a_named_workspace_is_open_in_every_spelling_of_dropbox(workspace: str) -> None:
    assert TOOLS.call("read", {"workspace": workspace}) == DONE


@pytest.mark.parametrize(
    "workspace", ["work", "all", "ALL", "garden/beds", "", "gardens", "gard\u212bn", "garden "]
)
@pytest.mark.parametrize("tool", ["list", "read", "search"])
def test_every_other_one_is_refused_and_so_is_all(tool: str, workspace: str) -> None:
    assert TOOLS.call(tool, {"workspace": workspace}) == ToolResult((REFUSAL,), is_error=True)


@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_writer_says_that_nothing_was_written(tool: str) -> None:
    result = TOOLS.call(tool, {"workspace": "work"})

    assert result.texts == (f"{REFUSAL} Nothing was written.",)


def test_a_call_that_names_none_is_left_to_the_tool_which_refuses_it() -> None:
    assert TOOLS.call("read", {}) == DONE


def test_letters_that_only_python_takes_for_the_same_open_nothing() -> None:
    tools = ConfinedTools(MEMORY, ("strasse", "s"), lambda _name, _arguments: DONE)

    assert tools.call("read", {"workspace": "straße"}).is_error
    assert tools.call("read", {"workspace": "\u017f"}).is_error  # a long s
