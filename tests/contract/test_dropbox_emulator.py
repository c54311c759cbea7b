"""The Dropbox emulator keeps what Dropbox promises, as its own SDK sees it."""

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import dropbox
import pytest
import requests
from dropbox import exceptions, files

from local.dropbox.accounts import Account, Profile
from local.dropbox.knobs import AppFolder, Connection, Content
from local.dropbox.sdk import LoopbackSession
from local.dropbox.server import DropboxEmulator


@pytest.fixture(scope="module")
def emulator() -> Iterator[DropboxEmulator]:
    with DropboxEmulator() as started:
        yield started


@dataclass(frozen=True, slots=True)
class User:
    """One account of its own for a test, the SDK's client for it, and a bare session."""

    account: Account
    client: Any
    session: LoopbackSession
    token: str

    def post(self, host: str, route: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        url = f"https://{host}.dropboxapi.com/2/{route}"
        return self.session.request("POST", url, headers=headers, **options)

    def rpc(self, route: str, argument: object) -> requests.Response:
        headers = {"Content-Type": "application/json"}
        return self.post("api", route, data=json.dumps(argument), headers=headers)

    def upload(self, path: str, data: bytes, mode: Any = files.WriteMode.add, **other: Any) -> Any:
        other.setdefault("strict_conflict", True)
        return self.client.files_upload(data, path, mode=mode, **other)

    def download(self, path: str) -> tuple[Any, bytes]:
        metadata, response = self.client.files_download(path)
        with closing(response):
            return metadata, response.content


def client_of(session: LoopbackSession, token: str) -> Any:
    return dropbox.Dropbox(
        oauth2_access_token=token,
        session=session,
        timeout=(3, 10),
        max_retries_on_error=0,
        max_retries_on_rate_limit=0,
    )


@pytest.fixture
def user(emulator: DropboxEmulator) -> Iterator[User]:
    account = emulator.add_account()
    token = emulator.token(account)
    with LoopbackSession(emulator.base_url) as session:
        yield User(account, client_of(session, token), session, token)


def refused(call: Any, *arguments: Any, **named: Any) -> Any:
    """The route's error of a call that must end in one."""
    with pytest.raises(exceptions.ApiError) as caught:
        call(*arguments, **named)
    return caught.value.error


def listed(client: Any, path: str = "", **named: Any) -> tuple[list[Any], str]:
    """All entries of a listing, and the cursor behind them."""
    page = client.files_list_folder(path, **named)
    entries = list(page.entries)
    while page.has_more:
        page = client.files_list_folder_continue(page.cursor)
        entries += page.entries
    return entries, page.cursor


def changes(client: Any, cursor: str) -> list[str]:
    page = client.files_list_folder_continue(cursor)
    kind = {files.FileMetadata: "file", files.FolderMetadata: "folder"}
    return [f"{kind.get(type(e), 'deleted')} {e.path_display}" for e in page.entries]


# Files.


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


# Listings.


def test_a_folder_of_another_app_is_told_with_its_children(user: User) -> None:
    _, cursor = listed(user.client, recursive=True)
    user.account.put("/Garden/a.md", "1")
    assert changes(user.client, cursor) == ["folder /Garden", "file /Garden/a.md"]


def test_a_deleted_folder_is_one_entry_and_a_move_is_told_as_new_files(user: User) -> None:
    user.account.put("/garden/a.md", "1")
    _, cursor = listed(user.client, recursive=True)
    user.account.move("/garden", "/yard")
    assert changes(user.client, cursor) == ["deleted /garden", "folder /yard", "file /yard/a.md"]
    _, cursor = listed(user.client, recursive=True)
    user.account.delete("/yard")
    assert changes(user.client, cursor) == ["deleted /yard"]


def test_pages_are_as_long_as_asked_and_every_cursor_is_another(user: User) -> None:
    for number in range(5):
        user.account.put(f"/{number}.md", "x")
    first = user.client.files_list_folder("", recursive=True, limit=2)
    assert (len(first.entries), first.has_more) == (2, True)
    entries, cursor = listed(user.client, recursive=True, limit=2)
    assert [entry.name for entry in entries] == [f"{number}.md" for number in range(5)]
    again = user.client.files_list_folder_continue(cursor)
    assert (again.entries, again.has_more) == ([], False)
    assert again.cursor != cursor


def test_a_listing_may_begin_with_empty_pages(user: User) -> None:
    user.account.put("/a.md", "1")
    user.account.set(empty_pages=2)
    page = user.client.files_list_folder("", recursive=True)
    assert (page.entries, page.has_more) == ([], True)
    assert [entry.name for entry in listed(user.client)[0]] == ["a.md"]


def test_the_latest_cursor_tells_only_what_comes_after_it(user: User) -> None:
    user.account.put("/a.md", "1")
    cursor = user.client.files_list_folder_get_latest_cursor("", recursive=True).cursor
    user.account.put("/b.md", "2")
    assert changes(user.client, cursor) == ["file /b.md"]


def test_a_listing_of_what_is_not_there_or_no_folder_is_refused(user: User) -> None:
    user.account.put("/a.md", "1")
    assert refused(user.client.files_list_folder, "/none").get_path().is_not_found()
    assert refused(user.client.files_list_folder, "/a.md").get_path().is_not_folder()


def test_a_cursor_of_a_deleted_folder_is_not_found(user: User) -> None:
    user.account.put("/garden/a.md", "1")
    _, cursor = listed(user.client, "/garden", recursive=True)
    user.account.delete("/garden")
    error = refused(user.client.files_list_folder_continue, cursor)
    assert error.get_path().is_not_found()


def test_a_cursor_of_another_life_is_reset_and_another_users_is_bad_input(
    emulator: DropboxEmulator, user: User
) -> None:
    _, cursor = listed(user.client)
    other = client_of(user.session, emulator.token(emulator.add_account()))
    for client, text in ((other, cursor), (user.client, "AAAA")):
        with pytest.raises(exceptions.BadInputError):
            client.files_list_folder_continue(text)
    user.account.forget_everything()
    assert refused(user.client.files_list_folder_continue, cursor).is_reset()


def test_deleted_entries_are_listed_on_request(user: User) -> None:
    user.account.put("/garden/a.md", "1")
    user.account.delete("/garden")
    entries, _ = listed(user.client, recursive=True, include_deleted=True)
    assert [type(entry) for entry in entries] == [files.DeletedMetadata] * 2


def test_a_change_is_listed_after_the_lag_of_the_listing(
    emulator: DropboxEmulator, user: User
) -> None:
    _, cursor = listed(user.client)
    user.account.set(listing_lag=60.0)
    user.account.put("/a.md", "1")
    assert changes(user.client, cursor) == []
    emulator.clock.advance(61)
    assert changes(user.client, cursor) == ["file /a.md"]


def test_a_longpoll_answers_when_there_is_news(user: User) -> None:
    _, cursor = listed(user.client)
    user.account.put("/a.md", "1")
    assert user.client.files_list_folder_longpoll(cursor).changes


# Subtrees, batches and pieces.


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


def test_a_copy_reference_brings_a_file_into_another_account(
    emulator: DropboxEmulator, user: User
) -> None:
    user.account.put("/a.md", "1")
    other = emulator.add_account()
    reference = user.client.files_copy_reference_get("/a.md").copy_reference
    saver = client_of(user.session, emulator.token(other))
    saver.files_copy_reference_save(reference, "/b.md")
    assert other.files() == {"/b.md": b"1"}
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


# The account.


def test_the_account_tells_who_it_is(emulator: DropboxEmulator, user: User) -> None:
    profile = Profile("Bo", "Smith", "bo@example.com", email_verified=False, plan="pro")
    other = emulator.add_account(profile)
    shown = client_of(user.session, emulator.token(other)).users_get_current_account()
    assert (shown.account_id, shown.name.display_name) == (other.account_id, "Bo Smith")
    assert (shown.email, shown.email_verified) == ("bo@example.com", False)
    assert shown.account_type.is_pro()
    assert len(shown.account_id) == 40
    assert user.client.check_user("echo").result == "echo"


def test_accounts_never_see_each_other(emulator: DropboxEmulator, user: User) -> None:
    theirs = emulator.add_account().put("/secret.md", "1")
    for path in ("/secret.md", theirs.id, f"rev:{theirs.rev}"):
        assert refused(user.client.files_get_metadata, path).get_path().is_not_found()


@pytest.mark.parametrize(
    ("state", "tag"),
    [
        (Connection.UNLINKED, "invalid_access_token"),
        (Connection.SUSPENDED, "user_suspended"),
    ],
)
def test_an_account_that_is_gone_is_unauthorized(user: User, state: Connection, tag: str) -> None:
    user.account.set(connection=state)
    answer = user.rpc("check/user", {"query": ""})
    assert (answer.status_code, answer.json()["error"]) == (401, {".tag": tag})
    assert answer.headers["Www-Authenticate"] == 'Bearer realm="Dropbox-API"'


def test_a_missing_scope_is_named(emulator: DropboxEmulator, user: User) -> None:
    token = emulator.token(user.account, ("account_info.read",))
    with pytest.raises(exceptions.AuthError) as caught:
        client_of(user.session, token).files_list_folder("")
    assert caught.value.error.get_missing_scope().required_scope == "files.metadata.read"


def test_an_access_token_expires_by_the_emulators_clock(
    emulator: DropboxEmulator, user: User
) -> None:
    emulator.clock.advance(14_400)
    with pytest.raises(exceptions.AuthError) as caught:
        user.client.check_user()
    assert caught.value.error.is_expired_access_token()


def test_the_app_folder_can_be_gone_in_three_ways(user: User) -> None:
    user.account.set(app_folder=AppFolder.NOT_FOUND)
    assert refused(user.client.files_list_folder, "").get_path().is_not_found()
    user.upload("/a.md", b"1")
    assert len(user.client.files_list_folder("").entries) == 1
    user.account.set(app_folder=AppFolder.CONFLICT)
    assert refused(user.client.files_download, "/a.md").is_path()
    user.account.set(app_folder=AppFolder.UNAUTHORIZED)
    with pytest.raises(exceptions.AuthError):
        user.client.files_list_folder("")


def test_some_files_have_no_bytes(user: User) -> None:
    for name in ("restricted", "export", "link"):
        user.account.put(f"/{name}.md", "1")
    user.account.set(
        content={
            "/restricted.md": Content.RESTRICTED,
            "/export.md": Content.UNSUPPORTED,
            "/link.md": Content.SYMLINK,
        }
    )
    error = refused(user.client.files_download, "/restricted.md")
    assert error.get_path().is_restricted_content()
    assert refused(user.client.files_download, "/export.md").is_unsupported_file()
    shown = {entry.name: entry for entry in listed(user.client)[0]}
    assert shown["link.md"].symlink_info.target == "/elsewhere"
    assert not shown["export.md"].is_downloadable


# The wire.


@pytest.mark.parametrize(
    ("route", "argument", "text"),
    [
        ("files/list_folder", {"path": "", "cursor": "x"}, "unknown field 'cursor'"),
        ("files/list_folder", {"path": "x"}, "path: 'x' did not match pattern"),
        (
            "files/list_folder",
            {"path": "/"},
            'path: Specify the root folder as an empty string rather than as "/".',
        ),
        ("files/list_folder", {"path": "", "limit": 2001}, "limit: 2001 is not within range"),
        ("files/get_metadata", {"path": ""}, "path: The root folder is unsupported."),
        ("files/list_folder/continue", {"cursor": "x"}, "cursor: unsupported cursor type"),
        ("files/delete_v2", {}, "missing required field 'path'"),
    ],
)
def test_a_wrong_argument_is_a_400_with_its_reason(
    user: User, route: str, argument: object, text: str
) -> None:
    answer = user.rpc(route, argument)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    start = f'Error in call to API function "{route}": request body: '
    assert answer.text.startswith(start + text)


def test_a_header_argument_must_be_ascii_json(user: User) -> None:
    octets = {"Content-Type": "application/octet-stream"}
    for raw in ('{"path": "/tö.md"}'.encode(), b"{"):
        headers: dict[str, Any] = {**octets, "Dropbox-API-Arg": raw}
        answer = user.post("content", "files/upload", data=b"1", headers=headers)
        assert answer.status_code == 400
        assert answer.text.endswith('"Dropbox-API-Arg": could not decode input as JSON')
    answer = user.post("content", "files/upload", data=b"1", headers=octets)
    assert (answer.status_code, user.account.files()) == (400, {})


def test_the_argument_of_an_upload_may_come_in_the_query(user: User) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    route = 'files/upload?arg={"path":"/a.md","mode":"overwrite"}'
    assert user.post("content", route, data=b"1", headers=headers).status_code == 200


def test_a_wrong_content_type_is_a_400(user: User) -> None:
    headers = {"Content-Type": "text/html"}
    assert user.post("api", "check/user", data="{}", headers=headers).status_code == 400
    assert user.post("content", "files/upload", data=b"1", headers=headers).status_code == 400


def test_a_route_without_an_argument_takes_null_or_nothing(user: User) -> None:
    assert user.rpc("users/get_current_account", None).status_code == 200
    assert user.post("api", "users/get_current_account").status_code == 200


def test_a_route_is_not_found_on_another_host(user: User) -> None:
    assert user.post("content", "files/list_folder", data="{}").status_code == 404
    assert user.post("api", "files/upload", data=b"").status_code == 404


def test_a_call_without_a_token_or_with_a_wrong_one_is_refused(user: User) -> None:
    headers = {"Content-Type": "application/json", "Authorization": ""}
    answer = user.post("api", "check/user", data="{}", headers=headers)
    assert (answer.status_code, "Must provide HTTP header" in answer.text) == (400, True)
    headers["Authorization"] = "Bearer wrong"
    answer = user.post("api", "check/user", data="{}", headers=headers)
    assert answer.json()["error"] == {".tag": "invalid_access_token"}


def test_an_error_is_summed_up_by_its_tags_and_some_dots(user: User) -> None:
    answers = [user.rpc("files/get_metadata", {"path": "/none"}).json() for _ in range(20)]
    error = {".tag": "path", "path": {".tag": "not_found"}}
    assert all(answer["error"] == error for answer in answers)
    summaries = {answer["error_summary"] for answer in answers}
    assert summaries <= {"path/not_found/" + "." * dots for dots in range(4)}
    assert len(summaries) > 1


def test_only_the_error_of_an_upload_has_its_reason_inside(user: User) -> None:
    user.account.put("/a.md", "1")
    arg = json.dumps({"path": "/a.md", "strict_conflict": True})
    headers = {"Content-Type": "application/octet-stream", "Dropbox-API-Arg": arg}
    answer = user.post("content", "files/upload", data=b"2", headers=headers).json()
    error = answer["error"]
    assert error.pop("upload_session_id")
    conflict = {".tag": "conflict", "conflict": {".tag": "file"}}
    assert error == {".tag": "path", "reason": conflict}
    assert answer["error_summary"].startswith("path/conflict/file/")


def test_tags_stand_where_the_type_is_open_and_nowhere_else(user: User) -> None:
    user.account.put("/a.md", "1")
    entry = user.rpc("files/list_folder", {"path": ""}).json()["entries"][0]
    assert entry[".tag"] == user.rpc("files/get_metadata", {"path": "/a.md"}).json()[".tag"]
    revision = user.rpc("files/list_revisions", {"path": "/a.md"}).json()["entries"][0]
    folder = user.rpc("files/create_folder_v2", {"path": "/x"}).json()["metadata"]
    assert ".tag" not in revision
    assert ".tag" not in folder


def test_every_answer_carries_dropboxs_headers(user: User) -> None:
    headers = user.rpc("check/user", {"query": "ö"}).headers
    assert len(headers["X-Dropbox-Request-Id"]) == 32
    assert headers["Content-Type"] == "application/json"
    assert headers["Cache-Control"] == "no-cache"
    assert headers["X-Robots-Tag"] == "noindex, nofollow, noimageindex"


def test_a_download_has_an_etag_and_ranges(user: User) -> None:
    there = user.account.put("/tö.md", "0123456789")
    arg = json.dumps({"path": "/tö.md"})
    answer = user.post("content", "files/download", headers={"Dropbox-API-Arg": arg})
    assert answer.headers["Etag"] == f'W/"{there.rev}"'
    assert json.loads(answer.headers["Dropbox-API-Result"])["name"] == "tö.md"
    for asked, status, body in (
        ("bytes=2-4", 206, b"234"),
        ("bytes=8-", 206, b"89"),
        ("bytes=-3", 206, b"789"),
        ("bytes=10-", 416, b""),
    ):
        headers = {"Dropbox-API-Arg": arg, "Range": asked}
        part = user.post("content", "files/download", headers=headers)
        assert (part.status_code, part.content) == (status, body)
    headers = {"Dropbox-API-Arg": arg, "If-None-Match": answer.headers["Etag"]}
    assert user.post("content", "files/download", headers=headers).status_code == 304


def test_fields_and_results_that_are_not_known_yet_do_not_hurt_the_sdk(user: User) -> None:
    user.account.set(unknown_fields=True)
    assert user.upload("/a.md", b"1").name == "a.md"
    assert "added_in_a_later_version" in user.rpc("check/user", {"query": ""}).json()
