"""Tools that a person lets a client use in some workspaces only."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase

from memorybox.mcp.server import Call
from memorybox.mcp.toolset import ToolResult, Toolset
from memorybox.quoting import quoted

# Names that differ in other letters may be two folders in Dropbox, whatever Python says of them.
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True, slots=True)
class ConfinedTools:
    """Calls `tools` in these workspaces, and refuses every other one, and all at once."""

    toolset: Toolset
    workspaces: tuple[str, ...]
    tools: Call

    def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        workspace = arguments.get("workspace")
        if isinstance(workspace, str) and _key(workspace) not in map(_key, self.workspaces):
            tool = self.toolset.find(name)
            ending = " Nothing was written." if tool and not tool.read_only else ""
            return ToolResult((f"{self._refusal()}{ending}",), is_error=True)
        return self.tools(name, arguments)

    def _refusal(self) -> str:
        named = ", ".join(map(quoted, self.workspaces))
        return f"This connection may use these workspaces only: {named}. Name one of them."


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).translate(_LOWER)
