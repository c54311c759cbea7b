"""Faults are used up in order."""

from local.dropbox.faults import Effect, Fault, Faults


def effects(faults: Faults, *calls: tuple[str, str | None]) -> list[list[Effect]]:
    return [[fault.effect for fault in faults.take(route, account)] for route, account in calls]


def test_a_fault_hits_once_and_only_its_route() -> None:
    faults = Faults()
    faults.add(Fault("files/upload", Effect.HANG))
    calls = [("files/download", None), ("files/upload", None), ("files/upload", None)]
    assert effects(faults, *calls) == [[], [Effect.HANG], []]
    assert faults.left() == []


def test_faults_of_one_route_follow_each_other() -> None:
    faults = Faults()
    faults.add(Fault("files/*", Effect.LOST_REQUEST, times=2), Fault("files/upload", Effect.ANSWER))
    expected = [[Effect.LOST_REQUEST], [Effect.LOST_REQUEST], [Effect.ANSWER], []]
    assert effects(faults, *[("files/upload", None)] * 4) == expected


def test_a_fault_can_wait_for_the_nth_call_of_one_account() -> None:
    faults = Faults()
    faults.add(Fault("*", Effect.STALE, account="ann", skip=1))
    calls = [("a", "ann"), ("a", "bob"), ("a", "ann"), ("a", "ann")]
    assert effects(faults, *calls) == [[], [], [Effect.STALE], []]


def test_a_fault_without_an_end_hits_until_it_is_cleared() -> None:
    faults = Faults()
    faults.add(Fault("*", Effect.ANSWER, times=None))
    assert effects(faults, *[("a", None)] * 3) == [[Effect.ANSWER]] * 3
    faults.clear()
    assert effects(faults, ("a", None)) == [[]]


def test_a_delay_comes_together_with_another_fault() -> None:
    faults = Faults()
    faults.add(
        Fault("*", Effect.DELAY, seconds=1.0, times=None),
        Fault("*", Effect.LOST_RESPONSE),
        Fault("*", Effect.HANG),
    )
    expected = [[Effect.DELAY, Effect.LOST_RESPONSE], [Effect.DELAY, Effect.HANG], [Effect.DELAY]]
    assert effects(faults, *[("a", None)] * 3) == expected
