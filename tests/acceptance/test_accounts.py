"""Several users, several writers, and what leaves the account."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from local.dropbox.faults import Effect, Fault
from memorybox.accounts.rates import MINUTE, Rate
from memorybox.mcp.toolset import ToolResult
from memorybox.toolsets.limits import ANY
from tests.acceptance.inside import InsideBox, World

TOMATOES = {"workspace": "garden", "path": "tomatoes.md"}
PATHS = ("a.md", "beds/b.md", "c.md")


@pytest.mark.promise("P-210")
def test_one_account_never_sees_another(world: World, inside: InsideBox) -> None:
    boxes = {"ann": inside, "bob": InsideBox(world)}
    random = Random(1)

    for owner, call in _calls(boxes, random, 300):
        other = "bob" if owner == "ann" else "ann"
        for text in call().texts:
            assert other not in text

    for owner, box in boxes.items():
        for data in box.dropbox.files().values():
            assert set(data.decode().split()) <= {owner}


def _calls(
    boxes: dict[str, InsideBox], random: Random, count: int
) -> Iterator[tuple[str, partial[ToolResult]]]:
    """Calls of both accounts with the same names. Every text holds the name of its owner only."""
    for _ in range(count):
        owner = random.choice(list(boxes))
        box, path = boxes[owner], random.choice(PATHS)
        name: dict[str, object] = {"workspace": "garden", "path": path}
        known = f"/garden/{path}" in box.dropbox.files()
        rev = box.rev(f"/garden/{path}") if known else "0165f1c6d7426cd000000033b284821"
        calls: list[tuple[str, dict[str, object]]] = [
            ("list", {"workspace": "all"}),
            ("read", name),
            ("write", {**name, "text": owner, "command_id": str(random.random())}),
            ("write", {**name, "text": f"{owner} {owner}", "expected_rev": rev}),
            ("append", {**name, "text": f" {owner}", "command_id": "the same"}),
            (
                "patch",
                {
                    **name,
                    "edits": [{"old_text": f"{owner} {owner}", "new_text": owner}],
                    "expected_rev": rev,
                },
            ),
            ("search", {"workspace": random.choice(["all", "garden"]), "query": "ann bob"}),
        ]
        tool, arguments = random.choice(calls)
        yield owner, partial(box.call, tool, **arguments)


@pytest.mark.promise("P-202", "P-043", "P-204")
def test_writers_that_know_nothing_of_each_other_lose_and_double_nothing(
    world: World, inside: InsideBox
) -> None:
    writers = [inside, *[InsideBox(world, inside.dropbox) for _ in range(3)]]
    inside.breaks(
        *[Fault("files/upload", Effect.LOST_RESPONSE, skip=skip) for skip in (1, 3, 4, 9, 12)],
        *[Fault("files/upload", Effect.LOST_REQUEST, skip=skip) for skip in (2, 6, 10)],
    )
    texts = [f"- entry {number}\n" for number in range(16)]

    results = inside.together(
        *[
            partial(writers[number % 4].call, "append", **TOMATOES, text=text)
            for number, text in enumerate(texts)
        ]
    )

    written = [text for text, result in zip(texts, results, strict=True) if not result.is_error]
    stored = inside.dropbox.read("/garden/tomatoes.md").decode()
    assert sorted(stored.splitlines(keepends=True)) == sorted(written)
    assert written


@pytest.mark.promise("T-42b", "P-017")
@pytest.mark.parametrize("tool", ["list", "read", "write", "append", "patch", "search"])
def test_a_caller_who_does_not_stop_is_told_how_long_to_wait(inside: InsideBox, tool: str) -> None:
    rates = {ANY: Rate(2, MINUTE)}
    inside.allowance = replace(inside.allowance, rates=rates)
    while not (result := inside.call("list", workspace="all")).is_error:
        pass

    ending = " Nothing was written." if tool in {"write", "append", "patch"} else ""
    assert result.texts == ("Too many calls. Try again in 60 seconds.",)
    assert inside.refuses(tool) == f"Too many calls. Try again in 60 seconds.{ending}"
    inside.clock.advance(60)
    assert not inside.call("list", workspace="all").is_error


@pytest.mark.promise("P-211")
def test_nothing_that_is_the_user_s_is_logged(
    inside: InsideBox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="memorybox")
    name = {"workspace": "canary-workspace", "path": "canary-path.md"}
    inside.breaks(Fault("files/upload", Effect.LOST_RESPONSE, skip=1))

    inside.says("write", **name, text="canary text")
    inside.says("append", **name, text="canary more", command_id="canary-id")
    inside.call("read", **name)
    inside.refuses("write", **name, text="canary again")
    inside.says("search", workspace="all", query="canary query")
    inside.embeddings.fail("server_error")
    inside.says("append", **name, text="canary silent")

    assert [record for record in caplog.records if "canary" in str(vars(record))] == []
