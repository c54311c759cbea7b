"""What a tool takes, and which names a file may have."""

import json

import pytest

from memorybox.mcp.messages import MAX_BODY_BYTES
from tests.acceptance.box import Box
from tests.acceptance.notes import T45

NOTE: dict[str, object] = {"workspace": "garden", "path": "a.md"}
EDITS = [{"old_text": "a", "new_text": "b"}]
REV = "0165f1c6d7426cd000000033b284821"
GOOD: dict[str, dict[str, object]] = {
    "list": {"workspace": "garden"},
    "read": NOTE,
    "write": {**NOTE, "text": "x"},
    "append": {**NOTE, "text": "x"},
    "patch": {**NOTE, "edits": EDITS, "expected_rev": REV},
    "search": {"workspace": "garden", "query": "peas"},
}
TAKES = {
    "list": "workspace",
    "read": "workspace, path",
    "write": "workspace, path, text, expected_rev, command_id",
    "append": "workspace, path, text, command_id",
    "patch": "workspace, path, edits, expected_rev, command_id",
    "search": "workspace, query, limit",
}
CAFE, CAFE_DECOMPOSED = "café.md", "cafe\N{COMBINING ACUTE ACCENT}.md"


def ending(tool: str) -> str:
    return " Nothing was written." if tool in {"write", "append", "patch"} else ""


def not_allowed(path: str, reason: str) -> str:
    return (
        f'path "{path}" is not allowed: {reason}. '
        'Give the path inside the workspace, such as "beds/plan.md".'
    )


@pytest.mark.promise("P-101")
def test_each_tool_takes_its_own_arguments(box: Box) -> None:
    tools = box.request("tools/list", {})["tools"]

    assert {tool["name"]: ", ".join(tool["inputSchema"]["properties"]) for tool in tools} == TAKES
    assert {tool["name"]: tool["inputSchema"]["required"] for tool in tools} == {
        "list": ["workspace"],
        "read": ["workspace", "path"],
        "write": ["workspace", "path", "text"],
        "append": ["workspace", "path", "text"],
        "patch": ["workspace", "path", "edits", "expected_rev"],
        "search": ["workspace", "query"],
    }


@pytest.mark.promise("P-101", "T-21")
@pytest.mark.parametrize("tool", GOOD)
def test_an_unknown_argument_is_named_with_those_that_are_known(box: Box, tool: str) -> None:
    assert box.refuses(tool, **GOOD[tool], colour="red") == (
        f'{tool} does not know the argument "colour". It takes {TAKES[tool]}.{ending(tool)}'
    )


@pytest.mark.promise("P-101", "T-20")
@pytest.mark.parametrize(
    ("tool", "missing"),
    [
        (tool, name)
        for tool, arguments in GOOD.items()
        for name in arguments
        if name != "expected_rev"
    ],
)
@pytest.mark.parametrize("is_null", [False, True])
def test_a_missing_argument_is_named(box: Box, tool: str, missing: str, is_null: bool) -> None:
    given = {name: value for name, value in GOOD[tool].items() if name != missing}
    if is_null:
        given[missing] = None

    assert box.refuses(tool, **given) == f"{tool} needs {missing}.{ending(tool)}"


@pytest.mark.promise("P-101", "T-20")
@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("list", "workspace"),
        ("read", "path"),
        ("write", "text"),
        ("write", "expected_rev"),
        ("write", "command_id"),
        ("append", "text"),
        ("patch", "expected_rev"),
        ("search", "query"),
    ],
)
@pytest.mark.parametrize("value", [7, True, ["x"], {"text": "x"}])
def test_an_argument_of_another_type_is_refused(
    box: Box, tool: str, name: str, value: object
) -> None:
    assert box.refuses(tool, **{**GOOD[tool], name: value}) == (
        f"{name} must be text.{ending(tool)}"
    )


ALWAYS_REFUSED = [
    ("", "it is empty"),
    ("/garden/x.md", 'it starts with "/"'),
    ("x.md/", 'it ends with "/"'),
    ("beds//x.md", "it has an empty part"),
    ("..", 'it has a "." or ".." part'),
    ("../work/x.md", 'it has a "." or ".." part'),
    ("beds/../../work/x.md", 'it has a "." or ".." part'),
    ("./x.md", 'it has a "." or ".." part'),
    ("beds\\x.md", "it has a backslash"),
    ("x.md\0.txt", "it has a control character"),
    ("x\ud83c.md", "it has half of a surrogate pair"),
    ("x.txt", "it does not end in .md"),
    ("id:abc", "it does not end in .md"),
    ("rev:0165f1c6d7426cd", "it does not end in .md"),
    ("x.md ", "it does not end in .md"),
    (".md", "it has no name before .md"),
    ("beds/.MD", "it has no name before .md"),
]


