"""Histories after which a promise once did not hold, each as short as it could be made."""

import pytest

from tests.simulation.plan import Edit, Fault, Plan, Say, Trouble, Wait
from tests.simulation.rig import failure

PLAN, ROSES = "/garden/plan.md", "/garden/beds/roses.md"

HISTORIES = {
    "a new note is moved away before its lost answer is cleared up, and is written again": Plan(
        seed=9,
        acts=(
            (0, Say("append", PLAN, "- 0\n")),
            (1, Edit("rename", PLAN)),
        ),
        faults=(Fault(0, 3, Trouble.SILENCE),),
        is_indexed=False,
    ),
    "a new note is moved away, and the repeat of its command writes it again": Plan(
        seed=2,
        acts=(
            (0, Say("write", ROSES, "- red\n", is_named=True)),
            (1, Wait(0.2)),
            (1, Edit("rename", ROSES)),
        ),
        faults=(Fault(0, 4, Trouble.HANG),),
        is_indexed=False,
    ),
    "another app deletes a new note and makes its own, which gets the line a second time": Plan(
        seed=9,
        acts=(
            (0, Say("append", PLAN, "- 1.0\n")),
            (1, Edit("delete", PLAN)),
            (1, Edit("write", PLAN, "- outside\n")),
        ),
        faults=(Fault(0, 3, Trouble.BROKEN),),
        is_indexed=False,
    ),
    "a new note is moved away before Dropbox shows that it was made, and is written again": Plan(
        seed=4,
        acts=(
            (0, Say("append", PLAN, "- 0\n")),
            (1, Edit("rename", PLAN)),
        ),
        faults=(Fault(0, 3, Trouble.SILENCE),),
        is_indexed=False,
        revisions_lag=1.0,
    ),
    "a new note is moved away, and then the request that made it arrives a second time": Plan(
        seed=1,
        acts=(
            (0, Say("append", PLAN, "- 0\n")),
            (1, Wait(11.5)),
            (1, Edit("rename", PLAN)),
        ),
        faults=(Fault(0, 2, Trouble.LATE),),
        is_indexed=False,
    ),
    "a new note is deleted, and another with its text that is moved there is taken for it": Plan(
        seed=3,
        acts=(
            (0, Say("append", PLAN, "- same\n")),
            (1, Wait(0.1)),
            (1, Say("append", ROSES, "- same\n")),
            (2, Wait(0.4)),
            (2, Edit("delete", ROSES)),
            (2, Edit("rename", PLAN)),
        ),
        faults=(Fault(1, 3, Trouble.BROKEN),),
        is_indexed=False,
        revisions_lag=1.0,
    ),
    "an answer comes after 25 s because the call waited for its turn to the end": Plan(
        seed=1,
        acts=((0, Say("append", PLAN, "- 0\n")), (1, Say("append", PLAN, "- 1\n", is_named=True))),
        faults=(Fault(0, 2, Trouble.CRASH),),
        is_indexed=False,
    ),
    "an answer comes after 25 s because our own storage hangs when it is nearly time": Plan(
        seed=1,
        acts=((0, Say("append", PLAN, "- 0\n")), (1, Say("append", PLAN, "- 1\n", is_named=True))),
        faults=(Fault(0, 2, Trouble.CRASH), Fault(1, 61, Trouble.HANG)),
        is_indexed=False,
    ),
    "a new note is forgotten because Dropbox forgot the cursor right after it was listed": Plan(
        seed=9_017_317,
        acts=(
            (0, Say("search")),
            (0, Say("search")),
            (1, Say("append", PLAN, "- 1.0\n", is_deaf=True)),
            (1, Say("append", PLAN, "- 1.1\n")),
            (2, Edit("block", PLAN, "- outside 0\n")),
            (2, Wait(0.3)),
            (2, Edit("reset", PLAN)),
            (4, Wait(0.5)),
        ),
        faults=(Fault(0, 11, Trouble.BUSY),),
        knobs={"page_size": 3, "coalesce": False, "folder_in_recursive_list": False},
        lag=0.3,
    ),
}


@pytest.mark.parametrize("plan", HISTORIES.values(), ids=HISTORIES)
def test_it_does_not_happen_again_that(plan: Plan) -> None:
    assert failure(plan) is None
