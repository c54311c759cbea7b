"""The last line of what write, append and patch answer."""

from functools import partial
from typing import Any

import pytest

from memorybox.deadline import Deadline
from tests.acceptance.box import Box
from tests.acceptance.inside import InsideBox
from tests.acceptance.notes import T45
from tests.cases.notes import of_size
from tests.fakes.search import InMemoryIndexStore

A = {"workspace": "garden", "path": "a.md"}
NO_TEXT = "Not indexed for search: the file has no text."


def index_line(box: Box, text: str) -> str:
    """The last line of the answer to a write that makes a file."""
    rev, line = box.says("write", **A, text=text).split("\n")
    assert rev == f"rev: {box.rev('/garden/a.md')}"
    return line


def broken() -> None:
    raise RuntimeError("out of order")


def in_parts(count: int) -> str:
    return f"Indexed for search in {count} parts."


@pytest.mark.promise("P-065", "P-066", "P-074", "L-1", "L-2", "L-5", "E4")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (("a" * 1_698 + "\n\n") * 5, in_parts(5)),
        (("a" * 1_698 + "\r\n\r\n") * 5, in_parts(5)),
        ("a" * 8_000, "Indexed for search."),
        ("a" * 8_001, in_parts(4)),
        ("🍅" * 3_000, in_parts(6)),
        ("a" * 100_000, in_parts(50)),
        ("\n" * 9_000, NO_TEXT),
        ("| a | b |\n" * 1_700, in_parts(9)),
        ("word " * 3_000, in_parts(8)),
        ("x" * 700 + "\n\n" + "y" * 2_600 + "\n\n" + "z" * 6_000, in_parts(6)),
        (
            "".join(f"Day {n}: the beds were watered and weeded.\n\n" for n in range(1, 501)),
            in_parts(13),
        ),
    ],
    ids=range(11),
)
def test_the_line_counts_the_parts(box: Box, text: str, line: str) -> None:
    assert index_line(box, text) == line


@pytest.mark.promise("P-066", "P-201")
def test_parts_joined_are_the_file_and_lie_within_their_bounds(box: Box) -> None:
    text = "".join(f"# Day {n}\r\n\r\nThe beds — all of them — were wet.\r" for n in range(400))

    index_line(box, text)

    parts = box.embeddings.received.inputs
    assert "".join(parts) == text
    assert all(500 <= len(part.encode()) <= 2_500 for part in parts)


@pytest.mark.promise("L-3", "P-065", "P-068")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_a_file_over_a_million_bytes_is_too_large(box: Box, tool: str) -> None:
    arguments: dict[str, object] = {"text": "x" * 1_000_001}
    if tool == "patch":
        rev = box.dropbox.put("/garden/a.md", "y" + "x" * 1_000_000).rev
        arguments = {"edits": [{"old_text": "y", "new_text": "z"}], "expected_rev": rev}

    answer = box.says(tool, **A, **arguments)

    assert answer == (
        f"rev: {box.rev('/garden/a.md')}\nNot indexed for search: the file is over 1,000,000 bytes."
    )


@pytest.mark.promise("L-2", "P-068")
def test_a_file_of_a_million_bytes_is_indexed(box: Box) -> None:
    line = index_line(box, of_size(1_000_000))

    assert line.startswith("Indexed for search in ")


@pytest.mark.promise("L-7", "P-065")
def test_without_time_left_the_next_search_indexes(inside: InsideBox) -> None:
    inside.seconds = 4.9

    assert index_line(inside, T45) == (
        "Not indexed for search yet: there was no time left. The next search indexes it."
    )
    inside.seconds = 25.0
    assert inside.says("search", workspace="garden", query="tomatoes").startswith(
        "1. garden/a.md  score "
    )


@pytest.mark.promise("L-7", "P-064")
def test_whatever_breaks_in_the_index_the_file_is_written(inside: InsideBox) -> None:
    inside.index = InMemoryIndexStore(inside.ledger, inside.clock, step=broken)

    assert index_line(inside, T45) == (
        "Not indexed for search yet: there was no time left. The next search indexes it."
    )
    assert inside.dropbox.files() == {"/garden/a.md": T45.encode()}