@pytest.mark.promise("P-103", "P-108", "T-22", "T-38")
@pytest.mark.parametrize(("path", "reason"), ALWAYS_REFUSED)
@pytest.mark.parametrize("tool", ["read", "write", "append", "patch"])
def test_a_path_that_leaves_its_workspace_or_names_no_note_is_refused(
    box: Box, tool: str, path: str, reason: str
) -> None:
    shown = path.replace("\0", "\\u0000").replace("\ud83c", "\\ud83c")

    assert box.refuses(tool, **{**GOOD[tool], "path": path}) == (
        not_allowed(shown, reason) + ending(tool)
    )
    assert box.calls_of_dropbox() == 0


@pytest.mark.promise("P-103", "P-105")
@pytest.mark.parametrize("path", ["id:abc/x.md", "ns:123/x.md", "rev:0165f1c6d/x.md"])
def test_dropbox_s_special_forms_are_plain_letters_inside_a_path(box: Box, path: str) -> None:
    box.says("write", workspace="garden", path=path, text="x")

    assert box.dropbox.files() == {f"/garden/{path}": b"x"}
    assert box.call("read", workspace="garden", path=path).texts[1] == "x"


@pytest.mark.promise("P-103", "P-105")
@pytest.mark.parametrize("workspace", ["id:abc", "ns:123", "rev:0165f1c6d"])
def test_dropbox_s_special_forms_are_plain_letters_as_a_workspace(box: Box, workspace: str) -> None:
    box.says("write", workspace=workspace, path="x.md", text="x")

    assert box.dropbox.files() == {f"/{workspace}/x.md": b"x"}
    assert '"size":1,' in box.says("list", workspace=workspace)


HARD_TO_USE = [
    ("x\ny.md", "it has a control character"),
    ("x\x85y.md", "it has a control character"),
    (" x.md", "a name in it starts or ends with a space"),
    ("beds /x.md", "a name in it starts or ends with a space"),
    ("beds./x.md", "a folder in it ends with a dot"),
    (f"{'x' * 253}.md", "a name in it is over 255 bytes"),
    (f"{'ト' * 86}/x.md", "a name in it is over 255 bytes"),
]


@pytest.mark.promise("P-104", "T-22")
@pytest.mark.parametrize(("path", "reason"), HARD_TO_USE)
@pytest.mark.parametrize("tool", ["write", "append"])
def test_a_new_file_gets_no_name_that_is_hard_to_use_elsewhere(
    box: Box, tool: str, path: str, reason: str
) -> None:
    shown = path.replace("\n", "\\u000a").replace("\x85", "\\u0085")
    shown = shown if len(shown) <= 200 else shown[:200] + "…"

    assert box.refuses(tool, workspace="garden", path=path, text="x") == (
        f"{not_allowed(shown, reason)} Nothing was written."
    )
    assert box.calls_of_dropbox("files/upload") == 0


@pytest.mark.promise("P-104")
@pytest.mark.parametrize("path", ["x\ny.md", " x.md", "beds./x.md", "\u202ex.md"])
def test_a_file_that_has_such_a_name_is_read_and_changed(box: Box, path: str) -> None:
    name = {"workspace": "garden", "path": path}
    first = box.dropbox.put(f"/garden/{path}", T45).rev

    box.says("write", **name, text="a", expected_rev=first)
    box.says("append", **name, text="b")
    rev = box.rev(f"/garden/{path}")
    box.says("patch", **name, edits=[{"old_text": "ab", "new_text": "abc"}], expected_rev=rev)

    assert box.call("read", **name).texts[1] == "abc"


@pytest.mark.promise("P-105")
@pytest.mark.parametrize(
    "path",
    [
        "50% plan.md",
        "note #1.md",
        "what?.md",
        "a%3Db.md",
        "..%2fwork%2fx.md",
        "%2e%2e/x.md",
        "it's “fine”.md",
        "[Java] list.md",
        "~$plan.md",
        "&amp; + = ;.md",
        "トマト/план/גינה.md",
        "🗂️ hub.md",
    ],
)
def test_names_are_literal(box: Box, path: str) -> None:
    name = {"workspace": "garden", "path": path}

    box.says("write", **name, text="x")

    assert box.dropbox.files() == {f"/garden/{path}": b"x"}
    assert box.call("read", **name).texts[1] == "x"
    [listed] = json.loads(box.says("list", workspace="garden"))["files"]
    assert listed["path"] == path


