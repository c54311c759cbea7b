"""A history before it happens, as data: who does what, what breaks, who gets the first turns.

Everything is drawn from one seed. A plan can also be written down by hand, or cut shorter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from random import Random

NOTES = ("/garden/plan.md", "/garden/beds/roses.md", "/work/plan.md", "/Garden/Beds.md/deep.md")
"""Few, so that callers meet. The last one needs a folder where another app puts a file."""

IN_THE_WAY = "/garden/beds.md"


class Trouble(Enum):
    """What may happen at one step of a caller: right before, or right after, it reaches out."""

    SILENCE = auto()
    """The request, or the answer, gets lost."""

    HANG = auto()
    """The same, but noticed only after as long as the caller waits."""

    LATE = auto()
    """The request arrives when nobody waits for it any more."""

    BUSY = auto()
    """Come back later (429)."""

    BROKEN = auto()
    """5xx."""

    STALE_TOKEN = auto()
    DELAY = auto()
    CRASH = auto()
    """The process of the caller vanishes."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Trouble at one step of a caller; steps are counted from 0 over all that it does."""

    caller: int
    step: int
    trouble: Trouble


@dataclass(frozen=True, slots=True)
class Say:
    """A client calls a tool. A call that is `named` has a command_id and is sent again, up to
    three times, until an answer comes.
    """

    tool: str
    location: str = ""
    text: str = ""
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """Another app changes the folder."""

    how: str
    location: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Notify:
    """Dropbox calls the webhook."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """The queue hands over one of its messages; `again`: and keeps it, to hand it over once more."""

    is_again: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing, for a while."""

    seconds: float


Act = Say | Edit | Notify | Deliver | Wait


@dataclass(frozen=True, slots=True)
class Plan:
    """The callers' acts, each caller's in order, and the faults."""

    seed: int
    acts: tuple[tuple[int, Act], ...]
    """Each with the number of its caller."""

    faults: tuple[Fault, ...] = ()
    starts_at: datetime = datetime(2026, 11, 12, 12, tzinfo=UTC)
    tokens: int = 1_000_000
    """What may be spent on embedding in a month."""

    ahead: Mapping[int, float] = field(default_factory=dict)
    """By how many seconds the clocks of callers are wrong."""

    knobs: Mapping[str, object] = field(default_factory=dict)
    """Of the emulated Dropbox."""

    lag: float = 0.0
    """Seconds by which listings and revisions are late."""

    @property
    def callers(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(caller for caller, _ in self.acts))

    def acts_of(self, caller: int) -> tuple[Act, ...]:
        return tuple(act for number, act in self.acts if number == caller)


_EDITS = ("write", "write", "delete", "rename", "recase", "block", "unblock", "reset")
_TROUBLES = (
    *[Trouble.SILENCE] * 8,
    *[Trouble.CRASH] * 4,
    *[Trouble.BUSY, Trouble.BROKEN, Trouble.DELAY, Trouble.LATE] * 2,
    Trouble.HANG,
    Trouble.STALE_TOKEN,
)
_NEW_YEARS_EVE = datetime(2026, 12, 31, 23, 59, 58, tzinfo=UTC)
_LONGEST_CALL = 60  # steps, about


def draw(seed: int) -> Plan:
    """A small history: two or three clients, another app, the webhook, a worker of the queue."""
    random = Random(seed)
    are_alike = random.random() < 0.2  # all clients append the same text
    acts: list[tuple[int, Act]] = []
    clients = random.choice((1, 2, 2, 3))
    for client in range(clients):
        for number in range(random.choice((1, 2, 2, 3))):
            acts.append((client, _say(random, "same" if are_alike else f"{client}.{number}")))
    extras = ([_edit(random, n) for n in range(random.randrange(3))], _background(random))
    for caller, extra in enumerate(extras, clients):
        acts += [(caller, act) for act in extra]
    callers = clients + len(extras)
    rate = random.choice((0, 1, 2, 4))
    faults = tuple(
        Fault(random.randrange(callers), random.randrange(_LONGEST_CALL), random.choice(_TROUBLES))
        for _ in range(random.randrange(rate + 1))
    )
    is_odd = random.random() < 0.2
    return Plan(
        seed,
        tuple(acts),
        faults,
        starts_at=_NEW_YEARS_EVE if is_odd else Plan.starts_at_usually(),
        tokens=random.choice((60, 200)) if random.random() < 0.15 else 1_000_000,
        ahead={c: random.choice((-3.0, 3.0)) for c in range(callers)} if is_odd else {},
        knobs=_knobs(random),
        lag=random.choice((0.0, 0.0, 0.0, 0.0, 0.3)),
    )
