"""An account in a real folder whose disk does not take everything, or leads elsewhere."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.dropbox.accounts import Account, Profile
from local.dropbox.clock import EmulatedClock
from local.dropbox.entries import File
from local.dropbox.folder import FolderStorage
from local.dropbox.storage import NotKept

MONDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)
TUESDAY = datetime(2026, 12, 1, 12, tzinfo=UTC)
TOO_LONG_ON_DISK = "é" * 200  # 200 letters, which Dropbox allows, and 400 bytes


def opened(home: Path, at: datetime = MONDAY) -> Account:
    storage = FolderStorage(home / "box", home / "state")
    account = Account(1, Profile(), EmulatedClock(at), storage, on_change=lambda _: None)
    account.notice_outside_edits()
    return account


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    """As on a disk that is full: a write stops in the middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def everything(home: Path) -> dict[str, bytes]:
    """All that is on disk, folders too, but not where files are put together."""
    return {
        path.relative_to(home).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in home.rglob("*")
        if ".dropbox.cache" not in path.parts
    }


@contextmanager
def nothing_done(home: Path, account: Account, reason: str) -> Iterator[None]:
    before, journal, used = everything(home), list(account.tree.journal), account.tree.used
    with pytest.raises(NotKept) as refused:
        yield
    assert refused.value.reason == reason
    assert everything(home) == before
    assert list((home / "box/.dropbox.cache").iterdir()) == []
    assert (account.tree.journal, account.tree.used) == (journal, used)
    assert opened(home).tree.journal == journal


def test_a_note_that_the_disk_has_no_room_for_is_not_there_afterwards(tmp_path: Path) -> None:
    account = opened(tmp_path)
    first = account.put("/a.md", "1")
    with nothing_done(tmp_path, account, "insufficient_space"), no_file_over(10_000):
        account.put("/garden/b.md", "b" * 20_000)
    second = account.put("/garden/b.md", "b")
    assert first.rev != second.rev
    assert opened(tmp_path).files() == account.files() == {"/a.md": b"1", "/garden/b.md": b"b"}


