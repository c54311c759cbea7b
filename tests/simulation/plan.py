"""A history before it happens, as data: who does what, what breaks, who gets the first turns.

Everything is drawn from one seed. A plan can also be written down by hand, or cut shorter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
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

    PARTITION = auto()
    """Nothing reaches the caller, and nothing comes from it, for a while."""

    STALE_TOKEN = auto()
    DELAY = auto()
    FREEZE = auto()
    """The process stands still until all of its leases have run out, and then goes on."""

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
    """A client calls a tool.

    A call that is `named` has a command_id, and is sent again until an answer comes. Its client
    may be deaf to the first answer, or hasty: then it sends a second time without waiting.
    """

    tool: str
    location: str = ""
    text: str = ""
    is_named: bool = False
    is_deaf: bool = False
    is_hasty: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """Another app changes the folder."""

    how: str
    location: str
    text: str = ""
    to: str = ""

    @property
    def new_name(self) -> str:
        """For a file that is renamed: what was given, or the note after it among NOTES."""
        if self.to or self.location not in NOTES:
            return self.to
        return NOTES[(NOTES.index(self.location) + 1) % 3]


@dataclass(frozen=True, slots=True)
class Notify:
    """Dropbox calls the webhook."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """The queue hands over one of its messages, and may keep it to do so again."""

    is_again: bool = False


@dataclass(frozen=True, slots=True)
class Sweep:
    """The account is looked at again, whether anything was heard of it or not."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing, for a while."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Outage:
    """The embedding service answers nobody, for a while."""

    seconds: float


Act = Say | Edit | Notify | Deliver | Sweep | Wait | Outage


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
    """Seconds by which listings are late."""

    revisions_lag: float = 0.0
    """Seconds by which the revisions of a file are late."""

    @property
    def callers(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(caller for caller, _ in self.acts))

    def acts_of(self, caller: int) -> tuple[Act, ...]:
        return tuple(act for number, act in self.acts if number == caller)


