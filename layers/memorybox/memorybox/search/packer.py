"""Folds the tails of workspaces into new packs, and small packs with them.

One query reads the tail of all workspaces with every search, so it is kept short as a whole.
A new pack takes in those of up to twice what it holds without them, the smallest first. So each
pack that is left is more than twice as large as the new one: a workspace has few, and a part is
written again only a few times, however often its workspace is folded. A pack that is full is left
alone until half of it is hidden.

First the pack, under a name of its own; then the pointer, by compare-and-swap; then the entries
that are now in the pack, each only if nothing happened to it. A crash after any step leaves a right
index: an object that nobody names, or entries that say what the pack says too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from types import MappingProxyType

from memorybox.clock import Clock
from memorybox.search.catalog import View
from memorybox.search.model import (
    Entry,
    PackPointer,
    PackRef,
    Recipe,
    Seen,
    Settled,
    TailEntry,
    folders_of,
    parts_in,
)
from memorybox.search.pack import build_pack
from memorybox.search.recorder import Shelved
from memorybox.search.snapshot import Fold, Snapshot
from memorybox.search.store import IndexStore, PackStore, Sighting
from memorybox.search.vectors import Array

LARGE = 256 * 1024
"""Bytes of a tail that is worth folding: 64 read units."""

ENTRY = 400
"""Bytes that an entry takes beside its parts, about."""

SMALL = 1_000_000
"""Bytes of a pack that it costs little to make anew."""

FULL = 48 * 1024 * 1024
"""Bytes of a pack, about: while it is made, several times as many are in memory."""

MANY = 100
"""New files of a workspace that are worth a pack at once: more than one step of recording notes."""

SHELVES = 20
"""Workspaces whose packs are made together."""

NO_RESULTS: Mapping[str, Settled] = MappingProxyType({})

UNNAMED_IS_KEPT = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Packer:
    """Keeps tails short. One runs at a time; of two, one does nothing."""

    index: IndexStore
    packs: PackStore
    recipe: Recipe
    clock: Clock
    many: int = MANY
    small: int = SMALL
    """Bytes that a new pack counts for at least, when it is compared with the others."""

    full: int = FULL

    def long_tails(self, view: View) -> list[str]:
        """The workspaces to fold: of a large tail the longest ones, so many that half is left.

        What is due would stay in the tail, and does not count.
        """
        staying = {seen.path_lower for seen in view.snapshot.due(self.recipe, self._today())}
        sizes: Counter[str] = Counter()
        for entry in view.state.tail.values():
            if entry.path_lower not in staying:
                sizes[entry.workspace] += ENTRY + _size(entry)
        left, chosen = sizes.total(), list[str]()
        if left > LARGE:
            for workspace, size in sizes.most_common():
                if left > LARGE / 2:
                    chosen.append(workspace)
                    left -= size
        return chosen

    def fold(self, view: View, workspace: str, results: Mapping[str, Settled] = NO_RESULTS) -> bool:
        """Make the next pack of a workspace, and drop from the tail what is in it.

        `results`, by path, are those of files that are due; one counts if the file is still at its
        rev. False if another pack came first.
        """
        snapshot = self._with(view.snapshot, workspace, results)
        pointer, fold = self._next(view, snapshot, workspace)
        if not self.index.point(pointer):
            self.packs.remove(pointer.packs[-1].key)
            return False
        self.index.forget(at for at in fold.folded if at.path_lower in view.state.tail)
        return True

    def shelve(self, view: View, sightings: Sequence[Sighting]) -> Shelved:
        """Make packs in which new files, where there are many, are noted as due.

        They are to be recorded in one step with the rest. A file goes there only if the tail has
        nothing to say of its path, or of a folder above it: that would hide the row.
        """
        if len(sightings) < self.many:
            return Shelved((), sightings)
        told = view.state.tail.keys() | set(view.state.unlisted)
        hiding = told | {sighting.path_lower for sighting in sightings}
        new: dict[str, list[Seen]] = {}
        for sighting in sightings:
            if isinstance(sighting, Seen) and sighting.path_lower not in told:
                is_plain = hiding.isdisjoint(folders_of(sighting.path_lower))
                if is_plain:
                    new.setdefault(sighting.workspace, []).append(sighting)
        most = sorted(new, key=lambda workspace: -len(new[workspace]))[:SHELVES]
        packs, shelved = list[PackPointer](), set[str]()
        for workspace in most:
            layers = view.snapshot.layers(workspace)
            files = [
                seen
                for seen in new[workspace]
                if all(layer.row(seen.path_lower) is None for layer in layers)
            ]
            if len(files) >= self.many:
                pointer, _ = self._next(view, view.snapshot, workspace, files)
                packs.append(pointer)
                shelved |= {seen.path_lower for seen in files}
        return Shelved(packs, [s for s in sightings if s.path_lower not in shelved])

    def sweep(self, view: View) -> None:
        """Drop the packs that no pointer names: those before the last, and what a crash left.

        Not yet those of the last days: a reader may be at one, and the newest is not named yet.
        """
        named = {ref.key for pointer in view.state.packs.values() for ref in pointer.packs}
        self.packs.prune(named, before=self.clock.now() - UNNAMED_IS_KEPT)

    def _next(
        self, view: View, snapshot: Snapshot, workspace: str, new: Sequence[Seen] = ()
    ) -> tuple[PackPointer, Fold]:
        """The pointer with the next pack of a workspace in it, which also notes `new` files."""
        current = view.state.packs.get(workspace)
        refs, generation = (current.packs, current.generation + 1) if current else ((), 1)
        merged = self._merged(snapshot, workspace, refs)
        fold = snapshot.fold(workspace, self.recipe, self._today(), merged)
        entries = [*fold.entries, *map(Entry, new)]
        data = build_pack(self.recipe, entries, generation, fold.hides)
        key = self.packs.add(workspace, generation, data)
        staying = [ref for ref in refs if ref.number not in merged]
        packs = (*staying, PackRef(generation, key, len(data)))
        return PackPointer(workspace, generation, packs), fold

    def _merged(self, snapshot: Snapshot, workspace: str, refs: Iterable[PackRef]) -> set[int]:
        """The numbers of the packs that the next one takes in."""
        sizes = {ref.number: ref.size for ref in refs}
        live = {
            layer.pack.number: sizes[layer.pack.number] * _share(layer.live)
            for layer in snapshot.layers(workspace)
        }
        tail = (at for at in snapshot.tail.values() if at.workspace == workspace)
        total: float = max(self.small, sum(map(_size, tail)))
        merged = set[int]()
        for number in sorted(live, key=live.__getitem__):
            is_small = live[number] <= 2 * total
            is_hollow = live[number] < sizes[number] / 2
            if (is_small or is_hollow) and total + live[number] <= self.full:
                merged.add(number)
                total += live[number]
        return merged

    def _with(self, snapshot: Snapshot, workspace: str, results: Mapping[str, Settled]) -> Snapshot:
        """The snapshot as if the tail held the results."""
        if not results:
            return snapshot
        tail = dict(snapshot.tail)
        for seen in snapshot.due(self.recipe, self._today(), workspace):
            path, settled = seen.path_lower, results.get(seen.path_lower)
            if settled and settled.rev == seen.rev:
                at = tail.get(path) or TailEntry(path, version=0)
                tail[path] = replace(at, seen=seen, settled=settled)
        return Snapshot(tail, snapshot.packs)

    def _today(self) -> date:
        return self.clock.now().date()


def _share(live: Array) -> float:
    """How much of a pack still holds."""
    return float(live.mean()) if len(live) else 0.0


def _size(entry: TailEntry) -> int:
    held = parts_in(entry.settled)
    return sum(len(p.vector) + len(p.words.to_bytes()) for p in held.parts) if held else 0