@pytest.mark.promise("P-105", "T-34")
@pytest.mark.parametrize("tool", ["write", "append"])
@pytest.mark.parametrize("path", ["desktop.ini/x.md", "beds/.dropbox/x.md"])
def test_a_name_that_dropbox_does_not_take_is_refused(box: Box, path: str, tool: str) -> None:
    assert box.refuses(tool, workspace="garden", path=path, text="x") == (
        f'Dropbox does not take the name "{path}". Choose another name. Nothing was written.'
    )


@pytest.mark.promise("P-105", "T-34")
def test_an_emoji_in_a_name_is_refused_where_dropbox_does_not_take_it(box: Box) -> None:
    box.dropbox.set(emoji_allowed=False)

    assert box.refuses("write", workspace="garden", path="🗂️ hub.md", text="x") == (
        'Dropbox does not take the name "🗂️ hub.md". Choose another name. Nothing was written.'
    )


@pytest.mark.promise("P-106", "T-02")
def test_a_name_composed_and_decomposed_is_one_file(box: Box) -> None:
    box.says("write", workspace="garden", path=CAFE_DECOMPOSED, text="one")

    assert box.dropbox.files() == {f"/garden/{CAFE}": b"one"}
    assert box.call("read", workspace="garden", path=CAFE_DECOMPOSED).texts[1] == "one"
    assert box.refuses("write", workspace="garden", path=CAFE, text="two") == (
        f'The file "{CAFE}" in workspace "garden" already exists. '
        "To replace it, pass its current rev as expected_rev."
    )


@pytest.mark.promise("P-106")
def test_the_key_of_a_name_is_dropbox_s_own(box: Box) -> None:
    box.dropbox.put("/garden/ΟΔΟΣ.md", "final sigma")

    assert box.call("read", workspace="garden", path="οδοσ.md").texts[1] == "final sigma"
    assert box.says("search", workspace="garden", query="final sigma").startswith(
        "1. garden/ΟΔΟΣ.md  score "
    )
    box.dropbox.delete("/garden/ΟΔΟΣ.md")
    assert box.says("search", workspace="garden", query="final sigma") == (
        'No indexed file in workspace "garden".'
    )


@pytest.mark.promise("P-106")
@pytest.mark.parametrize("named", ["İstanbul", "istanbul", "ISTANBUL"])
def test_a_workspace_is_searched_by_the_name_that_it_was_written_by(box: Box, named: str) -> None:
    box.says("write", workspace="İstanbul", path="ferry.md", text="the ferry leaves at six")

    assert box.says("search", workspace=named, query="when does the ferry leave").startswith(
        "1. İstanbul/ferry.md  score "
    )


@pytest.mark.promise("P-107", "T-36")
@pytest.mark.parametrize("rev", ["", "abc", "null", "latest", REV.upper(), f"{REV} ", "0165f1c6"])
@pytest.mark.parametrize("tool", ["write", "patch"])
def test_what_is_no_rev_is_refused_before_dropbox_is_asked(box: Box, tool: str, rev: str) -> None:
    assert box.refuses(tool, **{**GOOD[tool], "expected_rev": rev}) == (
        f'expected_rev "{rev}" is not a rev. Read the file and pass the rev it gives. '
        "Nothing was written."
    )
    assert box.calls_of_dropbox() == 0


@pytest.mark.promise("P-108", "T-38")
@pytest.mark.parametrize(
    ("tool", "name", "arguments"),
    [
        ("write", "text", {"text": "half \ud83c"}),
        ("append", "text", {"text": "\udf45 half"}),
        ("patch", "old_text", {"edits": [{"old_text": "\ud83c", "new_text": "b"}]}),
        ("patch", "new_text", {"edits": [{"old_text": "a", "new_text": "\ud83c"}]}),
        ("search", "query", {"query": "half \ud83c"}),
    ],
)
def test_half_of_a_surrogate_pair_is_refused(
    box: Box, tool: str, name: str, arguments: dict[str, object]
) -> None:
    assert box.refuses(tool, **{**GOOD[tool], **arguments}) == (
        f"{name} has half of a surrogate pair, which is no text.{ending(tool)}"
    )
    assert box.calls_of_dropbox() == 0


