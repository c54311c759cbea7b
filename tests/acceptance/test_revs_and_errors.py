"""What a failed call leaves behind, and what it says."""

from collections.abc import Mapping
from datetime import timedelta
from itertools import count

import pytest

from local.dropbox.faults import Effect, Fault, server_error, too_many_requests
from local.dropbox.knobs import Connection
from memorybox.errors import SignInEnded
from memorybox.mcp.toolset import ToolResult
from tests.acceptance.box import Box
from tests.acceptance.inside import InsideBox
from tests.acceptance.notes import FRUIT, T45, T71

TOMATOES = {"workspace": "garden", "path": "tomatoes.md"}
SILENT = "Dropbox did not answer. Try again in a minute."
UNKNOWN = (
    'Dropbox did not confirm the write, so the file "tomatoes.md" in workspace "garden" '
    "may or may not have changed. Read it before you try again."
)


BUSY = (
    'The file "tomatoes.md" in workspace "garden" is being changed by others all the time. '
    "Try again in a minute. Nothing was written."
)


def void(_: object) -> None:
    """Drop a result."""


def broken(*, refused: str | None = None) -> str:
    raise RuntimeError("canary in tomatoes.md")


def change(box: Box, tool: str) -> Mapping[str, object]:
    """The arguments of a change to a note that reads T45."""
    rev = box.dropbox.put("/garden/tomatoes.md", T45).rev
    changes: dict[str, Mapping[str, object]] = {
        "write": {**TOMATOES, "text": T71, "expected_rev": rev},
        "append": {**TOMATOES, "text": FRUIT},
        "patch": {
            **TOMATOES,
            "edits": [{"old_text": "May.\n", "new_text": f"May.\n{FRUIT}"}],
            "expected_rev": rev,
        },
    }
    return changes[tool]


@pytest.mark.promise("P-017", "P-205")
@pytest.mark.parametrize("tool", ["list", "read", "write", "append", "patch", "search"])
def test_a_failure_is_one_text_marked_as_an_error_in_an_answer_of_status_200(
    box: Box, tool: str
) -> None:
    result = box.request("tools/call", {"name": tool, "arguments": {}})

    ending = " Nothing was written." if tool in {"write", "append", "patch"} else ""
    assert result == {
        "content": [{"type": "text", "text": f"{tool} needs workspace.{ending}"}],
        "isError": True,
    }


@pytest.mark.promise("P-018", "T-41", "P-205")
@pytest.mark.parametrize("route", ["files/download", "files/get_metadata", "files/upload"])
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_call_that_dropbox_never_gets_changes_nothing(box: Box, tool: str, route: str) -> None:
    arguments = change(box, tool)
    before = box.revs()
    box.breaks(Fault(route, Effect.LOST_REQUEST, times=None))

    result = box.call(tool, **arguments)

    if result.is_error:
        assert result.texts[0] in {f"{SILENT} Nothing was written.", UNKNOWN}
        assert box.revs() == before
    else:
        assert box.dropbox.read("/garden/tomatoes.md") == T71.encode()


@pytest.mark.promise("P-018", "P-204", "T-37")
@pytest.mark.parametrize("effect", [Effect.LOST_RESPONSE, Effect.ANSWER_AFTER_COMMIT])
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_change_of_which_nothing_can_be_found_out_says_so(
    box: Box, tool: str, effect: Effect
) -> None:
    arguments = change(box, tool)
    box.breaks(
        Fault("files/upload", effect, answer=server_error(), times=None),
        Fault("files/list_revisions", Effect.LOST_RESPONSE, times=None),
    )

    assert box.refuses(tool, **arguments) == UNKNOWN


@pytest.mark.promise("P-204")
@pytest.mark.parametrize("effect", [Effect.LOST_RESPONSE, Effect.ANSWER_AFTER_COMMIT])
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_lost_answer_is_cleared_up_and_the_true_rev_returned(
    box: Box, tool: str, effect: Effect
) -> None:
    arguments = change(box, tool)
    box.breaks(Fault("files/upload", effect, answer=server_error()))

    answer = box.says(tool, **arguments)

    assert answer == f"rev: {box.rev('/garden/tomatoes.md')}\nIndexed for search."
    assert box.dropbox.read("/garden/tomatoes.md") == T71.encode()
    assert box.calls_of_dropbox("files/upload") == 1


