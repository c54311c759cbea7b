"""How many calls the AWS adapters make: they are what a warm request waits for."""

from collections import Counter
from dataclasses import replace

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.oauth import DynamoGrantStore, auth_table
from memorybox.oauth.errors import Unauthorized
from memorybox.search.budget import Spending
from tests.contract.aws.world import CURSOR, NOTHING_YET, RequestOf, indexed, seen
from tests.unit.oauth.server import Server
from tests.wire import requests_of


def test_a_write_is_journalled_and_indexed_with_four_calls(
    clients: Clients, request_of: RequestOf
) -> None:
    request = request_of()

    with requests_of(clients.dynamodb) as sent:
        request.write("/garden/plan.md")
        entry = request.claim("/garden/plan.md")
        reservation = request.budget.reserve(100)
        spending = Spending(reservation, used=20)
        request.index.store(entry, indexed(parts=2), spending=spending)
        request.session.close()

    assert sent == Counter(UpdateItem=2, TransactWriteItems=2)


@pytest.mark.requirement("A8")
def test_the_check_of_a_token_is_one_read(clients: Clients) -> None:
    server = Server()
    grants = DynamoGrantStore(
        auth_table(clients.dynamodb, aws.AUTH_TABLE, server.clock), server.clock
    )
    server.tokens = replace(server.tokens, grants=grants)
    token = server.exchange(server.code())["access_token"]

    with requests_of(clients.dynamodb) as sent:
        server.tokens.check(f"Bearer {token}")
    with requests_of(clients.dynamodb) as sent_for_nonsense, pytest.raises(Unauthorized):
        server.tokens.check("Bearer nonsense")

    assert sent == Counter(GetItem=1)
    assert not sent_for_nonsense


def test_a_search_that_finds_nothing_new_makes_three_calls(
    clients: Clients, request_of: RequestOf
) -> None:
    request_of().index.record([seen("/garden/plan.md")], seen_at=NOTHING_YET, then=CURSOR)
    request = request_of()

    with requests_of(clients.dynamodb) as sent:
        request.index.load()
        reservation = request.budget.reserve(100)
        request.budget.settle(Spending(reservation, used=20))
        request.session.close()

    assert sent == Counter(Query=1, TransactWriteItems=2)


def test_the_tail_is_read_with_one_call_for_each_megabyte(
    clients: Clients, request_of: RequestOf
) -> None:
    paths = [f"/garden/{number:02}.md" for number in range(70)]
    writing = request_of()
    writing.index.record(map(seen, paths), seen_at=NOTHING_YET, then=CURSOR)
    for path in paths:
        writing.index.store(writing.claim(path), indexed(parts=20))  # 26 kB

    with requests_of(clients.dynamodb) as sent:
        tail = request_of().index.load().tail

    assert list(tail) == paths
    assert sent == Counter(Query=2)


def test_recording_a_hundred_changes_takes_two_calls(
    clients: Clients, request_of: RequestOf
) -> None:
    sightings = [seen(f"/garden/{number}.md") for number in range(100)]

    with requests_of(clients.dynamodb) as sent:
        request_of().index.record(sightings, seen_at=NOTHING_YET, then=CURSOR)

    assert sent == Counter(TransactWriteItems=2)


def test_a_request_that_fails_gives_its_lease_back_with_a_call_of_its_own(
    clients: Clients, request_of: RequestOf, account: AccountId
) -> None:
    with requests_of(clients.dynamodb) as sent, request_of().session:
        pass
    assert sent == Counter()

    failing = request_of()
    with requests_of(clients.dynamodb) as sent, failing.session, failing.leases.writer():
        pass
    assert sent == Counter(UpdateItem=2)
