"""Makes files findable: pays for their vectors and stores them, a file at once or many together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
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
from memorybox.search.drafts import Draft, Drafter
from memorybox.search.embedder import Embedder
from memorybox.search.embedding import LAST_START, Embedded, Halt, embed, tokens_at_most
from memorybox.search.model import (
    Settled,
    Skipped,
    SkipReason,
    TailEntry,
    parts_in,
    workspace_of,
)
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

Keep = Callable[[Work, Settled | None, IndexOutcome, Spending | None], IndexOutcome]
"""Keeps the result of a file, if there is one, and settles what was spent. The outcome after it."""

PLAIN = "a plain text"
"""What every service takes that is well."""

PATIENCE, GLANCE = 4.0, 0.1
"""Seconds that a writer waits for whoever indexes its file already, and between two looks."""


@dataclass(frozen=True, slots=True)
class _Paid:
    """What became of the texts of a bundle, and what is to be settled for them."""

    embedded: Embedded
    spending: Spending | None = None
    refusal: BudgetSpent | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the service does not take one of the texts."""
        return self.embedded.halt is Halt.REFUSED


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

    def _today(self) -> date:
        return self.deadline.clock.now().date()

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
        claimed = self._claim_in_turn(stored.entry.path_lower)
        if claimed is None:
            return NoTime()
        if isinstance(draft, Skipped):
            self.index.store(claimed, draft)
            return TooLarge() if draft.reason is SkipReason.TOO_LARGE else TextNotTaken()
        vectors = vectors_of(claimed)
        if not vectors and len(draft.parts) > 1:
            view = self.catalog.load(workspace_of(claimed.path_lower))
            vectors = view.snapshot.vectors(draft.texts(vectors))
        [outcome] = self.index_all([Work(claimed, stored.entry, draft)], vectors)
        return outcome

    def _claim_in_turn(self, path_lower: str) -> TailEntry | None:
        """The entry of the file once nobody else is at it; the webhook may have been faster."""
        patience = self.deadline.earlier(LAST_START).capped(PATIENCE)
        while (claimed := self.claim(path_lower)) is None and not patience.has_passed:
            patience.clock.sleep(GLANCE)
        return claimed

    def claim(self, path_lower: str) -> TailEntry | None:
        """The entry of the file, for this run alone; None if another run has it."""
        return self.index.claim(path_lower, owner=self.owner, deadline=self.deadline)

    def index_all(
        self,
        works: Sequence[Work],
        vectors: dict[bytes, bytes],
        keep: Keep | None = None,
        *,
        is_first: bool = True,
    ) -> list[IndexOutcome]:
        """Embed what has no vector in `vectors`, which grows, and keep each file when it is whole.

        To keep a file is to store it in its entry, unless told otherwise. The outcomes are in no
        order. A file that is refused at first is tried once more, by itself.
        """
        keep = keep or self._store
        bundles, twins = bundled(works, vectors, self.embedder.most_bytes)
        paying = [self.parallel.start(partial(self._pay, bundle.texts)) for bundle in bundles]
        keeping: list[Callable[[], IndexOutcome]] = []
        again: list[tuple[Sequence[Work], bool]] = [([work], is_first) for work in twins]
        for bundle, wait in zip(bundles, paying, strict=True):
            paid = wait()
            vectors |= paid.embedded.vectors
            spending = paid.spending
            if fewer := _fewer(bundle.works, paid, is_first=is_first):
                if spending:
                    self.ledger.settle(spending)
                again += [(some, is_first and not paid.is_refused) for some in fewer]
                continue
            for work in bundle.works:
                settled, outcome = _verdict(work.draft, paid, vectors, self._today())
                keeping.append(self.parallel.start(partial(keep, work, settled, outcome, spending)))
                spending = None  # settled with the first of them
        outcomes = [wait() for wait in keeping]
        for some, are_first in again:
            if ServiceSilent() in outcomes:
                outcomes += [keep(work, None, ServiceSilent(), None) for work in some]
            else:
                outcomes += self.index_all(some, vectors, keep, is_first=are_first)
        return outcomes

    def _pay(self, texts: dict[bytes, str]) -> _Paid:
        """Pay for texts. A service that takes no other text either is silent: it refuses none."""
        paid = self._ask(texts)
        if not paid.is_refused or paid.embedded.vectors:
            return paid
        plain = f"{PLAIN} for {self.owner}"  # of which nobody has kept a vector from before
        other = self._ask({b"": plain})
        if other.spending:
            self.ledger.settle(other.spending)
        if other.embedded.vectors:
            return paid
        return replace(paid, embedded=replace(paid.embedded, halt=Halt.SILENT))

    def _ask(self, texts: dict[bytes, str]) -> _Paid:
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

    def _store(
        self,
        work: Work,
        settled: Settled | None,
        outcome: IndexOutcome,
        spending: Spending | None,
    ) -> IndexOutcome:
        if settled is None:
            self.index.unclaim(work.claimed, spending=spending)
            return outcome
        try:
            self.index.store(work.claimed, settled, spending=spending)
        except IndexLost:
            return NoTime()
        return outcome


def _fewer(works: Sequence[Work], paid: _Paid, *, is_first: bool) -> list[Sequence[Work]]:
    """The files in portions that may fare better, if one of the files may be to blame."""
    if len(works) > 1 and (paid.refusal or paid.is_refused):
        middle = len(works) // 2
        return [works[:middle], works[middle:]]
    return [works] if is_first and paid.is_refused else []


def _verdict(
    draft: Draft, paid: _Paid, vectors: Mapping[bytes, bytes], today: date
) -> tuple[Settled | None, IndexOutcome]:
    """What is to be stored for a file, and what that means."""
    indexed = draft.indexed(vectors)
    if indexed.rev == draft.rev:
        return indexed, IndexedNow(len(indexed.parts)) if indexed.parts else NoText()
    kept = indexed if indexed.parts else None
    if paid.refusal:
        until = next_month(paid.refusal.month)
        skipped = Skipped(draft.rev, draft.content_hash, SkipReason.OVER_BUDGET, until, kept)
        is_everybodys = isinstance(paid.refusal, DeploymentBudgetSpent)
        return skipped, DeploymentSpent(until) if is_everybodys else OverBudget(until)
    if paid.is_refused:
        tomorrow = today + timedelta(days=1)  # the service may have learnt to take it
        refused = SkipReason.REFUSED
        skipped = Skipped(
            draft.rev, draft.content_hash, refused, tomorrow, kept, recipe=draft.recipe
        )
        return skipped, TextNotTaken()
    outcome = ServiceSilent() if paid.embedded.halt is Halt.SILENT else NoTime()
    has_more = any(part.identity in paid.embedded.vectors for part in draft.parts)
    return indexed if has_more else None, outcome


def vectors_of(entry: TailEntry) -> dict[bytes, bytes]:
    """What the entry has of vectors, be they of an older text of the file."""
    held = parts_in(entry.settled)
    return {part.identity: part.vector for part in held.parts} if held else {}
