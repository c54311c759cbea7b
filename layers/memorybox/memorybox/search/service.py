"""Search, as its caller sees it: brought up to date first, honest about what it left out."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from memorybox.clock import Clock
from memorybox.deadline import Deadline
from memorybox.errors import Unavailable
from memorybox.files.model import StoredFile
from memorybox.files.names import lowered
from memorybox.search.budget import (
    BudgetLedger,
    BudgetSpent,
    DeploymentBudgetSpent,
    Reservation,
    Spending,
    next_month,
)
from memorybox.search.catalog import Catalog, View
from memorybox.search.catchup import CatchUp
from memorybox.search.embedder import Embedder
from memorybox.search.embedding import LAST_START, embed, tokens_at_most
from memorybox.search.errors import DeploymentOverBudget, EmbeddingSilent, QueryOverBudget
from memorybox.search.healing import heal
from memorybox.search.names import names
from memorybox.search.parallel import Parallel
from memorybox.search.ranking import rank
from memorybox.search.results import FoundFile, IndexOutcome, SearchResult, Unindexed
from memorybox.search.sections import PackLost
from memorybox.search.store import IndexLeases, IndexState

_QUERY = b"query"


@dataclass(frozen=True, slots=True)
class Search:
    """The search of one account, within one call."""

    catalog: Catalog
    catch_up: CatchUp
    leases: IndexLeases
    ledger: BudgetLedger
    embedder: Embedder
    parallel: Parallel
    clock: Clock
    deadline: Deadline
    weight: float | None
    """Of the words, beside the meaning; None for the one that each search makes out itself."""

    monthly_tokens: int

    def index_now(self, stored: StoredFile) -> IndexOutcome:
        """Make a file that was just written findable. Never raises."""
        return self.catch_up.indexer.index_now(stored)

    def search(self, workspace: str | None, query: str, limit: int) -> SearchResult:
        """The best files for a query in a workspace (None: in all), as Dropbox has them now.

        What changed is indexed first. Raises QueryOverBudget or DeploymentOverBudget before
        anything is called, EmbeddingSilent if there are no words either to go by, and what a
        listing of Dropbox raises: an old state never passes for the present one.
        """
        vector = self._start_embedding(query)

        def answer(view: View) -> SearchResult:
            return self._answer(view, workspace, query, vector(), limit)

        lost = set[str]()
        try:
            while True:
                try:
                    if lost:
                        return answer(self.catalog.load(lost=lost))
                    return self._up_to_date(workspace, answer)
                except PackLost as loss:
                    if not self._heal(loss):
                        lost.add(loss.key)
        finally:
            vector()  # has settled what it spent

    def _heal(self, loss: PackLost) -> bool:
        """Whether the index can do without the pack. One does the work, who comes later waits."""
        start_until = self.deadline.earlier(LAST_START)
        with self.leases.indexer(start_until) as is_ours:
            return is_ours and heal(self.catalog, loss, start_until)

    def _start_embedding(self, query: str) -> Callable[[], bytes | None]:
        try:
            reservation = self.ledger.reserve(tokens_at_most([query]))
        except DeploymentBudgetSpent as spent:
            raise DeploymentOverBudget(next_month(spent.month)) from None
        except BudgetSpent as spent:
            raise QueryOverBudget(self.monthly_tokens, next_month(spent.month)) from None
        return self.parallel.start(lambda: self._embedded(query, reservation))

    def _embedded(self, query: str, reservation: Reservation) -> bytes | None:
        embedded = embed(self.embedder, {_QUERY: query}, self.deadline)
        self.ledger.settle(Spending(reservation, embedded.used))
        return embedded.vectors.get(_QUERY)

    def _up_to_date(
        self, workspace: str | None, answer: Callable[[View], SearchResult]
    ) -> SearchResult:
        """The answer with the changes of the folder in it, as far as there is time.

        If what is beneath fails once they are listed, they count as not indexed.
        """
        view = self.catalog.catch_up(self.deadline.earlier(LAST_START))
        if not self.catch_up.due(view, _scope(view.state, workspace)):
            return answer(view)
        try:
            return answer(self._indexed(view, workspace))
        except Unavailable:
            return answer(view)

    def _indexed(self, view: View, workspace: str | None) -> View:
        """The index after what is due was worked off. The lease is only for that."""
        start_until = self.deadline.earlier(LAST_START)
        scope = _scope(view.state, workspace)
        is_due = bool(self.catch_up.due(view, scope, elsewhere=False))
        with self.leases.indexer(start_until if is_due else start_until.capped(0)) as is_ours:
            if is_ours:
                self.catch_up.run(self.catalog.load(), scope)
            elif not is_due:
                return view  # what the other run is at is not asked for
        now = self.catalog.load()
        if now.state.cursor != view.state.cursor:
            return self.catalog.catch_up(start_until)  # others read on, perhaps not to the end
        return replace(now, is_complete=view.is_complete)

    def _answer(
        self, view: View, workspace: str | None, query: str, vector: bytes | None, limit: int
    ) -> SearchResult:
        snapshot, drafter = view.snapshot, self.catch_up.indexer.drafter
        scope = _scope(view.state, workspace)
        today = self.clock.now().date()
        hits = rank(
            snapshot,
            recipe=drafter.recipe,
            scope=scope,
            terms=drafter.lexicon.numbers(query),
            vector=vector,
            weight=self.weight,
            limit=limit,
            parallel=self.parallel,
        )
        pending = len(snapshot.due(drafter.recipe, today, scope))
        if not view.is_complete:
            pending = max(pending, 1)
        if vector is None and not hits and pending:
            raise EmbeddingSilent
        if vector is None:
            hits = [hit for hit in hits if hit.score > 0] or hits  # with a word in common, if any
        skipped = snapshot.skipped(drafter.recipe, today, scope)
        named = names([*(hit.seen for hit in hits), *(seen for seen, _ in skipped)])
        unindexed = (
            Unindexed(*named[seen.path_lower], settled.reason, settled.until)
            for seen, settled in skipped
        )
        return SearchResult(
            hits=tuple(FoundFile(*named[hit.seen.path_lower], hit.score) for hit in hits),
            unindexed=tuple(sorted(unindexed, key=lambda file: (file.workspace, file.path))),
            pending=pending,
            is_by_words_alone=vector is None,
        )


def _scope(state: IndexState, workspace: str | None) -> str | None:
    """The key of a workspace that a caller named in any letter case; None for all of them.

    A key is Dropbox's own lower-casing, which differs from Python's for some letters. A name that
    is none of the known ones is its own key: nothing is there.
    """
    if workspace is None:
        return None
    name = lowered(workspace)
    keys = {entry.workspace for entry in state.tail.values()} | state.packs.keys()
    alike = [key for key in keys if lowered(key) == name]
    return min(alike, key=lambda key: (key != name, key), default=name)
