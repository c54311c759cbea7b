"""The whole server: headers and a body in, an HTTP answer out."""

import json
import logging
import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybox.errors import Refused, SignInEnded, Unavailable
from memorybox.mcp.messages import ProtocolError
from memorybox.mcp.server import Answer, InsufficientScope, McpServer
from memorybox.mcp.toolset import Tool, ToolResult, Toolset
from tests.unit.mcp.wire import STAMP, Wire, body, handshake, modern

_LOOK = Tool(
    name="look",
    title="Look",
    description="Looks.",
    input_schema={"type": "object", "additionalProperties": False},
    scope="memory:read",
    read_only=True,
    destructive=False,
    idempotent=True,
)
_PUT = Tool(
    name="put",
    title="Put",
    description="Puts.",
    input_schema={"type": "object"},
    scope="memory:write",
    read_only=False,
    destructive=True,
    idempotent=False,
)
_TOOLSET = Toolset("memorybox", "Memory Box", "1.0.0", "Notes.", (_LOOK, _PUT))
_BOTH = frozenset({"memory:read", "memory:write"})
_READ = frozenset({"memory:read"})

_JSON_HEADERS = {"content-type": "application/json", "cache-control": "no-store"}
_SERVER_META = (
    '"_meta":{"io.modelcontextprotocol/serverInfo":'
    '{"name":"memorybox","title":"Memory Box","version":"1.0.0"}}'
)
_LOOK_JSON = (
    '{"name":"look","title":"Look","description":"Looks.",'
    '"inputSchema":{"type":"object","additionalProperties":false},'
    '"annotations":{"title":"Look","readOnlyHint":true,"destructiveHint":false,'
    '"idempotentHint":true,"openWorldHint":false}}'
)
_PUT_JSON = (
    '{"name":"put","title":"Put","description":"Puts.","inputSchema":{"type":"object"},'
    '"annotations":{"title":"Put","readOnlyHint":false,"destructiveHint":true,'
    '"idempotentHint":false,"openWorldHint":false}}'
)


def _echo(name: str, arguments: Mapping[str, object]) -> ToolResult:
    return ToolResult((name, json.dumps(arguments)))


def _server() -> McpServer:
    return McpServer(_TOOLSET, call=_echo, references=lambda: "R1")


def _server_that_raises(error: Exception) -> McpServer:
    def call(name: str, arguments: Mapping[str, object]) -> ToolResult:
        raise error

    return McpServer(_TOOLSET, call=call, references=lambda: "R1")


def _result(result: str) -> Answer:
    frame = f'{{"jsonrpc":"2.0","id":1,"result":{result}}}'
    return Answer(200, _JSON_HEADERS, frame.encode())


def _error(status: int, request_id: str, error: str) -> Answer:
    frame = f'{{"jsonrpc":"2.0","id":{request_id},"error":{error}}}'
    return Answer(status, _JSON_HEADERS, frame.encode())


def test_discover_says_what_is_served_and_may_be_shared() -> None:
    assert _server().answer(*modern("server/discover"), _BOTH) == _result(
        '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},'
        f'"instructions":"Notes.","ttlMs":3600000,"cacheScope":"public",{_SERVER_META}}}'
    )


def test_the_modern_list_of_tools_is_private_to_the_token() -> None:
    assert _server().answer(*modern("tools/list"), _BOTH) == _result(
        f'{{"resultType":"complete","tools":[{_LOOK_JSON},{_PUT_JSON}],'
        f'"ttlMs":3600000,"cacheScope":"private",{_SERVER_META}}}'
    )


def test_a_modern_call_is_not_to_be_kept() -> None:
    wire = modern("tools/call", {"name": "look", "arguments": {"a": 1}})

    assert _server().answer(*wire, _BOTH) == _result(
        '{"resultType":"complete","content":[{"type":"text","text":"look"},'
        f'{{"type":"text","text":"{{\\"a\\": 1}}"}}],"isError":false,{_SERVER_META}}}'
    )


def test_initialize_is_answered_without_a_session() -> None:
    wire = handshake("initialize", {"protocolVersion": "2025-06-18"}, revision=None)

    assert _server().answer(*wire, _BOTH) == _result(
        '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},'
        '"serverInfo":{"name":"memorybox","title":"Memory Box","version":"1.0.0"},'
        '"instructions":"Notes."}'
    )


