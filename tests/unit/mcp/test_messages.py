"""One JSON-RPC message in, one out."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybox.mcp.messages import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ProtocolError,
    Request,
    error_frame,
    parse,
    result_frame,
)


def _request(params: str) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"m","params":%s}' % params.encode()


def _nested(depth: int) -> bytes:
    """A request whose deepest container is at `depth`; the message itself is at 1."""
    return _request("[" * (depth - 1) + "]" * (depth - 1))


@pytest.mark.parametrize("request_id", ["0", '""', "-7", '"é"', "9" * 4300])
def test_an_id_that_is_a_string_or_an_integer_is_kept_as_sent(request_id: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":{request_id},"method":"ping","params":{{"a":1}}}}'

    assert parse(body.encode()) == Request(json.loads(request_id), "ping", {"a": 1})


def test_a_request_without_params_has_none() -> None:
    assert parse(b'{"jsonrpc":"2.0","id":1,"method":"ping"}') == Request(1, "ping", {})


def test_params_of_any_type_are_left_to_the_era() -> None:
    assert parse(_request("null")) == Request(1, "m", None)


def test_a_message_without_an_id_is_a_notification() -> None:
    assert parse(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') is None


@pytest.mark.parametrize("request_id", ["null", "true", "false", "1.0", "1e0", "[]", "{}"])
def test_an_id_of_another_type_is_refused(request_id: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":{request_id},"method":"ping"}}'

    with pytest.raises(ProtocolError) as refused:
        parse(body.encode())

    assert (refused.value.code, refused.value.message) == (
        INVALID_REQUEST,
        "id must be a string or an integer",
    )


@pytest.mark.requirement("M12")
@pytest.mark.parametrize(
    "body",
    [
        "null",
        "1",
        '"ping"',
        "[]",
        '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        "{}",
        '{"id":1,"method":"ping"}',
        '{"jsonrpc":"1.0","id":1,"method":"ping"}',
        '{"jsonrpc":2.0,"id":1,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1}',
        '{"jsonrpc":"2.0","id":1,"method":null}',
        '{"jsonrpc":"2.0","id":1,"method":["ping"]}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}',
    ],
)
def test_anything_but_one_request_or_notification_is_refused(body: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        parse(body.encode())

    assert (refused.value.code, refused.value.message) == (
        INVALID_REQUEST,
        "Body must be a single JSON-RPC request or notification",
    )


@pytest.mark.requirement("M7")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"jsonrpc":"2.0"', id="cut off"),
        pytest.param(b'{"jsonrpc":"2.0"} {}', id="two documents"),
        pytest.param(_request('"\t"'), id="raw control character"),
        pytest.param(_request('"x"').replace(b"x", b"\xff"), id="not UTF-8"),
        pytest.param(_request('"x"').replace(b"x", b"\xed\xa0\xbd"), id="surrogate in UTF-8"),
        pytest.param(_request("{}").decode().encode("utf-16"), id="UTF-16"),
        pytest.param(b"\xef\xbb\xbf" + _request("{}"), id="byte order mark"),
        pytest.param(_request("NaN"), id="NaN"),
        pytest.param(_request("[Infinity]"), id="Infinity"),
        pytest.param(_request("[-Infinity]"), id="minus Infinity"),
        pytest.param(_request("1e999"), id="a number that would be Infinity"),
        pytest.param(_request("9" * 4301), id="an integer of 4,301 digits"),
        pytest.param(_request('{"a":1,"a":1}'), id="duplicate key"),
        pytest.param(_request(r'{"a":1,"\u0061":2}'), id="duplicate key, spelled otherwise"),
        pytest.param(_request("{}").replace(b"id", b"method"), id="duplicate key of the message"),
        pytest.param(_nested(33), id="33 deep"),
        pytest.param(_request('{"a":' * 32 + "1" + "}" * 32), id="33 objects deep"),
        pytest.param(_nested(1_000), id="1,000 deep"),
        pytest.param(b"[" * 100_000, id="100,000 open"),
        pytest.param(b'{"a":' * 100_000, id="100,000 open objects"),
    ],
)
def test_what_readers_could_take_differently_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(ProtocolError) as refused:
        parse(body)

    assert (refused.value.code, refused.value.message) == (
        PARSE_ERROR,
        "Body must be JSON in UTF-8 without duplicate keys, NaN or Infinity, "
        "nested at most 32 deep",
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(_nested(32), id="32 deep"),
        pytest.param(_request('{"a":' * 31 + "1" + "}" * 31), id="32 objects deep"),
        pytest.param(_request('"' + "[" * 1_000 + '"'), id="brackets in a string"),
        pytest.param(_request("[" + "[],{}," * 1_000 + "1]"), id="wide, not deep"),
        pytest.param(_request("[1.5,-0.0,1e308," + "9" * 4300 + "]"), id="numbers"),
        pytest.param(_request('{"a":{"a":1},"b":{"a":1}}'), id="one key in several objects"),
    ],
)
def test_what_every_reader_takes_alike_is_read_whole(body: bytes) -> None:
    assert parse(body) == Request(1, "m", json.loads(body)["params"])


def test_half_a_surrogate_pair_is_read_and_left_to_the_tool() -> None:
    assert parse(_request(r'"\ud83d"')) == Request(1, "m", "\ud83d")


def test_a_result_is_one_compact_object() -> None:
    frame = result_frame("é", {"a": [1, None, True], "b": '\x00\n"\\/ü😀'})

    assert frame == (
        '{"jsonrpc":"2.0","id":"é","result":'
        '{"a":[1,null,true],"b":"\\u0000\\n\\"\\\\/ü😀"}}'.encode()
    )


def test_characters_that_break_a_frame_are_escaped_in_it() -> None:
    frame = result_frame("\udc00", {"a": "\x85|\u2028|\u2029|\ud83d"})

    assert frame == (
        rb'{"jsonrpc":"2.0","id":"\udc00","result":{"a":"\u0085|\u2028|\u2029|\ud83d"}}'
    )


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_survives_the_frame_which_is_one_line(text: str) -> None:
    frame = result_frame(1, {"text": text}).decode()

    joined = re.sub(  # two halves side by side are one character once they have been JSON
        "[\ud800-\udbff][\udc00-\udfff]",
        lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"),
        text,
    )
    assert json.loads(frame)["result"]["text"] == joined
    assert len(frame.splitlines()) == 1


def test_an_error_without_data_has_no_member_for_it() -> None:
    frame = error_frame(None, ProtocolError(-32700, "No"))

    assert frame == b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"No"}}'


def test_an_error_carries_its_data() -> None:
    frame = error_frame(7, ProtocolError(-32022, "No", {"requested": "1"}))

    assert frame == (
        b'{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"No","data":{"requested":"1"}}}'
    )
