"""Tools that may be called only so often."""

from collections.abc import Mapping
from dataclasses import dataclass

from memorybox.accounts.rates import Allowance, LimitReached
from memorybox.mcp.server import Call
from memorybox.mcp.toolset import ToolResult, Toolset

ANY = "call"
"""What every call counts as, besides the name of its tool if that has a rate of its own."""


@dataclass(frozen=True, slots=True)
class LimitedTools:
    """Calls `tools` while the allowance lasts, and says how long to wait when it does not."""

    toolset: Toolset
    allowance: Allowance
    tools: Call

    def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        try:
            for counted in (name, ANY):
                if counted in self.allowance.rates:
                    self.allowance.use(counted)
        except LimitReached as reached:
            tool = self.toolset.find(name)
            ending = " Nothing was written." if tool and not tool.read_only else ""
            return ToolResult((f"{reached}{ending}",), is_error=True)
        return self.tools(name, arguments)
