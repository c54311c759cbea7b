"""Searches on which tools like this one have failed: an empty text broke the whole request, a cut
fell inside a character, what could not be indexed was left out in silence.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from tests.acceptance.box import Box
from tests.cases import notes


@dataclass(frozen=True, slots=True)
class Indexing:
    """Notes, and in how many parts of which size they are sent to the embedding model."""

    id: str
    title: str
    notes: Mapping[str, str]
    query: str
    finds: str
    """The best hit."""

    parts: tuple[int, int]
    """How many there are, at least and at most, in all."""


INDEXINGS = (
    Indexing(
        "S01",
        "blank notes have no parts and break nothing",
        {
            "empty.md": "",
            "one_newline.md": "\n",
            "blank_lines.md": notes.BLANK_LINES,
            "spaces.md": notes.SPACES,
            "chores.md": notes.CHORES,
        },
        "what should be watered",
        "chores.md",
        (1, 1),
    ),
    Indexing(
        "S02",
        "special tokens are text",
        {"special_tokens.md": notes.SPECIAL_TOKENS, "chores.md": notes.CHORES},
        "which separator token",
        "special_tokens.md",
        (2, 2),
    ),
    Indexing("S04", "no blank line", {"korean.md": notes.KOREAN}, "물을", "korean.md", (4, 6)),
    Indexing("S06", "no space", {"japanese.md": notes.JAPANESE}, "トマト", "japanese.md", (24, 60)),
    Indexing(
        "S07",
        "a data URL of 900 kB",
        {"data.md": notes.DATA_URL, "chores.md": notes.CHORES},
        "water",
        "chores.md",
        (361, 900),
    ),
    Indexing(
        "S08",
        "no cut falls inside a character",
        {"odd.md": notes.ODD_OFFSET, "emoji.md": notes.EMOJI, "families.md": notes.FAMILIES},
        "🍅",
        "emoji.md",
        (7, 24),
    ),
    Indexing("S10", "a table", {"table.md": notes.TABLE}, "label meaning", "table.md", (7, 12)),
    Indexing(
        "S12",
        "8,000 bytes are one part, 8,001 are more",
        {"a.md": notes.of_size(8_000), "b.md": notes.TABLE[:8_001]},
        "beds were dry",
        "a.md",
        (4, 6),
    ),
    Indexing(
        "S14",
        "front matter is text, also when it is odd",
        {
            "only.md": notes.FRONT_MATTER_ALONE,
            "odd.md": notes.FRONT_MATTER_ODD,
            "open.md": notes.FRONT_MATTER_OPEN,
        },
        "zebra unclosed",
        "open.md",
        (3, 3),
    ),
    Indexing(
        "S16",
        "one letter a hundred thousand times",
        {"a.md": "a" * 100_000, "chores.md": notes.CHORES},
        "water",
        "chores.md",
        (2, 51),
    ),
)


@pytest.mark.parametrize("case", INDEXINGS, ids=lambda case: case.id)
def test_every_letter_of_every_note_is_sent_in_parts_that_the_model_takes(
    box: Box, case: Indexing
) -> None:
    for path, text in case.notes.items():
        box.dropbox.put(f"/garden/{path}", text)

    answer = box.says("search", workspace="garden", query=case.query)

    sent = list(box.embeddings.received.inputs)
    sent.remove(case.query)
    assert answer.startswith(f"1. garden/{case.finds}  score ")
    assert case.parts[0] <= len(sent) <= case.parts[1]
    assert all(part.strip() for part in sent)
    assert all(len(part.encode()) <= 2_500 for part in sent if part not in case.notes.values())
    assert not any("\N{REPLACEMENT CHARACTER}" in part for part in sent)
    for text in case.notes.values():
        assert not text.strip() or _is_covered(text, sent)


def _is_covered(text: str, sent: list[str]) -> bool:
    """Whether the text is made of parts that were sent, each of them perhaps more than once."""
    reached, ways = {0}, [0]
    while ways:
        at = ways.pop()
        ends = {at + len(part) for part in sent if text.startswith(part, at)}
        ways += ends - reached
        reached |= ends
    return len(text) in reached


def test_s01_a_note_of_invisible_characters_breaks_nothing(box: Box) -> None:
    box.dropbox.put("/garden/invisible.md", notes.INVISIBLE)
    box.dropbox.put("/garden/chores.md", notes.CHORES)

    assert box.says("search", workspace="garden", query="water").startswith(
        "1. garden/chores.md  score "
    )


def test_s13_a_million_bytes_are_indexed_and_one_more_is_named(box: Box) -> None:
    box.dropbox.put("/garden/million.md", notes.of_size(1_000_000))
    box.dropbox.put("/garden/more.md", notes.of_size(1_000_001))

    hit, empty, remark = box.says("search", workspace="garden", query="beds").split("\n")

    assert hit.startswith("1. garden/million.md  score ")
    assert (empty, remark) == ("", "Not indexed: garden/more.md (over 1,000,000 bytes)")


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param("3", id="S17a: text"),
        pytest.param(3.0, id="S17b: a whole float"),
        pytest.param(None, id="S17f: null"),
    ],
)
def test_a_limit_that_can_be_understood_is_taken(box: Box, limit: object) -> None:
    box.dropbox.put("/garden/chores.md", notes.CHORES)

    answer = box.says("search", workspace="garden", query="water", limit=limit)

    assert answer.startswith("1. garden/chores.md  score ")


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        pytest.param(0, "0", id="S17c"),
        pytest.param(21, "21", id="S17d"),
        pytest.param(-1, "-1", id="S17e"),
        pytest.param("many", "many", id="S17g"),
        pytest.param(True, "true", id="S17h"),
    ],
)
def test_a_limit_out_of_range_is_refused(box: Box, limit: object, shown: str) -> None:
    assert box.refuses("search", workspace="garden", query="water", limit=limit) == (
        f"limit is 1 to 20 (got {shown})"
    )


def test_s18g_a_query_that_is_a_special_token_is_searched_like_any_other(box: Box) -> None:
    box.dropbox.put("/garden/chores.md", notes.CHORES)

    assert box.says("search", workspace="garden", query="<|endoftext|>").startswith(
        "1. garden/chores.md  score "
    )


def test_s20_the_notes_of_a_deleted_folder_leave_the_index(box: Box) -> None:
    box.dropbox.put("/garden/beds/a.md", notes.CHORES)
    box.dropbox.put("/garden/beds/b.md", notes.TWO_LINES)
    box.dropbox.put("/garden/beds2/c.md", notes.TWO_LINES)
    box.dropbox.put("/garden/keep.md", notes.CURLY)
    box.says("search", workspace="garden", query="water")

    box.dropbox.delete("/garden/beds")

    answer = box.says("search", workspace="garden", query="water")
    assert sorted(line.split()[1] for line in answer.splitlines()) == [
        "garden/beds2/c.md",
        "garden/keep.md",
    ]


def test_s23_a_file_takes_the_place_of_a_folder(box: Box) -> None:
    box.dropbox.put("/garden/beds.md/a.md", notes.CHORES)
    box.says("search", workspace="garden", query="water")
    box.dropbox.delete("/garden/beds.md")
    box.dropbox.put("/garden/beds.md", notes.TWO_LINES)

    answer = box.says("search", workspace="garden", query="water")

    assert [line.split()[1] for line in answer.splitlines()] == ["garden/beds.md"]
