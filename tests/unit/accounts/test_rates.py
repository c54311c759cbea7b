"""How often an account may call."""

from datetime import timedelta

import pytest

from memorybox.accounts.rates import (
    DAY,
    MINUTE,
    NO_WAIT,
    Allowance,
    Buckets,
    Gate,
    LimitReached,
    LocalBuckets,
    Rate,
)
from memorybox.errors import Unavailable
from tests.fakes.clock import FakeClock

SIXTY = Rate(60, MINUTE)


class Silent:
    """Buckets that cannot be reached."""

    def take(self, name: str, rate: Rate) -> timedelta:
        raise Unavailable("The store did not answer.")


def allowance(clock: FakeClock, shared: Buckets, rate: Rate = SIXTY) -> Allowance:
    """That of one account in a process of its own."""
    return Allowance("alice", {"call": rate}, LocalBuckets(clock), shared)


def admitted(allowance: Allowance, calls: int) -> int:
    """How many of so many calls at once are let through."""
    count = 0
    for _ in range(calls):
        try:
            allowance.use("call")
        except LimitReached:
            continue
        count += 1
    return count


def test_one_process_lets_the_whole_rate_through_at_once_and_no_more() -> None:
    clock = FakeClock()

    assert admitted(allowance(clock, LocalBuckets(clock)), 200) == 60


def test_over_an_hour_a_process_lets_through_what_the_rate_says() -> None:
    clock = FakeClock()
    alice = allowance(clock, LocalBuckets(clock))

    count = 0
    for _ in range(3_600):
        clock.sleep(1)
        count += admitted(alice, 3)

    assert 3_600 <= count <= 3_660


def test_many_processes_share_half_of_the_rate() -> None:
    clock = FakeClock()
    shared = LocalBuckets(clock)

    assert sum(admitted(allowance(clock, shared), 200) for _ in range(5)) == 5 * 30 + 30


def test_the_shared_half_is_asked_for_only_when_a_process_has_used_its_own() -> None:
    clock = FakeClock()
    alice = allowance(clock, Silent())

    assert admitted(alice, 30) == 30


def test_buckets_that_cannot_be_reached_stop_nobody() -> None:
    assert admitted(allowance(FakeClock(), Silent()), 200) == 200


def test_the_wait_that_is_told_is_long_enough() -> None:
    clock = FakeClock()
    alice = allowance(clock, LocalBuckets(clock))
    admitted(alice, 60)

    with pytest.raises(LimitReached) as reached:
        alice.use("call")
    clock.sleep(reached.value.seconds)

    assert admitted(alice, 1) == 1


def test_accounts_do_not_slow_each_other_down() -> None:
    clock = FakeClock()
    own, shared = LocalBuckets(clock), LocalBuckets(clock)
    alice = Allowance("alice", {"call": SIXTY}, own, shared)
    bob = Allowance("bob", {"call": SIXTY}, own, LocalBuckets(clock))
    admitted(alice, 200)

    assert admitted(bob, 200) == 60


def test_however_many_names_there_are_memory_stays_bounded() -> None:
    clock = FakeClock()
    buckets = LocalBuckets(clock)
    for number in range(10_001):
        buckets.take(f"name {number}", SIXTY)
        clock.sleep(0.1)

    assert len(buckets) < 100


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.2, "1 seconds"),
        (118.5, "119 seconds"),
        (119.5, "2 minutes"),
        (121, "3 minutes"),
        (7_201, "3 hours"),
    ],
)
def test_a_wait_is_told_in_round_words(seconds: float, told: str) -> None:
    assert str(LimitReached("Too much.", timedelta(seconds=seconds))) == (
        f"Too much. Try again in {told}."
    )


def test_of_ten_thousand_sign_ups_at_once_a_hundred_get_in_and_more_a_day_later() -> None:
    clock = FakeClock()
    gate = Gate(LocalBuckets(clock), "sign-ups", Rate(100, DAY), "Too many people.")

    def entered() -> int:
        count = 0
        for _ in range(10_000):
            try:
                gate.enter()
            except LimitReached:
                continue
            count += 1
        return count

    today = entered()
    clock.sleep(DAY.total_seconds())

    assert (today, entered()) == (100, 100)


def test_a_bucket_that_nobody_took_from_is_full() -> None:
    assert LocalBuckets(FakeClock()).take("new", Rate(1, DAY)) == NO_WAIT
