"""Whatever happens in two days, nothing is lost, and the index is the folder.

NOTES says how many notes there are: some hundreds here, 10,000 with `make simulate`.
"""

import os

import pytest

from memorybox.search.packer import Packer
from tests.simulation.days import draw_days
from tests.simulation.history import carry_out
from tests.simulation.invariants import check
from tests.simulation.world import Parts

NOTES = int(os.environ.get("NOTES", "200"))


@pytest.mark.promise("P-204", "P-208", "P-209")
def test_two_days_of_traffic_lose_no_word_and_pass_no_budget() -> None:
    plan = draw_days(1, notes=NOTES, calls=25 + NOTES // 50)

    history = carry_out(plan, Parts(packer=Packer))

    done = [call for call in history.calls if call.answer and not call.answer.is_error]
    spent = history.world.ledger.spent
    print(f"{len(history.calls)} calls, {len(done)} done; {spent} tokens")  # noqa: T201 - with -s
    assert len(done) > len(history.calls) / 2
    assert len(spent) == 2
    check(history)
