"""The index of an account at one moment: its packs, with what changed since laid over them.

The tail's entry of a path decides over the rows of that path in packs, and hides all rows below it
(`path/…`): what is a file, or gone, is no folder. Only an echo hides nothing: an entry without a
result for a file that Dropbox showed once more at the rev that is packed. A pack says itself which
rows of older ones it hides, so that of a file one row stands at most.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from memorybox.search.model import (
    Entry,
    Indexed,
    Recipe,
    Seen,
    Skipped,
    TailEntry,
    parts_in,
    workspace_of,
)
from memorybox.search.pack import Pack
from memorybox.search.table import FileTable
from memorybox.search.vectors import Array


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A pack under the younger packs of its workspace, and under the tail."""

    pack: Pack
    standing: Array
    """For each row whether no younger pack hides it."""

    live: Array
    """For each row whether the tail does not hide it either."""

    echoes: Sequence[int]
    """The rows whose files the tail shows once more."""

    def row(self, path_lower: str) -> int | None:
        """The row of this path, if it stands."""
        row = self.pack.table.row(path_lower)
        return row if row is not None and self.standing[row] else None


@dataclass(frozen=True, slots=True)
class Fold:
    """What the next pack of a workspace holds, and what it takes the place of."""

    entries: list[Entry]
    hides: Mapping[int, Sequence[int]]
    """By number of a pack that stays, rows of it that hold no more."""

    folded: list[TailEntry]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tail entries by path_lower, packs by workspace. A `scope` of None is every workspace."""

    tail: Mapping[str, TailEntry]
    packs: Mapping[str, Sequence[Pack]]
    _layers: dict[str | None, list[Layer]] = field(default_factory=dict, repr=False, compare=False)

    def entry(self, path_lower: str) -> Entry | None:
        """The file at this path with its parts, if there is one."""
        for layer in self.layers(workspace_of(path_lower)):
            row = layer.row(path_lower)
            if row is not None and layer.live[row]:
                [packed] = layer.pack.take([row])
                return Entry(self.seen(layer.pack.table, row), packed.settled)
        at = self.tail.get(path_lower)
        return at.entry if at else None

    def files(self, scope: str | None = None) -> Iterator[Seen]:
        """Every file that exists."""
        for layer in self.layers(scope):
            table = layer.pack.table.loaded()
            for row in _numbers(layer.live):
                yield self.seen(table, row)
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
        for layer in self.layers(None) if wanted else ():
            found |= layer.pack.columns.vectors_of(wanted)
        for at in self.tail.values():
            if held := parts_in(at.settled):
                found |= {p.identity: p.vector for p in held.parts if p.identity in wanted}
        return found

    def by_content(self, hashes: Iterable[str], recipe: Recipe) -> dict[str, tuple[str, Indexed]]:
        """For each content_hash the path and the parts of a file that was indexed with it.

        The file may be gone from there: so one that was moved is found again.
        """
        wanted = set(hashes)
        found = {
            at.settled.content_hash: (path, at.settled)
            for path, at in self.tail.items()
            if isinstance(at.settled, Indexed)
            and at.settled.content_hash in wanted
            and at.settled.recipe == recipe
        }
        for layer in self.layers(None):
            pack, missing = layer.pack, wanted - found.keys()
            if missing and pack.recipe == recipe and (rows := pack.table.rows_of(missing)):
                for entry in pack.take(rows):
                    if isinstance(entry.settled, Indexed):
                        found[entry.settled.content_hash] = (entry.seen.path_lower, entry.settled)
        return found

    def fold(self, workspace: str, recipe: Recipe, today: date, merged: Collection[int]) -> Fold:
        """The next pack of a workspace under this recipe, with the packs of these numbers in it.

        What is due stays in the tail, and its old row, which it hides, in a pack: its vectors may
        serve once more.
        """
        staying = {e.seen.path_lower for e in self.changed(workspace) if e.is_due(recipe, today)}
        entries = [e for e in self.changed(workspace) if e.seen.path_lower not in staying]
        layers = self.layers(workspace)
        hides = {layer.pack.number: set[int]() for layer in layers}
        for layer in layers:
            pack, live = layer.pack, layer.live
            waiting = [row for path in staying if (row := layer.row(path)) is not None]
            kept = live.copy()
            kept[waiting] = True
            if pack.number in merged:
                rows = _numbers(kept)
                for number in pack.hides.keys() & hides.keys():
                    hides[number].update(map(int, pack.hides[number]))
            else:
                table = pack.table
                rows = [row for row in layer.echoes if self.seen(table, row) != table.seen(row)]
                hides[pack.number].update(rows, _numbers(layer.standing & ~kept))
            for row, packed in zip(rows, pack.take(rows) if rows else (), strict=True):
                seen = self.seen(pack.table, row) if live[row] else packed.seen
                entries.append(Entry(seen, packed.settled))
        return Fold(
            entries,
            hides={n: sorted(rows) for n, rows in hides.items() if rows and n not in merged},
            folded=[
                at
                for at in self.tail.values()
                if at.workspace == workspace and at.path_lower not in staying
            ],
        )

    def layers(self, scope: str | None) -> list[Layer]:
        """The packs in the scope, each with what holds of it."""
        if scope not in self._layers:
            if scope is None:
                layers = [layer for each, _ in self.packs.items() for layer in self.layers(each)]
            else:
                layers = list(self._laid_over(scope))
            self._layers[scope] = layers
        return self._layers[scope]

    def seen(self, table: FileTable, row: int) -> Seen:
        """The file of a live row, as it was last seen."""
        at = self.tail.get(table.paths[row])
        return at.seen if at and at.seen else table.seen(row)

    def changed(self, scope: str | None = None) -> Iterator[Entry]:
        """The files for which the tail speaks, not a pack."""
        echoes = {
            layer.pack.table.paths[row] for layer in self.layers(scope) for row in layer.echoes
        }
        for at in self.tail.values():
            if scope in (None, at.workspace) and at.path_lower not in echoes and at.seen:
                yield Entry(at.seen, at.settled)

    def _laid_over(self, workspace: str) -> Iterator[Layer]:
        packs = self.packs.get(workspace, ())
        here = [at for at in self.tail.values() if at.workspace == workspace] if packs else []
        for pack in packs:
            standing = np.ones(pack.files, bool)
            for younger in packs:
                standing[younger.hides.get(pack.number, [])] = False
            live = standing.copy()
            places = [(at, *pack.table.place(at.path_lower)) for at in here]
            for _, _, below in places:
                live[below] = False
            echoes = []
            for at, row, _ in places:
                if row is not None and standing[row]:
                    live[row] = _is_echo(at, pack, row)
                    echoes += [row] if live[row] else []
            yield Layer(pack, standing, live, echoes)

    def _unindexed(self, recipe: Recipe, scope: str | None) -> Iterator[Entry]:
        for layer in self.layers(scope):
            pack, rows = layer.pack, layer.live
            if pack.recipe == recipe:
                rows = rows & ~pack.table.indexed
            table = pack.table.loaded() if rows.any() else pack.table
            for row in _numbers(rows):
                yield Entry(self.seen(table, row), table.skipped(row, pack.recipe))
        for entry in self.changed(scope):
            if not entry.is_indexed(recipe):
                yield entry


def _is_echo(at: TailEntry, pack: Pack, row: int) -> bool:
    return at.seen is not None and at.settled is None and at.seen.rev == pack.table.rev(row)


def _numbers(rows: Array) -> list[int]:
    numbers: list[int] = np.flatnonzero(rows).tolist()
    return numbers
