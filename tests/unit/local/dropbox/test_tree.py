"""A tree and its journal."""

from datetime import UTC, datetime, timedelta

from local.dropbox.entries import File, Folder, content_hash
from local.dropbox.tree import Tree

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def put(tree: Tree, path: str, text: str = "text", at: datetime = NOW) -> File:
    data = text.encode()
    return tree.write(
        path, size=len(data), content_hash=content_hash(data), client_modified=at, at=at
    )


def test_a_rev_is_fifteen_digits_of_time_and_position_and_sixteen_of_namespace() -> None:
    tree = Tree(namespace=0x33B284821)
    first, second = put(tree, "/a.md", "1"), put(tree, "/a.md", "2")
    assert first.rev == "06b0d6540000000" + "000000033b284821"
    assert second.rev == "06b0d6540000001" + "000000033b284821"


def test_a_rev_that_was_lost_does_not_come_again() -> None:
    tree = Tree(1)
    lost = put(tree, "/a.md", "1")
    tree.replay(())
    assert tree.get("/a.md") is None
    again = put(tree, "/a.md", "2", LATER)
    assert lost.id != again.id
    assert lost.rev != again.rev


def test_an_id_stays_through_overwriting_and_moving_and_is_new_after_deletion() -> None:
    tree = Tree(1)
    first = put(tree, "/a.md", "1")
    assert put(tree, "/a.md", "2").id == first.id
    assert tree.move("/a.md", "/b.md", NOW).id == first.id
    assert tree.copy("/b.md", "/c.md", NOW).id != first.id
    tree.remove("/b.md", NOW)
    assert put(tree, "/b.md", "3").id != first.id
    assert len(first.id) == len("id:") + 22


def test_writing_makes_the_folders_above() -> None:
    tree = Tree(1)
    put(tree, "/Garden/Beds/a.md")
    assert [change.path_display for change in tree.journal] == [
        "/Garden",
        "/Garden/Beds",
        "/Garden/Beds/a.md",
    ]
    assert list(tree.subtree("")) == ["/garden", "/garden/beds", "/garden/beds/a.md"]


def test_deleting_a_folder_is_one_change_and_leaves_a_tombstone_for_each_child() -> None:
    tree = Tree(1)
    put(tree, "/garden/a.md")
    put(tree, "/garden2/a.md")
    before = len(tree.journal)
    tree.remove("/garden", LATER)
    (change,) = tree.journal[before:]
    assert (change.path_lower, change.entry) == ("/garden", None)
    assert {path: t.was_folder for path, t in tree.tombstones.items()} == {
        "/garden": True,
        "/garden/a.md": False,
    }
    assert list(tree.subtree("")) == ["/garden2", "/garden2/a.md"]


def test_a_move_is_a_deletion_and_the_subtree_anew_with_new_revs_and_old_client_times() -> None:
    tree = Tree(1)
    old = put(tree, "/garden/Beds/a.md")
    before = len(tree.journal)
    tree.move("/garden", "/Yard", LATER)
    assert [(c.path_display, c.entry is None) for c in tree.journal[before:]] == [
        ("/garden", True),
        ("/Yard", False),
        ("/Yard/Beds", False),
        ("/Yard/Beds/a.md", False),
    ]
    new = tree.get("/yard/beds/a.md")
    assert isinstance(new, File)
    assert new.rev != old.rev
    assert (new.id, new.client_modified, new.server_modified) == (old.id, NOW, LATER)


def test_the_revisions_of_an_id_go_along_with_a_move() -> None:
    tree = Tree(1)
    first = put(tree, "/a.md", "1")
    moved = tree.move("/a.md", "/b.md", NOW)
    assert tree.revisions_of_id(first.id) == [first, moved]
    assert tree.revisions["/a.md"] == [first]


def test_the_bytes_of_all_files_are_counted() -> None:
    tree = Tree(1)
    put(tree, "/a/x.md", "12345")
    put(tree, "/a/x.md", "123")
    tree.copy("/a", "/b", NOW)
    assert tree.used == 6
    tree.remove("/a", NOW)
    assert tree.used == 3


def test_a_tree_is_the_same_when_it_is_built_again_from_its_journal() -> None:
    tree = Tree(1)
    put(tree, "/a/x.md", "1")
    tree.move("/a", "/b", NOW)
    tree.make_folder("/c", NOW)
    tree.remove("/b/x.md", LATER)
    again = Tree(1, tree.journal)
    assert again.journal == tree.journal
    assert list(again.walk()) == list(tree.walk())
    assert (again.tombstones, again.revisions, again.by_rev, again.used) == (
        tree.tombstones,
        tree.revisions,
        tree.by_rev,
        tree.used,
    )


def test_the_key_of_an_entry_has_no_case_and_its_name_keeps_it() -> None:
    tree = Tree(1)
    put(tree, "/AAA/b.md")
    put(tree, "/aaa/C.md")
    names = [entry.path_display for _, entry in tree.walk()]
    assert names == ["/AAA", "/AAA/b.md", "/aaa/C.md"]
    assert isinstance(tree.get("/aaa"), Folder)
