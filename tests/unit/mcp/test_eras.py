"""What each era of MCP demands of a request and adds to a result."""

from collections.abc import Mapping

import pytest

from memorybox.mcp.eras import Handshake, Modern, check_notification, era_of, negotiated
from memorybox.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    ProtocolError,
    Request,
)
from tests.unit.mcp.wire import STAMP

_HANDSHAKES = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


def _version(revision: str) -> dict[str, str]:
    return {"mcp-protocol-version": revision}


@pytest.mark.parametrize(
    ("headers", "params", "era"),
    [
        pytest.param({}, {}, Handshake, id="no header means 2025-03-26"),
        *(pytest.param(_version(revision), {}, Handshake, id=revision) for revision in _HANDSHAKES),
        pytest.param(_version(" 2025-06-18\t"), {}, Handshake, id="blanks around it"),
        pytest.param(_version("2026-07-28"), {}, Modern, id="modern header"),
        pytest.param(_version("2099-01-01"), {}, Modern, id="a revision to come"),
        pytest.param(_version("2025-11-25, 2025-11-25"), {}, Modern, id="header sent twice"),
        pytest.param(_version(""), {}, Modern, id="empty header"),
        pytest.param({}, {"_meta": STAMP}, Modern, id="stamp alone"),
        pytest.param(_version("2025-11-25"), {"_meta": STAMP}, Modern, id="stamp beats header"),
        pytest.param({}, {"_meta": {"progressToken": 1}}, Handshake, id="another stamp"),
        pytest.param({}, {"_meta": [*STAMP]}, Handshake, id="_meta is a list"),
        pytest.param({}, [], Handshake, id="params are a list"),
        pytest.param({}, None, Handshake, id="params are null"),
    ],
)
def test_the_version_header_or_the_stamp_says_which_era_a_request_speaks(
    headers: Mapping[str, str], params: object, era: type
) -> None:
    assert type(era_of(headers, Request(1, "tools/list", params))) is era


_CALL = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "list"}


def _call(**params: object) -> Request:
    return Request(1, "tools/call", {"name": "list", "_meta": STAMP} | params)


def _stamp(**changed: object) -> Mapping[str, object]:
    return STAMP | {f"io.modelcontextprotocol/{key}": value for key, value in changed.items()}


def _without(key: str) -> Mapping[str, object]:
    return {k: v for k, v in STAMP.items() if k != f"io.modelcontextprotocol/{key}"}