def test_ping_is_answered_with_an_empty_result() -> None:
    assert _server().answer(*handshake("ping"), _BOTH) == _result("{}")


def test_a_handshake_client_lists_and_calls_without_initialize() -> None:
    listed = _server().answer(*handshake("tools/list"), _BOTH)
    called = _server().answer(*handshake("tools/call", {"name": "put"}, revision=None), _BOTH)

    assert (listed, called) == (
        _result(f'{{"tools":[{_LOOK_JSON},{_PUT_JSON}]}}'),
        _result(
            '{"content":[{"type":"text","text":"put"},{"type":"text","text":"{}"}],"isError":false}'
        ),
    )


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_absent_arguments_are_no_arguments(arguments: Mapping[str, object]) -> None:
    wire = handshake("tools/call", {"name": "look", **arguments})

    assert _server().answer(*wire, _BOTH) == _result(
        '{"content":[{"type":"text","text":"look"},{"type":"text","text":"{}"}],"isError":false}'
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"name": "gone"}, "Unknown tool: gone"),
        ({"name": "Look"}, "Unknown tool: Look"),
        ({"name": "x" * 300}, f"Unknown tool: {'x' * 200}…"),
        ({"name": "a\u202e\n"}, "Unknown tool: a\\\\u202e\\\\u000a"),
        ({"name": "look", "arguments": []}, "arguments must be an object"),
        ({"name": "look", "arguments": "{}"}, "arguments must be an object"),
    ],
)
def test_a_call_that_names_no_tool_or_no_object_is_a_protocol_error_in_both_eras(
    params: Mapping[str, object], message: str
) -> None:
    error = f'{{"code":-32602,"message":"{message}"}}'

    assert [
        _server().answer(*modern("tools/call", params), _BOTH),
        _server().answer(*handshake("tools/call", params), _BOTH),
    ] == [_error(400, "1", error), _error(200, "1", error)]


@pytest.mark.parametrize("name", [None, 5, ["look"], {"look": 1}])
def test_a_name_that_is_no_string_is_a_protocol_error(name: object) -> None:
    assert _server().answer(*handshake("tools/call", {"name": name}), _BOTH) == _error(
        200, "1", '{"code":-32602,"message":"name must be a string"}'
    )


def test_a_modern_call_without_a_name_or_its_header_is_a_protocol_error() -> None:
    headers, call = modern("tools/call")
    del headers["mcp-name"]

    assert _server().answer(headers, call, _BOTH) == _error(
        400, "1", '{"code":-32602,"message":"name must be a string"}'
    )


@pytest.mark.parametrize("cursor", ["", "x", 0])
def test_the_list_has_one_page_so_every_cursor_is_unknown(cursor: object) -> None:
    error = '{"code":-32602,"message":"Unknown cursor"}'

    assert [
        _server().answer(*modern("tools/list", {"cursor": cursor}), _BOTH),
        _server().answer(*handshake("tools/list", {"cursor": cursor}), _BOTH),
    ] == [_error(400, "1", error), _error(200, "1", error)]


def test_an_unknown_method_is_404_in_the_modern_era_and_200_before() -> None:
    error = '{"code":-32601,"message":"Method not found: prompts/list"}'

    assert [
        _server().answer(*modern("prompts/list"), _BOTH),
        _server().answer(*handshake("prompts/list"), _BOTH),
    ] == [_error(404, "1", error), _error(200, "1", error)]


def test_a_stamped_request_without_the_version_header_is_a_mismatch() -> None:
    headers, request = modern("tools/list")
    del headers["mcp-protocol-version"]

    assert _server().answer(headers, request, _BOTH) == _error(
        400,
        "1",
        '{"code":-32020,"message":"mcp-protocol-version does not match the body of the request"}',
    )


def test_members_and_headers_of_no_use_here_are_ignored() -> None:
    headers, request = modern(
        "tools/call",
        {
            "name": "look",
            "inputResponses": {},
            "requestState": "s",
            "task": {"ttl": 1},
            "x": None,
        },
    )
    noise = {
        "accept": "text/html",
        "mcp-session-id": "stale",
        "last-event-id": "7",
        "mcp-param-workspace": "other",
    }

    assert _server().answer({**headers, **noise}, request, _BOTH).status == 200


