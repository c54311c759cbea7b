"""Wrong variants of the product, each of which the rig has to catch.

All of them look right, and are right as long as nobody else writes and nothing breaks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from memorybox.adapters.dropbox.client import Api
from memorybox.adapters.dropbox.commits import Upload
from memorybox.adapters.dropbox.errors import NotDone, Unanswered
from memorybox.adapters.dropbox.files import DropboxFileStore
from memorybox.deadline import Deadline
from memorybox.files.commands import Attempt, Command, Standing
from memorybox.files.errors import FileBusy, FileChanged, FileExists, FileMissing, OutcomeUnknown
from memorybox.files.hashing import content_hash
from memorybox.files.model import FileEntry, FileRef, Rev, StoredFile
from memorybox.files.service import Files, Note
from memorybox.oauth.errors import OAuthError
from memorybox.oauth.model import Client, Grant
from memorybox.oauth.opaque import digest
from memorybox.oauth.parameters import Parameters
from memorybox.oauth.tokens import Tokens
from memorybox.search.budget import BudgetSpent, Reservation, Spending, month_of
from memorybox.search.catalog import Catalog, View
from memorybox.search.indexer import Indexer
from memorybox.search.model import PackPointer, Seen, Settled, TailEntry
from memorybox.search.packer import NO_RESULTS
from memorybox.search.recorder import Reading, Recorder
from memorybox.search.results import IndexedNow, IndexOutcome, SearchResult
from memorybox.search.service import Search
from memorybox.search.store import IndexState, StoredCursor
from tests.fakes.commands import InMemoryCommandLog
from tests.fakes.search import InMemoryBudgetLedger, InMemoryIndexStore
from tests.simulation.dropbox import SimulatedClient
from tests.simulation.plan import Plan, draw, draw_folds, draw_outages
from tests.simulation.world import EagerPacker, Parts, UnhurriedLeases

T = TypeVar("T")


# Writing


class _NotStrict:
    """The SDK, but every upload is sent without strict_conflict."""

    def __init__(self, api: Any) -> None:
        self._api = api

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    def files_upload(self, data: bytes, path: str, **options: Any) -> Any:
        return self._api.files_upload(data, path, **{**options, "strict_conflict": False})


class WithoutStrictConflict(SimulatedClient):
    def _api(self, token: str, share: float) -> Api:
        api: Any = _NotStrict(super()._api(token, share))
        return api  # type: ignore[no-any-return]


class NaiveRetry(SimulatedClient):
    """The SDK's own way: an upload without an answer is simply sent again."""

    def write(self, call: Callable[[Api], T]) -> T:
        return self._result(call, (NotDone, Unanswered), share=0.5)


class NoAnswerMeansNotWritten(DropboxFileStore):
    """A lost answer passes for a lost request, so an append is tried again."""

    def _upload(self, ref: FileRef, data: bytes, base: Rev | None) -> FileEntry:
        try:
            return Upload(self.client, ref, data, base)._send()  # noqa: SLF001 - a wrong variant
        except Unanswered:
            raise FileChanged(ref, current="unknown", expected=base or "none") from None


class NoAnswerMeansWritten(DropboxFileStore):
    """Whatever followed the base is taken for ours, without a look at its content."""

    def _upload(self, ref: FileRef, data: bytes, base: Rev | None) -> FileEntry:
        try:
            return Upload(self.client, ref, data, base)._send()  # noqa: SLF001 - a wrong variant
        except Unanswered:
            if isinstance(found := self.look(ref.location), FileEntry):
                return found
            raise FileBusy(ref) from None


class SendsANewNoteAgain(DropboxFileStore):
    """What the revisions do not show was not written, be it a new note."""

    def _upload(self, ref: FileRef, data: bytes, base: Rev | None) -> FileEntry:
        return _AgainAtOnce(self.client, ref, data, base).commit()


class _AgainAtOnce(Upload):
    def _again_at(self, unanswered: Unanswered) -> float:
        return 0.0


