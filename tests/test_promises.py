"""Every promise has a test, and every test of the acceptance suite says what it is for."""

from tests.marks import every_test, marked
from tests.promises import PROMISES


def test_every_promise_has_a_test() -> None:
    assert PROMISES.keys() - marked("promise").keys() == set()


def test_no_test_names_a_promise_that_nobody_made() -> None:
    assert marked("promise").keys() - PROMISES.keys() == set()


def test_every_acceptance_test_names_a_promise() -> None:
    acceptance = [test for test in every_test() if test.file.parent.name == "acceptance"]

    assert acceptance
    assert [test.name for test in acceptance if not test.of("promise")] == []
