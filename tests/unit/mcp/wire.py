"""How a client puts a message on the wire, in either era."""

import json
from collections.abc import Mapping

Wire = tuple[dict[str, str], bytes]

STAMP: dict[str, object] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern(method: str, params: Mapping[str, object] | None = None) -> Wire:
    """A request of 2026-07-28 with id 1, stamped and with its routing headers."""
    params = {**(params or {}), "_meta": STAMP}
    headers = {
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
    }
    if method == "tools/call":
        headers["mcp-name"] = str(params.get("name"))
    return headers, body(method, params)


def handshake(method: str, params: object = None, revision: str | None = "2025-11-25") -> Wire:
    """A request of an earlier revision with id 1."""
    version = {} if revision is None else {"mcp-protocol-version": revision}
    return {"content-type": "application/json", **version}, body(method, params or {})


def body(method: str, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
