"""JSON-RPC 2.0 on the wire: one message in, one message out.

https://www.jsonrpc.org/specification, without batches, as MCP has it since 2025-06-18.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memorybox.errors import MemoryBoxError

MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 32

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_PROTOCOL_VERSION = -32022

RequestId = str | int


class ProtocolError(MemoryBoxError):
    """Answered with a JSON-RPC error object in place of a result."""

    def __init__(self, code: int, message: str, data: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True)
class Request:
    """A message that wants an answer. `params` is whatever was sent, `{}` when nothing was."""

    id: RequestId
    method: str
    params: object


def parse(body: bytes) -> Request | None:
    """The request in `body`, or None for a notification, which wants no answer.

    Raises ProtocolError for everything else, such as a batch or the answer to a request.
    """
    match _load(body):
        case {"jsonrpc": "2.0", "method": str(method), **rest}:
            pass
        case _:
            raise ProtocolError(
                INVALID_REQUEST, "Body must be a single JSON-RPC request or notification"
            )
    if "id" not in rest:
        return None
    request_id = rest["id"]
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        raise ProtocolError(INVALID_REQUEST, "id must be a string or an integer")
    return Request(request_id, method, rest.get("params", {}))


def result_frame(request_id: RequestId, result: Mapping[str, object]) -> bytes:
    return _dump({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_frame(request_id: RequestId | None, error: ProtocolError) -> bytes:
    """`request_id` is None when the request could not be read that far."""
    shown: dict[str, object] = {"code": error.code, "message": error.message}
    if error.data:
        shown["data"] = error.data
    return _dump({"jsonrpc": "2.0", "id": request_id, "error": shown})


def _load(body: bytes) -> object:
    try:
        return _bounded(_DECODER.decode(body.decode()))
    except (ValueError, RecursionError):
        raise ProtocolError(
            PARSE_ERROR,
            "Body must be JSON in UTF-8 without duplicate keys, NaN or Infinity, "
            f"nested at most {MAX_DEPTH} deep",
        ) from None


def _bounded(value: object) -> object:
    nested: list[Iterable[object]] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        nested = [
            child.values() if isinstance(child, dict) else child
            for children in nested
            for child in children
            if isinstance(child, dict | list)
        ]
    if nested:
        raise ValueError
    return value


def _object(members: list[tuple[str, object]]) -> dict[str, object]:
    """Readers disagree on which of two equal keys counts, so neither does (RFC 8259 §4)."""
    unique = dict(members)
    if len(unique) < len(members):
        raise ValueError
    return unique


def _finite(literal: str) -> float:
    """JSON has no infinity, yet `1e999` would become one."""
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError
    return number


def _dump(message: Mapping[str, object]) -> bytes:
    return _FRAGILE.sub(_escape, _ENCODER.encode(message)).encode()


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite, parse_constant=_finite)
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# Half a surrogate pair has no UTF-8, and some readers of lines end a line at the other three.
_FRAGILE = re.compile("[\x85\u2028\u2029\ud800-\udfff]")
