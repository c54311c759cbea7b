"""The ports to where the index is kept: a tail of recent entries, and a pack for each workspace.

Theory of operation. An entry has two halves with one kind of writer each. What Dropbox showed is
written by whoever reads its changes, chained by the cursor's version: nobody notes an older page
over a younger one, and the cursor moves in the same step as the last of what it passed. What the
index made of the file is written by whoever holds the claim on it, and names the rev that was read.
A file is found while the two halves agree, so late writers, repeats and crashes cost work only.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from memorybox.deadline import Deadline
from memorybox.files.model import Cursor
from memorybox.search.budget import Spending
from memorybox.search.model import PackPointer, PackRef, Seen, Settled, TailEntry

if TYPE_CHECKING:
    from memorybox.search.pack import Pack  # numpy, which those who only record do without


@dataclass(frozen=True, slots=True)
class StoredCursor:
    """How far Dropbox's changes are recorded. Without a cursor: list from the start.

    The version is raised by every step of recording; 0 is before the first.
    """

    cursor: Cursor | None
    version: int


@dataclass(frozen=True, slots=True)
class IndexState:
    """Everything of one account's index but the contents of the packs, at one moment."""

    cursor: StoredCursor
    tail: Mapping[str, TailEntry]
    """By path_lower, for every path that was recorded."""

    unlisted: Collection[str]
    """Paths that have a result, or a claim, and were never recorded: no listing showed them yet."""

    packs: Mapping[str, PackPointer]
    """By workspace."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is at this path any more."""

    path_lower: str


Sighting = Seen | Gone


class CursorMoved(Exception):
    """Somebody else recorded since the cursor was read."""


class IndexLost(Exception):
    """The claim on an entry is another's by now; nothing was stored."""


class IndexStore(Protocol):
    """The tail, the pack pointers and the cursor of one account. Every read is consistent."""

    def load(self) -> IndexState:
        """The present state, from one query."""

    def record(
        self,
        sightings: Iterable[Sighting],
        *,
        seen_at: StoredCursor,
        then: Cursor | None = None,
        packs: Sequence[PackPointer] = (),
    ) -> StoredCursor:
        """Note what Dropbox showed, the last sighting of a path counting, and move the cursor.

        Results and claims stay as they are. In steps, each of which raises the version of the
        cursor; the last one moves it to `then`, if given, and makes these packs the current ones.
        Raises CursorMoved at the first step that somebody else came before, be it with a pack.
        With a Gone go the Gones of all entries below its path.
        """

    def claim(self, path_lower: str, *, owner: str, deadline: Deadline) -> TailEntry | None:
        """Take the right to embed this file until `deadline` (with a little grace).

        The entry as it is now, with the new claim in it; None while another's claim holds. The
        path need not be recorded. Claims save money only: the result of a stale one is refused.
        """

    def store(
        self, entry: TailEntry, settled: Settled, *, spending: Spending | None = None
    ) -> None:
        """Put the result in place of the one before, end the claim, settle the spending.

        All in one step, or IndexLost and the spending alone is settled. `entry` is as it was
        claimed. What was recorded stays as it is, whatever it is by now.
        """

    def unclaim(self, entry: TailEntry, *, spending: Spending | None = None) -> None:
        """End the claim, if it still holds, without a result; settle the spending."""

    def point(self, pointer: PackPointer) -> bool:
        """Make these packs the current ones if the current generation is the one before."""

    def forget(self, entries: Iterable[TailEntry]) -> None:
        """Drop entries that a pack now holds, each only while unchanged and unclaimed.

        They are as this store loaded them.
        """

    def discard(self, pointer: PackPointer, *, seen_at: StoredCursor) -> StoredCursor:
        """Drop the pointer to packs that cannot be read, and the cursor, in one step.

        A listing from the start finds its files again. Raises CursorMoved if the pointer or the
        cursor is another by now.
        """


class PackStore(Protocol):
    """The packs of one account: immutable objects."""

    def open(self, refs: Sequence[PackRef]) -> "list[Pack]":
        """The packs, read side by side, or from memory if they were read before.

        What would be too much for memory stays where it is and is read by ranges, as it is asked
        for. Raises PackLost, then too; a missing object is PackDamaged.
        """

    def add(self, workspace: str, generation: int, data: bytes) -> str:
        """Keep a new pack under a name of its own, and return that key."""

    def remove(self, key: str) -> None:
        """Drop a pack that no pointer names."""

    def prune(self, named: Collection[str], *, before: datetime) -> None:
        """Drop the packs that were written before a moment and whose keys are not among `named`."""


class IndexLeases(Protocol):
    """One catch-up with Dropbox at a time for an account."""

    def indexer(self, deadline: Deadline) -> AbstractContextManager[bool]:
        """Wait for the account's index lease until `deadline`; False in the `with` if it never
        came. A holder that vanished loses it when its own time has passed.
        """
