"""Tries many histories on all cores; the first that breaks an invariant is cut short and shown.

`python -m tests.simulation.rig --seconds 3600` goes on for an hour, with seeds that no run had.
"""

import argparse
import gc
import logging
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from multiprocessing import get_context

from tests.simulation.history import carry_out
from tests.simulation.invariants import Broken, check
from tests.simulation.plan import Plan, draw
from tests.simulation.world import PRODUCT, Parts

CHUNK = 250
"""Histories that a process tries before it reports."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A plan after which something does not hold, as short as it could be made."""

    plan: Plan
    reason: str

    def __str__(self) -> str:
        lines = (f"    {item!r}" for item in (*self.plan.acts, *self.plan.faults))
        return "\n".join((f"seed {self.plan.seed}: {self.reason}", *lines))


def failure(plan: Plan, parts: Parts = PRODUCT) -> str | None:
    """What does not hold after a plan, or None. Whatever is raised counts too."""
    try:
        check(carry_out(plan, parts))
    except Broken as broken:
        return str(broken)
    except Exception as error:  # noqa: BLE001 - a traceback for a caller would break P-205
        return f"{type(error).__name__}: {error}"
    return None


def try_seeds(
    seeds: range, parts: Parts = PRODUCT, drawn: Callable[[int], Plan] = draw
) -> int | None:
    """The first seed after which something does not hold."""
    gc.collect()
    return next((seed for seed in seeds if failure(drawn(seed), parts)), None)


def shrunk(plan: Plan, parts: Parts = PRODUCT) -> Failure:
    """The same failure with as few acts and faults as still bring it about."""
    reason = failure(plan, parts)
    assert reason is not None
    invariant = reason.partition(":")[0]

    def fails(shorter: Plan) -> bool:
        return (failure(shorter, parts) or "").startswith(invariant)

    is_shorter = True
    while is_shorter:
        is_shorter = False
        for shorter in _shorter(plan):
            if fails(shorter):
                plan, is_shorter = shorter, True
                break
    return Failure(plan, failure(plan, parts) or reason)


def _shorter(plan: Plan) -> Iterator[Plan]:
    """The plan without one of its acts or faults, and in a simpler world."""
    for at in range(len(plan.acts)):
        yield replace(plan, acts=plan.acts[:at] + plan.acts[at + 1 :])
    for at in range(len(plan.faults)):
        yield replace(plan, faults=plan.faults[:at] + plan.faults[at + 1 :])
    plainer = replace(plan, knobs={}, ahead={}, lag=0.0, revisions_lag=0.0)
    if plainer != plan:
        yield plainer


@dataclass(frozen=True, slots=True)
class Result:
    """How many histories were tried, how long that took, and what was found."""

    histories: int
    seconds: float
    failure: Failure | None


def run(
    first: int,
    is_enough: Callable[[int, float], bool],
    parts: Parts = PRODUCT,
    processes: int = os.cpu_count() or 1,
) -> Result:
    """Try histories from a seed on until enough of them are begun, or one fails.

    What is found is what one process would find: every lower seed was tried, and did not fail.
    """
    start, begun = time.monotonic(), 0
    under_way: set[Future[int | None]] = set()
    failed: list[int] = []

    def goes_on() -> bool:
        return not failed and not is_enough(begun, time.monotonic() - start)

    with ProcessPoolExecutor(processes, get_context("spawn"), _begin) as pool:
        while goes_on() or under_way:
            while len(under_way) < 2 * processes and goes_on():
                seeds = range(first + begun, first + begun + CHUNK)
                under_way.add(pool.submit(try_seeds, seeds, parts))
                begun += CHUNK
            ended, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            failed += [seed for chunk in ended if (seed := chunk.result()) is not None]
    seconds = time.monotonic() - start
    return Result(begun, seconds, shrunk(draw(min(failed)), parts) if failed else None)


def _begin() -> None:
    logging.disable()  # what goes wrong on purpose is logged too
    gc.disable()  # between chunks will do,
    gc.freeze()  # and without what was imported


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--first", type=int, default=int(time.time()) * 1_000)
    wanted = parser.parse_args()
    logging.disable()
    result = run(wanted.first, lambda _, seconds: seconds > wanted.seconds)
    print(f"{result.histories} histories from seed {wanted.first} in {result.seconds:.0f} s")  # noqa: T201
    if result.failure:
        raise SystemExit(str(result.failure))


if __name__ == "__main__":
    main()
