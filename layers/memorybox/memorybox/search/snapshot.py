"""The index of an account at one moment: its packs, with what changed since laid over them.

The tail's entry of a path decides over the row of that path in a pack, and hides all rows below it
(`path/…`): what is a file, or gone, is no folder. Only an echo hides nothing: an entry without a
result for a file that Dropbox showed once more at the rev that is packed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from memorybox.search.model import (
    Entry,
    Indexed,
    Recipe,
    Seen,
    Skipped,
    TailEntry,
    workspace_of,
)
from memorybox.search.pack import Pack
from memorybox.search.vectors import Array


@dataclass(frozen=True, slots=True)
class Fold:
    """What the next pack of a workspace holds, and the entries of the tail that it replaces."""

    entries: list[Entry]
    folded: list[TailEntry]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tail entries by path_lower, packs by workspace. A `scope` of None is every workspace."""

    tail: Mapping[str, TailEntry]
    packs: Mapping[str, Pack]

    def entry(self, path_lower: str) -> Entry | None:
        """The file at this path with its parts, if there is one."""
        workspace = workspace_of(path_lower)
        if pack := self.packs.get(workspace):
            row = pack.table.row(path_lower)
            if row is not None and self.live(workspace)[row]:
                [packed] = pack.take([row])
                return Entry(self.seen(pack, row), packed.settled)
        at = self.tail.get(path_lower)
        return at.entry if at else None

    def files(self, scope: str | None = None) -> Iterator[Seen]:
        """Every file that exists."""
        for workspace in self._workspaces(scope):
            for row in np.flatnonzero(self.live(workspace)).tolist():
                yield self.seen(self.packs[workspace], row)
        for entry in self.changed(scope):
            yield entry.seen

    def due(self, recipe: Recipe, today: date, scope: str | None = None) -> list[Seen]:
        """The files that still have to be indexed."""
        return [
            entry.seen for entry in self._unindexed(recipe, scope) if entry.is_due(recipe, today)
        ]

    def skipped(
        self, recipe: Recipe, today: date, scope: str | None = None
    ) -> list[tuple[Seen, Skipped]]:
        """The files that are neither indexed nor due, and why."""
        return [
            (entry.seen, entry.settled)
            for entry in self._unindexed(recipe, scope)
            if isinstance(entry.settled, Skipped) and not entry.is_due(recipe, today)
        ]

    def vectors(self, identities: Iterable[bytes]) -> dict[bytes, bytes]:
        """Those of the vectors that stand anywhere in the account, gone files included."""
        wanted = set(identities)
        found: dict[bytes, bytes] = {}
        for pack in self.packs.values():
            found |= pack.columns.vectors_of(wanted)
        for _, settled in self._results():
            found |= {p.identity: p.vector for p in settled.parts if p.identity in wanted}
        return found

    def by_content(self, hashes: Iterable[str], recipe: Recipe) -> dict[str, tuple[str, Indexed]]:
        """For each content_hash the path and the parts of a file that was indexed with it.

        The file may be gone from there: so one that was moved is found again.
        """
        wanted = set(hashes)
        found = {
            settled.content_hash: (path, settled)
            for path, settled in self._results()
            if settled.content_hash in wanted and settled.recipe == recipe
        }
        for pack in self.packs.values():
            if pack.recipe == recipe:
                for entry in pack.take(pack.table.rows_of(wanted - found.keys())):
                    if isinstance(entry.settled, Indexed) and entry.is_indexed(recipe):
                        found[entry.settled.content_hash] = (entry.seen.path_lower, entry.settled)
        return found

    def fold(self, workspace: str, recipe: Recipe, today: date) -> Fold:
        """The next pack of a workspace under this recipe.

        What is due stays in the tail, and its old row, which it hides, in the pack: its vectors
        may serve once more.
        """
        staying = {e.seen.path_lower for e in self.changed(workspace) if e.is_due(recipe, today)}
        entries = [e for e in self.changed(workspace) if e.seen.path_lower not in staying]
        if pack := self.packs.get(workspace):
            kept = self.live(workspace)
            kept[[row for path in staying if (row := pack.table.row(path)) is not None]] = True
            rows: list[int] = np.flatnonzero(kept).tolist()
            for row, packed in zip(rows, pack.take(rows), strict=True):
                seen = packed.seen if pack.table.paths[row] in staying else self.seen(pack, row)
                entries.append(Entry(seen, packed.settled))
        return Fold(
            entries,
            folded=[
                at
                for at in self.tail.values()
                if at.workspace == workspace and at.path_lower not in staying
            ],
        )

    def live(self, workspace: str) -> Array:
        """For each row of the workspace's pack whether it still holds."""
        pack = self.packs[workspace]
        live = np.ones(pack.files, bool)
        here = [at for at in self.tail.values() if at.workspace == workspace]
        for at in here:
            live[pack.table.below(at.path_lower)] = False
        for at in here:
            row = pack.table.row(at.path_lower)
            if row is not None:
                live[row] = _is_echo(at, pack, row)
        return live

    def seen(self, pack: Pack, row: int) -> Seen:
        """The file of a live row, as it was last seen."""
        at = self.tail.get(pack.table.paths[row])
        return at.seen if at and at.seen else pack.table.seen(row)

    def changed(self, scope: str | None = None) -> Iterator[Entry]:
        """The files for which the tail speaks, not a pack."""
        for at in self.tail.values():
            if at.entry and scope in (None, at.workspace):
                pack = self.packs.get(at.workspace)
                row = pack.table.row(at.path_lower) if pack else None
                if pack is None or row is None or not _is_echo(at, pack, row):
                    yield at.entry

    def _workspaces(self, scope: str | None) -> list[str]:
        return [workspace for workspace in self.packs if scope in (None, workspace)]

    def _unindexed(self, recipe: Recipe, scope: str | None) -> Iterator[Entry]:
        for workspace in self._workspaces(scope):
            pack = self.packs[workspace]
            rows = self.live(workspace)
            if pack.recipe == recipe:
                rows &= ~pack.table.indexed
            for row in np.flatnonzero(rows).tolist():
                yield Entry(self.seen(pack, row), pack.table.skipped(row))
        for entry in self.changed(scope):
            if not entry.is_indexed(recipe):
                yield entry

    def _results(self) -> Iterator[tuple[str, Indexed]]:
        for at in self.tail.values():
            if isinstance(at.settled, Indexed):
                yield at.path_lower, at.settled


def _is_echo(at: TailEntry, pack: Pack, row: int) -> bool:
    return at.seen is not None and at.settled is None and at.seen.rev == pack.table.rev(row)
