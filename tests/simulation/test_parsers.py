"""Whatever arrives: no 500, no traceback, no exception that nobody planned, no long wait."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorybox.adapters.dropbox import webhook
from memorybox.errors import MemoryBoxError, Refused
from memorybox.files import edits
from memorybox.files.model import Edit, FileRef
from memorybox.mcp import messages
from memorybox.oauth import redirects
from memorybox.oauth.documents import parse_document
from memorybox.oauth.parameters import Parameters
from memorybox.search.model import Entry, Indexed, Part, Recipe, Seen
from memorybox.search.pack import Pack, build_pack
from memorybox.search.parts import MAX_FILE, parts_of
from memorybox.search.terms import Lexicon
from tests.simulation.plan import MIDDAY, Plan
from tests.simulation.world import PRODUCT, World
from tests.unit.web.site import FORM, Site, exchange

FEW = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
MANY = settings(FEW, max_examples=200)
SECONDS = 6.0
"""The longest that any input of these sizes may keep one call busy on a loaded machine."""

odd = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\0\r\n\t\"'\\/.%&=+;:@<>{}[]\u2028\ufeff\ud800\udfff\u0130İß😀"),
    ),
    max_size=40,
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | odd,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(odd, inner, max_size=4),
    max_leaves=12,
)


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


garbled = st.binary(max_size=200) | odd.map(lambda text: text.encode(errors="surrogatepass"))
bodies = garbled | values.map(as_json)
requests = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "1.0", 2]), "method": odd | st.just("tools/call")},
    optional={"id": values, "params": values, "more": values},
).map(as_json)


def in_time(call: Callable[[], object]) -> None:
    start = time.process_time()  # a busy machine does not count
    call()
    assert time.process_time() - start < SECONDS


@MANY
@given(bodies | requests)
def test_any_message_is_a_request_or_a_protocol_error(body: bytes) -> None:
    with suppress(messages.ProtocolError):
        messages.parse(body)


@pytest.mark.parametrize("character", ["[", '{"a":', '"\\u0000', "1", "[1,"])
def test_a_message_of_4_mb_of_one_thing_is_read_in_time(character: str) -> None:
    body = (character * (messages.MAX_BODY_BYTES // len(character))).encode()

    def parse() -> None:
        with suppress(messages.ProtocolError):
            messages.parse(body)

    in_time(parse)


@pytest.mark.promise("P-205")
@MANY
@given(
    st.sampled_from(["list", "read", "write", "append", "patch", "search", "other"]),
    st.dictionaries(
        st.sampled_from(
            ["workspace", "path", "text", "edits", "expected_rev", "command_id", "query", "limit"]
        )
        | odd,
        values | st.sampled_from(["garden", "a.md", "0123456789", [{"old_text": "a"}], 3, "all"]),
        max_size=6,
    ),
)
def test_any_arguments_of_a_tool_are_answered_in_one_short_text(
    tool: str, arguments: dict[str, object]
) -> None:
    tools = World(Plan(0, ()), PRODUCT).tools()
    try:
        answer = tools.call(tool, arguments)
    except MemoryBoxError as error:
        said = str(error)
    else:
        said = answer.texts[0]
    assert len(said) <= 1_500
    assert "Traceback" not in said


@MANY
@given(odd, odd.map(lambda name: f"{name}.md"))
def test_any_name_is_a_place_in_its_workspace_or_refused(workspace: str, path: str) -> None:
    with suppress(Refused):
        ref = FileRef.parse(workspace, path)
        assert ref.location.startswith("/")
        assert not {"", ".", ".."} & {*ref.location[1:].split("/")}


@MANY
@given(st.lists(st.builds(Edit, odd, odd), max_size=4), odd)
def test_any_edits_are_applied_or_refused(changes: list[Edit], text: str) -> None:
    with suppress(Refused):
        edits.apply(changes, text, FileRef.parse("garden", "plan.md"))


@pytest.mark.parametrize(
    ("old", "text"), [("a" * 50_000, "a" * 1_000_000), ("\n" * 999, "\n" * 10**6)]
)
def test_an_edit_that_fits_everywhere_is_refused_in_time(old: str, text: str) -> None:
    def apply() -> None:
        with suppress(Refused):
            edits.apply([Edit(old, "b")], text, FileRef.parse("garden", "plan.md"))

    in_time(apply)


@MANY
@given(odd.map(lambda text: text.encode(errors="replace")), st.integers(1, 2_000))
def test_the_parts_of_any_text_are_the_text(piece: bytes, times: int) -> None:
    data = piece * times
    parts = parts_of(data[:MAX_FILE].decode(errors="ignore").encode())
    for part in parts:
        assert part.text.encode() in data
    assert [part.start for part in parts] == sorted(part.start for part in parts)


@FEW
@given(odd)
def test_the_terms_of_any_text_are_counted(text: str) -> None:
    words = Lexicon(b"key of the account").words(text * 20)

    assert len(words.terms) == 4 * len(words.counts)


PACK = build_pack(
    Recipe("model", 4, 1, 1),
    [
        Entry(
            Seen(f"/garden/{n}.md", f"/garden/{n}.md", f"{n:09x}", "h", 3, MIDDAY),
            Indexed(
                f"{n:09x}",
                "h",
                Recipe("model", 4, 1, 1),
                (Part(0, 3, bytes(16), bytes(4), Lexicon(b"key").words("abc")),),
            ),
        )
        for n in range(3)
    ],
)


@MANY
@given(st.data())
def test_a_pack_with_any_damage_is_damaged_and_not_believed(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(PACK) - 1))
    broken = bytearray(PACK)
    broken[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    if broken == PACK:
        return
    with pytest.raises(MemoryBoxError):
        Pack.open(broken)


@MANY
@given(bodies)
def test_any_notification_names_accounts_or_none(body: bytes) -> None:
    assert all(isinstance(name, str) for name in webhook.account_ids(body))


@MANY
@given(odd)
def test_any_challenge_is_echoed_or_refused(text: str) -> None:
    assert webhook.challenge(text) in {text, None}
    assert not webhook.is_signed(b"body", text, ["secret"])


@MANY
@given(odd | st.lists(st.tuples(odd, odd)).map(lambda pairs: urlencode(pairs, errors="replace")))
def test_any_form_is_read(text: str) -> None:
    with suppress(MemoryBoxError):
        Parameters.parse(text)


@MANY
@given(odd | odd.map(lambda text: f"https://{text}") | odd.map(lambda t: f"http://127.0.0.1:{t}"))
def test_any_redirect_is_allowed_or_not(uri: str) -> None:
    if redirects.is_allowed(uri):
        assert redirects.with_answer(uri, {"code": "c"}).count("code=c") >= 1
    redirects.is_registered(uri, ["http://127.0.0.1/callback", uri])


@MANY
@given(bodies)
def test_any_client_document_is_taken_or_refused(body: bytes) -> None:
    with suppress(MemoryBoxError):
        parse_document("https://client.example/client.json", body)


ROUTES = (
    "/", "/mcp", "/mcp/", "/authorize", "/consent", "/token", "/revoke", "/register", "/account",
    "/dropbox/callback", "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource", "/nowhere",
)  # fmt: skip
HEADERS = (
    "authorization", "accept", "content-type", "content-length", "origin", "host", "cookie",
    "x-forwarded-for", "mcp-protocol-version", "mcp-method", "mcp-name",
)  # fmt: skip
headers = st.dictionaries(
    st.sampled_from(HEADERS),
    odd.map(lambda text: text.encode(errors="ignore").decode()) | st.sampled_from([*FORM.values()]),
    max_size=4,
)


@pytest.mark.promise("P-205")
@FEW
@given(
    st.sampled_from(["GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD"]),
    st.sampled_from(ROUTES),
    headers,
    st.dictionaries(
        odd | st.sampled_from(["client_id", "state", "code", "token"]), odd, max_size=4
    ),
    bodies.map(lambda body: body.decode(errors="replace")),
)
def test_any_request_is_answered_without_a_500(
    method: str, path: str, sent: dict[str, str], query: dict[str, str], body: str
) -> None:
    query = {
        name.encode(errors="ignore").decode(): v.encode(errors="ignore").decode()
        for name, v in query.items()
    }
    try:
        reply = Site().call(method, path, query=query, headers=sent, body=body)
    except ValueError:
        return  # what Mangum raises; functions/mcp answers 400
    assert reply.status < 500
    assert "Traceback" not in reply.body


@FEW
@given(
    st.dictionaries(
        st.sampled_from([*exchange("c", "x"), "refresh_token", "token"]), odd, max_size=6
    )
)
def test_any_form_for_tokens_is_refused_with_an_oauth_error(fields: Mapping[str, str]) -> None:
    form = {n: v.encode(errors="ignore").decode() for n, v in fields.items()}
    site = Site()

    for path in ("/token", "/revoke"):
        reply = site.post(path, form)
        assert reply.status in {400, 401} or (path == "/revoke" and reply.status == 200)
        assert "Traceback" not in reply.body