def test_only_tools_within_the_scopes_are_listed() -> None:
    assert [
        _server().answer(*handshake("tools/list"), scopes)
        for scopes in (frozenset[str](), _READ, frozenset({"memory:write"}))
    ] == [
        _result('{"tools":[]}'),
        _result(f'{{"tools":[{_LOOK_JSON}]}}'),
        _result(f'{{"tools":[{_PUT_JSON}]}}'),
    ]


@pytest.mark.parametrize("wire", [modern, handshake])
def test_a_call_beyond_the_scopes_reaches_no_tool_and_names_the_scope(
    wire: Callable[[str, Mapping[str, object]], Wire],
) -> None:
    server = _server_that_raises(AssertionError("called"))

    with pytest.raises(InsufficientScope) as refused:
        server.answer(*wire("tools/call", {"name": "put"}), _READ)

    assert refused.value.scope == "memory:write"


@pytest.mark.parametrize("error", [Refused("No. Nothing was written."), Unavailable("Wait 5 s.")])
def test_what_a_tool_refuses_in_words_is_an_error_result(error: Exception) -> None:
    server = _server_that_raises(error)

    assert server.answer(*handshake("tools/call", {"name": "put"}), _BOTH) == _result(
        f'{{"content":[{{"type":"text","text":"{error}"}}],"isError":true}}'
    )


def test_an_ended_sign_in_is_left_to_whoever_knows_the_challenge() -> None:
    server = _server_that_raises(SignInEnded())

    with pytest.raises(SignInEnded):
        server.answer(*handshake("tools/call", {"name": "put"}), _BOTH)


def test_a_protocol_error_of_a_tool_is_an_error_object_in_the_status_of_its_era() -> None:
    server = _server_that_raises(ProtocolError(-32021, "No", {"requiredCapabilities": {}}))
    error = '{"code":-32021,"message":"No","data":{"requiredCapabilities":{}}}'

    assert [
        server.answer(*modern("tools/call", {"name": "put"}), _BOTH),
        server.answer(*handshake("tools/call", {"name": "put"}), _BOTH),
    ] == [_error(400, "1", error), _error(200, "1", error)]


def test_a_crash_in_a_tool_is_an_error_result_with_a_reference() -> None:  # T-44
    server = _server_that_raises(KeyError("canary"))

    assert server.answer(*modern("tools/call", {"name": "put"}), _BOTH) == _result(
        '{"resultType":"complete","content":[{"type":"text","text":"Something went wrong on our '
        'side (reference R1). Try again in a minute."}],'
        f'"isError":true,{_SERVER_META}}}'
    )


def test_a_crash_is_logged_by_type_and_place_and_never_by_what_the_user_wrote(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def call(name: str, arguments: Mapping[str, object]) -> ToolResult:
        try:
            return ToolResult((chr(int(str(arguments["text"]))),))
        except ValueError as error:
            raise RuntimeError(f"lost {arguments}") from error

    server = McpServer(_TOOLSET, call=call, references=lambda: "R1")
    wire = handshake("tools/call", {"name": "put", "arguments": {"text": "canary"}})

    with caplog.at_level(logging.DEBUG):
        server.answer(*wire, _BOTH)

    [record] = caplog.records
    fields = vars(record)
    places = [re.sub(r"^.*/(\w+\.py):\d+ ", r"\1 ", line) for line in fields["trace"]]
    assert (record.levelname, record.getMessage()) == ("ERROR", "A tool call failed")
    assert (fields["reference"], fields["tool"], places) == (
        "R1",
        "put",
        [
            "builtins.RuntimeError",
            "server.py _called",
            "test_server.py call",
            "builtins.ValueError",
            "test_server.py call",
        ],
    )
    assert "canary" not in caplog.text + str(fields)


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        " application/json ",
    ],
)
def test_json_is_taken_in_every_spelling_of_its_media_type(content_type: str) -> None:
    headers, ping = handshake("ping")

    answer = _server().answer({**headers, "content-type": content_type}, ping, _BOTH)

    assert answer == _result("{}")


