"""The product keeps its promises in every history that is drawn.

HISTORIES says how many are tried, on all cores and always the same ones: 10,000 with `make test`,
100,000 in CI and with `make simulate`. `make soak` tries others.
"""

import os
import subprocess
import sys

import pytest

from tests.simulation.history import carry_out
from tests.simulation.plan import Deliver, Edit, Fault, Notify, Plan, Say, Trouble, draw
from tests.simulation.planted import PLANTED
from tests.simulation.rig import CHUNK, failure, run, shrunk, try_seeds

HISTORIES = int(os.environ.get("HISTORIES", "10000"))


@pytest.mark.promise("P-203", "P-204", "P-208", "P-209")
def test_no_history_loses_or_doubles_a_word_or_hides_a_file_or_passes_the_budget() -> None:
    result = run(0, lambda begun, _: begun >= HISTORIES)

    print(f"{result.histories} histories in {result.seconds:.0f} s")  # noqa: T201 - seen with -s
    assert result.failure is None, f"\n{result.failure}"


def test_a_seed_is_one_history() -> None:
    first, second = (carry_out(draw(7)) for _ in range(2))

    assert first.calls == second.calls
    assert first.world.dropbox.versions == second.world.dropbox.versions


def test_a_seed_is_one_history_in_every_process() -> None:
    # Here a search looks at two notes that no listing has shown: their paths come as a set.
    tell = (
        "from tests.simulation.history import carry_out\n"
        "from tests.simulation.plan import draw\n"
        "print(carry_out(draw(244)).world.index.load())"
    )
    told = {
        subprocess.check_output(
            [sys.executable, "-c", tell],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
        )
        for seed in ("0", "2")  # two orders of these two paths
    }

    assert len(told) == 1


def test_two_processes_find_the_failure_that_one_would_find() -> None:
    parts = PLANTED["uploads without strict_conflict"].parts
    first, second = (try_seeds(range(at, at + CHUNK), parts) for at in (0, CHUNK))
    assert first is not None
    assert second is not None
    assert second - CHUNK < first  # so the second process is there sooner

    result = run(0, lambda begun, _: begun >= 2 * CHUNK, parts, processes=2)

    assert result.histories == 2 * CHUNK
    assert result.failure is not None
    assert result.failure.plan.seed == first


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