@pytest.mark.parametrize(
    ("headers", "request_", "code"),
    [
        # Each rule broken alone.
        (_CALL | {"mcp-protocol-version": "2026-07-28, 2026-07-28"}, _call(), HEADER_MISMATCH),
        (_CALL | {"mcp-method": "tools/call,tools/call"}, _call(), HEADER_MISMATCH),
        (_CALL | {"mcp-name": "list, list"}, _call(), HEADER_MISMATCH),
        (_CALL, Request(1, "tools/call", []), INVALID_PARAMS),
        (_CALL, Request(1, "tools/call", {"name": "list"}), INVALID_PARAMS),
        (_CALL, _call(_meta=[]), INVALID_PARAMS),
        (_CALL, _call(_meta=_without("protocolVersion")), INVALID_PARAMS),
        (_CALL, _call(_meta=_without("clientCapabilities")), INVALID_PARAMS),
        (_CALL, _call(_meta=_stamp(protocolVersion=20260728)), INVALID_PARAMS),
        (_CALL, _call(_meta=_stamp(clientCapabilities=[])), INVALID_PARAMS),
        ({k: v for k, v in _CALL.items() if "version" not in k}, _call(), HEADER_MISMATCH),
        (_CALL | {"mcp-protocol-version": "2025-11-25"}, _call(), HEADER_MISMATCH),
        ({k: v for k, v in _CALL.items() if "method" not in k}, _call(), HEADER_MISMATCH),
        (_CALL | {"mcp-method": "tools/list"}, _call(), HEADER_MISMATCH),
        (_CALL | {"mcp-method": "Tools/Call"}, _call(), HEADER_MISMATCH),
        ({k: v for k, v in _CALL.items() if "name" not in k}, _call(), HEADER_MISMATCH),
        (_CALL | {"mcp-name": "read"}, _call(), HEADER_MISMATCH),
        (_CALL | {"mcp-name": "List"}, _call(), HEADER_MISMATCH),
        (_CALL, _call(name=None), HEADER_MISMATCH),
        (
            _CALL | {"mcp-protocol-version": "2099-01-01"},
            _call(_meta=_stamp(protocolVersion="2099-01-01")),
            UNSUPPORTED_PROTOCOL_VERSION,
        ),
        (
            _CALL | {"mcp-protocol-version": "2025-11-25"},
            _call(_meta=_stamp(protocolVersion="2025-11-25")),
            UNSUPPORTED_PROTOCOL_VERSION,
        ),
        # Two rules broken: the one that comes first in the ladder is named.
        (_CALL | {"mcp-name": "a,b"}, _call(_meta={}), HEADER_MISMATCH),
        (_CALL | {"mcp-method": "ping"}, _call(_meta={}), INVALID_PARAMS),
        (
            _CALL | {"mcp-method": "ping"},
            _call(_meta=_stamp(protocolVersion="2099-01-01")),
            HEADER_MISMATCH,
        ),
        (
            _version("2099-01-01") | {"mcp-method": "ping"},
            Request(1, "ping", {"_meta": _stamp(protocolVersion="2099-01-01")}),
            UNSUPPORTED_PROTOCOL_VERSION,
        ),
    ],
)
def test_the_first_rule_that_a_modern_request_breaks_is_named(
    headers: Mapping[str, str], request_: Request, code: int
) -> None:
    with pytest.raises(ProtocolError) as refused:
        Modern().admit(headers, request_)

    assert refused.value.code == code


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/list",
        "resources/read",
        "prompts/list",
        "subscriptions/listen",
        "tasks/get",
        "completion/complete",
        "Tools/list",
        "",
    ],
)
def test_a_modern_request_reaches_three_methods_only(method: str) -> None:
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}

    with pytest.raises(ProtocolError) as refused:
        Modern().admit(headers, Request(1, method, {"_meta": STAMP}))

    assert (refused.value.code, refused.value.message) == (
        METHOD_NOT_FOUND,
        f"Method not found: {method}",
    )


def test_a_modern_request_that_keeps_every_rule_is_admitted_with_its_params() -> None:
    admitted = [
        Modern().admit(headers, request)
        for headers, request in [
            (_CALL, _call(arguments={})),
            ({name: f" {value}\t" for name, value in _CALL.items()}, _call()),
            (_CALL, _call(_meta=_stamp(clientInfo={"name": "c", "version": "1"}))),
        ]
    ]

    assert admitted == [
        {"name": "list", "_meta": STAMP, "arguments": {}},
        {"name": "list", "_meta": STAMP},
        {"name": "list", "_meta": _stamp(clientInfo={"name": "c", "version": "1"})},
    ]


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("=?base64?bGlzdA==?=", "list"),
        ("  =?base64?bGlzdA==?=\t", "list"),
        ("=?base64?44OI44Oe44OI?=", "トマト"),
        ("=?base64??=", ""),
        ("=?base64?bGlzdA==", "=?base64?bGlzdA=="),
        ("=?BASE64?bGlzdA==?=", "=?BASE64?bGlzdA==?="),
    ],
)
def test_the_name_header_is_read_plain_or_as_base64(header: str, name: str) -> None:
    params = Modern().admit(_CALL | {"mcp-name": header}, _call(name=name))

    assert params["name"] == name


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("=?base64?bGlzdA?=", id="no padding"),
        pytest.param("=?base64?bGlzdB==?=", id="not canonical"),
        pytest.param("=?base64?bGlz dA==?=", id="blank inside"),
        pytest.param("=?base64?bGlzdA==bGlzdA==?=", id="two of them"),
        pytest.param("=?base64?====?=", id="only padding"),
        pytest.param("=?base64?/w==?=", id="not UTF-8"),
        pytest.param("=?base64?é?=", id="not ASCII"),
        pytest.param("=?base64?=", id="prefix and suffix share a character"),
    ],
)
def test_a_malformed_name_header_matches_nothing(header: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        Modern().admit(_CALL | {"mcp-name": header}, _call())

    assert refused.value.code == HEADER_MISMATCH


def test_a_version_that_is_not_served_is_answered_with_those_that_are() -> None:
    headers = _CALL | {"mcp-protocol-version": "2099-01-01"}

    with pytest.raises(ProtocolError) as refused:
        Modern().admit(headers, _call(_meta=_stamp(protocolVersion="2099-01-01")))

    assert refused.value.data == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


@pytest.mark.parametrize("method", ["initialize", "ping", "tools/list", "tools/call"])
def test_a_handshake_request_needs_nothing_but_a_known_method(method: str) -> None:
    assert Handshake().admit({}, Request(1, method, {"a": 1})) == {"a": 1}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("server/discover", {}, METHOD_NOT_FOUND),
        ("prompts/list", {}, METHOD_NOT_FOUND),
        ("prompts/list", [], METHOD_NOT_FOUND),
        ("ping", [], INVALID_PARAMS),
        ("initialize", None, INVALID_PARAMS),
        ("tools/list", "x", INVALID_PARAMS),
    ],
)
def test_a_handshake_request_with_another_method_or_without_an_object_is_refused(
    method: str, params: object, code: int
) -> None:
    with pytest.raises(ProtocolError) as refused:
        Handshake().admit({}, Request(1, method, params))

    assert refused.value.code == code


