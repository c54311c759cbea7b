"""What every implementation of Leases and IndexLeases promises: in memory and on DynamoDB."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.leases import DynamoLeases
from memorybox.adapters.aws.session import Session
from memorybox.clock import SystemClock
from memorybox.deadline import Deadline
from memorybox.files.leases import Leases, TurnNeverCame
from memorybox.search.store import IndexLeases
from tests.fakes.clock import FakeClock
from tests.fakes.leases import InMemoryLeases, LeaseBook


class BothLeases(Leases, IndexLeases, Protocol):
    """What one request has."""


Request = Callable[[Deadline], BothLeases]
"""Begins a request of the one account, with the deadline of its call."""


@pytest.fixture(params=["memory", "dynamodb"])
def request_with(request: pytest.FixtureRequest, account: AccountId) -> Request:
    if request.param == "memory":
        book = LeaseBook()
        return lambda deadline: InMemoryLeases(book, deadline)
    clients: Clients = request.getfixturevalue("clients")
    return lambda deadline: _GivenBackAtOnce(
        Session(clients.dynamodb, aws.MEMORY_TABLE, account, deadline)
    )


class _GivenBackAtOnce:
    """Ends the session with each lease, as a request that does nothing after it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._leases = DynamoLeases(session)

    @contextmanager
    def writer(self) -> Iterator[None]:
        with self._session, self._leases.writer():
            yield

    @contextmanager
    def indexer(self, deadline: Deadline) -> Iterator[bool]:
        with self._session, self._leases.indexer(deadline) as is_held:
            yield is_held


def test_a_second_writer_gets_its_turn_when_the_first_has_ended(request_with: Request) -> None:
    clock = FakeClock()
    first, second = (request_with(Deadline.after(25, clock)) for _ in range(2))

    with first.writer():
        pass
    with second.writer():
        pass

    assert clock.monotonic() == 0


def test_a_writer_whose_turn_never_came_is_told_in_time_to_answer(request_with: Request) -> None:
    clock = FakeClock()
    holder = request_with(Deadline.after(60, clock))
    waiting = request_with(Deadline.after(25, clock))

    with holder.writer(), pytest.raises(TurnNeverCame), waiting.writer():
        pass

    assert clock.monotonic() == pytest.approx(24)


def test_a_writer_that_failed_gives_its_turn_back(request_with: Request) -> None:
    clock = FakeClock()
    failing, next_one = (request_with(Deadline.after(25, clock)) for _ in range(2))

    with pytest.raises(ZeroDivisionError), failing.writer():
        raise ZeroDivisionError
    with next_one.writer():
        pass

    assert clock.monotonic() == 0


def test_a_holder_that_vanished_loses_the_lease_at_its_own_deadline(request_with: Request) -> None:
    clock = FakeClock()
    vanished = request_with(Deadline.after(10, clock)).writer()
    vanished.__enter__()

    with request_with(Deadline.after(25, clock)).writer():
        assert 10 <= clock.monotonic() < 11


def test_a_holder_that_comes_back_late_does_not_end_the_lease_of_the_next(
    request_with: Request,
) -> None:
    clock = FakeClock()
    late = request_with(Deadline.after(10, clock)).writer()
    late.__enter__()
    clock.sleep(10)

    with request_with(Deadline.after(60, clock)).writer():
        late.__exit__(None, None, None)
        third = request_with(Deadline.after(5, clock)).writer()
        with pytest.raises(TurnNeverCame):
            third.__enter__()


def test_one_request_may_write_twice(request_with: Request) -> None:
    clock = FakeClock()
    leases = request_with(Deadline.after(25, clock))

    for _ in range(2):
        with leases.writer():
            pass

    assert clock.monotonic() == 0


def test_a_second_indexer_is_told_that_the_lease_never_came(request_with: Request) -> None:
    clock = FakeClock()
    first, second = (request_with(Deadline.after(60, clock)) for _ in range(2))

    with first.indexer(Deadline.after(1, clock)) as first_held:
        with second.indexer(Deadline.after(5, clock)) as second_held:
            assert (first_held, second_held) == (True, False)
        assert clock.monotonic() == pytest.approx(5)


def test_an_indexer_and_a_writer_do_not_wait_for_each_other(request_with: Request) -> None:
    clock = FakeClock()
    indexing, writing = (request_with(Deadline.after(25, clock)) for _ in range(2))

    with indexing.indexer(Deadline.after(1, clock)) as is_held, writing.writer():
        assert is_held

    assert clock.monotonic() == 0


def test_writers_never_hold_the_lease_together(request_with: Request) -> None:
    clock = SystemClock()
    inside: list[int] = []
    counts: list[int] = []

    def write(number: int) -> None:
        with request_with(Deadline.after(60, clock)).writer():
            inside.append(number)
            clock.sleep(0.002)
            counts.append(len(inside))
            inside.remove(number)

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write, range(16)))

    assert counts == [1] * 16
