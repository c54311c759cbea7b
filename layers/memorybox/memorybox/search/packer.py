"""Folds a long tail into the next pack of its workspace.

First the pack, under a name of its own; then the pointer, by compare-and-swap; then the entries
that are now in the pack, each only if nothing happened to it. A crash after any step leaves a right
index: an object that nobody names, or entries that say what the pack says too.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta

from memorybox.clock import Clock
from memorybox.search.catalog import View
from memorybox.search.model import Indexed, PackPointer, Recipe, TailEntry
from memorybox.search.pack import build_pack
from memorybox.search.store import IndexStore, PackStore

LONG = 500
"""Entries of a tail that is worth folding."""

LARGE = 1_000_000
"""Bytes of a tail that is worth folding: one query reads them with every search."""

UNNAMED_IS_KEPT = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Packer:
    """Keeps tails short. One runs at a time; of two, one does nothing."""

    index: IndexStore
    packs: PackStore
    recipe: Recipe
    clock: Clock

    def long_tails(self, view: View) -> list[str]:
        """The workspaces whose tails are worth folding; what is due would stay in the tail."""
        staying = {seen.path_lower for seen in view.snapshot.due(self.recipe, self._today())}
        entries: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        for entry in view.state.tail.values():
            if entry.path_lower not in staying:
                entries[entry.workspace] += 1
                sizes[entry.workspace] += _size(entry)
        return [name for name in entries if entries[name] > LONG or sizes[name] > LARGE]

    def fold(self, view: View, workspace: str) -> bool:
        """Make the next pack of a workspace, and drop from the tail what is in it.

        False if another pack came first.
        """
        fold = view.snapshot.fold(workspace, self.recipe, self._today())
        current = view.state.packs.get(workspace)
        generation = current.generation + 1 if current else 1
        key = self.packs.add(workspace, generation, build_pack(self.recipe, fold.entries))
        parts = sum(
            len(entry.settled.parts) for entry in fold.entries if isinstance(entry.settled, Indexed)
        )
        if not self.index.point(
            PackPointer(workspace, key, generation, files=len(fold.entries), parts=parts)
        ):
            self.packs.remove(key)
            return False
        self.index.forget(fold.folded)
        return True

    def sweep(self, view: View) -> None:
        """Drop the packs that no pointer names: those before the last, and what a crash left.

        Not yet those of the last days: a reader may be at one, and the newest is not named yet.
        """
        named = {pointer.key for pointer in view.state.packs.values()}
        self.packs.prune(named, before=self.clock.now() - UNNAMED_IS_KEPT)

    def _today(self) -> date:
        return self.clock.now().date()


def _size(entry: TailEntry) -> int:
    match entry.settled:
        case Indexed(parts=parts):
            return sum(len(part.vector) + len(part.words.to_bytes()) for part in parts)
        case _:
            return 0
