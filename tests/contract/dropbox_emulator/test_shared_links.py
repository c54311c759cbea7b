"""Shared links of an app-folder app."""

from contextlib import closing
from datetime import datetime

from dropbox import sharing

from local.dropbox.accounts import Profile
from local.dropbox.server import DropboxEmulator
from tests.contract.dropbox_emulator.users import User, client_of, refused


def test_a_link_follows_its_file_until_it_is_revoked(user: User) -> None:
    user.account.put("/a.md", "1")
    link = user.client.sharing_create_shared_link_with_settings("/a.md")
    error = refused(user.client.sharing_create_shared_link_with_settings, "/a.md")
    assert error.get_shared_link_already_exists().get_metadata().url == link.url
    user.account.put("/a.md", "2")
    user.account.move("/a.md", "/b.md")
    metadata, response = user.client.sharing_get_shared_link_file(link.url)
    with closing(response):
        assert (metadata.name, response.content) == ("b.md", b"2")
    user.client.sharing_revoke_shared_link(link.url)
    error = refused(user.client.sharing_get_shared_link_metadata, link.url)
    assert error.is_shared_link_not_found()
    error = refused(user.client.sharing_revoke_shared_link, "https://elsewhere.example/x")
    assert error.is_shared_link_malformed()


def test_the_links_to_a_file_are_its_own_and_its_folders(user: User) -> None:
    user.account.put("/garden/a.md", "1")
    create = user.client.sharing_create_shared_link_with_settings
    folder, file = create("/garden").url, create("/garden/a.md").url
    every = user.client.sharing_list_shared_links("/garden/a.md").links
    direct = user.client.sharing_list_shared_links("/garden/a.md", direct_only=True).links
    assert {link.url for link in every} == {folder, file}
    assert [link.url for link in direct] == [file]


def test_what_a_link_may_be_depends_on_the_plan(emulator: DropboxEmulator, user: User) -> None:
    expires = datetime(2999, 1, 1)  # noqa: DTZ001  # the SDK speaks naive UTC
    settings = sharing.SharedLinkSettings(expires=expires, link_password="p")
    user.account.put("/a.md", "1")
    error = refused(user.client.sharing_create_shared_link_with_settings, "/a.md", settings)
    assert error.get_settings_error().is_not_authorized()
    other = emulator.add_account(Profile(plan="pro"))
    other.put("/a.md", "1")
    client = client_of(user.session, emulator.token(other))
    link = client.sharing_create_shared_link_with_settings("/a.md", settings)
    assert (link.expires, link.link_permissions.can_set_expiry) == (expires, True)
    read = user.client.sharing_get_shared_link_metadata
    assert refused(read, link.url).is_shared_link_access_denied()
    assert read(link.url, link_password="p").name == "a.md"
