"""An MCP server in one function: the headers and body of a POST go in, an HTTP answer comes out."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memorybox.errors import MemoryBoxError, Refused, SignInEnded, Unavailable, trace
from memorybox.mcp.eras import MODERN_REVISION, check_notification, era_of, negotiated
from memorybox.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_BODY_BYTES,
    ProtocolError,
    Request,
    RequestId,
    error_frame,
    parse,
    result_frame,
)
from memorybox.mcp.toolset import Tool, ToolResult, Toolset
from memorybox.quoting import shortened

Call = Callable[[str, Mapping[str, object]], ToolResult]

_CAPABILITIES: Mapping[str, object] = {"tools": {}}

_log = logging.getLogger(__name__)


class InsufficientScope(MemoryBoxError):
    """The token does not reach the tool. Answered with HTTP 403 and a challenge for `scope`."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"The tool needs the scope {scope}")
        self.scope = scope


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class McpServer:
    """Serves one toolset to one caller.

    `call` runs a tool by name. Its Refused and Unavailable become the text of an error result,
    its ProtocolError an error object; anything it did not mean to raise is logged under one of
    `references`, which the caller is told.
    """

    toolset: Toolset
    call: Call
    references: Callable[[], str]

    def answer(self, headers: Mapping[str, str], body: bytes, scopes: frozenset[str]) -> Answer:
        """The answer to a POST from a token with `scopes`.

        Header names are in lower case; a header sent twice is one value, joined with a comma
        (RFC 9110 §5.2). Raises InsufficientScope and SignInEnded, whose answers need the public
        URL of the server.
        """
        media_type = headers.get("content-type", "").partition(";")[0].strip(" \t").lower()
        if media_type != "application/json":
            return _error(400, None, _bad_request("Content-Type must be application/json"))
        if len(body) > MAX_BODY_BYTES:
            return _error(413, None, _bad_request(f"Body must be at most {MAX_BODY_BYTES} bytes"))
        try:
            request = parse(body)
            if request is None:
                check_notification(headers)
                return Answer(202, {"cache-control": "no-store"}, b"")
        except ProtocolError as error:
            return _error(400, None, error)
        return self._respond(headers, request, scopes)

    def _respond(
        self, headers: Mapping[str, str], request: Request, scopes: frozenset[str]
    ) -> Answer:
        era = era_of(headers, request)
        try:
            result = self._result(request.method, era.admit(headers, request), scopes)
        except ProtocolError as error:
            return _error(era.status(error), request.id, error)
        completed = era.complete(request.method, result, self.toolset.server_info())
        return _json(200, result_frame(request.id, completed))

    def _result(
        self, method: str, params: Mapping[str, object], scopes: frozenset[str]
    ) -> Mapping[str, object]:
        match method:
            case "server/discover":
                return {
                    "supportedVersions": [MODERN_REVISION],
                    "capabilities": _CAPABILITIES,
                    "instructions": self.toolset.instructions,
                }
            case "initialize":
                return {
                    "protocolVersion": negotiated(params.get("protocolVersion")),
                    "capabilities": _CAPABILITIES,
                    "serverInfo": self.toolset.server_info(),
                    "instructions": self.toolset.instructions,
                }
            case "tools/list":
                if params.get("cursor") is not None:
                    raise ProtocolError(INVALID_PARAMS, "Unknown cursor")
                return {"tools": [tool.describe() for tool in self.toolset.visible(scopes)]}
            case "tools/call":
                return self._called(params, scopes).describe()
            case _:  # ping
                return {}

    def _called(self, params: Mapping[str, object], scopes: frozenset[str]) -> ToolResult:
        tool, arguments = self._tool(params), _arguments(params)
        if tool.scope not in scopes:
            raise InsufficientScope(tool.scope)
        try:
            return self.call(tool.name, arguments)
        except (Refused, Unavailable) as error:
            return ToolResult((str(error),), is_error=True)
        except (ProtocolError, SignInEnded):
            raise
        except Exception as error:  # noqa: BLE001 - whatever broke, the caller gets an answer
            reference = self.references()
            _log.error(
                "A tool call failed",
                extra={"reference": reference, "tool": tool.name, "trace": list(trace(error))},
            )
            text = (
                f"Something went wrong on our side (reference {reference}). Try again in a minute."
            )
            return ToolResult((text,), is_error=True)

    def _tool(self, params: Mapping[str, object]) -> Tool:
        name = params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "name must be a string")
        tool = self.toolset.find(name)
        if tool is None:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {shortened(name)}")
        return tool


def _arguments(params: Mapping[str, object]) -> Mapping[str, object]:
    arguments = params.get("arguments")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
    return arguments


def _bad_request(message: str) -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, message)


def _error(status: int, request_id: RequestId | None, error: ProtocolError) -> Answer:
    return _json(status, error_frame(request_id, error))


def _json(status: int, body: bytes) -> Answer:
    return Answer(status, {"content-type": "application/json", "cache-control": "no-store"}, body)
