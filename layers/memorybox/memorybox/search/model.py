"""What the index knows of a file: as Dropbox last showed it, and as it was last indexed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Self

NO_REV = ""
"""The rev of what is kept for its vectors only: it is that of no file."""


@dataclass(frozen=True, slots=True)
class Words:
    """How often each term stands in a part. Terms are numbers: no word can be read from them."""

    terms: bytes
    """Little-endian u32, ascending, each once."""

    counts: bytes
    """One byte for each term, at most 255."""

    length: int
    """How many terms the part has in all, repeats included; at most 65,535."""

    def to_bytes(self) -> bytes:
        return self.length.to_bytes(2, "little") + self.terms + self.counts

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        distinct, rest = divmod(len(data) - 2, 5)
        if distinct < 0 or rest:
            raise ValueError("not the bytes of Words")
        split = 2 + 4 * distinct
        return cls(data[2:split], data[split:], int.from_bytes(data[:2], "little"))


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides what a part looks like in the index. Other recipe, other index."""

    model: str
    dims: int
    splitting: int
    terms: int
    key: str = ""
    """Tells the key of the words from another: who deletes their data and comes back has a new one.
    What a call from before the deletion stores is due."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a file, embedded and counted. The text itself is not kept."""

    start: int
    end: int
    identity: bytes
    """16 bytes that stand for model, dims and text: equal identity, equal vector."""

    vector: bytes
    """`dims` signed bytes, the direction of the text's meaning."""

    words: Words
    """The terms of the text and of the file's path."""


class SkipReason(StrEnum):
    """Why a file has no parts although it has been looked at."""

    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    OVER_BUDGET = "over_budget"
    REFUSED = "refused"
    """The embedding service cannot take its text."""

    NOT_DOWNLOADABLE = "not_downloadable"


@dataclass(frozen=True, slots=True)
class Indexed:
    """The rev was read, and these are its parts. A file without text has none."""

    rev: str
    content_hash: str
    recipe: Recipe
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """The rev is not indexed, and not tried again before `until` (UTC); without it, never."""

    rev: str
    content_hash: str
    reason: SkipReason
    until: date | None = None
    kept: Indexed | None = None
    """Parts of it, under NO_REV, that have their vectors already and need not be paid again."""

    recipe: Recipe | None = None
    """The only one for which this holds; without it, each."""

    def holds(self, recipe: Recipe, today: date) -> bool:
        """Whether its rev need not be tried again yet."""
        return self.recipe in (None, recipe) and (self.until is None or today < self.until)


Settled = Indexed | Skipped


def parts_in(settled: Settled | None) -> Indexed | None:
    """The parts that a result holds, be it for their vectors only."""
    return settled.kept if isinstance(settled, Skipped) else settled


@dataclass(frozen=True, slots=True)
class Seen:
    """A markdown file as Dropbox's listing last showed it."""

    path_lower: str
    """From the app folder on, with its leading slash: the identity of a file."""

    path_display: str
    rev: str
    content_hash: str
    size: int
    modified: datetime

    @property
    def workspace(self) -> str:
        return workspace_of(self.path_lower)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that exists, and what the index has made of it so far."""

    seen: Seen
    settled: Settled | None = None

    def is_indexed(self, recipe: Recipe) -> bool:
        """Whether its parts are those of the file as it was last seen."""
        settled = self.settled
        return (
            isinstance(settled, Indexed)
            and settled.rev == self.seen.rev
            and settled.recipe == recipe
        )

    def is_due(self, recipe: Recipe, today: date) -> bool:
        """Whether the file as it was last seen still has to be indexed; `today` in UTC."""
        match self.settled:
            case Skipped(rev=rev) as skipped if rev == self.seen.rev:
                return not skipped.holds(recipe, today)
            case _:
                return not self.is_indexed(recipe)


@dataclass(frozen=True, slots=True)
class Claim:
    """Who is embedding a file now, so that nobody pays for it twice."""

    owner: str
    fence: int
    """Counts up with every holder; what carries an older one is not stored."""

    until: datetime
    """When others may take it over."""


@dataclass(frozen=True, slots=True)
class TailEntry:
    """What changed at one path since its workspace was packed; it hides what the pack says of it.

    Without `seen` the path is gone. Whatever it says, no file can be live below it (`path/…`)
    unless that one has an entry of its own.
    """

    path_lower: str
    version: int
    """Raised by every write; a writer names the version that it read."""

    seen: Seen | None = None
    settled: Settled | None = None
    claim: Claim | None = None

    @property
    def workspace(self) -> str:
        return workspace_of(self.path_lower)

    @property
    def entry(self) -> Entry | None:
        """The file at this path; None for a path that is gone."""
        return Entry(self.seen, self.settled) if self.seen else None


@dataclass(frozen=True, slots=True)
class PackRef:
    """One of the packs of a workspace, and where it is."""

    number: int
    """The generation that it came with."""

    key: str
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class PackPointer:
    """Which packs are the current ones of a workspace."""

    workspace: str
    generation: int
    """Counts the changes of the pointer."""

    packs: tuple[PackRef, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A file and the score of its best part, within -1..1."""

    seen: Seen
    score: float


def workspace_of(path_lower: str) -> str:
    """The first component: `/garden/beds/plan.md` and `/garden` are of `garden`."""
    return path_lower.split("/", 2)[1]


def folders_of(path_lower: str) -> Iterator[str]:
    """The paths of the folders above it."""
    end = path_lower.rfind("/")
    while end > 0:
        yield path_lower[:end]
        end = path_lower.rfind("/", 0, end)
