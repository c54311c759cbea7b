"""The two ways MCP is spoken: what each era demands of a request and adds to a result.

Since 2026-07-28 every request carries its own context in headers and `_meta`. The revisions
before open with a handshake, which is answered and then forgotten: there are no sessions.
https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

import binascii
from collections.abc import Mapping
from typing import Protocol

from memorybox.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    ProtocolError,
    Request,
)
from memorybox.quoting import shortened

MODERN_REVISION = "2026-07-28"
HANDSHAKE_REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

_VERSION_HEADER = "mcp-protocol-version"
_METHOD_HEADER = "mcp-method"
_NAME_HEADER = "mcp-name"

_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_META_SERVER = "io.modelcontextprotocol/serverInfo"

# The scopes of the token decide what tools/list shows, so a list is not for sharing.
_CACHING: Mapping[str, Mapping[str, object]] = {
    "server/discover": {"ttlMs": 3_600_000, "cacheScope": "public"},
    "tools/list": {"ttlMs": 3_600_000, "cacheScope": "private"},
}


class Era(Protocol):
    def admit(self, headers: Mapping[str, str], request: Request) -> Mapping[str, object]:
        """The params of a request that keeps the rules of this era.

        Raises ProtocolError for the first rule broken, a method the era does not have included.
        """

    def complete(
        self, method: str, result: Mapping[str, object], server: Mapping[str, object]
    ) -> Mapping[str, object]:
        """`result` and what this era adds to it."""

    def status(self, error: ProtocolError) -> int:
        """The HTTP status that carries an error about a request."""


class Modern:
    """2026-07-28: nothing comes before a request, so each is checked whole."""

    methods = frozenset({"server/discover", "tools/list", "tools/call"})

    def admit(self, headers: Mapping[str, str], request: Request) -> Mapping[str, object]:
        for name in (_VERSION_HEADER, _METHOD_HEADER, _NAME_HEADER):
            if "," in headers.get(name, ""):  # sent twice, joined on the way
                raise ProtocolError(HEADER_MISMATCH, f"{name} must be sent once")
        params, meta = _params(request), _meta(request)
        version = meta.get(_META_VERSION)
        if not isinstance(version, str) or not isinstance(meta.get(_META_CAPABILITIES), dict):
            raise ProtocolError(
                INVALID_PARAMS,
                f"params._meta must have {_META_VERSION}, a string, "
                f"and {_META_CAPABILITIES}, an object",
            )
        if _header(headers, _VERSION_HEADER) != version:
            raise _mismatch(_VERSION_HEADER)
        if _header(headers, _METHOD_HEADER) != request.method:
            raise _mismatch(_METHOD_HEADER)
        if request.method == "tools/call" and _named(headers) != params.get("name"):
            raise _mismatch(_NAME_HEADER)
        if version != MODERN_REVISION:
            raise _unsupported(version)
        if request.method not in self.methods:
            raise _not_found(request)
        return params

    def complete(
        self, method: str, result: Mapping[str, object], server: Mapping[str, object]
    ) -> Mapping[str, object]:
        return {
            "resultType": "complete",
            **result,
            **_CACHING.get(method, {}),
            "_meta": {_META_SERVER: server},
        }

    def status(self, error: ProtocolError) -> int:
        return 404 if error.code == METHOD_NOT_FOUND else 400


class Handshake:
    """2024-11-05 to 2025-11-25: the envelope is all that HTTP judges."""

    methods = frozenset({"initialize", "ping", "tools/list", "tools/call"})

    def admit(self, headers: Mapping[str, str], request: Request) -> Mapping[str, object]:
        if request.method not in self.methods:
            raise _not_found(request)
        return _params(request)

    def complete(
        self, method: str, result: Mapping[str, object], server: Mapping[str, object]
    ) -> Mapping[str, object]:
        return result

    def status(self, error: ProtocolError) -> int:
        return 200


def era_of(headers: Mapping[str, str], request: Request) -> Era:
    """The era a request speaks: its version header says so, or the stamp in its `_meta`."""
    version = _header(headers, _VERSION_HEADER)
    is_handshake = version is None or version in HANDSHAKE_REVISIONS
    return Handshake() if is_handshake and _META_VERSION not in _meta(request) else Modern()


def check_notification(headers: Mapping[str, str]) -> None:
    """Raises ProtocolError for a version that is neither era's."""
    version = _header(headers, _VERSION_HEADER)
    if version not in (None, MODERN_REVISION, *HANDSHAKE_REVISIONS):
        raise _unsupported(version)


def negotiated(asked: object) -> str:
    """The revision that `initialize` settles on: the asked one if served, else the newest."""
    newest = HANDSHAKE_REVISIONS[0]
    return next((revision for revision in HANDSHAKE_REVISIONS if revision == asked), newest)


def _params(request: Request) -> Mapping[str, object]:
    if not isinstance(request.params, dict):
        raise ProtocolError(INVALID_PARAMS, "params must be an object")
    return request.params


def _meta(request: Request) -> Mapping[str, object]:
    meta = request.params.get("_meta") if isinstance(request.params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _header(headers: Mapping[str, str], name: str) -> str | None:
    value = headers.get(name)
    return None if value is None else value.strip(" \t")


def _named(headers: Mapping[str, str]) -> str | None:
    """The name a header carries, plain or as `=?base64?...?=`.

    Only the canonical base64 of UTF-8 counts: other spellings of a name could be read
    differently by whoever routes on it.
    """
    value = _header(headers, _NAME_HEADER)
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    encoded = value.removeprefix("=?base64?").removesuffix("?=")
    try:
        decoded = binascii.a2b_base64(encoded)
        if binascii.b2a_base64(decoded, newline=False).decode() == encoded:
            return decoded.decode()
    except ValueError:
        pass
    raise _mismatch(_NAME_HEADER)


def _mismatch(header: str) -> ProtocolError:
    return ProtocolError(HEADER_MISMATCH, f"{header} does not match the body of the request")


def _unsupported(version: str | None) -> ProtocolError:
    return ProtocolError(
        UNSUPPORTED_PROTOCOL_VERSION,
        "Unsupported protocol version",
        {"supported": [MODERN_REVISION], "requested": version},
    )


def _not_found(request: Request) -> ProtocolError:
    return ProtocolError(METHOD_NOT_FOUND, f"Method not found: {shortened(request.method)}")
