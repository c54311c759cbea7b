"""One run of the indexer: what a message from the queue sets going."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memorybox.deadline import Deadline
from memorybox.search.catalog import Catalog
from memorybox.search.catchup import CatchUp
from memorybox.search.embedding import LAST_START
from memorybox.search.healing import heal
from memorybox.search.packer import Packer
from memorybox.search.sections import PackLost
from memorybox.search.store import IndexLeases

TURN = 5.0
"""Seconds to wait for another run to end."""


@dataclass(frozen=True, slots=True)
class IndexRun:
    """Indexes what is due, folds what is long, and says whether more is left."""

    catalog: Catalog
    catch_up: CatchUp
    leases: IndexLeases
    packer: Packer
    deadline: Deadline

    def work(self, paths: Sequence[str] | None = None) -> bool:
        """Go on until nothing is left to do (True), or the time is up or another runs (False).

        What others hold, or nobody can read now, counts as theirs: the next change or search comes
        back to it. `paths` are recorded already, and come first; without them Dropbox's changes
        are read. Raises Unavailable if the next run should wait a while.
        """
        while True:
            try:
                return self._work(paths)
            except PackLost as lost:
                if not self._heal(lost):
                    return False

    def _work(self, paths: Sequence[str] | None) -> bool:
        is_complete = True
        if paths is None:
            view = self.catalog.catch_up(self.deadline.earlier(LAST_START))
            is_complete = view.is_complete
            self.packer.sweep(view)
        else:
            view = self.catalog.load()
        if not self.catch_up.due(view, None) and not self.packer.long_tails(view):
            return is_complete
        with self.leases.indexer(self.deadline.capped(TURN)) as is_ours:
            return is_ours and self._index(frozenset(paths or ())) and is_complete

    def _heal(self, lost: PackLost) -> bool:
        with self.leases.indexer(self.deadline.capped(TURN)) as is_ours:
            return is_ours and heal(self.catalog, lost, self.deadline.earlier(LAST_START))

    def _index(self, first: Collection[str]) -> bool:
        view = self.catalog.load()
        before = len(self.catch_up.due(view, None))
        halt = self.catch_up.run(view, None, first)
        view = self.catalog.load()
        for workspace in self.packer.long_tails(view):
            self.packer.fold(view, workspace)
        left = len(self.catch_up.due(view, None))
        if left and halt:
            raise halt
        is_stuck = left >= before and not self.catch_up.indexer.is_late
        return not left or is_stuck
