"""Items of the index are gone, or older than the others, as after a restore that was not whole."""

import os
from collections.abc import Sequence

import pytest

from local.dropbox.accounts import Account
from memorybox.accounts.model import AccountId
from memorybox.bootstrap.process import Process
from memorybox.deadline import CALL_SECONDS
from tests.cases import notes
from tests.cases.deployment import Deployment


def search(user: Account, workspace: str, query: str) -> Sequence[str]:
    """The lines of an answer of a process that never met the account; hits without scores."""
    with Process(os.environ).call(AccountId(user.account_id), CALL_SECONDS) as call:
        result = call.tools.call("search", {"workspace": workspace, "query": query})
    assert not result.is_error, result
    return [line.partition("  score ")[0] for line in result.texts[0].splitlines()]


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
