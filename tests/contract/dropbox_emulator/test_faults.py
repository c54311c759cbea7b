"""What goes wrong on purpose, as the SDK sees it, and what had happened by then."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import dropbox
import pytest
import requests
from dropbox import exceptions, files

from local.dropbox.accounts import Account
from local.dropbox.faults import (
    Effect,
    Fault,
    oauth_error,
    route_error,
    server_error,
    too_many_requests,
)
from local.dropbox.sdk import LoopbackSession
from local.dropbox.server import DropboxEmulator


@pytest.fixture(scope="module")
def shared() -> Iterator[DropboxEmulator]:
    with DropboxEmulator() as started:
        yield started


@pytest.fixture
def emulator(shared: DropboxEmulator) -> Iterator[DropboxEmulator]:
    yield shared
    shared.reset()


@pytest.fixture
def ann(emulator: DropboxEmulator) -> Account:
    return emulator.add_account()


@pytest.fixture
def client(emulator: DropboxEmulator, ann: Account) -> Iterator[Any]:
    with LoopbackSession(emulator.base_url) as session:
        yield dropbox.Dropbox(
            oauth2_access_token=emulator.token(ann),
            session=session,
            timeout=(3, 10),
            max_retries_on_error=0,
            max_retries_on_rate_limit=0,
        )


def test_a_lost_request_was_never_worked_on(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    emulator.faults.add(Fault("files/upload", Effect.LOST_REQUEST))
    with pytest.raises(requests.ConnectionError):
        client.files_upload(b"1", "/a.md")
    assert ann.files() == {}
    client.files_upload(b"1", "/a.md")


def test_a_lost_response_was_committed_and_a_retry_meets_its_own_write(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    emulator.faults.add(Fault("files/upload", Effect.LOST_RESPONSE))
    with pytest.raises(requests.ConnectionError):
        client.files_upload(b"1", "/a.md", strict_conflict=True)
    assert ann.files() == {"/a.md": b"1"}
    with pytest.raises(exceptions.ApiError) as caught:
        client.files_upload(b"1", "/a.md", strict_conflict=True)
    assert caught.value.error.get_path().reason.get_conflict().is_file()
    (entry,) = client.files_list_revisions("/a.md").entries
    assert entry.rev == client.files_get_metadata("/a.md").rev


def test_half_an_answer_breaks_off_in_the_body(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    ann.put("/a.md", "x" * 1000)
    emulator.faults.add(Fault("files/download", Effect.HALF_ANSWER))
    _, response = client.files_download("/a.md")
    with pytest.raises(requests.RequestException), response:
        _ = response.content


def test_a_kept_connection_can_turn_out_to_be_dead(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    emulator.faults.add(Fault("check/user", Effect.STALE))
    assert client.check_user("a").result == "a"
    with pytest.raises(requests.ConnectionError):
        client.check_user("b")
    assert client.check_user("c").result == "c"
    assert emulator.log.count("check/user", ann.account_id) == 2


def test_a_hanging_call_ends_by_the_clients_own_timeout(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    emulator.faults.add(Fault("files/upload", Effect.HANG))
    with pytest.raises(requests.ReadTimeout):
        client.clone(timeout=0.2).files_upload(b"1", "/a.md")
    assert ann.files() == {}


@pytest.mark.parametrize(
    ("effect", "written"),
    [(Effect.ANSWER, {}), (Effect.ANSWER_AFTER_COMMIT, {"/a.md": b"1"})],
)
def test_a_server_error_says_nothing_about_the_write(
    emulator: DropboxEmulator,
    ann: Account,
    client: Any,
    effect: Effect,
    written: dict[str, bytes],
) -> None:
    answer = server_error(502, html=True)
    emulator.faults.add(Fault("files/upload", effect, answer=answer))
    with pytest.raises(exceptions.InternalServerError) as caught:
        client.files_upload(b"1", "/a.md")
    assert (caught.value.status_code, caught.value.body) == (502, answer.body.decode())
    assert ann.files() == written


def test_a_delay_comes_before_or_after_the_commit(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    emulator.faults.add(
        Fault("files/upload", Effect.DELAY, seconds=30),
        Fault("files/upload", Effect.DELAY_ANSWER, seconds=30, skip=1),
    )
    for path in ("/before.md", "/after.md"):
        with pytest.raises(requests.ReadTimeout):
            client.clone(timeout=0.2).files_upload(b"1", path)
    assert ann.files() == {"/after.md": b"1"}


@pytest.mark.parametrize(
    ("answer", "backoff"),
    [
        (too_many_requests(300), 1.0),  # the SDK looks at the header of a text answer only
        (too_many_requests(300, in_body=True), 300),
        (too_many_requests(15, text=True), 15),
        (too_many_requests(None, text=True), None),
        (too_many_requests(1, reason="too_many_write_operations"), 1.0),
    ],
)
def test_each_form_of_a_429_is_one_the_sdk_knows(
    emulator: DropboxEmulator, client: Any, answer: Any, backoff: float | None
) -> None:
    emulator.faults.add(Fault("files/*", Effect.ANSWER, answer=answer))
    with pytest.raises(exceptions.RateLimitError) as caught:
        client.files_list_folder("")
    assert caught.value.backoff == backoff


def test_any_error_of_a_route_can_be_put_in_its_way(emulator: DropboxEmulator, client: Any) -> None:
    emulator.faults.add(
        Fault("files/list_folder/continue", Effect.ANSWER, answer=route_error("reset")),
        Fault("check/user", Effect.ANSWER, answer=route_error("invalid_access_token", status=401)),
    )
    cursor = client.files_list_folder("").cursor
    with pytest.raises(exceptions.ApiError) as caught:
        client.files_list_folder_continue(cursor)
    assert caught.value.error.is_reset()
    with pytest.raises(exceptions.AuthError):
        client.check_user()


def test_the_token_endpoint_fails_too(emulator: DropboxEmulator, ann: Account) -> None:
    emulator.faults.add(Fault("oauth2/token", Effect.ANSWER, answer=oauth_error("invalid_grant")))
    _, refresh = emulator.grants.issue(ann.account_id)
    with LoopbackSession(emulator.base_url) as session:
        client = dropbox.Dropbox(
            oauth2_refresh_token=refresh,
            app_key=emulator.app.key,
            app_secret=emulator.app.secret,
            session=session,
        )
        with pytest.raises(exceptions.AuthError):
            client.check_user()
        assert client.check_user("a").result == "a"


def test_two_writes_of_an_account_at_once_are_one_too_many(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    ann.set(refuse_overlapping_writes=True)
    emulator.faults.add(Fault("files/upload", Effect.DELAY, seconds=0.5))
    slow = threading.Thread(target=client.files_upload, args=(b"1", "/slow.md"))
    slow.start()
    while emulator.faults.left():
        time.sleep(0.001)
    with pytest.raises(exceptions.RateLimitError) as caught:
        client.files_delete_v2("/none.md")
    slow.join()
    assert caught.value.error.reason.is_too_many_write_operations()
    assert ann.files() == {"/slow.md": b"1"}


def test_the_same_list_twice_at_once_is_one_too_many(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    ann.set(refuse_same_list_twice=True)
    emulator.faults.add(Fault("files/list_folder", Effect.DELAY, seconds=0.5))
    slow = threading.Thread(target=client.files_list_folder, args=("",))
    slow.start()
    while emulator.faults.left():
        time.sleep(0.001)
    with pytest.raises(exceptions.RateLimitError):
        client.files_list_folder("")
    client.files_list_folder("", recursive=True)
    slow.join()


def test_what_was_just_written_may_not_be_found_yet(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    ann.set(lookup_lag=60.0, revisions_lag=60.0)
    client.files_upload(b"1", "/a.md")
    with pytest.raises(exceptions.ApiError):
        client.files_move_v2("/a.md", "/b.md")
    assert client.files_list_revisions("/a.md").entries == []
    emulator.clock.advance(61)
    assert len(client.files_list_revisions("/a.md").entries) == 1
    client.files_move_v2("/a.md", "/b.md")


def test_the_log_tells_what_was_asked_and_answered(
    emulator: DropboxEmulator, ann: Account, client: Any
) -> None:
    emulator.faults.add(Fault("files/upload", Effect.LOST_RESPONSE))
    with pytest.raises(requests.ConnectionError):
        client.files_upload(b"1", "/a.md", files.WriteMode.overwrite)
    client.files_get_metadata("/a.md")
    upload, metadata = emulator.log.calls(account=ann.account_id)
    assert (upload.host, upload.route) == ("content.dropboxapi.com", "files/upload")
    assert (upload.argument["path"], upload.status, upload.fault) == (
        "/a.md",
        None,
        "lost_response",
    )
    assert (metadata.status, metadata.fault) == (200, None)
    assert emulator.log.counts() == {"files/upload": 1, "files/get_metadata": 1}


def test_stopping_does_not_wait_for_what_hangs(ann: Account) -> None:
    emulator = DropboxEmulator().start()
    account = emulator.add_account()
    emulator.faults.add(Fault("check/user", Effect.HANG))
    errors: list[Exception] = []

    def call() -> None:
        headers = {"Authorization": f"Bearer {emulator.token(account)}"}
        with LoopbackSession(emulator.base_url) as session:
            try:
                session.request("POST", "https://api.dropboxapi.com/2/check/user", headers=headers)
            except requests.ConnectionError as error:
                errors.append(error)

    hanging = threading.Thread(target=call)
    hanging.start()
    while emulator.faults.left():
        time.sleep(0.001)
    emulator.stop()
    hanging.join(timeout=5)
    assert len(errors) == 1
