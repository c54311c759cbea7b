"""Workspaces: the top-level folders of the app folder."""

import json

import pytest

from tests.acceptance.box import Box
from tests.acceptance.notes import T45

ONE_FILE_TOOLS = ("read", "write", "append", "patch")
EVERY_TOOL = ("list", *ONE_FILE_TOOLS, "search")

AWKWARD = (
    "/garden/50% plan.md",
    "/garden/note #1.md",
    "/garden/what?.md",
    "/garden/a%3Db.md",
    "/garden/it's “fine”.md",
    "/garden/[Java] list.md",
    "/garden/~$plan.md",
    "/garden/café.md",
    "/garden/トマト.md",
    "/garden/🗂️ hub.md",
    "/garden/one\nname.md",
    "/garden/\u202eright to left.md",
    "/garden/ padded/ x.md",
    "/garden/beds./x.md",
    "/garden/x.md/inner.md",
    "/garden/.trash/OLD.MD",
    "/ spring\tplans/x.md",
)


@pytest.mark.promise("P-003", "P-005")
def test_the_first_component_of_a_path_is_the_workspace_and_the_rest_is_the_path(box: Box) -> None:
    box.dropbox.put("/garden beds/spring/2026/plan.md", "peas\n")

    assert box.call("read", workspace="garden beds", path="spring/2026/plan.md").texts == (
        f"rev: {box.rev('/garden beds/spring/2026/plan.md')}\nsize: 5 bytes",
        "peas\n",
    )
    [download] = box.service.log.calls("files/download", box.dropbox.account_id)
    assert download.argument["path"] == "/garden beds/spring/2026/plan.md"


@pytest.mark.promise("P-005")
def test_a_nested_path_has_the_same_name_in_list_read_and_search(box: Box) -> None:
    box.dropbox.put("/work/projects/search.md", "ranking of words\n")

    [listed] = json.loads(box.says("list", workspace="work"))["files"]

    assert listed["path"] == "projects/search.md"
    assert not box.call("read", workspace="work", path="projects/search.md").is_error
    assert box.says("search", workspace="work", query="ranking").startswith(
        "1. work/projects/search.md  score "
    )


@pytest.mark.promise("P-004", "T-20")
@pytest.mark.parametrize("arguments", [{}, {"workspace": None}])
@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_a_call_that_names_no_workspace_is_refused(
    box: Box, tool: str, arguments: dict[str, object]
) -> None:
    ending = " Nothing was written." if tool in {"write", "append", "patch"} else ""

    assert box.refuses(tool, **arguments) == f"{tool} needs workspace.{ending}"


@pytest.mark.promise("P-006")
@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_every_tool_tells_the_model_to_pick_the_workspace_by_its_subject(
    box: Box, tool: str
) -> None:
    tools = {shown["name"]: shown for shown in box.request("tools/list", {})["tools"]}

    description = tools[tool]["inputSchema"]["properties"]["workspace"]["description"]

    assert description.endswith(
        "One workspace per subject: pick it by the subject before saving, "
        'and call list with "all" to see the workspaces there are.'
    )


@pytest.mark.promise("P-007")
@pytest.mark.parametrize("tool", ["write", "append"])
def test_writing_to_a_new_workspace_makes_its_folder(box: Box, tool: str) -> None:
    box.says(tool, workspace="newspace", path="a.md", text="one")

    [listed] = json.loads(box.says("list", workspace="newspace"))["files"]
    assert (listed["workspace"], listed["path"]) == ("newspace", "a.md")


@pytest.mark.promise("P-008", "P-103")
def test_files_directly_in_the_app_folder_are_out_of_reach(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "peas\n")
    without = box.says("list", workspace="all"), box.says("search", workspace="all", query="peas")
    box.dropbox.put("/readme.md", "peas in the root\n")
    box.dropbox.put("/huge.md", "a" * 1_000_001)

    assert box.says("list", workspace="all") == without[0]
    assert box.says("search", workspace="all", query="peas") == without[1]
    assert box.refuses("read", workspace="garden", path="../readme.md") == (
        'path "../readme.md" is not allowed: it has a "." or ".." part. '
        'Give the path inside the workspace, such as "beds/plan.md".'
    )
    assert box.refuses("read", workspace="readme.md", path="readme.md").startswith(
        'The file "readme.md" in workspace "readme.md" does not exist.'
    )


@pytest.mark.promise("P-009")
@pytest.mark.parametrize("every", ["All", "ALL", "aLL"])
def test_all_may_be_written_in_any_letter_case(box: Box, every: str) -> None:
    box.dropbox.put("/garden/a.md", "peas\n")
    box.dropbox.put("/work/b.md", "peas and plans\n")

    assert box.says("list", workspace=every) == box.says("list", workspace="all")
    found = box.says("search", workspace=every, query="peas")
    assert found == box.says("search", workspace="all", query="peas")
    assert found.count("\n") == 1


