"""Makes files findable: pays for their vectors and stores them, a file at once or many together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from memorybox.deadline import Deadline
from memorybox.errors import MemoryBoxError
from memorybox.files.model import StoredFile
from memorybox.search.budget import (
    BudgetLedger,
    BudgetSpent,
    DeploymentBudgetSpent,
    Spending,
    next_month,
)
from memorybox.search.bundles import Work, bundled
from memorybox.search.catalog import Catalog
from memorybox.search.drafts import Drafter
from memorybox.search.embedder import Embedder
from memorybox.search.embedding import LAST_START, Embedded, Halt, embed, tokens_at_most
from memorybox.search.model import Indexed, Skipped, SkipReason, TailEntry
from memorybox.search.parallel import Parallel
from memorybox.search.results import (
    DeploymentSpent,
    IndexedNow,
    IndexOutcome,
    NoText,
    NoTime,
    OverBudget,
    ServiceSilent,
    TextNotTaken,
    TooLarge,
)
from memorybox.search.store import IndexLost, IndexStore


@dataclass(frozen=True, slots=True)
class _Paid:
    """What became of the texts of a bundle, and what is to be settled for them."""

    embedded: Embedded
    spending: Spending | None = None
    refusal: BudgetSpent | None = None

    @property
    def is_for_all(self) -> bool:
        """Whether it stands for every file: no text of another one may be to blame."""
        return not self.refusal and self.embedded.halt is not Halt.REFUSED


@dataclass(frozen=True, slots=True)
class Indexer:
    """Indexes files of one account until a deadline, 5 s before which it begins nothing new."""

    index: IndexStore
    ledger: BudgetLedger
    embedder: Embedder
    drafter: Drafter
    catalog: Catalog
    parallel: Parallel
    owner: str
    deadline: Deadline

    @property
    def is_late(self) -> bool:
        return self.deadline.earlier(LAST_START).has_passed

    def index_now(self, stored: StoredFile) -> IndexOutcome:
        """Index a file that was just written. Whatever goes wrong is only an outcome.

        That the file exists is left to the next listing to say; every search begins with one.
        """
        try:
            return NoTime() if self.is_late else self._index_now(stored)
        except (MemoryBoxError, IndexLost):
            return NoTime()

    def _index_now(self, stored: StoredFile) -> IndexOutcome:
        draft = self.drafter.draft(stored)
        claimed = self.claim(stored.entry.path_lower)
        if claimed is None:
            return NoTime()
        if isinstance(draft, Skipped):
            self.index.store(claimed, draft)
            return TooLarge() if draft.reason is SkipReason.TOO_LARGE else TextNotTaken()
        vectors = vectors_of(claimed)
        if not vectors and len(draft.parts) > 1:
            vectors = self.catalog.load().snapshot.vectors(draft.texts(vectors))
        [outcome] = self.index_all([Work(claimed, stored.entry, draft)], vectors)
        return outcome

    def claim(self, path_lower: str) -> TailEntry | None:
        """The entry of the file, for this run alone; None if another run has it."""
        return self.index.claim(path_lower, owner=self.owner, deadline=self.deadline)

    def index_all(self, works: Sequence[Work], vectors: dict[bytes, bytes]) -> list[IndexOutcome]:
        """Embed what has no vector in `vectors`, which grows, and store each file when it is whole.

        The outcomes are in no order.
        """
        bundles, later = bundled(works, vectors)
        paying = [self.parallel.start(partial(self._pay, bundle.texts)) for bundle in bundles]
        storing: list[Callable[[], IndexOutcome]] = []
        for bundle, wait in zip(bundles, paying, strict=True):
            paid = wait()
            vectors |= paid.embedded.vectors
            if len(bundle.works) > 1 and not paid.is_for_all:
                later += bundle.works
                if paid.spending:
                    self.ledger.settle(paid.spending)
                continue
            for work in bundle.works:
                storing.append(self.parallel.start(partial(self._store, work, paid, vectors)))
                paid = replace(paid, spending=None)  # settled with the first of them
        outcomes = [wait() for wait in storing]
        for work in later:
            outcomes += self._index_later(work, vectors, outcomes)
        return outcomes

    def _index_later(
        self, work: Work, vectors: dict[bytes, bytes], before: Sequence[IndexOutcome]
    ) -> list[IndexOutcome]:
        if ServiceSilent() in before:
            self.index.unclaim(work.claimed)
            return [ServiceSilent()]
        return self.index_all([work], vectors)

    def _pay(self, texts: dict[bytes, str]) -> _Paid:
        """Embed the texts if all of them fit in the budget, else none."""
        if not texts:
            return _Paid(Embedded({}, used=0))
        if self.is_late:
            return _Paid(Embedded({}, used=0, halt=Halt.NO_TIME))
        try:
            reservation = self.ledger.reserve(tokens_at_most(texts.values()))
        except BudgetSpent as spent:
            return _Paid(Embedded({}, used=0), refusal=spent)
        embedded = embed(self.embedder, texts, self.deadline)
        return _Paid(embedded, Spending(reservation, embedded.used))

    def _store(self, work: Work, paid: _Paid, vectors: dict[bytes, bytes]) -> IndexOutcome:
        claimed, draft = work.claimed, work.draft
        indexed = draft.indexed(vectors)
        try:
            if indexed.rev == draft.rev:
                self.index.store(claimed, indexed, spending=paid.spending)
                return IndexedNow(len(indexed.parts)) if indexed.parts else NoText()
            if paid.refusal:
                until = next_month(paid.refusal.month)
                skipped = Skipped(draft.rev, draft.content_hash, SkipReason.OVER_BUDGET, until)
                self.index.store(claimed, skipped)
                is_ours = isinstance(paid.refusal, DeploymentBudgetSpent)
                return DeploymentSpent(until) if is_ours else OverBudget(until)
            if paid.embedded.halt is Halt.REFUSED:
                skipped = Skipped(draft.rev, draft.content_hash, SkipReason.REFUSED)
                self.index.store(claimed, skipped, spending=paid.spending)
                return TextNotTaken()
            if paid.embedded.vectors.keys() & draft.texts({}).keys():
                self.index.store(claimed, indexed, spending=paid.spending)
            else:
                self.index.unclaim(claimed, spending=paid.spending)
        except IndexLost:
            return NoTime()
        return ServiceSilent() if paid.embedded.halt is Halt.SILENT else NoTime()


def vectors_of(entry: TailEntry) -> dict[bytes, bytes]:
    """What the entry has of vectors, be they of an older text of the file."""
    match entry.settled:
        case Indexed(parts=parts):
            return {part.identity: part.vector for part in parts}
        case _:
            return {}
