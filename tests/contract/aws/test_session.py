"""What rides on a request's transactions, and what happens when one cannot be done."""

import pytest

from memorybox.adapters.aws.clients import Clients
from memorybox.files.leases import TurnNeverCame
from memorybox.search.budget import BudgetSpent
from tests.contract.aws.world import ACCOUNT_CAP, Request, RequestOf
from tests.fakes.clock import FakeClock
from tests.wire import requests_of


def waited(request: Request) -> float:
    """How long the request had to wait for the writer's lease."""
    clock = request.session.deadline.clock
    start = clock.monotonic()
    with request.leases.writer():
        return clock.monotonic() - start


def test_an_ended_lease_is_free_after_the_next_transaction(request_of: RequestOf) -> None:
    clock = FakeClock()
    first = request_of(clock=clock)
    with first.leases.writer():
        pass

    first.budget.reserve(1)

    assert waited(request_of(clock=clock)) == 0


def test_an_ended_lease_is_free_after_a_transaction_that_was_refused(
    request_of: RequestOf,
) -> None:
    clock = FakeClock()
    first = request_of(clock=clock)
    with first.leases.writer():
        pass

    with pytest.raises(BudgetSpent):
        first.budget.reserve(ACCOUNT_CAP + 1)

    assert waited(request_of(clock=clock)) == 0


def test_a_lease_that_another_took_over_stops_no_transaction(request_of: RequestOf) -> None:
    clock = FakeClock()
    late = request_of(clock=clock)
    with late.leases.writer():
        clock.sleep(30)
        heir = request_of(clock=clock)
        heir_lease = heir.leases.writer()
        heir_lease.__enter__()

    late.budget.reserve(ACCOUNT_CAP)  # carries the release of a lease that is the heir's by now

    with pytest.raises(TurnNeverCame):
        waited(request_of(clock=clock))


def test_a_lease_that_is_taken_again_is_not_given_back_meanwhile(request_of: RequestOf) -> None:
    clock = FakeClock()
    twice = request_of(clock=clock)
    with twice.leases.writer():
        pass
    with twice.leases.writer():
        twice.budget.reserve(1)

        with pytest.raises(TurnNeverCame):
            waited(request_of(clock=clock))


def test_what_was_done_does_not_ride_again(clients: Clients, request_of: RequestOf) -> None:
    request = request_of()
    with request.leases.writer():
        pass
    request.budget.reserve(1)

    with requests_of(clients.dynamodb) as sent:
        request.session.close()

    assert not sent
