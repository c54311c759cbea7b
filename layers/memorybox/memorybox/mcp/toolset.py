"""What a connector offers: tools and their descriptions, as data that needs no service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call answers, for a model to read."""

    texts: tuple[str, ...]
    is_error: bool = False

    def content(self) -> Sequence[Mapping[str, object]]:
        """One content block for each text."""
        return [{"type": "text", "text": text} for text in self.texts]

    def describe(self) -> Mapping[str, object]:
        """The result of `tools/call`."""
        return {"content": self.content(), "isError": self.is_error}


@dataclass(frozen=True, slots=True)
class Example:
    """A call and what it answers, for the page that documents the tool."""

    arguments: Mapping[str, object]
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    `input_schema` is JSON Schema 2020-12 of an object. `scope` is what a token needs to see
    the tool and to call it. The three hints say what a call does at worst.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, object]
    scope: str
    read_only: bool
    destructive: bool
    idempotent: bool
    meta: Mapping[str, object] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()

    def describe(self) -> Mapping[str, object]:
        """The tool as `tools/list` shows it.

        Every hint is spelled out, because the defaults of MCP are the alarming ones. None of
        our tools is open-world: what they reach is one user's own notes.
        """
        described: dict[str, object] = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.idempotent,
                "openWorldHint": False,
            },
        }
        if self.meta:
            described["_meta"] = self.meta
        return described


@dataclass(frozen=True, slots=True)
class Toolset:
    """The tools served at one path, in the order they are listed."""

    name: str
    title: str
    version: str
    instructions: str
    tools: tuple[Tool, ...]

    def server_info(self) -> Mapping[str, object]:
        return {"name": self.name, "title": self.title, "version": self.version}

    def visible(self, scopes: frozenset[str]) -> tuple[Tool, ...]:
        """The tools that a token with `scopes` may call."""
        return tuple(tool for tool in self.tools if tool.scope in scopes)

    def find(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)
