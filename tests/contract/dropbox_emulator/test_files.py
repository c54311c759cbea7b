"""Files and their revisions, as the SDK sees them."""

from datetime import datetime

import pytest
from dropbox import files

from tests.contract.dropbox_emulator.users import User, refused


def test_bytes_come_back_as_they_were_sent(user: User) -> None:
    data = b"\xef\xbb\xbfa\r\nb\0\xff"
    written = user.upload("/garden/töm.md", data)
    metadata, read = user.download("/garden/töm.md")
    assert read == data
    assert metadata == written
    assert (written.name, written.path_lower, written.size) == ("töm.md", "/garden/töm.md", 9)
    assert user.download(f"rev:{written.rev}")[1] == data
    assert user.download(written.id)[1] == data


def test_the_first_writer_of_a_rev_wins(user: User) -> None:
    first = user.upload("/a.md", b"1")
    second = user.upload("/a.md", b"2", files.WriteMode.update(first.rev))
    error = refused(user.upload, "/a.md", b"3", files.WriteMode.update(first.rev))
    assert error.get_path().reason.get_conflict().is_file()
    assert user.client.files_get_metadata("/a.md").rev == second.rev != first.rev
    assert second.id == first.id


def test_a_file_is_created_over_nothing_else_in_any_case(user: User) -> None:
    user.upload("/Garden/A.md", b"1")
    assert refused(user.upload, "/garden/a.md", b"2").get_path().reason.get_conflict().is_file()
    assert refused(user.upload, "/garden", b"2").get_path().reason.get_conflict().is_folder()
    error = refused(user.upload, "/garden/a.md/b.md", b"2")
    assert error.get_path().reason.get_conflict().is_file_ancestor()


def test_without_strict_conflict_equal_bytes_are_answered_with_what_is_there(user: User) -> None:
    there = user.upload("/a.md", b"1")
    for mode in (files.WriteMode.add, files.WriteMode.update("0" * 31)):
        assert user.upload("/a.md", b"1", mode, strict_conflict=False) == there


def test_an_update_of_a_deleted_file_writes_it_again_unless_it_is_strict(user: User) -> None:
    there = user.upload("/a.md", b"1")
    user.client.files_delete_v2("/a.md")
    mode = files.WriteMode.update(there.rev)
    assert refused(user.upload, "/a.md", b"2", mode).is_path()
    assert user.upload("/a.md", b"2", mode, strict_conflict=False).id != there.id


def test_autorename_makes_room(user: User) -> None:
    there = user.upload("/a.md", b"1")
    assert user.upload("/a.md", b"2", autorename=True).name == "a (1).md"
    assert user.upload("/a.md", b"3", autorename=True).name == "a (2).md"
    user.upload("/a.md", b"4", files.WriteMode.overwrite)
    stale = files.WriteMode.update(there.rev)
    assert user.upload("/a.md", b"5", stale, autorename=True).name == "a (conflicted copy).md"


def test_an_upload_that_was_damaged_on_the_way_is_refused(user: User) -> None:
    error = refused(user.upload, "/a.md", b"1", content_hash="0" * 64)
    assert error.is_content_hash_mismatch()


def test_times_are_whole_seconds_and_the_clients_is_kept(user: User) -> None:
    then = datetime(1988, 5, 4, 3, 2, 1)  # noqa: DTZ001  # the SDK speaks naive UTC
    first = user.upload("/a.md", b"1", client_modified=then)
    moved = user.client.files_move_v2("/a.md", "/b.md").metadata
    assert first.client_modified == moved.client_modified == then
    assert moved.server_modified.microsecond == 0


@pytest.mark.parametrize("name", ["a\\b", "a ", "x" * 256, "..", "a\0b", "a\x7f"])
def test_a_name_that_cannot_be_is_malformed(user: User, name: str) -> None:
    assert refused(user.upload, f"/{name}", b"1").get_path().reason.is_malformed_path()


def test_a_name_that_is_never_synced_is_disallowed(user: User) -> None:
    assert refused(user.upload, "/Desktop.INI", b"1").get_path().reason.is_disallowed_name()


