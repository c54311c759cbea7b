"""Every requirement is proven, and no test names one that nobody asked for."""

from tests.marks import marked
from tests.security.requirements import REQUIREMENTS, proofs


def test_every_requirement_has_a_test() -> None:
    assert [id for id, tests in proofs().items() if not tests] == []


def test_no_test_names_a_requirement_that_nobody_asked_for() -> None:
    assert marked("requirement").keys() - REQUIREMENTS.keys() == set()
