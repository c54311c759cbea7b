"""The ways from the callers of a plan to all that they reach, and what goes wrong on them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.timeouts import READ_TIMEOUT, SHORTEST
from memorybox.search.embedder import EmbedderSilent
from tests.simulation.dropbox import Line
from tests.simulation.plan import Plan, Trouble
from tests.simulation.schedule import Schedule

NOBODY = -1
PARTED, FROZEN = 30.0, 180.0  # seconds


class Crash(BaseException):
    """The process has vanished: what it would still do is not done."""


@dataclass(slots=True)
class Caller:
    """One greenlet, its place among the callers of the plan, and what it is doing."""

    number: int
    faults: Mapping[int, Trouble] = field(default_factory=dict)
    """What happens to it, by its steps."""

    steps: int = 0
    call: int = NOBODY
    is_dead: bool = False
    parted_until: float = 0.0
    is_excused: bool = False
    """From ending its call in time."""

    ends: float = 0.0
    """The deadline of its request."""


class Ways(Line):
    """They know nothing of what is at their ends: so a world holds no circle of references, and is
    gone as soon as nobody looks at it.
    """

    def __init__(self, plan: Plan, schedule: Schedule) -> None:
        self._plan, self._schedule = plan, schedule
        self._callers: defaultdict[object, Caller] = defaultdict(partial(Caller, NOBODY))
        self._is_still = False
        self.steps = 0

    @property
    def caller(self) -> Caller:
        """Who has the turn."""
        return self._callers[self._schedule.current]

    @property
    def call(self) -> int:
        return self.caller.call

    def enter(self, number: int) -> Caller:
        """Let the greenlet of the moment be this caller of the plan."""
        faults = {f.step: f.trouble for f in self._plan.faults if f.caller == number}
        caller = self._callers[self._schedule.current] = Caller(number, faults)
        return caller

    def steps_of(self, number: int) -> int:
        """How many steps a caller of the plan has taken."""
        return sum(c.steps for c in self._callers.values() if c.number == number)

    def ahead(self) -> float:
        """By how many seconds the clock is wrong of who has the turn."""
        return self._plan.ahead.get(self.caller.number, 0.0)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """A look at the world during which nothing happens in it."""
        self._is_still = True
        yield
        self._is_still = False

    def trouble(self) -> Trouble | None:
        caller = self._callers[self._schedule.current]
        if caller.is_dead:
            raise Crash
        if self._is_still:
            return None
        self._schedule.step()
        self.steps += 1
        trouble = caller.faults.get(caller.steps)
        caller.steps += 1
        if trouble is None and not caller.parted_until:
            return None
        match trouble:
            case Trouble.CRASH:
                caller.is_dead = True
                raise Crash
            case Trouble.FREEZE:
                caller.is_excused = True
                self._schedule.sleep(FROZEN)
                return None
            case Trouble.PARTITION:
                caller.parted_until = self._schedule.passed + PARTED
        return Trouble.SILENCE if self._schedule.passed < caller.parted_until else trouble

    def reach_storage(self) -> None:
        """A step to where the product keeps what it needs."""
        if (trouble := self.trouble()) and self._is_silent(trouble):
            raise StorageSilent

    def reach_embedder(self) -> None:
        if (trouble := self.trouble()) and self._is_silent(trouble):
            raise EmbedderSilent

    def _is_silent(self, trouble: Trouble) -> bool:
        match trouble:
            case Trouble.STALE_TOKEN:
                return False
            case Trouble.DELAY:
                self._schedule.sleep(1.0)
                return False
            case Trouble.HANG | Trouble.LATE:
                left = self.caller.ends - self._schedule.passed
                self._schedule.sleep(min(READ_TIMEOUT, max(SHORTEST, left)))
        return True
