"""Tools as data."""

import json

from memorybox.mcp.toolset import Tool, ToolResult, Toolset


def _tool(name: str, scope: str) -> Tool:
    return Tool(
        name=name,
        title=name.title(),
        description=f"About {name}.",
        input_schema={"type": "object"},
        scope=scope,
        read_only=scope == "read",
        destructive=scope == "write",
        idempotent=True,
    )


def _toolset() -> Toolset:
    tools = (_tool("look", "read"), _tool("put", "write"), _tool("find", "read"))
    return Toolset("box", "Box", "1.0.0", "Use it.", tools)


def test_a_tool_is_shown_with_its_title_twice_and_all_four_hints_in_a_fixed_order() -> None:
    assert json.dumps(_tool("put", "write").describe()) == (
        '{"name": "put", "title": "Put", "description": "About put.", '
        '"inputSchema": {"type": "object"}, '
        '"annotations": {"title": "Put", "readOnlyHint": false, "destructiveHint": true, '
        '"idempotentHint": true, "openWorldHint": false}}'
    )


def test_meta_of_a_tool_comes_last() -> None:
    tool = Tool(
        name="read",
        title="Read",
        description="Reads.",
        input_schema={"type": "object"},
        scope="read",
        read_only=True,
        destructive=False,
        idempotent=True,
        meta={"anthropic/maxResultSizeChars": 500_000},
    )

    assert list(tool.describe().items())[-1] == ("_meta", {"anthropic/maxResultSizeChars": 500_000})


def test_a_result_is_one_block_for_each_text_even_an_empty_one() -> None:
    assert ToolResult(("rev: 1", "")).describe() == {
        "content": [{"type": "text", "text": "rev: 1"}, {"type": "text", "text": ""}],
        "isError": False,
    }


def test_only_tools_within_the_scopes_are_visible_in_their_order() -> None:
    toolset = _toolset()

    assert [
        [tool.name for tool in toolset.visible(frozenset(scopes))]
        for scopes in ((), ("read",), ("write",), ("write", "read"), ("admin",))
    ] == [[], ["look", "find"], ["put"], ["look", "put", "find"], []]


def test_a_tool_is_found_by_its_exact_name() -> None:
    toolset = _toolset()

    assert [toolset.find(name) for name in ("put", "Put", "")] == [toolset.tools[1], None, None]
