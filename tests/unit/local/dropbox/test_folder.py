"""An account in a real folder."""

import os
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

from local.dropbox.accounts import Account, Profile
from local.dropbox.clock import EmulatedClock
from local.dropbox.entries import File, Folder
from local.dropbox.folder import FolderStorage

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def opened(home: Path) -> Account:
    """The account as a start of the emulator finds it."""
    storage = FolderStorage(home / "box", home / "state")
    account = Account(1, Profile(), EmulatedClock(NOW), storage, on_change=lambda _: None)
    account.notice_outside_edits()
    return account


def on_disk(home: Path) -> dict[str, bytes]:
    box = home / "box"
    files = (path for path in box.rglob("*") if path.is_file())
    return {"/" + path.relative_to(box).as_posix(): path.read_bytes() for path in files}


def by_hand(home: Path, path: str, data: bytes) -> Path:
    file = home / "box" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def test_a_note_is_a_file_at_once(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/Garden/töm.md", b"\xff\r\n\0")
    assert on_disk(tmp_path) == {"/Garden/töm.md": b"\xff\r\n\0"}
    account.put("/garden/TÖM.md", b"2")
    account.move("/garden", "/yard")
    account.make_folder("/empty")
    assert on_disk(tmp_path) == {"/yard/TÖM.md": b"2"} or on_disk(tmp_path) == {
        "/yard/töm.md": b"2"
    }
    account.delete("/yard")
    assert on_disk(tmp_path) == {}
    assert (tmp_path / "box" / "empty").is_dir()


def test_an_edit_by_hand_is_a_new_revision(tmp_path: Path) -> None:
    account = opened(tmp_path)
    first = account.put("/a.md", "mine")
    by_hand(tmp_path, "a.md", b"edited by hand")
    account.notice_outside_edits()
    now = account.get("/a.md")
    assert isinstance(now, File)
    assert (now.id, account.read("/a.md")) == (first.id, b"edited by hand")
    assert now.rev != first.rev
    assert account.storage.read(first.content_hash) == b"mine"


def test_an_edit_of_one_file_is_noticed_by_asking_for_it_alone(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/a.md", "mine")
    by_hand(tmp_path, "a.md", b"edited by hand")
    account.notice_outside_edits("/a.md")
    assert account.read("/a.md") == b"edited by hand"


def test_touching_a_file_changes_nothing(tmp_path: Path) -> None:
    account = opened(tmp_path)
    first = account.put("/a.md", "same")
    os.utime(tmp_path / "box" / "a.md", (1, 1))
    account.notice_outside_edits()
    assert account.get("/a.md") == first


def test_files_and_folders_made_moved_and_removed_by_hand_are_journaled(tmp_path: Path) -> None:
    account = opened(tmp_path)
    by_hand(tmp_path, "Garden/Beds/a.md", b"a")
    by_hand(tmp_path, "Garden/b.md.swp", b"b")
    account.notice_outside_edits()
    assert account.files() == {"/Garden/Beds/a.md": b"a", "/Garden/b.md.swp": b"b"}
    (tmp_path / "box" / "Garden").rename(tmp_path / "box" / "Yard")
    before = len(account.tree.journal)
    account.notice_outside_edits()
    assert [(c.path_display, c.entry is None) for c in account.tree.journal[before:]] == [
        ("/Garden", True),
        ("/Yard", False),
        ("/Yard/Beds", False),
        ("/Yard/Beds/a.md", False),
        ("/Yard/b.md.swp", False),
    ]


def test_a_file_made_by_hand_is_found_by_asking_for_it_in_any_case(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.make_folder("/Garden")
    by_hand(tmp_path, "Garden/Tom.md", b"1")
    account.notice_outside_edits("/garden/tom.md")
    assert account.files() == {"/Garden/Tom.md": b"1"}
    by_hand(tmp_path, "New/Deep/a.md", b"2")
    account.notice_outside_edits("/new/deep/a.md")
    assert account.read("/new/deep/a.md") == b"2"


def test_a_rename_by_hand_that_changes_only_the_case_is_no_new_revision(
    tmp_path: Path,
) -> None:
    account = opened(tmp_path)
    first = account.put("/a.md", "1")
    (tmp_path / "box" / "a.md").rename(tmp_path / "box" / "A.md")
    account.notice_outside_edits()
    assert account.get("/a.md") == first
    account.put("/a.md", "2")
    assert on_disk(tmp_path) == {"/A.md": b"2"}
    account.notice_outside_edits()
    assert account.files() == {"/a.md": b"2"}


def test_a_file_that_became_a_folder_is_a_deletion_and_a_folder(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/a", "file")
    (tmp_path / "box" / "a").unlink()
    by_hand(tmp_path, "a/b.md", b"b")
    account.notice_outside_edits()
    assert isinstance(account.get("/a"), Folder)
    assert account.files() == {"/a/b.md": b"b"}


def test_everything_is_the_same_after_a_restart(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/a/x.md", "1")
    account.put("/a/x.md", "2")
    account.move("/a/x.md", "/b.md")
    by_hand(tmp_path, "hand.md", b"3")
    account.notice_outside_edits()
    again = opened(tmp_path)
    assert again.tree.journal == account.tree.journal
    assert again.files() == account.files() == {"/b.md": b"2", "/hand.md": b"3"}
    assert again.storage.birth == account.storage.birth
    assert again.account_id == account.account_id


def test_what_was_edited_while_nobody_looked_is_noticed_at_the_start(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/kept.md", "1")
    account.put("/edited.md", "1")
    account.put("/removed.md", "1")
    by_hand(tmp_path, "edited.md", b"2")
    by_hand(tmp_path, "new.md", b"3")
    (tmp_path / "box" / "removed.md").unlink()
    again = opened(tmp_path)
    assert again.files() == {"/kept.md": b"1", "/edited.md": b"2", "/new.md": b"3"}
    assert again.get("/kept.md") == account.get("/kept.md")


def test_a_journal_line_that_a_crash_cut_off_is_an_edit_that_is_still_to_be_noticed(
    tmp_path: Path,
) -> None:
    account = opened(tmp_path)
    account.put("/a.md", "1")
    account.put("/b.md", "2")
    log = tmp_path / "state" / "journal.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    again = opened(tmp_path)
    assert again.files() == {"/a.md": b"1", "/b.md": b"2"}
    assert opened(tmp_path).tree.journal == again.tree.journal


def test_a_name_in_decomposed_form_is_one_note_and_stays_as_it_is_on_disk(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "töm.md")
    file = by_hand(tmp_path, decomposed, b"1")
    account = opened(tmp_path)
    assert account.files() == {"/töm.md": b"1"}
    account.put("/töm.md", "2")
    assert file.read_bytes() == b"2"
    account.notice_outside_edits()
    assert list(on_disk(tmp_path)) == ["/" + decomposed]


def test_of_two_names_that_collide_the_known_one_is_kept(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/b.md", "known")
    by_hand(tmp_path, "B.md", b"collides")
    account.notice_outside_edits()
    assert account.files() == {"/b.md": b"known"}


def test_what_dropbox_does_not_sync_is_left_alone(tmp_path: Path) -> None:
    by_hand(tmp_path, ".DS_Store", b"1")
    by_hand(tmp_path, "trailing ", b"2")
    (tmp_path / "box" / "link.md").symlink_to(tmp_path / "elsewhere")
    Path(os.fsdecode(os.fsencode(tmp_path / "box") + b"/\xff.md")).write_bytes(b"3")
    assert opened(tmp_path).files() == {}


def test_a_folder_that_is_gone_is_an_empty_one_and_comes_back(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/a.md", "1")
    (tmp_path / "box" / "a.md").unlink()
    (tmp_path / "box" / ".dropbox.cache").rmdir()
    (tmp_path / "box").rmdir()
    account.notice_outside_edits()
    assert account.files() == {}
    account.put("/b.md", "2")
    assert on_disk(tmp_path) == {"/b.md": b"2"}
