"""Around the files: sign-in pages, webhooks, the real folder, steering over HTTP."""

import hmac
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import dropbox
import pytest
import requests

from local.dropbox.encoding import base64url
from local.dropbox.grants import App
from local.dropbox.sdk import LoopbackSession
from local.dropbox.server import DropboxEmulator

CALLBACK = "https://box.example/callback"
APP = App(redirect_uris=(CALLBACK,))
VERIFIER = "v" * 43
ASKED = {
    "client_id": APP.key,
    "response_type": "code",
    "redirect_uri": CALLBACK,
    "state": "s t",
    "token_access_type": "offline",
    "code_challenge": base64url(sha256(VERIFIER.encode()).digest()),
    "code_challenge_method": "S256",
}


@pytest.fixture
def emulator() -> Iterator[DropboxEmulator]:
    with DropboxEmulator(APP) as started:
        yield started


def authorize(emulator: DropboxEmulator, method: str = "GET", **form: str) -> requests.Response:
    url = f"{emulator.base_url}/oauth2/authorize"
    options: dict[str, Any] = {"data" if method == "POST" else "params": {**ASKED, **form}}
    return requests.request(method, url, allow_redirects=False, timeout=5, **options)


def returned(answer: requests.Response) -> dict[str, str]:
    """The parameters with which the browser is sent back to the app."""
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(CALLBACK + "?")
    return dict(parse_qsl(urlsplit(answer.headers["Location"]).query))


# Sign-in.


def test_a_user_allows_the_app_on_a_page_and_the_code_buys_tokens(
    emulator: DropboxEmulator,
) -> None:
    ann = emulator.add_account()
    page = authorize(emulator)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert ann.profile.email in page.text
    back = returned(authorize(emulator, "POST", decision=ann.account_id))
    assert back["state"] == "s t"
    form = {
        "grant_type": "authorization_code",
        "code": back["code"],
        "redirect_uri": CALLBACK,
        "client_id": APP.key,
        "code_verifier": VERIFIER,
    }
    with LoopbackSession(emulator.base_url) as session:
        url = "https://api.dropboxapi.com/oauth2/token"
        answer = session.request("POST", url, data=form)
        assert answer.headers["Content-Type"] == "text/javascript"
        assert answer.json()["account_id"] == ann.account_id
        again = session.request("POST", url, data=form)
        assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
        token = answer.json()["refresh_token"]
        client = dropbox.Dropbox(oauth2_refresh_token=token, app_key=APP.key, session=session)
        assert client.users_get_current_account().account_id == ann.account_id
        client.auth_token_revoke()
        with pytest.raises(dropbox.exceptions.AuthError):
            client.users_get_current_account()


def test_a_user_denies_the_app(emulator: DropboxEmulator) -> None:
    emulator.auto_approve = "deny"
    back = returned(authorize(emulator))
    assert (back["error"], back["state"]) == ("access_denied", "s t")


@pytest.mark.parametrize(
    "wrong",
    [
        {"client_id": "other"},
        {"redirect_uri": CALLBACK + "/"},
        {"response_type": "token"},
        {"scope": "team_data.member"},
        {"state": "x" * 501},
        {"surprise": "1"},
    ],
)
def test_a_wrong_request_ends_on_an_error_page(
    emulator: DropboxEmulator, wrong: dict[str, str]
) -> None:
    emulator.auto_approve = emulator.add_account().account_id
    answer = authorize(emulator, **wrong)
    assert (answer.status_code, answer.headers.get("Location")) == (400, None)


# Webhooks.


