"""Items of the index are gone, or older than the others, as after a restore that was not whole."""

import os
import time
from collections.abc import Sequence

import pytest

from local.dropbox.accounts import Account
from memorybox.accounts.model import AccountId
from memorybox.bootstrap.process import Process
from memorybox.deadline import CALL_SECONDS
from tests.cases import notes
from tests.cases.deployment import Deployment

ENOUGH_FOR_A_PACK = 110  # notes
PATIENCE = 60  # seconds


def search(user: Account, workspace: str, query: str) -> Sequence[str]:
    """The lines of an answer of a process that never met the account; hits without scores."""
    with Process(os.environ).call(AccountId(user.account_id), CALL_SECONDS) as call:
        result = call.tools.call("search", {"workspace": workspace, "query": query})
    assert not result.is_error, result
    return [line.partition("  score ")[0] for line in result.texts[0].splitlines()]


def searched(user: Account) -> None:
    """Search until nothing is left out."""
    end = time.monotonic() + PATIENCE
    while search(user, "all", "nothing")[-1].endswith("to go on."):
        assert time.monotonic() < end


@pytest.mark.promise("P-059", "P-209")
def test_a_note_of_which_a_piece_is_lost_is_indexed_anew_and_no_other_search_fails(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    user.put("/garden/long.md", notes.of_size(188_000))
    user.put("/work/short.md", "The bank opens at nine.\n")
    search(user, "all", "bank")
    deployment.lose_items(user, "filepart#1#/garden/long.md")

    deployment.embeddings.fail("server_error")
    assert search(user, "all", "bank") == [
        "1. work/short.md",
        "",
        "Ranked by words alone: the embedding service did not answer.",
        "1 file is not indexed yet. Search again to go on.",
    ]

    deployment.embeddings.heal()
    assert search(user, "garden", "bank") == ["1. garden/long.md"]
    assert deployment.items(user, "filepart#1#/garden/long.md")


@pytest.mark.promise("P-060", "P-209")
def test_an_index_that_was_restored_in_part_is_whole_again_when_it_is_listed_anew(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    for number in range(ENOUGH_FOR_A_PACK):
        user.put(f"/pointer lost/{number}.md", f"of a pack that nothing points to: {number}")
        user.put(f"/pointer older/{number}.md", f"of a pack that is there twice: {number}")
        user.put(f"/tail lost/{number}.md", f"of a pack whose tail is lost: {number}")
    searched(user)
    [older] = deployment.items(user, "pack#pointer older")
    for workspace in ("pointer older", "tail lost"):
        user.delete(f"/{workspace}/0.md")
        user.put(f"/{workspace}/1.md", "changed")
        user.put(f"/{workspace}/new.md", "new")
    for number in range(ENOUGH_FOR_A_PACK):
        user.put(f"/pointer older/more/{number}.md", f"of the later pack: {number}")
    searched(user)
    whole = deployment.indexed(user)
    assert whole.keys() == user.files().keys()

    deployment.lose_items(user, "pack#pointer lost")
    deployment.lose_items(user, "file#")
    deployment.put_back(older)
    lost = deployment.indexed(user)
    assert not [path for path in lost if path.startswith("/pointer lost/")]
    assert {"/pointer older/0.md", "/tail lost/0.md"} <= lost.keys()
    assert lost.keys().isdisjoint({"/pointer older/more/0.md", "/tail lost/new.md"})

    deployment.relist()
    searched(user)
    assert deployment.indexed(user) == whole