class TakesEqualTextForItsOwn(DropboxFileStore):
    """A note that has the very text already was made by this call, whoever made it."""

    def create(self, ref: FileRef, data: bytes) -> FileEntry:
        try:
            return super().create(ref, data)
        except FileExists:
            found = self.look(ref.location)
            if isinstance(found, FileEntry) and found.content_hash == content_hash(data):
                return found
            raise


class AppendsNothingTwice(Files):
    """A text that stands at the end already is not added."""

    def _append_once(self, ref: FileRef, addition: bytes, note: Note) -> StoredFile:
        with suppress(FileMissing):
            stored = self.store.read(ref, 10**7)
            if stored.data == addition:
                return stored
        return super()._append_once(ref, addition, note)


class AppendsAgainWhenUnsure(Files):
    """An append goes on after an upload with an unknown outcome."""

    def _append_once(self, ref: FileRef, addition: bytes, note: Note) -> StoredFile:
        try:
            return super()._append_once(ref, addition, note)
        except OutcomeUnknown:
            raise FileExists(ref) from None


class RetriesAStaleWrite(Files):
    """A write or patch that met a newer rev is tried again on top of it."""

    def _replace(self, ref: FileRef, data: bytes, base: Rev, note: Note) -> StoredFile:
        try:
            return super()._replace(ref, data, base, note)
        except FileChanged:
            return super()._replace(ref, data, self.store.read(ref, 10**7).entry.rev, note)


class NoLease(UnhurriedLeases):
    @contextmanager
    def writer(self) -> Iterator[None]:
        yield


class ForgetsAttempts(InMemoryCommandLog):
    """A repeat does not know that an upload was under way when the first call vanished."""

    def attempting(self, command: Command, attempt: Attempt) -> None:
        """Nothing is kept."""


class ForgetsResults(InMemoryCommandLog):
    """Only running commands are known, so that a repeat of a finished one is a new call."""

    def finish(self, command: Command, result: str) -> None:
        self.forget(command)


class RunsTwice(InMemoryCommandLog):
    """A repeat does not wait for the call that is still running."""

    def begin(self, command: Command) -> Standing:
        for key, run in list(self._book.runs.items()):
            self._book.runs[key] = replace(run, ends=min(run.ends, self._deadline.clock.now()))
        return super().begin(command)


# Indexing


class CursorBeforeWork(Recorder):
    """The cursor moves first, and then what it passed is recorded."""

    def read_on(self, state: IndexState, known: Any, deadline: Any, shelve: Any = None) -> Reading:
        moves_first: Any = _MovesFirst(self.index)
        return Recorder(self.files, moves_first).read_on(state, known, deadline, shelve)


class _MovesFirst:
    def __init__(self, index: Any) -> None:
        self._index = index

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def record(
        self, sightings: Any, *, seen_at: StoredCursor, then: Any = None, packs: Any = ()
    ) -> StoredCursor:
        moved = self._index.record((), seen_at=seen_at, then=then)
        return self._index.record(sightings, seen_at=moved, packs=packs)  # type: ignore[no-any-return]


class ListingForgetsNobody(Recorder):
    """A listing from the start leaves in the index what vanished meanwhile."""

    def read_on(self, state: IndexState, known: Any, deadline: Any, shelve: Any = None) -> Reading:
        return super().read_on(state, _Nobody(known), deadline, shelve)


class _Nobody:
    def __init__(self, known: Any) -> None:
        self._known = known

    def files(self) -> Iterable[Seen]:
        return ()

    def entry(self, path_lower: str) -> Any:
        return self._known and self._known.entry(path_lower)


class EdgeTriggered(Catalog):
    """What no webhook told of is not looked for."""

    def catch_up(self, deadline: Deadline) -> View:
        return replace(self.load(), is_complete=True)


class NoCompareAndSwap(InMemoryIndexStore):
    """Whoever comes last stores, at the rev that was seen: the entry was his when he read it."""

    def store(
        self, entry: TailEntry, settled: Settled, *, spending: Spending | None = None
    ) -> None:
        with self._effect:
            self._settle(spending)
            item = self._items[entry.path_lower]
            item.settled, item.claim = settled, None
            if isinstance(item.seen, Seen):
                item.seen = replace(item.seen, rev=settled.rev)