@pytest.mark.parametrize(
    "content_type",
    [None, "", "text/plain", "application/jsonl", "application/json, application/json", "json"],
)
def test_another_media_type_is_refused_before_the_body_is_read(content_type: str | None) -> None:
    headers = {} if content_type is None else {"content-type": content_type}

    assert _server().answer(headers, b"{", _BOTH) == _error(
        400, "null", '{"code":-32600,"message":"Content-Type must be application/json"}'
    )


def test_a_body_of_4_mib_is_read_and_one_byte_more_is_refused_with_the_limit() -> None:
    headers, ping = handshake("ping")
    largest = ping + b" " * (4_194_304 - len(ping))

    assert [
        _server().answer(headers, largest, _BOTH),
        _server().answer(headers, largest + b" ", _BOTH),
    ] == [
        _result("{}"),
        _error(413, "null", '{"code":-32600,"message":"Body must be at most 4194304 bytes"}'),
    ]


def test_an_envelope_error_is_400_in_every_era() -> None:
    message = "Body must be a single JSON-RPC request or notification"

    assert [
        _server().answer(headers, b"[%s]" % request, _BOTH)
        for headers, request in (modern("tools/list"), handshake("ping"))
    ] == [_error(400, "null", f'{{"code":-32600,"message":"{message}"}}')] * 2


@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/cancelled", "tools/call", "unknown"]
)
def test_a_notification_is_accepted_and_nothing_is_done(method: str) -> None:
    server = _server_that_raises(AssertionError("called"))
    notification = json.dumps({"jsonrpc": "2.0", "method": method, "params": {"name": "put"}})

    assert server.answer(
        {"content-type": "application/json"}, notification.encode(), _BOTH
    ) == Answer(202, {"cache-control": "no-store"}, b"")


def test_a_notification_of_an_unknown_revision_is_refused() -> None:
    headers = {"content-type": "application/json", "mcp-protocol-version": "2099-01-01"}

    assert _server().answer(headers, b'{"jsonrpc":"2.0","method":"x"}', _BOTH) == _error(
        400,
        "null",
        '{"code":-32022,"message":"Unsupported protocol version",'
        '"data":{"supported":["2026-07-28"],"requested":"2099-01-01"}}',
    )


def test_half_a_surrogate_pair_reaches_the_tool_and_comes_back_escaped() -> None:
    def call(name: str, arguments: Mapping[str, object]) -> ToolResult:
        return ToolResult((str(arguments["text"]),))

    server = McpServer(_TOOLSET, call=call, references=lambda: "R1")
    wire = handshake("tools/call", {"name": "put", "arguments": {"text": "\ud83d"}})

    assert server.answer(*wire, _BOTH) == _result(
        '{"content":[{"type":"text","text":"\\ud83d"}],"isError":false}'
    )


def test_the_list_of_tools_is_byte_identical_between_calls() -> None:
    assert len({_server().answer(*modern("tools/list"), _BOTH).body for _ in range(3)}) == 1


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
_ODD_PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["look", "put", "gone"]) | _VALUES,
        "arguments": _VALUES,
        "cursor": _VALUES,
        "protocolVersion": _VALUES,
        "_meta": st.just(STAMP) | _VALUES,
    },
)
_METHODS = ["initialize", "ping", "server/discover", "tools/list", "tools/call"]


@given(
    version=st.sampled_from([None, "2026-07-28", "2025-11-25"]) | st.text(),
    request=st.binary()
    | st.builds(body, st.sampled_from(_METHODS) | st.text(), _ODD_PARAMS | _VALUES),
)
def test_whatever_is_sent_is_answered_in_json_with_a_known_status(
    version: str | None, request: bytes
) -> None:
    headers = {"content-type": "application/json", "mcp-method": "tools/call", "mcp-name": "look"}
    if version is not None:
        headers["mcp-protocol-version"] = version

    answer = _server().answer(headers, request, _BOTH)

    assert answer.status in {200, 202, 400, 404}
    assert answer.status == 202 or json.loads(answer.body)["jsonrpc"] == "2.0"
