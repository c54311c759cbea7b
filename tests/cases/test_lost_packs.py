"""A pack of an index is gone, and several clients search at once, each in a process of its own."""

import os
import re
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local.dropbox.accounts import Account
from memorybox.accounts.model import AccountId
from memorybox.bootstrap.process import Process
from memorybox.deadline import CALL_SECONDS
from tests.cases.deployment import Deployment

NOTES = 110  # in each workspace: enough for a pack of its own
QUERY = "the note about"
WORKSPACES = ("beds", "garden", "work")
PATIENCE = 60  # seconds

PROMISED = re.compile(
    r"|\d+\. (beds|garden|work)/\d+\.md  score -?[01]\.\d{3}"
    r"|No indexed file in (any workspace|workspace \"garden\")\."
    r"|1 file is not indexed yet\. Search again to go on\."
    r"|\d+ files are not indexed yet\. Search again to go on\."
)


def text(workspace: str, number: int) -> str:
    return f"{QUERY} {workspace} {number}\n"


class Client:
    """Somebody who searches, and whose process never met the account before."""

    def __init__(self, user: Account) -> None:
        self._account = AccountId(user.account_id)
        self._process = Process(os.environ)

    def search(self, workspace: str) -> Sequence[str]:
        """The lines of an answer."""
        arguments = {"workspace": workspace, "query": QUERY, "limit": 20}
        with self._process.call(self._account, CALL_SECONDS) as call:
            result = call.tools.call("search", arguments)
        assert not result.is_error, result
        return result.texts[0].splitlines()

    def searches(self, workspace: str) -> Sequence[Sequence[str]]:
        """The answers until one leaves nothing out."""
        end, answers = time.monotonic() + PATIENCE, list[Sequence[str]]()
        while not answers or answers[-1][-1].endswith("to go on."):
            assert time.monotonic() < end
            answers.append(self.search(workspace))
        return answers


@pytest.fixture
def user(deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Somebody whose notes are all found, with no copy of a pack on this machine."""
    user = deployment.add_user()
    user.set(page_size=50)
    for workspace in WORKSPACES:
        for number in range(NOTES):
            user.put(f"/{workspace}/{number}.md", text(workspace, number))
    Client(user).searches("all")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    deployment.embeddings.forget()
    deployment.service.log.clear()
    return user


@pytest.mark.promise("P-061", "P-208", "P-209")
def test_a_lost_pack_is_made_good_while_others_search_and_costs_what_was_lost(
    deployment: Deployment, user: Account
) -> None:
    deployment.lose_packs(user, "garden")
    clients = [Client(user) for _ in range(3)]

    with ThreadPoolExecutor(len(clients)) as pool:
        everywhere, there, elsewhere = pool.map(Client.searches, clients, ("all", "garden", "work"))

    for answer in (*everywhere, *there, *elsewhere):
        assert all(PROMISED.fullmatch(line) for line in answer), answer
    for answer in (everywhere[-1], there[-1], *elsewhere):
        assert len([line for line in answer if "score" in line]) == 20, answer
    sent = [sent for sent in deployment.embeddings.received.inputs if sent != QUERY]
    assert sorted(sent) == sorted(text("garden", number) for number in range(NOTES))
    assert len(deployment.indexed(user)) == NOTES * len(WORKSPACES)
    assert deployment.in_the_tail(user) == set()
