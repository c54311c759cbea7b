"""The storage beneath fails for a moment, in the middle of a call or of a notification."""

import json

from local.dropbox.accounts import Account
from memorybox.deadline import Deadline, current
from tests.cases.deployment import Deployment
from tests.wire import after_answer, lost_answer, unreachable


def notification(user: Account) -> bytes:
    return json.dumps({"list_folder": {"accounts": [user.account_id]}}).encode()


def test_a_writer_that_never_heard_of_its_turn_holds_up_no_other(deployment: Deployment) -> None:
    user = deployment.add_user()
    dynamodb = deployment.process.aws.dynamodb

    with lost_answer(dynamodb, "UpdateItem", times=2):
        unheard = deployment.call(user, "append", workspace="garden", path="a.md", text="never\n")
    heard = deployment.call(user, "append", workspace="garden", path="a.md", text="peas\n")

    assert (unheard.is_error, heard.is_error) == (True, False)
    read = deployment.call(user, "read", workspace="garden", path="a.md")
    assert read.texts[1] == "peas\n"


def test_a_search_answers_with_what_it_has_when_nothing_more_can_be_indexed(
    deployment: Deployment,
) -> None:
    user = deployment.add_user()
    user.put("/garden/a.md", "peas\n")
    deployment.index(deployment.wake(user))
    user.put("/garden/b.md", "beans\n")

    with unreachable(deployment.process.aws.dynamodb, "UpdateItem"):
        result = deployment.call(user, "search", workspace="garden", query="peas")

    lines = result.texts[0].split("\n")
    assert lines[0].startswith("1. garden/a.md  score ")
    assert lines[1:] == ["", "1 file is not indexed yet. Search again to go on."]


def test_a_notification_that_cannot_be_queued_is_to_be_sent_again(deployment: Deployment) -> None:
    user, webhook = deployment.add_user(), deployment.restart_webhook()
    rev = user.put("/garden/a.md", "peas\n").rev

    with unreachable(webhook.aws.sqs):
        refused = deployment.notify(notification(user))
    accepted = deployment.notify(notification(user))

    assert (refused["statusCode"], accepted["statusCode"]) == (503, 200)
    deployment.index(deployment.wake(user))
    assert deployment.indexed(user) == {"/garden/a.md": rev}


def test_a_notification_whose_signature_cannot_be_checked_is_to_be_sent_again(
    deployment: Deployment,
) -> None:
    user, webhook = deployment.add_user(), deployment.restart_webhook()

    with unreachable(webhook.aws.ssm):
        answer = deployment.notify(notification(user))

    assert answer["statusCode"] == 503


def test_a_notification_is_answered_in_time_however_long_its_first_steps_take(
    deployment: Deployment,
) -> None:
    user, webhook = deployment.add_user(), deployment.restart_webhook()
    user.put("/garden/a.md", "peas\n")
    deadlines = list[Deadline | None]()

    def note() -> None:
        deadlines.append(current())

    with (
        after_answer(webhook.aws.ssm, "GetParameter", note),
        after_answer(webhook.aws.dynamodb, "GetItem", note),
        after_answer(webhook.aws.sqs, "SendMessageBatch", note),
    ):
        deployment.notify(notification(user))

    assert [deadline is not None and deadline.remaining() < 8 for deadline in deadlines] == [
        True
    ] * 3
