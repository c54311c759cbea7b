"""Listings, cursors and what they tell of changes."""

import pytest
from dropbox import exceptions, files

from local.dropbox.server import DropboxEmulator
from tests.contract.dropbox_emulator.users import User, changes, client_of, listed, refused


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