def test_a_decomposed_name_is_stored_composed_and_not_found_decomposed(user: User) -> None:
    assert user.upload("/to\u0308m.md", b"1").path_lower == "/t\u00f6m.md"
    assert refused(user.client.files_get_metadata, "/to\u0308m.md").get_path().is_not_found()


def test_a_full_account_takes_no_more(user: User) -> None:
    user.account.set(space=3)
    user.upload("/a.md", b"123")
    assert refused(user.upload, "/b.md", b"1").get_path().reason.is_insufficient_space()
    usage = user.client.users_get_space_usage()
    assert (usage.used, usage.allocation.get_individual().allocated) == (3, 3)


def test_deleting_answers_with_what_was_there(user: User) -> None:
    there = user.upload("/garden/a.md", b"1")
    error = refused(user.client.files_delete_v2, "/garden/a.md", parent_rev="0" * 31)
    assert error.get_path_write().get_conflict().is_file()
    assert user.client.files_delete_v2("/garden/a.md", parent_rev=there.rev).metadata == there
    error = refused(user.client.files_delete_v2, "/garden/a.md")
    assert error.get_path_lookup().is_not_found()
    assert user.client.files_delete_v2("/garden").metadata.name == "garden"


def test_folders_are_made_once(user: User) -> None:
    made = user.client.files_create_folder_v2("/Garden").metadata
    assert (made.name, made.path_lower) == ("Garden", "/garden")
    error = refused(user.client.files_create_folder_v2, "/garden")
    assert error.get_path().get_conflict().is_folder()
    again = user.client.files_create_folder_v2("/garden", autorename=True).metadata
    assert again.name == "garden (1)"


def test_metadata_of_what_was_deleted_is_told_on_request(user: User) -> None:
    user.upload("/a.md", b"1")
    user.client.files_delete_v2("/a.md")
    assert refused(user.client.files_get_metadata, "/a.md").get_path().is_not_found()
    gone = user.client.files_get_metadata("/a.md", include_deleted=True)
    assert isinstance(gone, files.DeletedMetadata)


def test_revisions_are_told_newest_first_and_by_pages(user: User) -> None:
    first = user.upload("/a.md", b"1")
    second = user.upload("/a.md", b"2", files.WriteMode.overwrite)
    user.client.files_delete_v2("/a.md")
    third = user.upload("/a.md", b"3")
    page = user.client.files_list_revisions("/a.md", limit=2)
    assert (page.entries, page.has_more, page.is_deleted) == ([third, second], True, False)
    page = user.client.files_list_revisions("/a.md", limit=2, before_rev=second.rev)
    assert (page.entries, page.has_more) == ([first], False)
    user.client.files_delete_v2("/a.md")
    assert user.client.files_list_revisions("/a.md").is_deleted
    error = refused(user.client.files_list_revisions, "/a.md", before_rev="0" * 31)
    assert error.is_invalid_before_rev()


def test_a_folder_has_no_revisions_even_when_it_is_gone(user: User) -> None:
    user.upload("/garden/a.md", b"1")
    assert refused(user.client.files_list_revisions, "/garden").get_path().is_not_file()
    user.client.files_delete_v2("/garden")
    assert refused(user.client.files_list_revisions, "/garden").get_path().is_not_file()
    assert user.client.files_list_revisions("/garden/a.md").is_deleted
    assert refused(user.client.files_list_revisions, "/never").get_path().is_not_found()


def test_the_revisions_of_a_file_follow_its_id(user: User) -> None:
    first = user.upload("/a.md", b"1")
    moved = user.client.files_move_v2("/a.md", "/b.md").metadata
    mode = files.ListRevisionsMode.id
    assert user.client.files_list_revisions(first.id, mode=mode).entries == [moved, first]


def test_restoring_is_a_new_revision_with_the_old_bytes(user: User) -> None:
    first = user.upload("/a.md", b"1")
    user.client.files_delete_v2("/a.md")
    restored = user.client.files_restore("/a.md", first.rev)
    assert (user.download("/a.md")[1], restored.rev == first.rev) == (b"1", False)
    assert refused(user.client.files_restore, "/a.md", "0" * 31).is_invalid_revision()
