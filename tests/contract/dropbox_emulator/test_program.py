"""`python -m local.dropbox`: a real folder, restarts, and steering over HTTP."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dropbox
import pytest
import requests

from local.dropbox.sdk import LoopbackSession
from tests.contract.dropbox_emulator.receivers import Receiver


@dataclass(frozen=True, slots=True)
class Program:
    """`python -m local.dropbox` in a folder of its own."""

    process: subprocess.Popen[str]
    url: str

    def steer(self, name: str, argument: object) -> Any:
        answer = requests.post(f"{self.url}/_emulator/{name}", json=argument, timeout=5)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def read(self, name: str) -> Any:
        return requests.get(f"{self.url}/_emulator/{name}", timeout=5).json()


@contextmanager
def started(home: Path, *options: str) -> Iterator[Program]:
    command = [sys.executable, "-m", "local.dropbox", "--folder", str(home / "box")]
    command += ["--state", str(home / "state"), *options]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[2]  # "Dropbox emulator: <url> ..."
            yield Program(process, url)
        finally:
            process.send_signal(signal.SIGTERM)


def test_the_program_serves_a_folder_and_knows_it_again_after_a_restart(
    tmp_path: Path, receiver: Receiver
) -> None:
    note = tmp_path / "box" / "Garden" / "a.md"
    with started(tmp_path, "--webhook-url", receiver.url) as program:
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

    with started(tmp_path) as again, LoopbackSession(again.url) as session:
        client = dropbox.Dropbox(oauth2_access_token=token, session=session)
        assert client.files_list_folder_continue(page.cursor).entries == []
        revisions = client.files_list_revisions("/Garden/a.md").entries
        assert [entry.rev for entry in revisions] == [changed.rev, first.rev]
        _, response = client.files_download(f"rev:{first.rev}")
        with response:
            assert response.content == b"1"


def test_an_edit_by_hand_is_told_without_anyone_asking(tmp_path: Path, receiver: Receiver) -> None:
    with started(tmp_path, "--webhook-url", receiver.url) as program:
        program.steer("token", {})
        (tmp_path / "box" / "a.md").write_bytes(b"1")
        deadline = time.monotonic() + 10
        while not receiver.bodies and time.monotonic() < deadline:
            time.sleep(0.02)
        (ann,) = program.read("accounts")
    assert receiver.accounts() == [[ann["account_id"]]]


def test_another_process_can_steer_everything(tmp_path: Path) -> None:
    with started(tmp_path) as program:
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
