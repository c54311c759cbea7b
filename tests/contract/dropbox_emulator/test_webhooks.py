"""What the app is told when an account changes."""

import hmac
import json
from collections.abc import Iterator
from hashlib import sha256

import pytest

from local.dropbox.server import DropboxEmulator
from tests.contract.dropbox_emulator.receivers import Receiver


@pytest.fixture
def emulator() -> Iterator[DropboxEmulator]:
    with DropboxEmulator() as started:
        yield started


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
    expected = hmac.new(emulator.app.secret.encode(), body, sha256).hexdigest()
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
    right = hmac.new(emulator.app.secret.encode(), receiver.bodies[0], sha256).hexdigest()
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
