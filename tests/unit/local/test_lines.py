"""One line for each event, and nothing of the content in it."""

import json

import pytest

from local import lines
from local.gateway import Access
from local.payload import HttpRequest, HttpResponse
from local.queue import Batch


def event(
    method: str, target: str, status: int = 200, body: object = "", answer: object = ""
) -> Access:
    return Access(
        HttpRequest(method, target, [], json.dumps(body).encode(), "127.0.0.1"),
        HttpResponse(status, [], json.dumps(answer).encode()),
        "$default",
        41,
    )


def tool_call(name: object, answer: object) -> Access:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": {"path": "secret.md", "text": "secret"}},
    }
    return event("POST", "/mcp", body=body, answer=answer)


@pytest.mark.parametrize(
    ("access", "line"),
    [
        (tool_call("write", {"result": {"content": []}}), "/mcp tools/call write  ok  41 ms"),
        (tool_call("read", {"result": {"isError": True}}), "/mcp tools/call read  refused  41 ms"),
        (tool_call("x", {"error": {"code": -32602}}), "/mcp tools/call x  error -32602  41 ms"),
        (event("POST", "/mcp", body={"method": "initialize"}), "/mcp initialize  ok  41 ms"),
        (event("POST", "/mcp", 401, {"method": "tools/list"}), "/mcp tools/list  401  41 ms"),
        (event("POST", "/mcp", 400, "not a call"), "POST /mcp  400  41 ms"),
        (event("POST", "/dropbox/webhook"), "POST /dropbox/webhook  200  41 ms"),
        (event("GET", "/dropbox/callback?code=secret", 302), "GET /dropbox/callback  302  41 ms"),
    ],
)
def test_a_request_is_one_line_of_what_how_and_how_long(access: Access, line: str) -> None:
    assert lines.access(access) == line


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"method":' * 900 + b"1" + b"}" * 900])
def test_a_body_nested_too_deeply_is_a_line_like_any_other(body: bytes) -> None:
    request = HttpRequest("POST", "/mcp", [], body, "127.0.0.1")
    line = lines.access(Access(request, HttpResponse(400, [], b"{}"), "$default", 41))
    assert line in {"POST /mcp  400  41 ms", "/mcp ?  400  41 ms"}


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "x" * 65, "", None, ["read"], {"a": 1}])
def test_a_name_that_is_none_is_not_shown(name: object) -> None:
    shown = "None" if name is None else "?"
    assert lines.access(tool_call(name, {"result": {}})) == f"/mcp tools/call {shown}  ok  41 ms"


@pytest.mark.parametrize(
    ("batch", "line"),
    [
        (Batch(1, 0, 7), "index  1 record  7 ms"),
        (Batch(5, 2, 120), "index  5 records, 2 to be tried again  120 ms"),
    ],
)
def test_a_batch_is_one_line(batch: Batch, line: str) -> None:
    assert lines.batch(batch) == line


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"level": "INFO", "message": "started"}', None),
        ('{"level": "WARNING", "message": "slow"}', "mcp  WARNING  slow"),
        ('{"level": "ERROR", "errorMessage": "no", "errorType": "E"}', "mcp  ERROR  E: no"),
        ('{"level": "ERROR", "message": {"event": "x"}}', 'mcp  ERROR  {"event": "x"}'),
        ('{"level": "WARNING", "message": "LAMBDA_WARNING: Unhandled"}', None),
        ("Traceback (most recent call last):", "mcp  Traceback (most recent call last):"),
        ("", None),
    ],
)
def test_of_what_a_function_prints_only_trouble_is_shown(line: str, said: str | None) -> None:
    assert lines.trouble("mcp", line) == said