class PackInPlaceOfPack(InMemoryIndexStore):
    """The pointer moves whatever it points to now."""

    def point(self, pointer: PackPointer) -> bool:
        with self._effect:
            self._pointers[pointer.workspace] = pointer
            return True


class ForgetsWhatChanged(InMemoryIndexStore):
    """Entries are dropped after a fold although something happened to them meanwhile."""

    def forget(self, entries: Iterable[TailEntry]) -> None:
        for entry in entries:
            with self._effect:
                self._items.pop(entry.path_lower, None)


class ForgetsFirst(EagerPacker):
    """The tail is dropped before the pack is the current one."""

    def fold(self, view: View, workspace: str, results: Mapping[str, Settled] = NO_RESULTS) -> bool:
        self.index.forget([e for e in view.state.tail.values() if e.workspace == workspace])
        return super().fold(view, workspace, results)


class SaysIndexed(Indexer):
    """A write claims to be findable whatever became of it."""

    def index_now(self, stored: StoredFile) -> IndexOutcome:
        super().index_now(stored)
        return IndexedNow(1)


class ForgetsAHit(Search):
    """Without the embedding service, one file that has a word of the query is not named."""

    def search(self, workspace: str | None, query: str, limit: int) -> SearchResult:
        result = super().search(workspace, query, limit)
        return replace(result, hits=result.hits[1:]) if result.is_by_words_alone else result


class SaysNothingOfTheRest(Search):
    """Without the embedding service, what could not be searched is not counted."""

    def search(self, workspace: str | None, query: str, limit: int) -> SearchResult:
        result = super().search(workspace, query, limit)
        return replace(result, pending=0) if result.is_by_words_alone else result


# Money


class ReadThenWrite(InMemoryBudgetLedger):
    """The counter is read, and then written."""

    def reserve(self, tokens: int) -> Reservation:
        month = month_of(self._clock.now())
        with self._effect:
            total = self.spent.get(month, 0) + tokens
        if total > self.cap:
            raise BudgetSpent(month)
        self.spent[month] = total
        return Reservation(month, tokens)


class SettlesInTheMonthOfNow(InMemoryBudgetLedger):
    """What was not used is given back to the month in which the answer came."""

    def settle_within(self, spending: Spending) -> None:
        month = month_of(self._clock.now())
        self.spent[month] = self.spent.get(month, 0) - spending.unused


class ForgetsLostAnswers(InMemoryBudgetLedger):
    """What was embedded without an answer is taken for free."""

    def settle_within(self, spending: Spending) -> None:
        free = replace(spending, used=0) if spending.unused == 0 else spending
        super().settle_within(free)


# Signing in


class StrictRotation(Tokens):
    """A refresh token is good once. Who did not hear the answer is out."""

    def _refreshable(self, client: Client, token: str) -> Grant:
        grant = super()._refreshable(client, token)
        if grant.refresh[digest(token)] is not None:
            self.grants.end(grant.id)
            raise OAuthError("invalid_grant", "used token came back")
        return grant


class ForgivesForEver(Tokens):
    """A refresh token that was used stays good however late it comes back."""

    def _refreshable(self, client: Client, token: str) -> Grant:
        grant = self._named_by(token)
        is_known = grant is not None and digest(token) in grant.refresh
        return grant if grant and is_known else super()._refreshable(client, token)


class RefusesThatTokenAlone(Tokens):
    """A token that comes back late is refused, and its family lives on."""

    def _refreshable(self, client: Client, token: str) -> Grant:
        return Tokens._refreshable(_endless(self), client, token)  # noqa: SLF001 - a wrong variant


class RefusesThatCodeAlone(Tokens):
    """A code that comes back is refused, and what it gave first stays good."""

    def _exchanged(self, client: Client, form: Parameters) -> Mapping[str, object]:
        return Tokens._exchanged(_endless(self), client, form)  # noqa: SLF001 - a wrong variant


