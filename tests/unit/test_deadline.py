"""Deadlines, and the one of what is being done."""

from memorybox.accounts.model import AccountId
from memorybox.bootstrap.process import Process
from memorybox.deadline import Deadline, current, lasting, within
from tests.fakes.clock import FakeClock


def test_work_within_a_request_ends_with_it_at_the_latest() -> None:
    clock = FakeClock()

    with lasting(Deadline.after(10, clock)):
        clock.sleep(4)
        assert within(20, clock).remaining() == 6
        assert within(3, clock).remaining() == 3

    assert current() is None
    assert within(20, clock).remaining() == 20


def test_a_call_ends_with_the_request_that_it_is_part_of() -> None:
    process = Process({"PUBLIC_BASE_URL": "https://memory.example"})
    request = Deadline.after(3, process.clock)

    with lasting(request):
        assert process.call(AccountId("dbid:alice"), 20).deadline == request


def test_what_is_done_for_a_call_has_its_deadline() -> None:
    process = Process({"PUBLIC_BASE_URL": "https://memory.example"})

    with process.call(AccountId("dbid:alice"), 20) as call:
        told = [process.threads.start(current)() for _ in "12"]

    assert told == [call.deadline, call.deadline]
    process.threads.pool.shutdown()
