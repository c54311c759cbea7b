from hypothesis import given
from hypothesis import strategies as some

from memorybox.search.budget import Month, Reservation, Spending


@given(reserved=some.integers(0, 10**6), used=some.integers())
def test_what_is_given_back_is_what_was_not_used_of_what_was_reserved(
    reserved: int, used: int
) -> None:
    spending = Spending(Reservation(Month("2026-11"), reserved), used)

    assert spending.unused == (reserved - used if used in range(reserved + 1) else 0)
