"""What search answers, and what became of a file that should be indexed."""

from dataclasses import dataclass
from datetime import date

from memorybox.search.model import SkipReason


@dataclass(frozen=True, slots=True)
class IndexedNow:
    """The file can be found; it is kept in this many parts."""

    parts: int


@dataclass(frozen=True, slots=True)
class TooLarge:
    """The file has over 1,000,000 bytes."""


@dataclass(frozen=True, slots=True)
class OverBudget:
    """The file does not fit in the account's tokens of this month."""

    until: date


@dataclass(frozen=True, slots=True)
class DeploymentSpent:
    """The file does not fit in the deployment's tokens of this month."""

    until: date


@dataclass(frozen=True, slots=True)
class NoText:
    """The file is empty or blank."""


@dataclass(frozen=True, slots=True)
class ServiceSilent:
    """The embedding service did not answer; the next search tries again."""


@dataclass(frozen=True, slots=True)
class NoTime:
    """The call had no time left, or somebody else is indexing the file."""


@dataclass(frozen=True, slots=True)
class TextNotTaken:
    """The embedding service refuses the text, or gives vectors that cannot be used."""


IndexOutcome = (
    IndexedNow
    | TooLarge
    | OverBudget
    | DeploymentSpent
    | NoText
    | ServiceSilent
    | NoTime
    | TextNotTaken
)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A hit, named as people see it, with the score of its best part (-1 to 1)."""

    workspace: str
    path: str
    score: float


@dataclass(frozen=True, slots=True)
class Unindexed:
    """A file that cannot be found, and why; `until` is the day of the next try, if there is one."""

    workspace: str
    path: str
    reason: SkipReason
    until: date | None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, and what was not searched."""

    hits: tuple[FoundFile, ...]
    unindexed: tuple[Unindexed, ...]
    """Sorted by name."""

    pending: int
    """Files in scope that wait for time or for the embedding service."""

    is_by_words_alone: bool
    """Whether the embedding service was silent, so that only words were compared."""
