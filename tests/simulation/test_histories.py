"""The product keeps its promises in every history that is drawn.

HISTORIES says how many are tried, always the same ones: `make soak` tries others. 100,000 of them
with `make simulate`, and here as many as cost less than a minute of processor time.
"""

import os

import pytest

from tests.simulation.history import carry_out
from tests.simulation.plan import Deliver, Edit, Fault, Notify, Plan, Say, Trouble, draw
from tests.simulation.planted import PLANTED
from tests.simulation.rig import failure, run, shrunk

HISTORIES = int(os.environ.get("HISTORIES", "10000"))


@pytest.mark.promise("P-203", "P-204", "P-208", "P-209")
def test_no_history_loses_or_doubles_a_word_or_hides_a_file_or_passes_the_budget() -> None:
    result = run(0, lambda histories, _: histories >= HISTORIES)

    print(f"{result.histories} histories in {result.seconds:.0f} s")  # noqa: T201 - seen with -s
    assert result.failure is None, f"\n{result.failure}"


def test_a_seed_is_one_history() -> None:
    first, second = (carry_out(draw(7)) for _ in range(2))

    assert first.calls == second.calls
    assert first.world.dropbox.versions == second.world.dropbox.versions


def test_a_failure_is_cut_down_to_what_brings_it_about() -> None:
    append = Say("append", "/garden/plan.md", "- one\n")
    noise = (Edit("write", "/work/plan.md", "x"), Notify(), Deliver())
    lost_answer = Fault(0, 3, Trouble.SILENCE)
    plan = Plan(
        seed=1,
        acts=((0, append), *((1, act) for act in noise)),
        faults=(Fault(1, 3, Trouble.DELAY), lost_answer),
        knobs={"page_size": 1},
    )
    parts = PLANTED["no answer means not written"].parts
    assert failure(plan) is None

    found = shrunk(plan, parts)

    assert (found.plan.acts, found.plan.faults) == (((0, append),), (lost_answer,))
    assert found.plan.knobs == {}
    assert str(found).startswith("seed 1: I1")
