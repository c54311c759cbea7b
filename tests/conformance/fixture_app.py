"""The protocol core with the tools that the conformance suite calls, and without sign-in.

What these tools answer is written in the suite's own description of each scenario.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memorybox.errors import Refused
from memorybox.mcp.messages import ProtocolError
from memorybox.mcp.server import McpServer
from memorybox.mcp.toolset import Tool, ToolResult, Toolset

_SCOPE = "fixture"
_RED_DOT_PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
_SILENCE_WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA=="


@dataclass(frozen=True, slots=True)
class RichResult(ToolResult):
    """A result with blocks of every kind; the product itself answers in text alone."""

    texts: tuple[str, ...] = ()
    blocks: tuple[Mapping[str, object], ...] = ()

    def content(self) -> Sequence[Mapping[str, object]]:
        return self.blocks


def _resource(uri: str, mime_type: str, text: str) -> Mapping[str, object]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}


_IMAGE = {"type": "image", "data": _RED_DOT_PNG, "mimeType": "image/png"}

_RESULTS: Mapping[str, ToolResult] = {
    "test_simple_text": ToolResult(("This is a simple text response for testing.",)),
    "test_image_content": RichResult(blocks=(_IMAGE,)),
    "test_audio_content": RichResult(
        blocks=({"type": "audio", "data": _SILENCE_WAV, "mimeType": "audio/wav"},)
    ),
    "test_embedded_resource": RichResult(
        blocks=(
            _resource(
                "test://embedded-resource", "text/plain", "This is an embedded resource content."
            ),
        )
    ),
    "test_multiple_content_types": RichResult(
        blocks=(
            {"type": "text", "text": "Multiple content types test:"},
            _IMAGE,
            _resource(
                "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
            ),
        )
    ),
    "test_logging_tool": ToolResult(("Nothing is logged to the client.",)),
    "test_streaming_elicitation": ToolResult(("Nothing is asked of the client.",)),
    "json_schema_2020_12_tool": ToolResult(("ok",)),
}

_NO_ARGUMENTS: Mapping[str, object] = {"type": "object", "additionalProperties": False}
_JSON_SCHEMA_2020_12: Mapping[str, object] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _tool(name: str) -> Tool:
    is_schema_tool = name == "json_schema_2020_12_tool"
    return Tool(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=f"Fixture for the conformance scenario of {name}",
        input_schema=_JSON_SCHEMA_2020_12 if is_schema_tool else _NO_ARGUMENTS,
        scope=_SCOPE,
        read_only=True,
        destructive=False,
        idempotent=True,
    )


def _call(name: str, arguments: Mapping[str, object]) -> ToolResult:
    if name == "test_error_handling":
        raise Refused("This tool intentionally returns an error for testing")
    if name == "test_missing_capability":
        raise ProtocolError(
            -32021, "Sampling is needed", {"requiredCapabilities": {"sampling": {}}}
        )
    return _RESULTS[name]


_SERVER = McpServer(
    Toolset(
        name="conformance-fixture",
        title="Conformance fixture",
        version="1.0.0",
        instructions="Fixture tools for the conformance suite.",
        tools=tuple(
            _tool(name) for name in (*_RESULTS, "test_error_handling", "test_missing_capability")
        ),
    ),
    call=_call,
    references=lambda: "fixture",
)


async def _mcp(request: Request) -> Response:
    answer = _SERVER.answer(request.headers, await request.body(), frozenset({_SCOPE}))
    return Response(answer.body, answer.status, answer.headers)


app = Starlette(routes=[Route("/mcp", _mcp, methods=["POST"])])
