"""Moves, copies, batches, files in pieces, and links without a token."""

import io
import zipfile
from contextlib import closing

import requests
from dropbox import files

from local.dropbox.server import DropboxEmulator
from tests.contract.dropbox_emulator.users import User, client_of, refused


def test_moving_never_overwrites(user: User) -> None:
    user.account.put("/a.md", "1")
    user.account.put("/b.md", "2")
    move = user.client.files_move_v2
    assert refused(move, "/a.md", "/b.md").get_to().get_conflict().is_file()
    assert refused(move, "/none", "/c.md").get_from_lookup().is_not_found()
    assert move("/a.md", "/b.md", autorename=True).metadata.name == "b (1).md"
    user.account.put("/garden/x.md", "3")
    assert refused(move, "/garden", "/garden/beds").is_cant_move_folder_into_itself()


def test_a_rename_that_changes_only_the_case_is_a_switch(user: User) -> None:
    user.account.put("/a.md", "1")
    assert user.client.files_move_v2("/a.md", "/A.md").metadata.name == "A.md"
    user.account.set(case_rename_allowed=False)
    assert refused(user.client.files_move_v2, "/a.md", "/a.md").is_to()


def test_a_copy_is_another_file_with_the_same_bytes(user: User) -> None:
    there = user.upload("/garden/a.md", b"1")
    user.client.files_copy_v2("/garden", "/yard")
    copied = user.client.files_get_metadata("/yard/a.md")
    assert copied.content_hash == there.content_hash
    assert copied.id != there.id
    assert copied.rev != there.rev


def test_a_copy_reference_brings_a_subtree_into_another_account(
    emulator: DropboxEmulator, user: User
) -> None:
    user.account.put("/Garden/Beds/A.md", "1")
    other = emulator.add_account()
    reference = user.client.files_copy_reference_get("/garden").copy_reference
    saver = client_of(user.session, emulator.token(other))
    saver.files_copy_reference_save(reference, "/Yard")
    assert other.files() == {"/Yard/Beds/A.md": b"1"}
    assert refused(saver.files_copy_reference_save, "x", "/c.md").is_invalid_copy_reference()


def test_a_batch_tells_each_outcome_in_the_order_asked(user: User) -> None:
    user.account.put("/a.md", "1")
    paths = [files.DeleteArg("/none.md"), files.DeleteArg("/a.md")]
    failure, success = user.client.files_delete_batch(paths).get_complete().entries
    assert failure.get_failure().get_path_lookup().is_not_found()
    assert success.get_success().metadata.name == "a.md"
    made = user.client.files_create_folder_batch(["/x", "/x"]).get_complete().entries
    assert made[0].get_success().metadata.path_display == "/x"
    assert made[1].get_failure().get_path().get_conflict().is_folder()


def test_a_batch_may_be_a_job(user: User) -> None:
    user.account.set(force_async_jobs=True)
    user.account.put("/a.md", "1")
    moves = [files.RelocationPath("/a.md", "/b.md"), files.RelocationPath("/x", "/y")]
    job = user.client.files_move_batch_v2(moves).get_async_job_id()
    assert user.client.files_move_batch_check_v2(job).is_in_progress()
    success, failure = user.client.files_move_batch_check_v2(job).get_complete().entries
    assert success.get_success().path_display == "/b.md"
    assert failure.get_failure().get_relocation_error().get_from_lookup().is_not_found()
    assert refused(user.client.files_delete_batch_check, "dbjid:x").is_invalid_async_job_id()


def test_a_file_can_be_sent_in_pieces(user: User) -> None:
    session = user.client.files_upload_session_start(b"one ").session_id
    cursor = files.UploadSessionCursor(session, 0)
    error = refused(user.client.files_upload_session_append_v2, b"x", cursor)
    assert error.get_incorrect_offset().correct_offset == 4
    cursor = files.UploadSessionCursor(session, 4)
    user.client.files_upload_session_append_v2(b"two ", cursor)
    info = files.CommitInfo("/a.md", strict_conflict=True)
    end = files.UploadSessionCursor(session, 8)
    user.client.files_upload_session_finish(b"three", end, info)
    assert user.account.read("/a.md") == b"one two three"
    error = refused(user.client.files_upload_session_finish, b"", end, info)
    assert error.get_lookup_failed().is_not_found()


def test_a_piecewise_file_meets_the_same_conflicts(user: User) -> None:
    user.account.put("/a.md", "1")
    session = user.client.files_upload_session_start(b"2", close=True).session_id
    end = files.UploadSessionCursor(session, 1)
    finish = files.UploadSessionFinishArg(end, files.CommitInfo("/a.md", strict_conflict=True))
    (entry,) = user.client.files_upload_session_finish_batch_v2([finish]).entries
    assert entry.get_failure().get_path().get_conflict().is_file()


def test_a_folder_comes_as_a_zip_with_itself_on_top(user: User) -> None:
    user.account.put("/Garden/Beds/a.md", "1")
    metadata, response = user.client.files_download_zip("/garden")
    with closing(response), zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        names = archive.namelist()
        assert archive.read("Garden/Beds/a.md") == b"1"
    assert metadata.metadata.name == "Garden"
    assert names == ["Garden/", "Garden/Beds/", "Garden/Beds/a.md"]


def test_a_temporary_link_works_without_a_token_for_four_hours(
    emulator: DropboxEmulator, user: User
) -> None:
    user.account.put("/a.txt", "1")
    link = user.client.files_get_temporary_link("/a.txt").link
    assert requests.get(link, timeout=5).content == b"1"
    emulator.clock.advance(4 * 3600)
    assert requests.get(link, timeout=5).status_code == 410


def test_an_upload_link_takes_bytes_once(user: User) -> None:
    info = files.CommitInfo("/a.md")
    link = user.client.files_get_temporary_upload_link(info).link
    assert requests.post(link, data=b"1", timeout=5).json().keys() == {"content-hash"}
    assert requests.post(link, data=b"2", timeout=5).status_code == 410
    taken = user.client.files_get_temporary_upload_link(info).link
    assert requests.post(taken, data=b"2", timeout=5).status_code == 409
    assert user.account.files() == {"/a.md": b"1"}


def test_search_finds_names_and_words(user: User) -> None:
    user.account.put("/garden/tomato.md", "red")
    user.account.put("/garden/b.md", "a tomato")
    found = user.client.files_search_v2("tomato").matches
    names = [match.metadata.get_metadata().name for match in found]
    assert sorted(names) == ["b.md", "tomato.md"]
