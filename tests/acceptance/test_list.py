"""list: the notes of a workspace, or of all, as Dropbox has them now."""

import json
from datetime import UTC, datetime

import pytest

from local.dropbox.faults import Effect, Fault
from local.dropbox.knobs import Content
from tests.acceptance.box import Box
from tests.acceptance.notes import T71

OF_GARDEN = """\
  {"workspace":"garden","path":"tomatoes.md","size":71,"modified":"2026-10-31T05:46:06Z"},
  {"workspace":"garden","path":"beds/plan.md","size":240,"modified":"2026-10-29T18:02:11Z"}"""
OF_WORK = """\
  {"workspace":"work","path":"projects/search.md","size":1803,"modified":"2026-10-30T22:40:57Z"}"""


def names(listed: str) -> list[str]:
    return [f"/{entry['workspace']}/{entry['path']}" for entry in json.loads(listed)["files"]]


def example(box: Box) -> None:
    """The folder of the example: three notes in two workspaces, and a file in none."""
    for moment, location, size in [
        (datetime(2026, 10, 29, 18, 2, 11, 900_000, tzinfo=UTC), "/garden/beds/plan.md", 240),
        (datetime(2026, 10, 30, 22, 40, 57, tzinfo=UTC), "/work/projects/search.md", 1803),
        (datetime(2026, 10, 31, 5, 46, 6, tzinfo=UTC), "/garden/tomatoes.md", 71),
        (datetime(2026, 10, 31, 5, 46, 6, tzinfo=UTC), "/readme.md", 9),
    ]:
        box.time_is(moment)
        box.dropbox.put(location, "x" * size)


@pytest.mark.promise("P-009", "P-012", "P-022", "P-023", "E1")
def test_a_list_of_all_workspaces_reads_as_in_the_example(box: Box) -> None:
    example(box)

    assert box.says("list", workspace="all") == f'{{"files":[\n{OF_GARDEN},\n{OF_WORK}\n]}}'


@pytest.mark.promise("P-022", "P-023", "P-021", "E2")
def test_a_list_of_one_workspace_reads_as_in_the_example(box: Box) -> None:
    example(box)

    assert box.says("list", workspace="garden") == f'{{"files":[\n{OF_GARDEN}\n]}}'


@pytest.mark.promise("P-024", "P-106")
@pytest.mark.parametrize("named", ["Café", "Cafe\N{COMBINING ACUTE ACCENT}"])
def test_a_workspace_named_composed_or_decomposed_is_listed(box: Box, named: str) -> None:
    box.says("write", workspace=named, path="menu.md", text=T71)

    assert names(box.says("list", workspace="Café")) == ["/Café/menu.md"]
    assert names(box.says("list", workspace="Cafe\N{COMBINING ACUTE ACCENT}")) == ["/Café/menu.md"]


@pytest.mark.promise("P-022")
def test_a_list_is_valid_json(box: Box) -> None:
    example(box)

    listed = box.says("list", workspace="all")

    parsed = json.loads(listed)
    assert json.dumps(parsed, separators=(",", ":")) == listed.replace("\n", "").replace("  ", "")


@pytest.mark.promise("P-019")
def test_the_notes_are_the_md_files_in_any_case_and_at_any_depth(box: Box) -> None:
    for name in ("a.md", "B.MD", "x.md/inner.md", ".trash/old.md"):
        box.dropbox.put(f"/garden/{name}", "note")
    for name in ("c.markdown", "d.txt", "md", ".md", "beds/.md", "e.md.bak", ".obsidian/app.json"):
        box.dropbox.put(f"/garden/{name}", "no note")
    box.dropbox.make_folder("/garden/empty.md")

    listed = names(box.says("list", workspace="garden"))

    assert sorted(listed) == [
        "/garden/.trash/old.md",
        "/garden/B.MD",
        "/garden/a.md",
        "/garden/x.md/inner.md",
    ]


@pytest.mark.promise("P-019")
def test_what_cannot_be_downloaded_as_a_file_is_no_note(box: Box) -> None:
    for name in ("plain", "symlink", "cloud document"):
        box.dropbox.put(f"/garden/{name}.md", "text")
    box.dropbox.set(
        content={
            "/garden/symlink.md": Content.SYMLINK,
            "/garden/cloud document.md": Content.UNSUPPORTED,
        }
    )

    assert names(box.says("list", workspace="garden")) == ["/garden/plain.md"]


@pytest.mark.promise("P-019")
def test_conflicted_copies_and_files_that_are_no_text_are_listed_like_others(box: Box) -> None:
    box.dropbox.put("/garden/a (Ann's conflicted copy 2026-11-30).md", "a")
    box.dropbox.put("/garden/latin.md", "café".encode("latin-1"))

    assert sorted(names(box.says("list", workspace="garden"))) == [
        "/garden/a (Ann's conflicted copy 2026-11-30).md",
        "/garden/latin.md",
    ]


@pytest.mark.promise("P-020")
def test_the_size_is_that_of_the_bytes_which_read_gives(box: Box) -> None:
    texts = {"empty.md": "", "tomatoes.md": T71, "café.md": "café 🍅\r\n"}
    for path, text in texts.items():
        box.dropbox.put(f"/garden/{path}", text)

    listed = json.loads(box.says("list", workspace="garden"))["files"]

    assert {entry["path"]: entry["size"] for entry in listed} == {
        "empty.md": 0,
        "tomatoes.md": 71,
        "café.md": 12,
    }
    for entry in listed:
        heading, text = box.call("read", workspace="garden", path=entry["path"]).texts
        assert heading.endswith(f"\nsize: {entry['size']} bytes")
        assert len(text.encode()) == entry["size"]


