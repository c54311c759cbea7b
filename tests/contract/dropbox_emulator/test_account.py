"""Who the caller is, and what ends or limits their access."""

import pytest
from dropbox import common, exceptions

from local.dropbox.accounts import Profile
from local.dropbox.knobs import AppFolder, Connection, Content
from local.dropbox.server import DropboxEmulator
from tests.contract.dropbox_emulator.users import User, client_of, listed, refused


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


def test_a_path_root_must_be_the_accounts_own(user: User) -> None:
    home = user.client.users_get_current_account().root_info.home_namespace_id
    for root in (common.PathRoot.home, common.PathRoot.root(home)):
        assert user.client.with_path_root(root).files_list_folder("").entries == []
    for root in (common.PathRoot.root("1"), common.PathRoot.namespace_id("1")):
        with pytest.raises(exceptions.PathRootError) as caught:
            user.client.with_path_root(root).files_list_folder("")
        error = caught.value.error
        assert error.is_no_permission() or error.get_invalid_root().home_namespace_id == home


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