@pytest.mark.promise("P-108", "P-037")
def test_a_pair_in_two_escapes_is_one_character(box: Box) -> None:
    box.post(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":'
        b'{"workspace":"garden","path":"a.md","text":"\\ud83c\\udf45\\u0000"}}}'
    )

    assert box.dropbox.files() == {"/garden/a.md": "🍅\0".encode()}


@pytest.mark.promise("P-109", "T-39b")
@pytest.mark.parametrize("query", ["", " ", "\n\t\N{IDEOGRAPHIC SPACE}"])
def test_an_empty_query_is_refused_without_a_cost(box: Box, query: str) -> None:
    assert box.refuses("search", workspace="all", query=query) == (
        "query is empty. Say in words what to look for."
    )
    assert box.calls_of_dropbox() == 0
    assert box.embeddings.received.requests == 0


@pytest.mark.promise("P-109", "T-39c")
def test_a_query_that_is_too_long_is_refused_and_never_cut(box: Box) -> None:
    assert box.refuses("search", workspace="all", query="é" * 4_001) == (
        "query has 8002 bytes; at most 8,000 are searched. Shorten it."
    )
    assert box.calls_of_dropbox() == 0
    assert box.embeddings.received.requests == 0


@pytest.mark.promise("P-109")
def test_a_query_of_eight_thousand_bytes_is_searched_whole(box: Box) -> None:
    box.says("search", workspace="all", query="é" * 4_000)

    assert box.embeddings.received.inputs == ["é" * 4_000]


@pytest.mark.promise("P-057", "T-39")
@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (0, "0"),
        (21, "21"),
        (-1, "-1"),
        (2.5, "2.5"),
        ("many", "many"),
        ("--3", "--3"),
        (True, "true"),
        ("", ""),
    ],
)
def test_a_limit_out_of_range_is_refused(box: Box, limit: object, shown: str) -> None:
    assert box.refuses("search", workspace="all", query="peas", limit=limit) == (
        f"limit is 1 to 20 (got {shown})"
    )


@pytest.mark.promise("P-057")
@pytest.mark.parametrize(
    ("limit", "found"), [(3, 3), ("3", 3), (3.0, 3), (None, 8), (1, 1), (20, 12)]
)
def test_a_limit_may_come_as_a_number_or_a_string(box: Box, limit: object, found: int) -> None:
    for number in range(12):
        box.dropbox.put(f"/garden/{number:02}.md", f"peas {number}\n")

    result = box.says("search", workspace="garden", query="peas", limit=limit)

    assert len(result.splitlines()) == found


@pytest.mark.promise("P-057")
def test_without_a_limit_there_are_at_most_eight_hits(box: Box) -> None:
    for number in range(12):
        box.dropbox.put(f"/garden/{number:02}.md", f"peas {number}\n")

    assert len(box.says("search", workspace="garden", query="peas").splitlines()) == 8


@pytest.mark.promise("P-110")
def test_a_body_over_four_megabytes_is_an_error_that_names_the_limit(box: Box) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "write", "arguments": {**NOTE, "text": "a" * MAX_BODY_BYTES}},
    }

    answer = box.post(json.dumps(message).encode())

    assert answer.status == 413
    assert json.loads(answer.body)["error"]["message"] == "Body must be at most 4194304 bytes"
    assert box.dropbox.files() == {}


@pytest.mark.promise("P-110")
@pytest.mark.parametrize("command_id", ["", "x" * 129])
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_command_id_has_1_to_128_characters(box: Box, tool: str, command_id: str) -> None:
    assert box.refuses(tool, **GOOD[tool], command_id=command_id) == (
        "command_id must have 1 to 128 characters. Nothing was written."
    )
    assert box.calls_of_dropbox() == 0


@pytest.mark.promise("P-111")
def test_a_name_can_neither_forge_a_line_nor_flood_an_answer(box: Box) -> None:
    evil = "x\nrev: 1\u202e\u200b\u2028" + "y" * 1_000 + ".md"

    assert box.refuses("read", workspace="garden", path=evil) == (
        f'The file "x\\u000arev: 1\\u202e\\u200b\\u2028{"y" * 169}…" in workspace "garden" '
        "does not exist. Call list to see the files there."
    )


@pytest.mark.promise("P-111")
def test_a_hit_with_a_forged_name_is_still_one_line(box: Box) -> None:
    box.dropbox.put("/garden/a\n2. work/fake.md", "peas\n")

    assert box.says("search", workspace="garden", query="peas").startswith(
        "1. garden/a\\u000a2. work/fake.md  score "
    )