@pytest.mark.promise("P-021")
def test_the_time_is_when_dropbox_took_the_change_not_what_a_client_says(box: Box) -> None:
    with box.dropbox.changing() as tree:
        tree.write(
            "/garden/old.md",
            size=0,
            content_hash=box.dropbox.storage.keep(b""),
            client_modified=datetime(1988, 1, 1, tzinfo=UTC),
            at=datetime(2026, 11, 30, 9, 0, 1, tzinfo=UTC),
        )

    assert box.says("list", workspace="garden") == (
        '{"files":[\n'
        '  {"workspace":"garden","path":"old.md","size":0,"modified":"2026-11-30T09:00:01Z"}\n'
        "]}"
    )


@pytest.mark.promise("P-023")
def test_files_of_one_second_are_in_the_order_of_their_paths(box: Box) -> None:
    box.time_is(datetime(2026, 11, 30, 9, tzinfo=UTC))
    for location in ("/work/a.md", "/Garden/b.md", "/Garden/A.md", "/garden/beds/c.md"):
        box.dropbox.put(location, "x")

    assert names(box.says("list", workspace="all")) == [
        "/Garden/A.md",
        "/Garden/b.md",
        "/Garden/beds/c.md",
        "/work/a.md",
    ]


@pytest.mark.promise("P-024")
@pytest.mark.parametrize("workspace", ["nowhere", "all"])
def test_where_nothing_is_the_list_is_empty(box: Box, workspace: str) -> None:
    assert box.says("list", workspace=workspace) == '{"files":[]}'


@pytest.mark.promise("P-024")
def test_a_workspace_that_is_a_file_has_no_files(box: Box) -> None:
    box.dropbox.put("/readme.md", "text")

    assert box.says("list", workspace="readme.md") == '{"files":[]}'


@pytest.mark.promise("P-025")
def test_all_pages_are_read_the_empty_ones_too(box: Box) -> None:
    expected = {f"/garden/n{number:04}.md" for number in range(2_500)}
    for location in expected:
        box.dropbox.put(location, "x")
    box.dropbox.set(page_size=500, empty_pages=1)

    listed = names(box.says("list", workspace="garden"))

    assert len(listed) == 2_500
    assert set(listed) == expected


@pytest.mark.promise("P-025", "T-41")
def test_a_list_is_whole_or_an_error(box: Box) -> None:
    for number in range(4):
        box.dropbox.put(f"/garden/{number}.md", "x")
    box.dropbox.set(page_size=2)
    box.breaks(Fault("files/list_folder/continue", Effect.HALF_ANSWER, times=None))

    assert box.refuses("list", workspace="garden") == (
        "Dropbox did not answer. Try again in a minute."
    )


@pytest.mark.promise("P-025")
def test_a_folder_has_one_spelling_whatever_its_files_were_written_under(box: Box) -> None:
    box.dropbox.make_folder("/garden/Beds")
    box.dropbox.put("/garden/Beds/Plan.md", "plan")
    box.dropbox.put("/garden/BEDS/other.md", "other")

    listed = names(box.says("list", workspace="garden"))

    assert sorted(listed) == ["/garden/Beds/Plan.md", "/garden/Beds/other.md"]
    for location in listed:
        path = location.removeprefix("/garden/")
        assert not box.call("read", workspace="garden", path=path).is_error


@pytest.mark.promise("P-025")
def test_a_list_shows_dropbox_as_it_is_now(box: Box) -> None:
    box.says("write", workspace="garden", path="a.md", text="a")
    box.dropbox.move("/garden/a.md", "/garden/b.md")

    assert names(box.says("list", workspace="garden")) == ["/garden/b.md"]


@pytest.mark.promise("P-026")
def test_letters_stay_and_what_could_forge_a_line_is_escaped(box: Box) -> None:
    box.time_is(datetime(2026, 11, 30, 9, tzinfo=UTC))
    for name in ("café", "トマト", 'a"b', "one\nline", "\u202eevil", "zero\u200bwidth", "p\u2029"):
        box.dropbox.put(f"/garden/{name}.md", "x")

    listed = box.says("list", workspace="garden")

    lines = listed.splitlines()
    assert len(lines) == 9
    assert [line.split('"path":"')[1].split('.md"')[0] for line in lines[1:-1]] == [
        'a\\"b',
        "café",
        "one\\u000aline",
        "p\\u2029",
        "zero\\u200bwidth",
        "\\u202eevil",
        "トマト",
    ]
    assert "/garden/one\nline.md" in names(listed)


@pytest.mark.promise("P-206")
def test_a_list_too_long_for_one_answer_asks_for_one_workspace(box: Box) -> None:
    deep = "/".join(['"' * 250] * 10)
    for number in range(300):
        box.dropbox.put(f"/garden/{deep}/{number}.md", "x")
    box.dropbox.put("/small/x.md", "x")

    assert box.refuses("list", workspace="all") == (
        "Too many files for one answer. List one workspace at a time."
    )
    assert names(box.says("list", workspace="small")) == ["/small/x.md"]