@pytest.mark.parametrize(
    ("method", "caching"),
    [
        ("server/discover", {"ttlMs": 3_600_000, "cacheScope": "public"}),
        ("tools/list", {"ttlMs": 3_600_000, "cacheScope": "private"}),
        ("tools/call", {}),
    ],
)
def test_a_modern_result_says_that_it_is_complete_who_answers_and_how_long_it_keeps(
    method: str, caching: Mapping[str, object]
) -> None:
    completed = Modern().complete(method, {"a": 1}, {"name": "box"})

    assert list(completed.items()) == [
        ("resultType", "complete"),
        ("a", 1),
        *caching.items(),
        ("_meta", {"io.modelcontextprotocol/serverInfo": {"name": "box"}}),
    ]


def test_a_handshake_result_is_left_as_it_is() -> None:
    assert Handshake().complete("tools/list", {"tools": []}, {"name": "box"}) == {"tools": []}


@pytest.mark.parametrize(
    ("code", "modern", "handshake"),
    [
        (METHOD_NOT_FOUND, 404, 200),
        (INVALID_PARAMS, 400, 200),
        (HEADER_MISMATCH, 400, 200),
        (UNSUPPORTED_PROTOCOL_VERSION, 400, 200),
    ],
)
def test_only_the_modern_era_shows_an_error_in_the_http_status(
    code: int, modern: int, handshake: int
) -> None:
    error = ProtocolError(code, "No")

    assert (Modern().status(error), Handshake().status(error)) == (modern, handshake)


@pytest.mark.parametrize(
    ("asked", "settled"),
    [
        *((revision, revision) for revision in _HANDSHAKES),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
        (None, "2025-11-25"),
        (["2025-06-18"], "2025-11-25"),
    ],
)
def test_initialize_settles_on_the_asked_revision_or_the_newest(
    asked: object, settled: str
) -> None:
    assert negotiated(asked) == settled


@pytest.mark.parametrize("version", [None, "2026-07-28", " 2026-07-28 ", *_HANDSHAKES])
def test_a_notification_of_any_served_revision_is_taken(version: str | None) -> None:
    check_notification({} if version is None else _version(version))


@pytest.mark.parametrize("version", ["", "2099-01-01", "2025-11-25,2025-11-25"])
def test_a_notification_of_another_revision_is_refused(version: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        check_notification(_version(version))

    assert (refused.value.code, refused.value.data) == (
        UNSUPPORTED_PROTOCOL_VERSION,
        {"supported": ["2026-07-28"], "requested": version},
    )
