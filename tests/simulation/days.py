"""Two days of an account with many notes: its clients, another app, the webhook, the indexer."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from tests.simulation.plan import (
    Act,
    Deliver,
    Edit,
    Fault,
    Notify,
    Plan,
    Say,
    Sweep,
    Trouble,
    Wait,
)

TWO_DAYS = timedelta(days=2).total_seconds()
FROM = datetime(2026, 12, 31, tzinfo=UTC)  # the second day is of another month

CLIENTS = 4
_CALLS = (*["append"] * 4, *["search"] * 3, "write", "patch", "replace", "read")
_EDITS = ("write", "write", "write", "delete", "rename", "recase")
_STEPS_OF_A_CALL = 15
_TROUBLES = tuple(trouble for trouble in Trouble if trouble is not Trouble.FREEZE)


def draw_days(seed: int, *, notes: int, calls: int) -> Plan:
    """Another app brings the notes; then every client makes its calls, spread over two days."""
    random = Random(seed)
    days = _Days(random, notes, calls)
    callers = [*map(days.client, range(CLIENTS)), days.another_app(), days.webhook(), days.sweep()]
    callers += [days.indexer(), days.indexer()]
    return Plan(
        seed,
        tuple((number, act) for number, acts in enumerate(callers) for act in acts),
        tuple(
            Fault(
                random.randrange(len(callers)),
                random.randrange(_STEPS_OF_A_CALL * calls),
                random.choice(_TROUBLES),
            )
            for _ in range(calls)
        ),
        starts_at=FROM,
        tokens=5 * notes,
        lag=0.3,
        revisions_lag=1.0,
    )


class _Days:
    def __init__(self, random: Random, notes: int, calls: int) -> None:
        self._random, self._calls = random, calls
        self._locations = [
            f"/{random.choice(('garden', 'work', 'house'))}/{number % 50}/note {number}.md"
            for number in range(notes)
        ]

    def client(self, number: int) -> Iterator[Act]:
        for call in range(self._calls):
            yield self._pause(self._calls)
            yield Say(
                self._random.choice(_CALLS),
                self._note(),
                f"- line {number}.{call}\n",
                is_named=self._random.random() < 0.5,
                is_deaf=self._random.random() < 0.1,
                is_hasty=self._random.random() < 0.1,
            )

    def another_app(self) -> Iterator[Act]:
        for number, location in enumerate(self._locations):
            yield Edit("write", location, f"- note {number}\n")
        for number in range(self._calls):
            yield self._pause(self._calls)
            how = self._random.choice(_EDITS)
            yield Edit(how, self._note(), f"- outside {number}\n", self._note())

    def webhook(self) -> Iterator[Act]:
        for _ in range(self._calls):
            yield self._pause(self._calls)
            yield Notify()

    def sweep(self) -> Iterator[Act]:
        for _ in range(4):
            yield Wait(TWO_DAYS / 5)
            yield Sweep()

    def indexer(self) -> Iterator[Act]:
        for _ in range(4 * self._calls):
            yield self._pause(4 * self._calls)
            yield Deliver(is_again=self._random.random() < 0.05)

    def _note(self) -> str:
        """Most calls are about a few of the notes, and some about a new one."""
        place = int(1.02 * len(self._locations) * self._random.random() ** 4)
        known = place < len(self._locations)
        return self._locations[place] if known else f"/work/new {place}.md"

    def _pause(self, times: int) -> Wait:
        """Between two of so many acts: mostly short, and now and then for hours."""
        return Wait(TWO_DAYS / times * self._random.expovariate(1.0))
