"""search: what it finds, what it indexes before, and what it says of the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import sqrt

import pytest

from local.dropbox.faults import Effect, Fault
from local.dropbox.knobs import Content
from memorybox.mcp.toolset import ToolResult
from memorybox.search.parts import parts_of
from tests.acceptance.box import Box
from tests.acceptance.inside import InsideBox
from tests.acceptance.notes import T45, T71
from tests.cases.notes import of_size
from tests.fakes.search import OneAfterAnother

QUERY = "when did the tomatoes fruit"
NOTHING_IN_GARDEN = 'No indexed file in workspace "garden".'


def at_cosine(cosine: float) -> Sequence[float]:
    """A vector of this cosine with that of the query, which is the first axis."""
    return cosine, sqrt(1 - cosine**2)


def found(answer: str) -> list[str]:
    """The names of the hits, best first."""
    hits = answer.partition("\n\n")[0].splitlines()
    return [hit.split(". ", 1)[1].split("  score ")[0] for hit in hits if "  score " in hit]


def diary(name: str, size: int) -> str:
    """A text of so many bytes, no line of which is in another diary."""
    lines = (f"{name}, day {day}: the beds were watered.\n" for day in range(size // 20))
    return "".join(lines)[:size]


def first_of_next_month(inside: InsideBox) -> datetime:
    now = inside.clock.now()
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)


def remarks(answer: str) -> list[str]:
    """What stands after the hits."""
    return answer.partition("\n\n")[2].splitlines()


@pytest.mark.promise("P-055", "P-058", "E3", "T-08")
def test_a_search_of_all_workspaces_reads_as_in_the_example(inside: InsideBox) -> None:
    inside.weight = 0.0
    inside.model.chosen[QUERY] = [1.0]
    for path, cosine in [("tomatoes", 0.684), ("beds/plan", 0.412), ("journal", 0.205), ("x", 0.1)]:
        inside.dropbox.put(f"/garden/{path}.md", path)
        inside.model.chosen[path] = at_cosine(cosine)

    assert inside.says("search", workspace="all", query=QUERY, limit=3) == (
        "1. garden/tomatoes.md  score 0.684\n"
        "2. garden/beds/plan.md  score 0.412\n"
        "3. garden/journal.md  score 0.205"
    )


@pytest.mark.promise("P-058", "T-08")
def test_the_workspace_stands_in_a_hit_also_when_one_is_searched(box: Box) -> None:
    box.dropbox.put("/garden/tomatoes.md", T71)
    box.dropbox.put("/work/tomatoes.md", T71)

    assert found(box.says("search", workspace="garden", query=QUERY)) == ["garden/tomatoes.md"]
    assert found(box.says("search", workspace="GARDEN", query=QUERY)) == ["garden/tomatoes.md"]


@pytest.mark.promise("P-055")
def test_words_lift_what_has_the_same_meaning(inside: InsideBox) -> None:
    for path, text in [("a", "one"), ("b", "fruit"), ("c", "two")]:
        inside.dropbox.put(f"/garden/{path}.md", text)
        inside.model.chosen[text] = at_cosine(0.5)
    inside.model.chosen["fruit?"] = [1.0]
    search = partial(inside.says, "search", workspace="garden", query="fruit?")

    assert search().startswith("1. garden/b.md  score 0.")
    inside.weight = 0.0
    assert search() == (
        "1. garden/a.md  score 0.500\n2. garden/b.md  score 0.500\n3. garden/c.md  score 0.500"
    )


@pytest.mark.promise("P-055")
def test_equal_files_come_by_workspace_and_path_the_same_each_time(box: Box) -> None:
    locations = [f"/{workspace}/{n:02}.md" for workspace in ("work", "garden") for n in range(50)]
    for location in locations:
        box.dropbox.put(location, T45)

    answers = {box.says("search", workspace="all", query="seedlings", limit=20) for _ in range(3)}

    [answer] = answers
    assert found(answer) == [location[1:] for location in sorted(locations)[:20]]


@pytest.mark.promise("P-056")
@pytest.mark.parametrize(
    ("cosine", "shown"), [(-1.0, "-1.000"), (-0.0004, "0.000"), (1.0, "1.000")]
)
def test_a_score_has_three_decimals_and_no_negative_zero(
    inside: InsideBox, cosine: float, shown: str
) -> None:
    inside.weight = 0.0
    inside.model.chosen = {"question": [1.0], "note": at_cosine(cosine)}
    inside.dropbox.put("/garden/a.md", "note")

    assert inside.says("search", workspace="all", query="question") == (
        f"1. garden/a.md  score {shown}"
    )


@pytest.mark.promise("P-056")
@pytest.mark.parametrize("weight", [0.0, 0.5, 10.0])
@pytest.mark.parametrize("cosine", [-1.0, 0.0, 1.0])
def test_with_any_weight_a_score_is_within_1(
    inside: InsideBox, cosine: float, weight: float
) -> None:
    inside.weight = weight
    inside.model.chosen = {"peas": [1.0], "peas peas peas": at_cosine(cosine)}
    inside.dropbox.put("/garden/a.md", "peas peas peas")

    answer = inside.says("search", workspace="all", query="peas")

    assert -1.0 <= float(answer.split("  score ")[1]) <= 1.0


@pytest.mark.promise("P-067")
def test_a_file_has_the_score_of_its_best_part(inside: InsideBox) -> None:
    inside.weight = 0.0
    long = diary("long", 9_000)
    *others, last = [part.text for part in parts_of(long.encode())]
    inside.model.chosen = {QUERY: [1.0], last: at_cosine(0.9), "short": at_cosine(0.5)}
    inside.model.chosen |= dict.fromkeys(others, at_cosine(0.1))
    inside.dropbox.put("/garden/long.md", long)
    inside.dropbox.put("/garden/short.md", "short")

    assert inside.says("search", workspace="garden", query=QUERY) == (
        "1. garden/long.md  score 0.900\n2. garden/short.md  score 0.500"
    )


@pytest.mark.promise("P-059", "P-208")
def test_what_another_app_changed_is_found_by_its_new_text_alone(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "zebra\n")
    box.dropbox.put("/garden/b.md", "pelican\n")
    box.says("search", workspace="garden", query="zebra")
    box.dropbox.put("/garden/a.md", "marigold\n")

    answer = box.says("search", workspace="garden", query="marigold", limit=1)

    assert found(answer) == ["garden/a.md"]
    assert "zebra" not in box.says("search", workspace="garden", query="zebra", limit=1)
    assert box.embeddings.received.inputs.count("marigold\n") == 1


@pytest.mark.promise("P-059", "P-209")
def test_our_own_writes_coming_back_cost_nothing(inside: InsideBox) -> None:
    inside.says("write", workspace="garden", path="a.md", text=T45)
    inside.says("append", workspace="garden", path="a.md", text="- peas\n")

    inside.says("search", workspace="garden", query=QUERY)

    assert inside.embeddings.received.inputs.count(T45) == 1
    assert inside.embeddings.received.inputs.count(f"{T45}- peas\n") == 1
    assert inside.embeddings.received.requests == 3


@pytest.mark.promise("P-059", "P-209")
def test_the_same_text_is_never_paid_for_twice(box: Box) -> None:
    box.says("write", workspace="garden", path="a.md", text=T45)
    box.dropbox.put("/garden/copy.md", T45)
    box.dropbox.move("/garden/a.md", "/work/moved.md")
    box.says("search", workspace="all", query=QUERY)
    box.dropbox.put("/garden/copy.md", "something else\n")
    box.says("search", workspace="all", query=QUERY)
    box.dropbox.put("/garden/copy.md", T45)

    answer = box.says("search", workspace="all", query=QUERY)

    assert found(answer) == ["garden/copy.md", "work/moved.md"]
    assert box.embeddings.received.inputs.count(T45) == 1


@pytest.mark.promise("P-059", "P-209")
def test_one_changed_paragraph_of_a_long_file_is_one_new_part(box: Box) -> None:
    days = [f"Day {number}: the beds were watered and weeded.\n\n" for number in range(1, 501)]
    box.says("write", workspace="garden", path="log.md", text="".join(days))
    box.embeddings.forget()

    days[249] = days[249].replace("the beds", "all beds")
    rev = box.rev("/garden/log.md")
    answer = box.says(
        "write", workspace="garden", path="log.md", text="".join(days), expected_rev=rev
    )

    assert answer.endswith("\nIndexed for search in 13 parts.")
    assert len(box.embeddings.received.inputs) == 1


@pytest.mark.promise("P-209", "P-036")
def test_saving_900_kb_unchanged_costs_nothing(inside: InsideBox) -> None:
    text = of_size(900_000)
    inside.says("write", workspace="garden", path="a.md", text=text)
    spent = inside.spent()

    rev = inside.rev("/garden/a.md")
    inside.says("write", workspace="garden", path="a.md", text=text, expected_rev=rev)
    inside.dropbox.put("/garden/a.md", text)
    inside.says("search", workspace="garden", query="beds")

    assert inside.spent() - spent == 1  # the query, a word


@pytest.mark.promise("P-059", "P-208", "T-41", "T-14")
def test_a_newer_text_without_vectors_is_not_ranked_by_the_old_ones(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "zebra\n")
    box.dropbox.put("/garden/b.md", "zebra and pelican\n")
    box.says("search", workspace="garden", query="zebra")
    box.dropbox.put("/garden/a.md", "marigold\n")
    box.embeddings.fail("server_error")

    answer = box.says("search", workspace="garden", query="zebra")

    assert found(answer) == ["garden/b.md"]
    assert remarks(answer) == [
        "Ranked by words alone: the embedding service did not answer.",
        "1 file is not indexed yet. Search again to go on.",
    ]


@pytest.mark.promise("P-060")
def test_a_deleted_folder_takes_all_its_notes_along_and_no_others(box: Box) -> None:
    for path in ("beds/a.md", "beds/deep/b.md", "beds2/c.md", "beds.md"):
        box.dropbox.put(f"/garden/{path}", f"peas {path}\n")
    box.says("search", workspace="garden", query="peas")

    box.dropbox.delete("/garden/beds")

    answer = box.says("search", workspace="garden", query="peas")
    assert sorted(found(answer)) == ["garden/beds.md", "garden/beds2/c.md"]


@pytest.mark.promise("P-060")
def test_a_file_takes_the_place_of_a_folder_and_of_all_that_was_in_it(box: Box) -> None:
    box.dropbox.put("/garden/beds.md/a.md", "peas\n")
    box.says("search", workspace="garden", query="peas")
    box.dropbox.delete("/garden/beds.md")
    box.dropbox.put("/garden/beds.md", "peas now\n")

    assert found(box.says("search", workspace="garden", query="peas")) == ["garden/beds.md"]


@pytest.mark.promise("P-060")
def test_a_deleted_workspace_is_found_no_more(box: Box) -> None:
    box.says("write", workspace="garden", path="a.md", text="peas\n")
    box.says("search", workspace="all", query="peas")
    box.dropbox.delete("/garden")

    assert box.says("search", workspace="all", query="peas") == "No indexed file in any workspace."


@pytest.mark.promise("P-060", "T-41")
def test_a_failed_listing_is_an_error_and_drops_nothing(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "peas\n")
    box.says("search", workspace="garden", query="peas")
    box.breaks(Fault("files/list_folder*", Effect.LOST_RESPONSE, times=None))

    assert box.refuses("search", workspace="garden", query="peas") == (
        "Dropbox did not answer. Try again in a minute."
    )
    box.service.faults.clear()
    assert found(box.says("search", workspace="garden", query="peas")) == ["garden/a.md"]


@pytest.mark.promise("P-061")
def test_the_first_search_indexes_every_file_those_of_its_workspace_first(
    inside: InsideBox,
) -> None:
    inside.parallel = OneAfterAnother()
    for workspace in ("work", "garden", "kitchen"):
        inside.dropbox.put(f"/{workspace}/a.md", f"peas for {workspace}\n")

    inside.says("search", workspace="garden", query="peas")

    query, first, *rest = inside.embeddings.received.inputs
    assert (query, first) == ("peas", "peas for garden\n")
    assert sorted(rest) == ["peas for kitchen\n", "peas for work\n"]


@pytest.mark.promise("P-061", "P-209")
def test_two_first_searches_at_once_pay_for_each_file_once(box: Box) -> None:
    texts = [f"peas in row {number}\n" for number in range(40)]
    for number, text in enumerate(texts):
        box.dropbox.put(f"/garden/{number}.md", text)
    box.embeddings.delay(0.05)

    results = box.together(
        *[partial(box.call, "search", workspace="garden", query=query) for query in ("p", "q")]
    )

    assert not any(result.is_error for result in results)
    assert sorted(box.embeddings.received.inputs) == sorted([*texts, "p", "q"])


@pytest.mark.promise("P-062", "P-063", "T-14")
def test_after_20_seconds_the_rest_is_counted_and_the_next_search_goes_on(
    inside: InsideBox,
) -> None:
    inside.parallel = OneAfterAnother()
    inside.clock.stop()
    search = partial(inside.says, "search", workspace="garden", query="beds", limit=20)
    for number in range(5):
        inside.dropbox.put(f"/garden/{number}.md", diary(f"note {number}", 160_000))
    inside.model.meanwhile = lambda _: inside.clock.advance(6.6)

    answers = [search(), search(), search()]

    # A request each for the query and the files, of 6.6 s: the last one starts after 13.2 s.
    assert [len(found(answer)) for answer in answers] == [2, 4, 5]
    assert [remarks(answer) for answer in answers] == [
        ["3 files are not indexed yet. Search again to go on."],
        ["1 file is not indexed yet. Search again to go on."],
        [],
    ]
    sent = inside.embeddings.received.inputs
    assert len(sent) == len(set(sent)) + 2  # the query


@pytest.mark.promise("P-062", "T-14")
def test_what_waits_outside_the_searched_workspace_is_not_counted(inside: InsideBox) -> None:
    inside.parallel = OneAfterAnother()
    inside.dropbox.put("/garden/a.md", "peas\n")
    for number in range(10):
        inside.dropbox.put(f"/work/{number}.md", diary(f"note {number}", 160_000))
    inside.model.meanwhile = lambda _: inside.clock.advance(6)

    garden = inside.says("search", workspace="garden", query="peas")
    everything = inside.says("search", workspace="all", query="peas", limit=1)

    assert remarks(garden) == []
    assert remarks(everything)[-1].endswith("not indexed yet. Search again to go on.")


@pytest.mark.promise("P-064", "P-065", "L-6", "T-41")
def test_a_silent_embedding_service_fails_no_write_and_the_next_search_indexes(box: Box) -> None:
    box.embeddings.fail("server_error")

    written = box.says("write", workspace="garden", path="a.md", text=T45)

    assert written == (
        f"rev: {box.rev('/garden/a.md')}\n"
        "Not indexed for search yet: the embedding service did not answer. "
        "The next search indexes it."
    )
    assert box.dropbox.files() == {"/garden/a.md": T45.encode()}
    assert box.refuses("search", workspace="garden", query=QUERY) == (
        "The embedding service did not answer, so nothing was searched. "
        "Try again in a minute; the other tools work now."
    )
    box.embeddings.heal()
    assert found(box.says("search", workspace="garden", query=QUERY)) == ["garden/a.md"]


@pytest.mark.promise("T-41")
def test_without_the_embedding_service_words_rank(box: Box) -> None:
    for path, text in [("a", "zebra"), ("b", "pelican"), ("c", "zebra and zebra")]:
        box.says("write", workspace="garden", path=f"{path}.md", text=text)
    box.says("search", workspace="garden", query="x")
    box.embeddings.fail("server_error")

    answer = box.says("search", workspace="garden", query="zebra", limit=2)

    assert set(found(answer)) == {"garden/a.md", "garden/c.md"}
    assert remarks(answer) == ["Ranked by words alone: the embedding service did not answer."]


BY_WORDS = "\n\nRanked by words alone: the embedding service did not answer."
ONE_WAITS = "\n1 file is not indexed yet. Search again to go on."
NOT_SEARCHED = (
    "The embedding service did not answer, so nothing was searched. "
    "Try again in a minute; the other tools work now."
)


@dataclass(frozen=True)
class Outage:
    """What is in the folder when the embedding service falls silent, what comes then, and what a
    search for a zebra answers.
    """

    before: Mapping[str, str]
    meanwhile: Mapping[str, str]
    answer: str
    is_error: bool = False


@pytest.mark.promise("T-09", "T-14", "T-41")
@pytest.mark.parametrize(
    "outage",
    [
        Outage({}, {}, NOTHING_IN_GARDEN + BY_WORDS),
        Outage({"a": " \n"}, {}, NOTHING_IN_GARDEN + BY_WORDS),
        Outage({}, {"a": " \n"}, NOTHING_IN_GARDEN + BY_WORDS),
        Outage(
            {"a": "x" * 1_000_001},
            {},
            f"{NOTHING_IN_GARDEN}{BY_WORDS}\nNot indexed: garden/a.md (over 1,000,000 bytes)",
        ),
        Outage({"a": "pelican"}, {}, f"1. garden/a.md  score 0.000{BY_WORDS}"),
        Outage(
            {"a": "pelican"}, {"b": "zebra"}, f"1. garden/a.md  score 0.000{BY_WORDS}{ONE_WAITS}"
        ),
        Outage({}, {"a": "zebra"}, NOT_SEARCHED, is_error=True),
        Outage({"a": " \n"}, {"b": "zebra"}, NOT_SEARCHED, is_error=True),
        Outage({"a": "zebra"}, {"a": "zebra and zebra"}, NOT_SEARCHED, is_error=True),
    ],
)
def test_without_the_embedding_service_an_answer_says_what_it_can(box: Box, outage: Outage) -> None:
    for name, text in outage.before.items():
        box.dropbox.put(f"/garden/{name}.md", text)
    box.says("search", workspace="garden", query="x")
    box.embeddings.fail("server_error")
    for name, text in outage.meanwhile.items():
        box.dropbox.put(f"/garden/{name}.md", text)

    result = box.call("search", workspace="garden", query="zebra")

    assert result == ToolResult((outage.answer,), outage.is_error)


@pytest.mark.promise("T-41")
@pytest.mark.parametrize("fault", ["nan", "zero_vector", "wrong_count", "wrong_dimensions"])
def test_with_a_vector_of_the_query_that_cannot_be_used_words_rank(box: Box, fault: str) -> None:
    for path, text in [("a", "zebra"), ("b", "pelican"), ("c", "zebra and zebra")]:
        box.says("write", workspace="garden", path=f"{path}.md", text=text)
    box.says("search", workspace="garden", query="x")
    box.embeddings.fail(fault)  # type: ignore[arg-type]  # one of those that are listed above

    answer = box.says("search", workspace="garden", query="zebra", limit=2)

    assert set(found(answer)) == {"garden/a.md", "garden/c.md"}
    assert remarks(answer) == ["Ranked by words alone: the embedding service did not answer."]


@pytest.mark.promise("P-064")
@pytest.mark.parametrize("tool", ["write", "append", "patch"])
def test_what_a_tool_wrote_is_found_by_the_next_search(box: Box, tool: str) -> None:
    if tool == "patch":
        rev = box.dropbox.put("/garden/a.md", "pelican\n").rev
        edits = [{"old_text": "pelican", "new_text": "zebra"}]
        box.says("patch", workspace="garden", path="a.md", edits=edits, expected_rev=rev)
    else:
        box.says(tool, workspace="garden", path="a.md", text="zebra\n")
    sent = box.embeddings.received.inputs

    answer = box.says("search", workspace="garden", query="zebra")

    assert found(answer) == ["garden/a.md"]
    assert box.embeddings.received.inputs == [*sent, "zebra"]


@pytest.mark.promise("P-068", "P-069", "T-10")
def test_a_file_over_a_million_bytes_is_named_by_every_search_of_its_scope(box: Box) -> None:
    box.dropbox.put("/garden/big.md", of_size(1_000_001))
    box.dropbox.put("/garden/a.md", "peas\n")
    box.dropbox.put("/work/b.md", "peas\n")

    garden = box.says("search", workspace="garden", query="peas")
    everything = box.says("search", workspace="all", query="peas")
    work = box.says("search", workspace="work", query="peas")

    line = "Not indexed: garden/big.md (over 1,000,000 bytes)"
    assert (found(garden), remarks(garden)) == (["garden/a.md"], [line])
    assert (found(everything), remarks(everything)) == (["garden/a.md", "work/b.md"], [line])
    assert (found(work), remarks(work)) == (["work/b.md"], [])


@pytest.mark.promise("P-068")
def test_a_file_of_a_million_bytes_is_indexed_and_one_more_byte_takes_its_parts_away(
    box: Box,
) -> None:
    box.dropbox.put("/garden/big.md", of_size(1_000_000))
    before = box.says("search", workspace="garden", query="beds")

    box.says("append", workspace="garden", path="big.md", text="x")
    after = box.says("search", workspace="garden", query="beds")

    assert (found(before), remarks(before)) == (["garden/big.md"], [])
    assert after == (f"{NOTHING_IN_GARDEN}\n\nNot indexed: garden/big.md (over 1,000,000 bytes)")
    box.says("write", workspace="garden", path="b.md", text="x" * 1_000_001)
    read = box.call("read", workspace="garden", path="b.md")
    assert read.texts[0].endswith("\nsize: 1000001 bytes")


@pytest.mark.promise("T-09")
def test_where_nothing_is_indexed_search_says_so(box: Box) -> None:
    assert box.says("search", workspace="garden", query="peas") == NOTHING_IN_GARDEN
    assert box.says("search", workspace="all", query="peas") == "No indexed file in any workspace."
    box.dropbox.put("/work/a.md", "peas\n")
    assert box.says("search", workspace="garden", query="peas") == NOTHING_IN_GARDEN


@pytest.mark.promise("P-208", "T-10", "T-11", "T-13", "T-13b")
def test_each_file_that_cannot_be_indexed_is_named_with_its_reason(box: Box) -> None:
    box.dropbox.put("/garden/big.md", "x" * 1_000_001)
    box.dropbox.put("/garden/latin.md", b"caf\xe9")
    box.dropbox.put("/garden/refused.md", "a text that no filter lets pass\n")
    box.dropbox.put("/garden/locked.md", "locked\n")
    box.dropbox.put("/garden/peas.md", "peas\n")
    box.dropbox.set(content={"/garden/locked.md": Content.RESTRICTED})
    box.embeddings.refuse("a text that no filter lets pass\n")

    answer = box.says("search", workspace="garden", query="peas")

    assert found(answer) == ["garden/peas.md"]
    assert remarks(answer) == [
        "Not indexed: garden/big.md (over 1,000,000 bytes)",
        "Not indexed: garden/latin.md (not UTF-8 text)",
        "Not indexed: garden/locked.md (Dropbox does not let it be downloaded)",
        "Not indexed: garden/refused.md (the embedding service could not take it)",
    ]


@pytest.mark.promise("P-206", "T-15", "T-11")
def test_at_most_twenty_are_named_and_the_others_counted(box: Box) -> None:
    for number in range(23):
        box.dropbox.put(f"/garden/{number:02}.md", b"\xff")

    answer = box.says("search", workspace="garden", query="peas")

    assert remarks(answer) == [
        *[f"Not indexed: garden/{number:02}.md (not UTF-8 text)" for number in range(20)],
        "Not indexed: 3 more files for such reasons.",
    ]


@pytest.mark.promise("P-066", "P-208")
def test_empty_and_blank_files_are_settled_and_never_named(box: Box) -> None:
    for number, text in enumerate(["", "\n", " \t\r\n", "\n" * 9_000, (" " * 99 + "\n") * 90]):
        box.dropbox.put(f"/garden/{number}.md", text)

    answers = {box.says("search", workspace="garden", query="peas") for _ in range(2)}

    assert answers == {NOTHING_IN_GARDEN}
    assert box.embeddings.received.inputs == ["peas", "peas"]
    assert box.calls_of_dropbox("files/download") == 5


@pytest.mark.promise("P-208")
def test_a_shrunk_note_leaves_no_old_part(box: Box) -> None:
    long = "".join(f"Day {number}: the zebra slept.\n\n" for number in range(300))
    box.says("write", workspace="garden", path="a.md", text=long)
    box.dropbox.put("/garden/b.md", "zebra\n")
    rev = box.rev("/garden/a.md")

    shrunk = box.says("write", workspace="garden", path="a.md", text="Marigold", expected_rev=rev)
    answer = box.says("search", workspace="garden", query="zebra", limit=1)

    assert shrunk.endswith("\nIndexed for search.")
    assert found(answer) == ["garden/b.md"]


@pytest.mark.promise("P-070", "P-209")
@pytest.mark.parametrize("tokens", [-1_000_000, "7", 7.5, None])
def test_a_usage_that_cannot_be_right_neither_breaks_a_search_nor_lowers_what_is_spent(
    inside: InsideBox, tokens: object
) -> None:
    inside.embeddings.spoil(lambda answer: answer | {"usage": {"total_tokens": tokens}})
    inside.dropbox.put("/garden/peas.md", "peas\n")

    answer = inside.says("search", workspace="garden", query="peas")
    inside.embeddings.heal()

    assert found(answer) == ["garden/peas.md"]
    assert inside.spent() == len("peas\n") + len("peas")


@pytest.mark.promise("P-072", "T-40")
@pytest.mark.parametrize("left", [0, 26])
def test_a_query_that_does_not_fit_in_what_is_left_is_refused_uncounted(
    inside: InsideBox, left: int
) -> None:
    inside.dropbox.put("/garden/a.md", T71)
    inside.clock.advance_to(first_of_next_month(inside).replace(hour=12))
    until = first_of_next_month(inside).date()
    inside.leave(left)

    assert inside.refuses("search", workspace="all", query=QUERY) == (
        "The query does not fit in what is left of this month's 84,745,762 embedding tokens. "
        f"Search works again on {until} (UTC); the other tools work now."
    )
    assert inside.embeddings.received.requests == 0
    assert inside.spent() == 84_745_762 - left


@pytest.mark.promise("P-072", "P-070")
def test_a_query_that_just_fits_is_searched_and_settled_to_what_it_cost(
    inside: InsideBox,
) -> None:
    inside.leave(27)

    assert inside.says("search", workspace="garden", query=QUERY) == NOTHING_IN_GARDEN
    assert inside.spent() == 84_745_762 - 27 + 5


@pytest.mark.promise("P-070")
def test_of_ten_searches_at_once_no_more_run_than_fit(inside: InsideBox) -> None:
    inside.leave(30)
    inside.embeddings.delay(0.2)

    results = inside.together(
        *[partial(inside.call, "search", workspace="all", query="ten bytes?")] * 10
    )

    assert sum(not result.is_error for result in results) == 3
    assert inside.embeddings.received.requests == 3
    assert inside.spent() <= 84_745_762


@pytest.mark.promise("P-073", "L-4", "T-12")
def test_a_file_that_does_not_fit_waits_for_the_next_month_and_is_indexed_by_itself(
    inside: InsideBox,
) -> None:
    inside.leave(700)
    until = first_of_next_month(inside).date()
    text = ("peas " * 141)[:701]

    written = inside.says("write", workspace="garden", path="a.md", text=text)
    before = inside.says("search", workspace="garden", query="peas")
    inside.clock.advance_to(first_of_next_month(inside))
    after = inside.says("search", workspace="garden", query="peas")

    assert written == (
        f"rev: {inside.rev('/garden/a.md')}\n"
        f"Not indexed for search until {until} (UTC): the file does not fit in what is left of "
        "this month's embedding tokens."
    )
    assert before == (
        f"{NOTHING_IN_GARDEN}\n\nNot indexed: garden/a.md "
        f"(does not fit in this month's embedding tokens; next try on {until} UTC)"
    )
    assert (found(after), remarks(after)) == (["garden/a.md"], [])


@pytest.mark.promise("P-073")
def test_of_a_file_in_parts_all_are_sent_or_none(inside: InsideBox) -> None:
    inside.leave(8_499)

    inside.says("write", workspace="garden", path="a.md", text=diary("a", 8_500))

    assert inside.embeddings.received.requests == 0


@pytest.mark.promise("P-071", "T-40b", "L-9")
def test_the_deployment_has_a_cap_of_its_own(inside: InsideBox) -> None:
    inside.ledger.deployment_cap = 5
    until = first_of_next_month(inside).date()

    written = inside.says("write", workspace="garden", path="a.md", text="123456")
    refusal = inside.refuses("search", workspace="garden", query="123456")

    assert written == (
        f"rev: {inside.rev('/garden/a.md')}\nNot indexed for search until {until} (UTC): "
        "this service has used up its own embedding limit."
    )
    assert refusal == (
        "This service has used up its own embedding limit. "
        f"Search works again on {until} (UTC); the other tools work now."
    )
    assert inside.embeddings.received.requests == 0


@pytest.mark.promise("P-213", "P-060")
def test_the_index_is_built_again_from_the_folder_alone(inside: InsideBox) -> None:
    inside.dropbox.put("/garden/a.md", T71)
    inside.says("write", workspace="work", path="b.md", text="plans for the tomatoes\n")
    files = inside.dropbox.files()
    search = partial(inside.says, "search", workspace="all", query=QUERY)
    before = search()

    inside.lose_all_data()

    assert search() == before
    assert inside.dropbox.files() == files
