"""What every implementation of Buckets promises: in memory and on DynamoDB."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.accounts.rates import MINUTE, NO_WAIT, Buckets, LocalBuckets, Rate
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.rates import buckets_of, deployment_buckets
from tests.fakes.clock import FakeClock

THREE = Rate(3, MINUTE)
TWENTY_SECONDS = timedelta(seconds=20)

BucketsAt = Callable[[FakeClock], Buckets]


@pytest.fixture(params=["memory", "of an account", "of the deployment"])
def buckets_at(request: pytest.FixtureRequest, account: AccountId) -> BucketsAt:
    if request.param == "memory":
        return LocalBuckets
    clients: Clients = request.getfixturevalue("clients")
    if request.param == "of an account":
        return lambda clock: buckets_of(account, clients.dynamodb, aws.MEMORY_TABLE, clock)
    return lambda clock: deployment_buckets(clients.dynamodb, aws.MEMORY_TABLE, clock)


def test_a_full_bucket_gives_what_it_holds_and_then_tells_how_long_to_wait(
    buckets_at: BucketsAt, account: AccountId
) -> None:
    buckets = buckets_at(FakeClock())

    taken = [buckets.take(account, THREE) for _ in range(5)]

    assert taken == [NO_WAIT, NO_WAIT, NO_WAIT, TWENTY_SECONDS, TWENTY_SECONDS]


def test_tokens_come_back_evenly(buckets_at: BucketsAt, account: AccountId) -> None:
    clock = FakeClock()
    buckets = buckets_at(clock)
    for _ in range(3):
        buckets.take(account, THREE)

    clock.sleep(15)
    early = buckets.take(account, THREE)
    clock.sleep(5)

    assert early == timedelta(seconds=5)
    assert buckets.take(account, THREE) == NO_WAIT
    assert buckets.take(account, THREE) == TWENTY_SECONDS


def test_a_bucket_never_holds_more_than_it_can(buckets_at: BucketsAt, account: AccountId) -> None:
    clock = FakeClock()
    buckets = buckets_at(clock)
    buckets.take(account, THREE)
    clock.sleep(86_400)

    taken = [buckets.take(account, THREE) for _ in range(4)]

    assert taken == [NO_WAIT, NO_WAIT, NO_WAIT, TWENTY_SECONDS]


def test_names_have_buckets_of_their_own(buckets_at: BucketsAt, account: AccountId) -> None:
    buckets = buckets_at(FakeClock())
    for _ in range(3):
        buckets.take(account, THREE)

    assert buckets.take(f"{account} other", THREE) == NO_WAIT


def test_many_at_once_get_no_more_than_there_is(buckets_at: BucketsAt, account: AccountId) -> None:
    buckets = buckets_at(FakeClock())
    rate = Rate(10, MINUTE)

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda _: buckets.take(account, rate), range(40)))

    assert taken.count(NO_WAIT) == 10