@pytest.mark.promise("P-010", "T-01")
def test_a_folder_named_all_is_no_workspace(box: Box) -> None:
    box.dropbox.put("/All/x.md", "peas\n")

    assert box.says("list", workspace="all") == '{"files":[]}'
    assert box.says("search", workspace="all", query="peas") == (
        "No indexed file in any workspace."
    )
    assert box.refuses("write", workspace="All", path="x.md", text="y") == (
        'this tool needs one workspace, not "all" (got "All")'
    )
    assert box.dropbox.files() == {"/All/x.md": b"peas\n"}


@pytest.mark.promise("P-011", "P-026", "P-104", "P-105")
def test_every_entry_of_a_list_can_be_read_whatever_its_name(box: Box) -> None:
    for location in AWKWARD:
        box.dropbox.put(location, f"text of {location}")

    listed = json.loads(box.says("list", workspace="all"))["files"]

    assert {f"/{entry['workspace']}/{entry['path']}" for entry in listed} == set(AWKWARD)
    for entry in listed:
        name = {"workspace": entry["workspace"], "path": entry["path"]}
        read = box.call("read", **name)
        assert read.texts[1] == f"text of /{entry['workspace']}/{entry['path']}"


@pytest.mark.promise("P-013", "T-01")
@pytest.mark.parametrize("every", ["all", "ALL"])
@pytest.mark.parametrize("rest", [{}, {"path": "../x", "text": 7, "strange": None}])
@pytest.mark.parametrize("tool", ONE_FILE_TOOLS)
def test_tools_for_one_file_refuse_all_whatever_else_is_wrong(
    box: Box, tool: str, rest: dict[str, object], every: str
) -> None:
    assert box.refuses(tool, workspace=every, **rest) == (
        f'this tool needs one workspace, not "all" (got "{every}")'
    )
    assert box.calls_of_dropbox() == 0


@pytest.mark.promise("P-101", "P-102", "T-19")
@pytest.mark.parametrize(
    ("workspace", "reason"),
    [
        ("", "it is empty"),
        (".", 'it is "." or ".."'),
        ("..", 'it is "." or ".."'),
        ("garden/beds", "it has a slash"),
        ("garden\\beds", "it has a backslash"),
        ("gar\0den", "it has a control character"),
        ("gar\ud800den", "it has half of a surrogate pair"),
    ],
)
@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_a_workspace_that_is_no_single_component_is_refused_by_every_tool(
    box: Box, tool: str, workspace: str, reason: str
) -> None:
    rest: dict[str, dict[str, object]] = {
        "list": {},
        "read": {"path": "a.md"},
        "write": {"path": "a.md", "text": "x"},
        "append": {"path": "a.md", "text": "x"},
        "patch": {
            "path": "a.md",
            "edits": [{"old_text": "a", "new_text": "b"}],
            "expected_rev": "0165f1c6d7426cd000000033b284821",
        },
        "search": {"query": "peas"},
    }
    shown = workspace.replace("\0", "\\u0000").replace("\ud800", "\\ud800")
    ending = " Nothing was written." if tool in {"write", "append", "patch"} else ""

    assert box.refuses(tool, workspace=workspace, **rest[tool]) == (
        f'workspace "{shown}" is not allowed: {reason}. '
        f'A workspace is one top-level folder, such as "garden".{ending}'
    )
    assert box.calls_of_dropbox() == 0


@pytest.mark.promise("P-102", "T-19")
@pytest.mark.parametrize(
    ("workspace", "reason"),
    [
        (" ", "it is blank"),
        ("gar\nden", "it has a control character"),
        (" garden", "it starts or ends with a space"),
        ("garden ", "it starts or ends with a space"),
        ("g" * 256, "it is over 255 bytes"),
    ],
)
@pytest.mark.parametrize("tool", ["write", "append"])
def test_a_new_workspace_gets_no_awkward_name(
    box: Box, tool: str, workspace: str, reason: str
) -> None:
    shown = workspace.replace("\n", "\\u000a")
    shown = shown if len(shown) <= 200 else shown[:200] + "…"

    assert box.refuses(tool, workspace=workspace, path="a.md", text="x") == (
        f'workspace "{shown}" is not allowed: {reason}. '
        'A workspace is one top-level folder, such as "garden". Nothing was written.'
    )


@pytest.mark.promise("P-102", "P-011")
def test_a_workspace_with_an_awkward_name_that_exists_is_read_and_changed(box: Box) -> None:
    box.dropbox.put("/ spring\tplans/x.md", T45)

    rev = box.rev("/ spring\tplans/x.md")
    edits = [{"old_text": "6 seed", "new_text": "8 seed"}]
    box.says("patch", workspace=" spring\tplans", path="x.md", edits=edits, expected_rev=rev)
    box.says("write", workspace=" spring\tplans", path="new.md", text="new")
    box.says("append", workspace=" spring\tplans", path="other.md", text="other")

    assert box.dropbox.files() == {
        "/ spring\tplans/x.md": T45.replace("6", "8").encode(),
        "/ spring\tplans/new.md": b"new",
        "/ spring\tplans/other.md": b"other",
    }