@pytest.mark.promise("L-7", "P-065")
def test_a_file_that_another_run_is_indexing_is_left_to_it(inside: InsideBox) -> None:
    inside.index.claim("/garden/a.md", owner="another", deadline=Deadline.after(9, inside.clock))

    assert index_line(inside, T45) == (
        "Not indexed for search yet: there was no time left. The next search indexes it."
    )


@pytest.mark.promise("L-6", "P-065")
@pytest.mark.parametrize("fault", ["nan", "zero_vector", "wrong_count", "wrong_dimensions"])
def test_while_no_vector_can_be_used_the_file_is_left_to_the_next_search(
    box: Box, fault: str
) -> None:
    box.embeddings.fail(fault)  # type: ignore[arg-type]  # one of those that are listed above

    line = index_line(box, T45)
    box.embeddings.heal()

    assert line == (
        "Not indexed for search yet: the embedding service did not answer. "
        "The next search indexes it."
    )
    assert box.says("search", workspace="garden", query="tomatoes").startswith(
        "1. garden/a.md  score "
    )


@pytest.mark.promise("L-8", "P-065", "T-13")
def test_a_text_whose_vector_alone_cannot_be_used_is_named(inside: InsideBox) -> None:
    bad = "a text of no direction\n"

    def without(answer: dict[str, Any]) -> object:
        latest = inside.embeddings.received.inputs[-len(answer["data"]) :]
        for item in answer["data"]:
            if latest[item["index"]] == bad:
                item["embedding"] = "AAAA"
        return answer

    inside.embeddings.spoil(without)
    inside.dropbox.put("/garden/peas.md", "peas\n")

    line = index_line(inside, bad)
    answers = {inside.says("search", workspace="garden", query="peas") for _ in range(3)}

    assert line == "Not indexed for search: the embedding service could not take this text."
    [answer] = answers
    assert answer.startswith("1. garden/peas.md  score ")
    assert answer.endswith("Not indexed: garden/a.md (the embedding service could not take it)")
    assert inside.embeddings.received.inputs.count(bad) == 2


@pytest.mark.promise("L-1")
@pytest.mark.parametrize("fault", ["nan", "zero_vector", "wrong_count", "wrong_dimensions"])
def test_one_answer_that_cannot_be_used_is_asked_for_again(box: Box, fault: str) -> None:
    box.embeddings.fail(fault, times=1)  # type: ignore[arg-type]  # one of those listed above

    assert index_line(box, T45) == "Indexed for search."


@pytest.mark.promise("L-8")
def test_a_text_that_the_service_refuses_is_named(box: Box) -> None:
    box.embeddings.refuse(T45)

    assert index_line(box, T45) == (
        "Not indexed for search: the embedding service could not take this text."
    )


@pytest.mark.promise("L-6", "P-064")
@pytest.mark.parametrize("fault", ["server_error", "rate_limit", "lost_answer"])
def test_a_service_that_does_not_answer_leaves_the_file_to_the_next_search(
    box: Box, fault: str
) -> None:
    box.embeddings.fail(fault)  # type: ignore[arg-type]  # one of those that are listed above

    assert index_line(box, T45) == (
        "Not indexed for search yet: the embedding service did not answer. "
        "The next search indexes it."
    )


@pytest.mark.promise("L-1")
@pytest.mark.parametrize("fault", ["server_error", "rate_limit"])
def test_one_failure_of_the_service_is_tried_again(box: Box, fault: str) -> None:
    box.embeddings.fail(fault, times=1)  # type: ignore[arg-type]  # one of those listed above

    assert index_line(box, T45) == "Indexed for search."


@pytest.mark.promise("L-1")
def test_vectors_in_another_order_are_put_right(box: Box) -> None:
    box.embeddings.fail("wrong_order")
    text = "".join(f"The {animal} slept.\n" * 400 for animal in ("zebra", "pelican", "marmot"))
    index_line(box, text)
    box.embeddings.heal()
    box.dropbox.put("/garden/marmot.md", "The marmot slept.\n" * 3)

    hits = partial(box.says, "search", workspace="garden")
    scores = {animal: hits(query=f"the {animal} slept") for animal in ("zebra", "marmot")}

    assert scores["zebra"].startswith("1. garden/a.md  score ")
    assert "garden/a.md" in scores["marmot"]


@pytest.mark.promise("P-065")
def test_text_that_looks_like_a_token_of_the_model_is_ordinary(box: Box) -> None:
    assert index_line(box, "The separator is <|endoftext|>.\n") == "Indexed for search."