def test_a_note_that_the_journal_has_no_room_for_is_not_there_afterwards(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/a.md", "1")
    account.storage.keep(b"2")
    with (
        nothing_done(tmp_path, account, "insufficient_space"),
        no_file_over((tmp_path / "state/journal.jsonl").stat().st_size + 20),
    ):
        account.put("/a.md", "2")


def test_a_name_that_is_too_long_for_the_disk_leaves_no_folder_behind(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/a.md", "1")
    account.storage.keep(b"2")
    with nothing_done(tmp_path, account, "malformed_path"):
        account.put(f"/garden/beds/{TOO_LONG_ON_DISK}", "2")


def test_a_move_that_fails_in_the_middle_leaves_every_note_where_it_was(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/garden/a.md", "1")
    account.put("/garden/beds/b.md", "2")
    with nothing_done(tmp_path, account, "malformed_path"):
        account.move("/garden", f"/yard/{TOO_LONG_ON_DISK}")
    account.move("/garden", "/yard")
    assert opened(tmp_path).files() == {"/yard/a.md": b"1", "/yard/beds/b.md": b"2"}


def test_an_edit_by_hand_that_cannot_be_kept_is_not_written_over_and_comes_later(
    tmp_path: Path,
) -> None:
    account = opened(tmp_path)
    before = account.put("/a.md", "1")
    (tmp_path / "box/a.md").write_bytes(b"by hand" * 3_000)
    with no_file_over(10_000):
        account.notice_outside_edits()
        assert account.get("/a.md") == before
        with pytest.raises(NotKept):
            account.put("/a.md", "2")
    account.notice_outside_edits()
    assert account.read("/a.md") == (tmp_path / "box/a.md").read_bytes() == b"by hand" * 3_000


def test_an_edit_by_hand_that_the_journal_has_no_room_for_comes_later(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/gone.md", "1")
    (tmp_path / "box/new").mkdir()
    (tmp_path / "box/new/a.md").write_bytes(b"2")
    (tmp_path / "box/gone.md").unlink()
    with no_file_over((tmp_path / "state/journal.jsonl").stat().st_size):
        account.notice_outside_edits()
        assert account.files() == {"/gone.md": b"1"}
    account.notice_outside_edits()
    assert account.files() == {"/new/a.md": b"2"}


def test_a_journal_with_a_hole_is_read_up_to_it_and_no_rev_comes_again(tmp_path: Path) -> None:
    account = opened(tmp_path)
    notes = {f"/{name}.md": name.encode() for name in "abcd"}
    given = [account.put(path, text) for path, text in notes.items()]
    log = tmp_path / "state/journal.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0] + b"".join(lines[2:]))
    again = opened(tmp_path, TUESDAY)
    assert again.files() == notes
    assert again.get("/a.md") == given[0]
    revs = {entry.rev for _, entry in again.tree.walk() if isinstance(entry, File)}
    assert revs & {file.rev for file in given} == {given[0].rev}
    cursor = again.first_cursor("", recursive=True, include_deleted=False, limit=None)
    assert [entry.path_display for entry in again.first_page(cursor).entries] == list(notes)
    assert again.storage.birth != account.storage.birth  # so that old cursors answer reset
    assert opened(tmp_path).tree.journal == again.tree.journal


@pytest.mark.parametrize("damage", [b"\0" * 40 + b"\n", b"{}\n", b"[[[\n", b"\xff\n"])
def test_a_journal_with_a_line_that_is_none_is_read_up_to_it(tmp_path: Path, damage: bytes) -> None:
    opened(tmp_path).put("/a.md", "1")
    with (tmp_path / "state/journal.jsonl").open("ab") as log:
        log.write(damage)
    again = opened(tmp_path)
    again.put("/b.md", "2")
    assert opened(tmp_path).files() == {"/a.md": b"1", "/b.md": b"2"}


@pytest.mark.parametrize("path", ["/garden/there.md", "/garden/new.md", "/garden/beds/new.md"])
def test_a_write_through_a_linked_folder_leaves_the_outside_as_it_was(
    tmp_path: Path, path: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there.md").write_bytes(b"not ours")
    account = opened(tmp_path)
    account.put("/a.md", "1")
    account.storage.keep(b"2")
    (tmp_path / "box/garden").symlink_to(outside)
    with nothing_done(tmp_path, account, "no_write_permission"):
        account.put(path, "2")
    assert account.files() == {"/a.md": b"1"}


def test_a_folder_that_was_replaced_by_a_link_to_it_is_gone_and_left_alone(tmp_path: Path) -> None:
    account = opened(tmp_path)
    account.put("/garden/a.md", "1")
    account.storage.keep(b"2")
    (tmp_path / "box/garden").rename(tmp_path / "outside")
    (tmp_path / "box/garden").symlink_to(tmp_path / "outside")
    for change in (
        lambda: account.put("/garden/a.md", "2"),
        lambda: account.delete("/garden/a.md"),
    ):
        with pytest.raises(NotKept) as refused:
            change()
        assert refused.value.reason == "no_write_permission"
    account.notice_outside_edits("/garden/a.md")
    assert account.files() == {}
    assert (tmp_path / "outside/a.md").read_bytes() == b"1"


def test_a_link_does_not_hide_the_note_whose_name_it_shares_but_for_case(tmp_path: Path) -> None:
    account = opened(tmp_path)
    (tmp_path / "box/A.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "box/a.md").write_bytes(b"1")
    account.notice_outside_edits()
    assert account.files() == {"/a.md": b"1"}


@pytest.mark.parametrize("target", ["outside.md", "nowhere.md"])
def test_a_linked_file_stays_a_link(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.md").write_bytes(b"not ours")
    account = opened(tmp_path)
    account.put("/a.md", "1")
    account.storage.keep(b"2")
    link = tmp_path / "box/link.md"
    link.symlink_to(tmp_path / target)
    with nothing_done(tmp_path, account, "no_write_permission"):
        account.put("/link.md", "2")
    assert link.readlink() == tmp_path / target


def test_a_deleted_folder_takes_its_links_along_and_not_what_they_lead_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there.md").write_bytes(b"not ours")
    account = opened(tmp_path)
    account.put("/garden/a.md", "1")
    (tmp_path / "box/garden/link").symlink_to(outside)
    account.delete("/garden")
    assert not (tmp_path / "box/garden").exists()
    assert (outside / "there.md").read_bytes() == b"not ours"


def test_a_note_deeper_than_pythons_stack_is_listed_kept_and_deleted(tmp_path: Path) -> None:
    account = opened(tmp_path)
    deep = "/" + "d/" * (sys.getrecursionlimit() + 100) + "b.md"
    before = account.first_cursor("", recursive=True, include_deleted=False, limit=None)
    account.put(deep, "1")
    again = opened(tmp_path)
    assert again.files() == {deep: b"1"}
    entries = len(again.tree.journal)
    assert len(again.page_after(before).entries) == min(entries, again.knobs.page_size)
    again.delete("/d")
    assert everything(tmp_path / "box") == {}
    assert list((tmp_path / "box/.dropbox.cache").iterdir()) == []
    assert opened(tmp_path).files() == {}
