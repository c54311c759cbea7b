"""A process may vanish, or lose its line, right before or right after anything it does outside."""

from dataclasses import replace

import pytest

from tests.simulation.history import carry_out
from tests.simulation.plan import Act, Deliver, Edit, Fault, Notify, Plan, Say, Trouble
from tests.simulation.rig import failure

PLAN, ROSES = "/garden/plan.md", "/garden/beds/roses.md"

STORIES: dict[str, tuple[Act, ...]] = {
    "write": (
        Say("write", PLAN, "- new\n"),
        Say("replace", PLAN, "- newer\n"),
        Say("replace", PLAN, "- newest\n", is_named=True),
        Say("write", ROSES, "- red\n", is_named=True),
    ),
    "append": (
        Say("append", PLAN, "- one\n", is_named=True),
        Say("append", PLAN, "- two\n", is_named=True),
        Say("append", PLAN, "- three\n"),
    ),
    "patch": (
        Say("write", PLAN, "- new\n"),
        Say("patch", PLAN, "- more\n", is_named=True),
        Say("patch", PLAN, "- and more\n"),
    ),
    "search": (
        Edit("write", PLAN, "- outside\n"),
        Edit("write", ROSES, "- outside too\n"),
        Say("search"),
        Edit("rename", ROSES),
        Edit("delete", PLAN),
        Say("search"),
        Edit("reset", PLAN),
        Say("search"),
    ),
    "webhook and indexer": (
        Edit("write", PLAN, "- outside\n"),
        Notify(),
        Deliver(is_again=True),
        Edit("write", PLAN, "- changed\n"),
        Edit("write", ROSES, "- outside too\n"),
        Notify(),
        Deliver(),
        Deliver(),
        Edit("delete", PLAN),
        Edit("reset", PLAN),
        Notify(),
        Deliver(),
    ),
}


@pytest.mark.promise("P-063")
@pytest.mark.parametrize("trouble", [Trouble.CRASH, Trouble.SILENCE, Trouble.PARTITION])
@pytest.mark.parametrize("seed", [0, 1], ids=["then a search", "then the sweep"])
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_no_promise_breaks_wherever_it_happens(
    story: tuple[Act, ...], seed: int, trouble: Trouble
) -> None:
    plan = Plan(seed, tuple((0, act) for act in story), revisions_lag=1.0)
    steps = carry_out(plan).world.ways.steps_of(0)
    assert steps > 20

    broken = {
        step: why
        for step in range(steps)
        if (why := failure(replace(plan, faults=(Fault(0, step, trouble),))))
    }

    assert broken == {}