@pytest.mark.promise("P-204", "P-033")
def test_a_file_that_was_made_without_an_answer_is_not_taken_for_another_s(box: Box) -> None:
    box.breaks(Fault("files/upload", Effect.LOST_RESPONSE))

    answer = box.says("write", **TOMATOES, text=T45)

    assert answer == f"rev: {box.rev('/garden/tomatoes.md')}\nIndexed for search."


@pytest.mark.promise("P-043", "T-35")
def test_append_gives_up_when_others_change_the_file_all_the_time(inside: InsideBox) -> None:
    inside.dropbox.put("/garden/tomatoes.md", T45)
    numbers = count()
    inside.step = lambda: void(inside.dropbox.put("/garden/tomatoes.md", f"{next(numbers)}"))

    result = inside.call("append", **TOMATOES, text=FRUIT, command_id="1")

    assert result == ToolResult((BUSY,), is_error=True)
    assert inside.calls_of_dropbox("files/upload") == 8


@pytest.mark.promise("T-35", "P-202")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_writer_whose_turn_never_comes_gives_up(inside: InsideBox, tool: str) -> None:
    arguments = change(inside, tool)
    inside.seconds = 0.2
    inside.leases.held["write"] = object(), inside.clock.now() + timedelta(minutes=1)

    assert inside.refuses(tool, **arguments) == BUSY


@pytest.mark.promise("T-42")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list", {"workspace": "all"}),
        ("read", TOMATOES),
        ("write", {**TOMATOES, "text": "x"}),
        ("append", {**TOMATOES, "text": "x"}),
        ("search", {"workspace": "all", "query": "x"}),
    ],
)
def test_when_dropbox_asks_to_wait_too_long_the_caller_is_told_for_how_long(
    box: Box, tool: str, arguments: Mapping[str, object]
) -> None:
    box.breaks(Fault("files/*", Effect.ANSWER, answer=too_many_requests(300), times=None))

    ending = " Nothing was written." if tool in {"write", "append"} else ""
    assert box.refuses(tool, **arguments) == (
        f"Dropbox asks to wait 300 seconds. Try again then.{ending}"
    )


@pytest.mark.promise("T-42")
def test_a_short_wait_that_dropbox_asks_for_is_waited_for(box: Box) -> None:
    box.breaks(Fault("files/upload", Effect.ANSWER, answer=too_many_requests(2)))

    assert not box.call("write", **TOMATOES, text="x").is_error


@pytest.mark.promise("P-017", "P-205")
def test_when_the_user_took_our_access_away_no_text_is_answered(inside: InsideBox) -> None:
    inside.dropbox.set(connection=Connection.UNLINKED)

    with pytest.raises(SignInEnded):
        inside.call("list", workspace="all")


@pytest.mark.promise("T-44", "P-205", "P-211")
@pytest.mark.parametrize("tool", ["read", "list", "append", "patch", "search"])
def test_a_failure_of_ours_is_told_under_a_reference_and_logged_without_a_word_of_the_user(
    inside: InsideBox, tool: str, caplog: pytest.LogCaptureFixture
) -> None:
    others: dict[str, Mapping[str, object]] = {
        "list": {"workspace": "all"},
        "read": TOMATOES,
        "search": {"workspace": "garden", "query": "canary"},
    }
    arguments = others.get(tool) or change(inside, tool)
    inside.tokens = broken

    assert inside.refuses(tool, **arguments) == (
        "Something went wrong on our side (reference 4f2a). Try again in a minute."
    )
    [record] = caplog.records
    assert "canary" not in str(vars(record))
    assert "tomatoes" not in str(vars(record))


@pytest.mark.promise("T-44", "T-37")
def test_a_failure_of_ours_in_an_upload_leaves_its_outcome_open(inside: InsideBox) -> None:
    inside.tokens = broken

    assert inside.refuses("write", **TOMATOES, text=T45) == UNKNOWN


@pytest.mark.promise("P-206")
def test_when_dropbox_hangs_a_call_still_ends_in_time(inside: InsideBox) -> None:
    inside.seconds = 1.0
    inside.breaks(Fault("files/download", Effect.HANG, times=None))

    assert inside.refuses("read", **TOMATOES) == SILENT


@pytest.mark.promise("P-206", "L-6")
def test_when_the_embedding_service_hangs_a_call_still_ends_in_time(inside: InsideBox) -> None:
    inside.seconds = 5.5
    inside.embeddings.fail("hang")

    written = inside.says("write", **TOMATOES, text="x")

    assert written.endswith(
        "\nNot indexed for search yet: the embedding service did not answer. "
        "The next search indexes it."
    )
