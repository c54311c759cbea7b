"""Tools that are called too often."""

import pytest

from memorybox.accounts.rates import MINUTE, Allowance, LocalBuckets, Rate
from memorybox.mcp.toolset import ToolResult
from memorybox.toolsets.catalogue import MEMORY
from memorybox.toolsets.limits import ANY, LimitedTools
from tests.fakes.clock import FakeClock

DONE = ToolResult(("done",))


def limited(clock: FakeClock) -> LimitedTools:
    rates = {ANY: Rate(60, MINUTE), "search": Rate(20, MINUTE)}
    allowance = Allowance("alice", rates, LocalBuckets(clock), LocalBuckets(clock))
    return LimitedTools(MEMORY, allowance, lambda _name, _arguments: DONE)


@pytest.mark.promise("T-42b")
@pytest.mark.requirement("M11")
@pytest.mark.parametrize(("tool", "most"), [("read", 60), ("search", 20)])
def test_a_tool_may_be_called_so_often_a_minute(tool: str, most: int) -> None:
    clock = FakeClock()
    tools = limited(clock)

    results = [tools.call(tool, {}) for _ in range(most + 1)]
    clock.sleep(60)

    assert results[:-1] == [DONE] * most
    wait = 120 // most
    assert results[-1] == ToolResult(
        (f"Too many calls. Try again in {wait} seconds.",), is_error=True
    )
    assert tools.call(tool, {}) == DONE


@pytest.mark.promise("T-42b")
@pytest.mark.requirement("M11")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_writer_that_is_called_too_often_says_that_nothing_was_written(tool: str) -> None:
    tools = limited(FakeClock())

    results = [tools.call(tool, {}) for _ in range(61)]

    assert results[-1].texts == ("Too many calls. Try again in 2 seconds. Nothing was written.",)


def test_searches_count_as_calls() -> None:
    tools = limited(FakeClock())
    for _ in range(20):
        tools.call("search", {})

    results = [tools.call("read", {}) for _ in range(60)]

    assert results.count(DONE) == 40