class Receiver:
    """An app's webhook: keeps what comes in and answers as it is told."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.signatures: list[str] = []
        self.statuses: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                challenge = dict(parse_qsl(urlsplit(self.path).query))["challenge"]
                self._answer(200, challenge.encode())

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                receiver.bodies.append(self.rfile.read(length))
                receiver.signatures.append(self.headers["X-Dropbox-Signature"])
                self._answer(receiver.statuses.pop(0) if receiver.statuses else 200, b"")

            def _answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "text/plain")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/dropbox"

    def accounts(self) -> list[list[str]]:
        return [json.loads(body)["list_folder"]["accounts"] for body in self.bodies]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    started = Receiver()
    thread = threading.Thread(target=started.server.serve_forever, args=(0.02,))
    thread.start()
    yield started
    started.server.shutdown()
    thread.join()
    started.server.server_close()


def test_a_change_is_told_signed_and_without_saying_what(
    emulator: DropboxEmulator, receiver: Receiver
) -> None:
    emulator.webhooks.url = receiver.url
    ann = emulator.add_account()
    ann.put("/before the user signed in.md", "1")
    emulator.token(ann)
    ann.put("/a.md", "1")
    assert emulator.webhooks.idle()
    (body,) = receiver.bodies
    assert json.loads(body) == {
        "list_folder": {"accounts": [ann.account_id]},
        "delta": {"users": [ann.uid]},
    }
    expected = hmac.new(APP.secret.encode(), body, sha256).hexdigest()
    assert receiver.signatures == [expected]
    assert emulator.webhooks.verify()


def test_a_webhook_can_come_badly_in_many_ways(
    emulator: DropboxEmulator, receiver: Receiver
) -> None:
    emulator.webhooks.url = receiver.url
    ann = emulator.add_account()
    emulator.token(ann)
    emulator.webhooks.set(copies=2, bad_signature=True, unknown_account=True, without_delta=True)
    ann.put("/a.md", "1")
    assert emulator.webhooks.idle()
    assert [json.loads(body).keys() for body in receiver.bodies] == [{"list_folder"}] * 2
    assert [accounts[0] for accounts in receiver.accounts()] == [ann.account_id] * 2
    right = hmac.new(APP.secret.encode(), receiver.bodies[0], sha256).hexdigest()
    assert receiver.signatures[0] != right


def test_a_webhook_can_be_lost_or_off(emulator: DropboxEmulator, receiver: Receiver) -> None:
    emulator.webhooks.url = receiver.url
    ann = emulator.add_account()
    emulator.token(ann)
    emulator.webhooks.set(lost=1)
    ann.put("/a.md", "1")
    assert emulator.webhooks.idle()
    emulator.webhooks.set(enabled=False)
    ann.put("/a.md", "2")
    assert emulator.webhooks.idle()
    assert receiver.bodies == []


def test_a_webhook_that_was_not_taken_comes_again(
    emulator: DropboxEmulator, receiver: Receiver
) -> None:
    emulator.webhooks.url = receiver.url
    receiver.statuses = [503]
    emulator.webhooks.set(first_retry=0.01)
    ann = emulator.add_account()
    emulator.token(ann)
    ann.put("/a.md", "1")
    assert emulator.webhooks.idle()
    assert receiver.accounts() == [[ann.account_id]] * 2
    assert [delivery.status for delivery in emulator.webhooks.deliveries] == [503, 200]


def test_several_accounts_can_share_a_webhook(
    emulator: DropboxEmulator, receiver: Receiver
) -> None:
    emulator.webhooks.url = receiver.url
    accounts = [emulator.add_account() for _ in range(2)]
    emulator.webhooks.set(together=True, delay=0.2)
    for account in accounts:
        emulator.token(account)
        account.put("/a.md", "1")
        account.put("/b.md", "1")
    assert emulator.webhooks.idle()
    assert receiver.accounts() == [[one.account_id for one in accounts]]


# The program.


class Program:
    """`python -m local.dropbox` in a folder of its own."""

    def __init__(self, home: Path, *options: str) -> None:
        command = [sys.executable, "-m", "local.dropbox", "--folder", str(home / "box")]
        command += ["--state", str(home / "state"), *options]
        root = Path(__file__).parents[2]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root)  # noqa: S603
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        self.url = line.split()[2]

    def steer(self, name: str, argument: object) -> Any:
        answer = requests.post(f"{self.url}/_emulator/{name}", json=argument, timeout=5)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def read(self, name: str) -> Any:
        return requests.get(f"{self.url}/_emulator/{name}", timeout=5).json()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=10)


def test_the_program_serves_a_folder_and_knows_it_again_after_a_restart(
    tmp_path: Path, receiver: Receiver
) -> None:
    note = tmp_path / "box" / "Garden" / "a.md"
    with Program(tmp_path, "--webhook-url", receiver.url) as program:
        token = program.steer("token", {})["access_token"]
        with LoopbackSession(program.url) as session:
            client = dropbox.Dropbox(oauth2_access_token=token, session=session)
            first = client.files_upload(b"1", "/Garden/a.md")
            assert note.read_bytes() == b"1"
            cursor = client.files_list_folder("", recursive=True).cursor
            note.write_bytes(b"by hand")
            page = client.files_list_folder_continue(cursor)
    (changed,) = page.entries
    assert (changed.id, changed.rev == first.rev) == (first.id, False)
    assert program.process.returncode == 0

    with Program(tmp_path) as again, LoopbackSession(again.url) as session:
        client = dropbox.Dropbox(oauth2_access_token=token, session=session)
        assert client.files_list_folder_continue(page.cursor).entries == []
        revisions = client.files_list_revisions("/Garden/a.md").entries
        assert [entry.rev for entry in revisions] == [changed.rev, first.rev]
        _, response = client.files_download(f"rev:{first.rev}")
        with response:
            assert response.content == b"1"


def test_an_edit_by_hand_is_told_without_anyone_asking(tmp_path: Path, receiver: Receiver) -> None:
    with Program(tmp_path, "--webhook-url", receiver.url) as program:
        program.steer("token", {})
        (tmp_path / "box" / "a.md").write_bytes(b"1")
        deadline = time.monotonic() + 10
        while not receiver.bodies and time.monotonic() < deadline:
            time.sleep(0.02)
        (ann,) = program.read("accounts")
    assert receiver.accounts() == [[ann["account_id"]]]


def test_another_process_can_steer_everything(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        bob = program.steer("accounts", {"given_name": "Bob", "email": "bob@example.com"})
        account = {"account": bob["account_id"]}
        program.steer("edits", {**account, "put": "/a.md", "text": "1"})
        program.steer("edits", {**account, "move": "/a.md", "to": "/b.md"})
        assert program.read(f"files?account={bob['account_id']}") == {"/b.md": "1"}
        program.steer("knobs", {**account, "page_size": 1, "same_bytes_update": "existing"})
        fault = {"route": "check/user", "effect": "answer", "answer": {"status": 500}}
        program.steer("faults", {"faults": [fault]})
        with LoopbackSession(program.url) as session:
            client = dropbox.Dropbox(
                oauth2_access_token=bob["access_token"], session=session, max_retries_on_error=0
            )
            with pytest.raises(dropbox.exceptions.InternalServerError):
                client.check_user()
            program.steer("clock", {"advance": 14_400})
            with pytest.raises(dropbox.exceptions.AuthError):
                client.check_user()
        # The SDK asks once more where it cannot refresh.
        assert program.read(f"counts?account={bob['account_id']}") == {"check/user": 3}
        statuses = [call["status"] for call in program.read("log?route=check/*")]
        assert statuses == [500, 401, 401]
        wrong = requests.post(f"{program.url}/_emulator/knobs", json={"no_such": 1}, timeout=5)
        assert wrong.status_code == 400
        program.steer("reset", {})
        assert program.read("accounts") == []
