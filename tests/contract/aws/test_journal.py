"""What the journal on DynamoDB keeps of the latest writes, for how long, and at what cost."""

from collections import Counter
from datetime import timedelta

from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.journal import KEPT, TURNS, written
from memorybox.files.journal import Written
from tests.contract.aws.world import RequestOf
from tests.fakes.clock import FakeClock
from tests.wire import requests_of


def test_the_latest_writes_are_told_newest_first_with_the_client_that_made_them(
    request_of: RequestOf,
) -> None:
    clock = FakeClock()
    began = clock.now()
    first, second = (request_of(clock=clock, client_id=name) for name in ("a", "https://b/c"))

    with first.session:
        first.write("/Garden/Plan.md", "1")
    clock.sleep(60)
    with second.session:
        second.write("/Garden/Plan.md", "2", is_new=False)

    later = began + timedelta(seconds=60)
    assert written(request_of(clock=clock).session) == [
        Written("/Garden/Plan.md", "2", "https://b/c", is_new=False, at=later),
        Written("/Garden/Plan.md", "1", "a", is_new=True, at=began),
    ]


def test_one_call_ends_a_write_that_nothing_followed(
    clients: Clients, request_of: RequestOf
) -> None:
    request = request_of()
    request.write("/garden/plan.md")

    with requests_of(clients.dynamodb) as sent:
        request.session.close()

    assert sent == Counter(TransactWriteItems=1)


def test_a_write_whose_lease_another_took_over_is_told_all_the_same(
    request_of: RequestOf,
) -> None:
    clock = FakeClock()
    late = request_of(clock=clock)
    with late.session:
        late.write("/garden/late.md")
        clock.sleep(30)
        heir = request_of(clock=clock)
        with heir.session:
            heir.write("/garden/heir.md")

    told = written(request_of(clock=clock).session)

    assert [one.path_display for one in told] == ["/garden/heir.md", "/garden/late.md"]


def test_no_more_than_the_latest_turns_are_kept(request_of: RequestOf) -> None:
    """A turn in which nothing was written counts, and hides no later write."""
    clock = FakeClock()
    for number in range(TURNS + 3):
        request = request_of(clock=clock)
        with request.session:
            if number % 2:
                request.write(f"/garden/{number}.md")
            else:
                with request.leases.writer():
                    pass

    told = [one.path_display for one in written(request_of(clock=clock).session)]

    assert told == [f"/garden/{number}.md" for number in range(TURNS + 1, 2, -2)]


def test_a_write_is_told_for_thirty_days(request_of: RequestOf) -> None:
    clock = FakeClock()
    request = request_of(clock=clock)
    with request.session:
        request.write("/garden/plan.md")

    clock.sleep(KEPT.total_seconds() - 1)
    before = written(request_of(clock=clock).session)
    clock.sleep(1)

    assert len(before) == 1
    assert written(request_of(clock=clock).session) == []