class WhoeverComesLast(Tokens):
    """A grant is stored without a look at what became of it since it was read."""

    def _refreshed(self, client: Client, form: Parameters) -> Mapping[str, object]:
        grants: Any = _Unconditional(self.grants)
        return Tokens._refreshed(replace(self, grants=grants), client, form)  # noqa: SLF001


class _Unconditional:
    """Grants without compare-and-swap."""

    def __init__(self, grants: Any) -> None:
        self._grants = grants

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grants, name)

    def replace(self, grant: Grant) -> bool:
        self._grants.replace(grant)
        self._grants.records[grant.id] = grant
        return True


def _endless(tokens: Tokens) -> Tokens:
    grants: Any = _Endless(tokens.grants)
    return replace(tokens, grants=grants)


class _Endless:
    """Grants that cannot be ended."""

    def __init__(self, grants: Any) -> None:
        self._grants = grants

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grants, name)

    def end(self, grant_id: str) -> None:
        """Nothing ends."""


SIGN_IN: dict[str, type[Tokens]] = {
    "strict rotation": StrictRotation,
    "a used token stays good": ForgivesForEver,
    "a token that comes back ends nothing": RefusesThatTokenAlone,
    "a code that comes back ends nothing": RefusesThatCodeAlone,
    "no compare-and-swap on grants": WhoeverComesLast,
}


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault, and in which histories it is looked for."""

    parts: Parts
    drawn: Callable[[int], Plan] = draw


PLANTED: dict[str, Planted] = {
    "uploads without strict_conflict": Planted(Parts(client=WithoutStrictConflict)),
    "an upload without an answer is sent again": Planted(Parts(client=NaiveRetry)),
    "no answer means not written": Planted(Parts(store=NoAnswerMeansNotWritten)),
    "no answer means written": Planted(Parts(store=NoAnswerMeansWritten)),
    "a new note that is not shown yet is sent again": Planted(Parts(store=SendsANewNoteAgain)),
    "a note with the same text is taken for its own": Planted(Parts(store=TakesEqualTextForItsOwn)),
    "a text that is there is not added": Planted(Parts(files=AppendsNothingTwice)),
    "appends again when unsure": Planted(Parts(files=AppendsAgainWhenUnsure)),
    "a stale write is tried again": Planted(Parts(files=RetriesAStaleWrite)),
    "no lease": Planted(Parts(leases=NoLease)),
    "attempts are forgotten": Planted(Parts(commands=ForgetsAttempts)),
    "results are forgotten": Planted(Parts(commands=ForgetsResults)),
    "a repeat does not wait": Planted(Parts(commands=RunsTwice)),
    "the cursor moves before the work": Planted(Parts(recorder=CursorBeforeWork)),
    "a new listing forgets nobody": Planted(Parts(recorder=ListingForgetsNobody)),
    "only what a webhook told of is known": Planted(Parts(catalog=EdgeTriggered)),
    "no compare-and-swap on entries": Planted(Parts(index=NoCompareAndSwap)),
    "no compare-and-swap on packs": Planted(Parts(index=PackInPlaceOfPack), draw_folds),
    "a fold drops what changed": Planted(Parts(index=ForgetsWhatChanged), draw_folds),
    "a fold drops before it keeps": Planted(Parts(packer=ForgetsFirst), draw_folds),
    "a write claims to be indexed": Planted(Parts(indexer=SaysIndexed)),
    "a search by words forgets a hit": Planted(Parts(search=ForgetsAHit), draw_outages),
    "a search by words is silent about the rest": Planted(
        Parts(search=SaysNothingOfTheRest), draw_outages
    ),
    "the budget is read, then written": Planted(Parts(ledger=ReadThenWrite)),
    "the unused goes to another month": Planted(Parts(ledger=SettlesInTheMonthOfNow)),
    "lost answers cost nothing": Planted(Parts(ledger=ForgetsLostAnswers)),
}
