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

MIDDAY = datetime(2026, 11, 12, 12, tzinfo=UTC)
PLENTY = 1_000_000


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
    starts_at: datetime = MIDDAY
    tokens: int = PLENTY
    """What may be spent on embedding in a month."""

    ahead: Mapping[int, float] = field(default_factory=dict)
    """By how many seconds the clocks of callers are wrong."""

    knobs: Mapping[str, object] = field(default_factory=dict)
    """Of the emulated Dropbox."""

    is_indexed: bool = True
    """Whether notes are made findable, and searched, at all. Without, a history takes less time."""

    lag: float = 0.0
    """Seconds by which listings and revisions are late."""

    @property
    def callers(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(caller for caller, _ in self.acts))

    def acts_of(self, caller: int) -> tuple[Act, ...]:
        return tuple(act for number, act in self.acts if number == caller)


_TOOLS = (*["append"] * 5, *["patch"] * 2, "write", "replace", "read")
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
    is_indexed = random.random() < 0.3
    are_alike = random.random() < 0.2  # all clients append the same text
    acts: list[tuple[int, Act]] = []
    clients = random.choice((1, 2, 2, 3))
    for client in range(clients):
        for number in range(random.choice((1, 2, 2, 3))):
            text = "same" if are_alike else f"{client}.{number}"
            acts.append((client, _say(random, text, is_indexed=is_indexed)))
    extras = [[_edit(random, n) for n in range(random.randrange(3))]]
    extras += [_background(random)] if is_indexed else []
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
        starts_at=_NEW_YEARS_EVE if is_odd else MIDDAY,
        tokens=random.choice((60, 200)) if random.random() < 0.15 else PLENTY,
        ahead={c: random.choice((-3.0, 3.0)) for c in range(callers)} if is_odd else {},
        knobs=_knobs(random),
        is_indexed=is_indexed,
        lag=random.choice((0.0, 0.0, 0.0, 0.0, 0.3)),
    )


def _say(random: Random, text: str, *, is_indexed: bool) -> Say:
    tool = random.choice(_TOOLS + ("search",) * (3 * is_indexed))
    location = random.choice(NOTES[:2]) if random.random() < 0.8 else random.choice(NOTES)
    return Say(tool, location, f"- {text}\n", is_named=random.random() < 0.4)


def _edit(random: Random, number: int) -> Act:
    return Edit(random.choice(_EDITS), random.choice(NOTES), f"- outside {number}\n")


def _background(random: Random) -> list[Act]:
    """Webhooks and messages: some never come, some come twice, some late."""
    acts: list[Act] = []
    for _ in range(random.choice((0, 1, 1, 2))):
        acts.append(Wait(random.random() * 4))
        acts += [Notify()] * random.choice((0, 1, 1, 2))
        acts += [Deliver(is_again=random.random() < 0.2)] * random.choice((0, 1, 1, 2))
    return acts


def _knobs(random: Random) -> dict[str, object]:
    return {
        "page_size": random.choice((1, 3, 500)),
        "empty_pages": random.choice((0, 0, 1)),
        "coalesce": random.random() < 0.7,
        "children_after_delete": random.random() < 0.3,
        "folder_in_recursive_list": random.random() < 0.5,
    }
