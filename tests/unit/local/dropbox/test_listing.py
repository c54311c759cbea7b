"""Cursors and pages: whoever applies the entries in order knows the tree."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local.dropbox import paths
from local.dropbox.entries import Entry, File, Folder, Tombstone, content_hash
from local.dropbox.knobs import Knobs
from local.dropbox.listing import Cursor, CursorMalformed, Page, beginning, next_page
from local.dropbox.tree import Tree

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def put(tree: Tree, path: str, text: str = "text") -> File:
    data = text.encode()
    return tree.write(
        path, size=len(data), content_hash=content_hash(data), client_modified=NOW, at=NOW
    )


def first_cursor(tree: Tree, *, limit: int = 500, root: str = "", recursive: bool = True) -> Cursor:
    position = len(tree.journal)
    return beginning(Cursor("dbid:a", "birth", root, recursive, False, limit, position))


def follow(tree: Tree, cursor: Cursor, knobs: Knobs) -> tuple[list[Entry | Tombstone], Cursor]:
    entries: list[Entry | Tombstone] = []
    has_more = True
    while has_more:
        page = next_page(tree, cursor, knobs, horizon=len(tree.journal))
        entries, cursor, has_more = [*entries, *page.entries], page.cursor, page.has_more
    return entries, cursor


def apply(known: dict[str, Entry], entries: list[Entry | Tombstone]) -> None:
    """What the documentation of list_folder tells a client to do."""
    for entry in entries:
        path = paths.lower(entry.path_display)
        if not isinstance(entry, Folder):
            for child in [p for p in known if paths.is_under(p, path)]:
                del known[child]
        if isinstance(entry, Tombstone):
            known.pop(path, None)
        else:
            known[path] = entry


def contents(tree: Tree) -> dict[str, Entry]:
    return dict(tree.walk())


def change(tree: Tree, step: tuple[str, str, str]) -> None:
    """Do what `step` says where it can be done."""
    kind, path, other = step
    there = tree.get(path)
    if kind == "put" and not isinstance(there, Folder) and not tree.file_above(path):
        put(tree, path, other)
    elif kind == "make" and there is None and not tree.file_above(path):
        tree.make_folder(path, NOW)
    elif kind == "remove" and there is not None:
        tree.remove(path, NOW)
    elif kind == "move" and there is not None and _is_free(tree, path, other):
        tree.move(path, other, NOW)


def _is_free(tree: Tree, path: str, other: str) -> bool:
    is_inside = other == path or paths.is_under(other, path)
    above = paths.ancestors(other)
    blocked = any(isinstance(tree.get(one), File) for one in above)
    return tree.get(other) is None and not is_inside and not blocked


PATHS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(
    lambda names: "/" + "/".join(names)
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "put", "make", "remove", "move"]), PATHS, PATHS), max_size=12
)


@settings(deadline=None)
@given(
    before=STEPS,
    meanwhile=STEPS,
    after=STEPS,
    limit=st.integers(1, 4),
    knobs=st.builds(Knobs, coalesce=st.booleans(), empty_pages=st.integers(0, 2)),
)
def test_entries_applied_in_order_give_the_tree_however_they_are_paged(
    before: list[tuple[str, str, str]],
    meanwhile: list[tuple[str, str, str]],
    after: list[tuple[str, str, str]],
    limit: int,
    knobs: Knobs,
) -> None:
    tree = Tree(1)
    known: dict[str, Entry] = {}
    for step in before:
        change(tree, step)
    cursor = replace(first_cursor(tree, limit=limit), blanks=knobs.empty_pages)
    page = next_page(tree, cursor, knobs, horizon=len(tree.journal))
    apply(known, page.entries)
    for step in meanwhile:
        change(tree, step)
    entries, cursor = follow(tree, page.cursor, knobs)
    apply(known, entries)
    assert known == contents(tree)
    for step in after:
        change(tree, step)
    entries, cursor = follow(tree, cursor, knobs)
    apply(known, entries)
    assert known == contents(tree)
    assert follow(tree, cursor, knobs)[0] == []


def test_only_the_last_change_of_a_path_is_listed() -> None:
    tree = Tree(1)
    cursor = follow(tree, first_cursor(tree), Knobs())[1]
    put(tree, "/a.md", "1")
    last = put(tree, "/a.md", "2")
    assert follow(tree, cursor, Knobs())[0] == [last]
    assert len(follow(tree, cursor, Knobs(coalesce=False))[0]) == 2


def test_a_folder_that_came_back_is_listed_after_its_deletion() -> None:
    tree = Tree(1)
    put(tree, "/a/x.md")
    cursor = follow(tree, first_cursor(tree), Knobs())[1]
    tree.remove("/a", NOW)
    folder = tree.make_folder("/a", NOW)
    gone, back = follow(tree, cursor, Knobs())[0]
    assert isinstance(gone, Tombstone)
    assert back == folder


def test_children_can_be_listed_again_after_the_folder_that_took_them() -> None:
    tree = Tree(1)
    put(tree, "/a/x.md")
    cursor = follow(tree, first_cursor(tree), Knobs())[1]
    tree.remove("/a", NOW)
    entries = follow(tree, cursor, Knobs(children_after_delete=True))[0]
    assert [entry.path_display for entry in entries] == ["/a", "/a/x.md"]


def test_a_page_may_be_empty_and_still_have_more() -> None:
    tree = Tree(1)
    file = put(tree, "/a.md")
    cursor = replace(first_cursor(tree), blanks=1)
    page = next_page(tree, cursor, Knobs(), horizon=1)
    assert page == Page([], replace(cursor, blanks=0), has_more=True)
    assert next_page(tree, page.cursor, Knobs(), horizon=1).entries == [file]


def test_a_listing_that_is_not_recursive_holds_the_children_alone() -> None:
    tree = Tree(1)
    put(tree, "/a/x/y.md")
    put(tree, "/a/z.md")
    entries, cursor = follow(tree, first_cursor(tree, root="/a", recursive=False), Knobs())
    assert [entry.path_display for entry in entries] == ["/a/x", "/a/z.md"]
    put(tree, "/a/x/deep.md")
    put(tree, "/b.md")
    assert follow(tree, cursor, Knobs())[0] == []


def test_a_recursive_listing_of_a_folder_holds_the_folder_itself() -> None:
    tree = Tree(1)
    put(tree, "/a/x.md")
    put(tree, "/ab/x.md")
    cursor = first_cursor(tree, root="/a")
    shown = [entry.path_display for entry in follow(tree, cursor, Knobs())[0]]
    assert shown == ["/a", "/a/x.md"]
    without = follow(tree, cursor, Knobs(folder_in_recursive_list=False))[0]
    assert [entry.path_display for entry in without] == ["/a/x.md"]


def test_a_change_beyond_the_horizon_is_not_seen_yet() -> None:
    tree = Tree(1)
    cursor = follow(tree, first_cursor(tree), Knobs())[1]
    file = put(tree, "/a.md")
    late = next_page(tree, cursor, Knobs(), horizon=0)
    assert late.entries == []
    assert next_page(tree, late.cursor, Knobs(), horizon=1).entries == [file]


def test_a_cursor_survives_its_text_form_and_garbage_does_not_become_one() -> None:
    cursor = Cursor("dbid:a", "birth", "/a", True, False, 7, 3, after="/a/ö")
    assert Cursor.parse(str(cursor)) == cursor
    assert len(str(cursor)) >= 100
    for garbage in ("", "AAAA", "ö" * 30, str(cursor)[:-1] + "!", "x" + str(cursor)):
        with pytest.raises(CursorMalformed):
            Cursor.parse(garbage)