_MIDNIGHT = datetime(2027, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Theme:
    """What histories of one kind are drawn from."""

    tools: tuple[str, ...]
    edits: tuple[str, ...]
    most_edits: int
    troubles: tuple[Trouble, ...]
    most_faults: int
    workers: int = 0
    outages: tuple[float, ...] = ()
    """Seconds for which the embedding service is down, once in a history."""

    tokens: tuple[int, ...] = (PLENTY,)
    starts_at: tuple[datetime, ...] = (MIDDAY,)
    named: float = 0.3
    """The share of calls with a command_id."""

    pauses: tuple[float, ...] = (0.0, 0.0, 0.05, 0.3)
    """Between what others do."""

    clients_share: float = 0.8
    """Of the faults."""

    reach: tuple[int, ...] = (10, 20, 40, 80)
    """In how many steps of a caller a fault may be: early ones meet its first call."""

    rounds: tuple[int, ...] = (0, 1, 1, 2)
    """Of a worker: webhooks, and then messages."""

    copies: tuple[int, ...] = (0, 1, 1, 2)
    """How many of each: some never come, some come twice."""


_LINES = (
    *[Trouble.SILENCE] * 6,
    *[Trouble.CRASH, Trouble.LATE, Trouble.BUSY, Trouble.BROKEN, Trouble.DELAY] * 2,
    *[Trouble.HANG, Trouble.STALE_TOKEN, Trouble.PARTITION, Trouble.PARTITION, Trouble.FREEZE],
)
_OTHERS = ("write", "write", "delete", "rename", "recase", "block", "unblock")
_WRITING = _Theme(
    tools=(*["append"] * 6, *["patch"] * 2, "write", "replace", "replace", "read"),
    edits=_OTHERS,
    most_edits=4,
    troubles=_LINES,
    most_faults=4,
)
_REPEATING = _Theme(
    tools=("append", "append", "append", "write", "patch"),
    edits=("write", "delete"),
    most_edits=1,
    troubles=(
        *[Trouble.CRASH, Trouble.SILENCE, Trouble.LATE] * 2,
        *[Trouble.HANG, Trouble.PARTITION, Trouble.FREEZE],
    ),
    most_faults=3,
    named=1.0,
)
_FINDING = _Theme(
    tools=(*["append", "search"] * 3, "write", "patch"),
    edits=(*_OTHERS, "reset"),
    most_edits=6,
    troubles=_LINES,
    most_faults=3,
    workers=2,
)
_PAYING = _Theme(
    tools=("append", "write", "search", "search"),
    edits=("write",),
    most_edits=2,
    troubles=(Trouble.SILENCE, Trouble.CRASH, Trouble.DELAY, Trouble.HANG),
    most_faults=2,
    workers=1,
    tokens=(60, 90, 200),
    starts_at=(MIDDAY, *(_MIDNIGHT - timedelta(seconds=left) for left in (0.1, 0.3, 0.8, 4.0))),
)
_FOLDING = _Theme(
    tools=("append",),
    edits=("write",),
    most_edits=3,
    troubles=(*[Trouble.FREEZE] * 4, Trouble.CRASH, Trouble.SILENCE),
    most_faults=3,
    workers=2,
    pauses=(0.0, 60.0, 60.0, 110.0),
    clients_share=0.0,
    rounds=(2, 3),
    reach=(50,),
    copies=(1,),
)
_MISSING = _Theme(
    tools=("append", "search", "search", "search"),
    edits=("write", "write", "delete"),
    most_edits=6,
    troubles=(Trouble.SILENCE, Trouble.DELAY),
    most_faults=1,
    workers=1,
    outages=(0.5, 30.0),
    pauses=(0.0, 0.3, 0.6),
)
_THEMES = (_FOLDING, *[_WRITING] * 6, *[_REPEATING] * 3, *[_FINDING] * 3, _PAYING, _MISSING)


def draw(seed: int) -> Plan:
    """A small history: one to three clients, another app, the webhook, workers of the queue."""
    random = Random(seed)
    return _drawn(seed, random, random.choice(_THEMES))


def draw_folds(seed: int) -> Plan:
    """A history in which workers fold tails, and stand still at times: a rare one otherwise."""
    return _drawn(seed, Random(seed), _FOLDING)


def draw_outages(seed: int) -> Plan:
    """A history in which the embedding service is down for a while."""
    return _drawn(seed, Random(seed), _MISSING)


def _drawn(seed: int, random: Random, theme: _Theme) -> Plan:
    are_alike = random.random() < 0.2  # all clients say the same
    favourites = random.choice(((NOTES[0],), NOTES[:2], NOTES))
    acts: list[tuple[int, Act]] = []
    clients = random.choice((1, 2, 2, 3))
    for client in range(clients):
        for number in range(random.choice((1, 1, 2, 3))):
            text = "same" if are_alike else f"{client}.{number}"
            acts.append((client, _say(random, theme, favourites, text)))
    edits = [
        Edit(random.choice(theme.edits), random.choice(favourites), f"- outside {number}\n")
        for number in range(random.randrange(theme.most_edits + 1))
    ]
    others: list[list[Act]] = [
        [act for edit in edits for act in (edit, Wait(random.choice(theme.pauses)))]
    ]
    others += [_background(random, theme) for _ in range(theme.workers)]
    if theme.outages:
        others.append([Wait(random.choice(theme.pauses)), Outage(random.choice(theme.outages))])
    for caller, other in enumerate(others, clients):
        acts += [(caller, act) for act in other]
    return Plan(
        seed,
        tuple(acts),
        _faults(random, theme, clients, clients + len(others)),
        starts_at=random.choice(theme.starts_at),
        tokens=random.choice(theme.tokens),
        ahead={caller: random.choice((-3.0, 0.0, 3.0)) for caller in range(clients)}
        if theme is _PAYING
        else {},
        knobs=_knobs(random),
        is_indexed=theme.workers > 0,
        lag=(lag := random.choice((0.0, 0.3, 5.0))),
        revisions_lag=min(lag, 1.0),
    )


def _say(random: Random, theme: _Theme, favourites: tuple[str, ...], text: str) -> Say:
    location = random.choice(favourites)
    return Say(
        random.choice(theme.tools),
        location,
        f"- {text}\n",
        is_named=random.random() < theme.named,
        is_deaf=random.random() < 0.2,
        is_hasty=random.random() < 0.2,
    )


def _background(random: Random, theme: _Theme) -> list[Act]:
    acts: list[Act] = []
    for _ in range(random.choice(theme.rounds)):
        acts.append(Wait(random.choice((*theme.pauses, 0.5, 4.0))))
        acts += [Notify()] * random.choice(theme.copies)
        acts += [Deliver(is_again=random.random() < 0.2)] * random.choice(theme.copies)
    return acts


def _faults(random: Random, theme: _Theme, clients: int, callers: int) -> tuple[Fault, ...]:
    faults = []
    for _ in range(random.randrange(theme.most_faults + 1)):
        caller = random.randrange(clients if random.random() < theme.clients_share else callers)
        step = random.randrange(random.choice(theme.reach))
        faults.append(Fault(caller, step, random.choice(theme.troubles)))
    return tuple(faults)


def _knobs(random: Random) -> dict[str, object]:
    return {
        "page_size": random.choice((1, 3, 500)),
        "empty_pages": random.choice((0, 0, 1)),
        "coalesce": random.random() < 0.7,
        "children_after_delete": random.random() < 0.3,
        "folder_in_recursive_list": random.random() < 0.5,
    }
