"""Events on which products like this one have failed: a signature over something else than the
bytes, a change that undid a later one, our own writes coming back as news.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from local.dropbox.faults import Effect, Fault, oauth_error, route_error, too_many_requests
from memorybox.accounts.model import AccountId
from memorybox.errors import SignInEnded
from memorybox.files.errors import DropboxAsksToWait
from tests.acceptance.inside import InsideBox
from tests.cases.deployment import Deployment
from tests.fakes.accounts import ALICE
from tests.unit.web.site import Site
from tests.wire import requests_of


@pytest.mark.parametrize(
    ("is_base64", "layout"),
    [
        pytest.param(False, '{"list_folder":{"accounts":["%s","%s"]}}', id="E03: as text"),
        pytest.param(True, '{"list_folder":{"accounts":["%s","%s"]}}', id="E04: in base64"),
        pytest.param(False, '{ "list_folder": {"accounts": ["%s" , "%s"] } }\n', id="E05: spaced"),
    ],
)
def test_a_signature_is_one_of_the_bytes_that_came(
    deployment: Deployment, is_base64: bool, layout: str
) -> None:
    users = deployment.add_user(), deployment.add_user()
    for user in users:
        user.put("/garden/a.md", "peas\n")
    body = (layout % tuple(user.account_id for user in users)).encode()

    answer = deployment.notify(body, is_base64=is_base64)

    assert answer["statusCode"] == 200
    assert {json.loads(message)["account"] for message in deployment.queued()} == {
        user.account_id for user in users
    }


@pytest.mark.parametrize("signature", ["café", "0" * 64, ""])
def test_e06_a_signature_that_is_wrong_missing_or_no_ascii_is_403(
    deployment: Deployment, signature: str
) -> None:
    user = deployment.add_user()
    user.put("/garden/a.md", "peas\n")
    body = json.dumps({"list_folder": {"accounts": [user.account_id]}}).encode()

    answer = deployment.notify(body, signature)

    assert answer["statusCode"] == 403
    assert deployment.queued() == []


def test_e11_a_deleted_folder_takes_its_notes_along_and_no_others(deployment: Deployment) -> None:
    user = deployment.add_user()
    for path in ("beds/a.md", "beds/b/c.md", "beds2/x.md", "beds.md"):
        user.put(f"/garden/{path}", f"{path}\n")
    deployment.index(deployment.wake(user))

    user.delete("/garden/beds")
    deployment.changed(user)

    assert set(deployment.indexed(user)) == {"/garden/beds2/x.md", "/garden/beds.md"}


def test_e12_what_is_deleted_and_made_again_is_there_under_its_new_name(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    user.set(coalesce=False)
    user.put("/garden/a.md", "before\n")
    deployment.index(deployment.wake(user))

    user.delete("/garden/a.md")
    rev = user.put("/garden/A.md", "after\n").rev
    deployment.changed(user)
    deployment.index(*deployment.queued())

    assert deployment.indexed(user) == {"/garden/A.md": rev}


def test_e13_a_page_without_entries_is_not_the_last_one(deployment: Deployment) -> None:
    user = deployment.add_user()
    user.put("/garden/a.md", "a\n")
    deployment.index(deployment.wake(user))
    user.set(empty_pages=1, page_size=1)
    rev = user.put("/garden/b.md", "b\n").rev

    deployment.changed(user)
    deployment.index(*deployment.queued())
    deployment.changed(user)

    assert deployment.indexed(user)["/garden/b.md"] == rev
    assert deployment.queued() == []  # the cursor is behind the last page


@pytest.mark.parametrize("batches", [1, 2])
def test_e14_e15_messages_that_come_late_or_twice_cost_nothing_and_undo_nothing(
    deployment: Deployment, batches: int
) -> None:
    user = deployment.add_user()
    user.put("/garden/a.md", "before\n")
    deployment.index(deployment.wake(user))
    rev = user.put("/garden/a.md", "after\n").rev
    deployment.embeddings.forget()

    for _ in range(batches):
        assert deployment.index(deployment.wake(user), deployment.wake(user)) == []

    assert deployment.indexed(user) == {"/garden/a.md": rev}
    assert deployment.embeddings.received.inputs == ["after\n"]


def test_e17_when_dropbox_asks_to_wait_for_long_the_message_goes_back_and_nothing_is_lost(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    rev = user.put("/garden/a.md", "peas\n").rev
    wait = too_many_requests(300)
    deployment.service.faults.add(Fault("files/download", Effect.ANSWER, answer=wait, times=None))

    given_back = deployment.index(deployment.wake(user))

    assert given_back == [deployment.wake(user)]
    with pytest.raises(DropboxAsksToWait):
        deployment.call(user, "read", workspace="garden", path="a.md")
    deployment.service.faults.clear()
    assert deployment.index(*given_back) == []
    assert deployment.indexed(user) == {"/garden/a.md": rev}


def test_e18_an_access_token_that_ended_is_renewed_once_and_the_call_made_again(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    user.put("/garden/a.md", "peas\n")
    read = partial(deployment.call, user, "read", workspace="garden", path="a.md")
    read()
    before = deployment.service.log.count("oauth2/token")
    ended = route_error("expired_access_token", status=401)
    deployment.service.faults.add(Fault("files/download", Effect.ANSWER, answer=ended, times=2))

    with ThreadPoolExecutor(2) as pool:
        answers = [answer.result() for answer in [pool.submit(read) for _ in range(2)]]

    assert [answer.texts[1] for answer in answers] == ["peas\n", "peas\n"]
    assert 1 <= deployment.service.log.count("oauth2/token") - before <= 2


def test_e19_when_the_user_removed_the_app_webhooks_and_messages_end_without_a_trace(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    user.put("/garden/a.md", "peas\n")
    gone = oauth_error("invalid_grant", "refresh token is invalid or revoked")
    deployment.service.faults.add(Fault("oauth2/token", Effect.ANSWER, answer=gone, times=None))

    deployment.changed(user)

    assert deployment.queued() == []
    assert deployment.index(deployment.wake(user)) == []
    with pytest.raises(SignInEnded):
        deployment.call(user, "list", workspace="all")


def test_e19_when_dropbox_takes_no_token_that_it_gives_the_record_says_that_access_has_ended(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    refused = route_error("invalid_access_token", status=401)
    deployment.service.faults.add(
        Fault("files/list_folder", Effect.ANSWER, answer=refused, times=None)
    )

    with pytest.raises(SignInEnded):
        deployment.call(user, "list", workspace="all")

    account = deployment.process.connections.accounts.get(AccountId(user.account_id))
    assert account
    assert not account.is_linked


def test_e19_the_user_s_next_call_is_sent_to_sign_in_again() -> None:
    site = Site()
    token = site.sign_in(str(site.register()["client_id"]))["access_token"]

    def ended(name: str, arguments: object) -> object:
        site.connections.ended(ALICE, site.connections.access_token(ALICE))
        raise SignInEnded

    site.call_tool = ended  # type: ignore[assignment]  # it never returns
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}

    assert site.mcp(token, call).status == 401
    assert site.mcp(token).headers["www-authenticate"].startswith("Bearer ")


@pytest.mark.promise("P-059")
def test_a_note_that_was_changed_by_hand_is_indexed_without_a_search(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    user.put("/garden/a.md", "peas\n")
    deployment.index(deployment.wake(user))
    rev = user.put("/garden/a.md", "onions\n").rev

    deployment.changed(user)
    messages = deployment.queued()

    assert [json.loads(message)["paths"] for message in messages] == [["/garden/a.md"]]
    assert deployment.index(*messages) == []
    assert deployment.indexed(user) == {"/garden/a.md": rev}
    assert deployment.embeddings.received.inputs == ["peas\n", "onions\n"]


@pytest.mark.promise("P-061")
def test_a_first_index_of_many_notes_is_few_calls_and_then_a_search_reads_nothing_twice(
    deployment: Deployment,
) -> None:
    user, process = deployment.add_user(), deployment.process
    for number in range(300):
        user.put(f"/garden/{number // 100}/{number}.md", f"note {number} of the peas\n")
    log = deployment.service.log

    with requests_of(process.aws.dynamodb) as sent:
        first = deployment.call(user, "search", workspace="garden", query="peas", limit=3)
    calls = log.counts(user.account_id)
    with requests_of(process.aws.s3) as read:
        second = deployment.call(user, "search", workspace="garden", query="peas", limit=3)

    assert first.texts == second.texts
    assert len(deployment.indexed(user)) == 300
    assert calls["files/download_zip"] == 1
    assert "files/download" not in calls
    assert sent.total() < 20
    assert read == {}
    assert sum(log.counts(user.account_id).values()) == sum(calls.values()) + 1
    assert deployment.embeddings.received.requests == 3


def test_e20_a_webhook_for_a_change_of_our_own_costs_nothing(deployment: Deployment) -> None:
    user = deployment.add_user()
    written = deployment.call(user, "write", workspace="garden", path="a.md", text="peas\n")

    deployment.changed(user)
    deployment.index(*deployment.queued())

    assert [f"rev: {rev}" for rev in deployment.indexed(user).values()] == [
        written.texts[0].splitlines()[0]
    ]
    assert deployment.embeddings.received.inputs == ["peas\n"]


def test_e23_of_ten_searches_at_once_as_many_run_as_fit(inside: InsideBox) -> None:
    inside.leave(30)
    inside.embeddings.delay(0.2)

    results = inside.together(
        *[partial(inside.call, "search", workspace="all", query="ten bytes?")] * 10
    )

    assert sum(not result.is_error for result in results) == 3
    assert inside.embeddings.received.requests == 3


@pytest.mark.parametrize("fault", ["wrong_count", "nan", "wrong_dimensions", "zero_vector"])
def test_e25_vectors_that_cannot_be_used_leave_the_file_to_the_next_search(
    inside: InsideBox, fault: str
) -> None:
    inside.embeddings.fail(fault)  # type: ignore[arg-type]  # one of those listed above
    inside.says("write", workspace="garden", path="a.md", text="peas\n")
    inside.embeddings.heal()

    assert inside.says("search", workspace="garden", query="peas").startswith("1. garden/a.md")


def test_e25_vectors_in_another_order_are_put_in_order(inside: InsideBox) -> None:
    for animal in ("zebra", "pelican", "marmot"):
        inside.dropbox.put(f"/garden/{animal}.md", f"{animal}\n")
    inside.embeddings.fail("wrong_order")
    inside.weight = 0.0

    answer = inside.says("search", workspace="garden", query="marmot", limit=1)

    assert answer == "1. garden/marmot.md  score 1.000"
