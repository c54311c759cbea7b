"""The ports to where the index is kept: a tail of recent entries, and a pack for each workspace.

Theory of operation. Many writers only add to the tail; each entry is moved by compare-and-swap.
Whoever reads changes from Dropbox records them here before the cursor moves, and both only while
the cursor is the one that was read, so that neither a crash nor a late writer can lose a change.
What is recorded only wakes an indexer, which reads the file as it is now.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from memorybox.deadline import Deadline
from memorybox.files.model import Cursor
from memorybox.search.budget import Spending
from memorybox.search.model import Claim, PackPointer, Seen, TailEntry
from memorybox.search.pack import Pack


@dataclass(frozen=True, slots=True)
class StoredCursor:
    """How far Dropbox's changes are recorded. Version 0 without a cursor: not begun."""

    cursor: Cursor | None
    version: int


@dataclass(frozen=True, slots=True)
class IndexState:
    """Everything of one account's index but the contents of the packs, at one moment."""

    cursor: StoredCursor
    tail: Mapping[str, TailEntry]
    """By path_lower."""

    packs: Mapping[str, PackPointer]
    """By workspace."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is at this path any more."""

    path_lower: str


Sighting = Seen | Gone


class CursorMoved(Exception):
    """Somebody else moved the cursor since it was read; nothing was recorded."""


class IndexLost(Exception):
    """An entry, or the claim on it, is another's by now; nothing was stored."""


class IndexStore(Protocol):
    """The tail, the pack pointers and the cursor of one account. Every read is consistent."""

    def load(self) -> IndexState:
        """The present state, from one query."""

    def cursor(self) -> StoredCursor:
        """The cursor alone."""

    def paths_below(self, path_lower: str) -> Sequence[str]:
        """The paths of the tail under a folder: those that start with the path and a slash."""

    def record(self, sightings: Iterable[Sighting], *, seen_at: StoredCursor) -> None:
        """Note what Dropbox showed, the last sighting of a path counting; settled parts stay.

        For a Gone the entries below it must be among the sightings. Raises CursorMoved, perhaps
        after some of them were noted: harmless, since whoever moved the cursor noted them too.
        """

    def advance(self, cursor: Cursor, *, seen_at: StoredCursor) -> StoredCursor:
        """Move the cursor, after everything before it was recorded. Raises CursorMoved."""

    def claim(self, path_lower: str, *, owner: str, deadline: Deadline) -> TailEntry | None:
        """Take the right to embed this file until `deadline` (with a little grace).

        The entry as it is now, with the new claim in it; made if the path had none. None while
        another's claim holds. Claims save money only: a stale holder's `store` is refused.
        """

    def store(self, entry: TailEntry, *, claim: Claim, spending: Spending | None = None) -> None:
        """Put the entry in place of the one that was claimed, end the claim, settle the spending.

        All in one step, or IndexLost and the spending alone is settled. `entry.version` is the one
        claimed with; the stored one is higher.
        """

    def unclaim(self, entry: TailEntry, *, spending: Spending | None = None) -> None:
        """End the claim and leave the entry as it was; settle the spending."""

    def point(self, pointer: PackPointer) -> bool:
        """Make this pack the current one if the current generation is the one before its own."""

    def forget(self, entries: Iterable[TailEntry]) -> None:
        """Drop entries that a pack now holds, each only while its version is unchanged."""


class PackStore(Protocol):
    """The packs of one account: immutable objects."""

    def open(self, pointer: PackPointer) -> Pack:
        """The pack, from memory if it was read before. Raises PackDamaged or PackUnknown.

        A missing object is PackDamaged: the workspace is indexed anew.
        """

    def add(self, workspace: str, generation: int, data: bytes) -> str:
        """Keep a new pack under a name of its own, and return that key."""

    def remove(self, key: str) -> None:
        """Drop a pack that no pointer names."""


class IndexLeases(Protocol):
    """One catch-up with Dropbox at a time for an account."""

    def indexer(self, deadline: Deadline) -> AbstractContextManager[bool]:
        """Wait for the account's index lease until `deadline`; False in the `with` if it never
        came. A holder that vanished loses it when its own time has passed.
        """
