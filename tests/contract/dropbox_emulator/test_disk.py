"""What the API answers where the real folder behind it takes no more, or leads elsewhere."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from dropbox import exceptions, files

from local.dropbox.folder import FolderStorage
from local.dropbox.sdk import LoopbackSession
from local.dropbox.server import DropboxEmulator
from tests.contract.dropbox_emulator.users import User, client_of
from tests.unit.local.dropbox.test_disk import no_file_over

TOO_LONG_ON_DISK = "é" * 200


@dataclass(frozen=True, slots=True)
class Owner:
    """A user, and the real folder that is their Dropbox."""

    user: User
    box: Path


@pytest.fixture
def owner(emulator: DropboxEmulator, tmp_path: Path) -> Iterator[Owner]:
    account = emulator.add_account(storage=FolderStorage(tmp_path / "box", tmp_path / "state"))
    token = emulator.token(account)
    with LoopbackSession(emulator.base_url) as session:
        yield Owner(User(account, client_of(session, token), session, token), tmp_path / "box")


def refusal(call: Callable[[], Any]) -> Any:
    with pytest.raises(exceptions.ApiError) as refused:
        call()
    return refused.value.error


def test_an_upload_that_the_disk_has_no_room_for_is_refused_and_has_no_revision(
    owner: Owner,
) -> None:
    with no_file_over(10_000):
        error = refusal(lambda: owner.user.upload("/a.md", b"a" * 20_000))
        assert error.get_path().reason.is_insufficient_space()
        missing = refusal(lambda: owner.user.client.files_list_revisions("/a.md"))
        assert missing.get_path().is_not_found()
        assert owner.user.upload("/b.md", b"b").size == 1
    listed = owner.user.client.files_list_folder("").entries
    assert [entry.path_lower for entry in listed] == ["/b.md"]


def test_every_kind_of_write_says_in_its_own_words_that_a_path_is_too_long(owner: Owner) -> None:
    client = owner.user.client
    first = owner.user.upload("/a.md", b"1")
    bad = f"/{TOO_LONG_ON_DISK}"
    assert refusal(lambda: owner.user.upload(bad, b"2")).get_path().reason.is_malformed_path()
    assert refusal(lambda: client.files_create_folder_v2(bad)).get_path().is_malformed_path()
    assert refusal(lambda: client.files_move_v2("/a.md", bad)).get_to().is_malformed_path()
    assert refusal(lambda: client.files_copy_v2("/a.md", bad)).get_to().is_malformed_path()
    session = client.files_upload_session_start(b"3").session_id
    cursor = files.UploadSessionCursor(session, 1)
    finish = refusal(lambda: client.files_upload_session_finish(b"", cursor, files.CommitInfo(bad)))
    assert finish.get_path().is_malformed_path()
    assert client.files_get_metadata("/a.md").rev == first.rev


def test_a_path_over_4096_bytes_is_malformed_before_anything_is_made_of_it(owner: Owner) -> None:
    deep = "/" + "d/" * 3_000 + "b.md"
    assert refusal(lambda: owner.user.upload(deep, b"1")).get_path().reason.is_malformed_path()
    assert owner.user.client.files_list_folder("", recursive=True).entries == []
    assert list(owner.box.iterdir()) == []


def test_a_deep_path_does_not_keep_anyone_from_listing_and_searching(user: User) -> None:
    deep = "/" + "d/" * 1_500 + "b.md"
    cursor = user.client.files_list_folder_get_latest_cursor("", recursive=True).cursor
    user.upload(deep, b"1")
    user.upload("/tomatoes.md", b"1")
    assert len(user.client.files_list_folder_continue(cursor).entries) == 500
    (match,) = user.client.files_search_v2("tomatoes").matches
    assert match.metadata.get_metadata().path_display == "/tomatoes.md"
    assert user.client.files_delete_v2("/d").metadata.path_lower == "/d"
    (left,) = user.client.files_list_folder("", recursive=True).entries
    assert left.path_lower == "/tomatoes.md"


@pytest.mark.parametrize("path", ["/garden/there.md", "/garden/beds/new.md", "/link.md"])
def test_what_lies_behind_a_link_is_neither_shown_nor_written_to(
    owner: Owner, tmp_path: Path, path: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there.md").write_bytes(b"not ours")
    (owner.box / "garden").symlink_to(outside)
    (owner.box / "link.md").symlink_to(outside / "there.md")
    for mode in files.WriteMode.add, files.WriteMode.overwrite:
        error = refusal(partial(owner.user.upload, path, b"1", mode))
        assert error.get_path().reason.is_no_write_permission()
    error = refusal(lambda: owner.user.client.files_create_folder_v2("/garden/beds"))
    assert error.get_path().is_no_write_permission()
    assert owner.user.client.files_list_folder("", recursive=True).entries == []
    assert {file.name: file.read_bytes() for file in outside.iterdir()} == {"there.md": b"not ours"}
    assert (owner.box / "link.md").is_symlink()


def test_an_argument_nested_too_deeply_is_answered(user: User) -> None:
    headers = {"Content-Type": "application/json"}
    answer = user.post("api", "files/list_folder", data="[" * 100_000, headers=headers)
    assert answer.status_code == 400
