"""Indexes the files that are due, those of the searched workspace first, then the newest."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from memorybox.clock import Clock
from memorybox.errors import Unavailable
from memorybox.files.errors import FileMissing, FileTooLarge, NotDownloadable
from memorybox.files.model import FileRef
from memorybox.files.store import FileStore
from memorybox.search.bulk import Bulk
from memorybox.search.bundles import Work
from memorybox.search.catalog import View
from memorybox.search.drafts import Draft
from memorybox.search.errors import EmbeddingSilent
from memorybox.search.indexer import Indexer, vectors_of
from memorybox.search.model import Indexed, Recipe, Seen, Settled, Skipped, SkipReason, TailEntry
from memorybox.search.parallel import Parallel, each
from memorybox.search.parts import MAX_FILE
from memorybox.search.recorder import seen_of
from memorybox.search.results import ServiceSilent
from memorybox.search.store import CursorMoved, IndexLost, IndexStore, StoredCursor

WAVE_FILES = 200
WAVE_REQUESTS = 4
"""How much is read before the next requests to the embedding model, which go out together."""

Twins = Mapping[str, tuple[str, Indexed]]
"""By content_hash, a path at which this content was indexed, and how."""


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Works off what the changes in Dropbox left to do, file by file, until the time is up."""

    files: FileStore
    index: IndexStore
    indexer: Indexer
    bulk: Bulk
    parallel: Parallel
    clock: Clock

    @property
    def recipe(self) -> Recipe:
        return self.indexer.drafter.recipe

    def due(self, view: View, scope: str | None, *, elsewhere: bool = True) -> list[Seen]:
        """What is to be indexed: all of the scope and, unless told not to, what changed elsewhere.

        A file elsewhere that is due although nothing happened to it waits for a search there.
        """
        today = self.clock.now().date()
        if scope is None or not elsewhere:
            return view.snapshot.due(self.recipe, today, scope)
        changed = {
            at.workspace
            for at in view.state.tail.values()
            if at.entry and at.entry.is_due(self.recipe, today)
        }
        return [
            seen
            for workspace in sorted({scope} | changed)
            for seen in view.snapshot.due(self.recipe, today, workspace)
        ]

    def run(self, view: View, scope: str | None, first: Collection[str] = ()) -> Unavailable | None:
        """Index what is due, the paths in `first` before all others.

        Stops when the time is up, or when the view is out of date. Returns what else kept it from
        going on.
        """
        due = self._ordered(view, scope, first)
        if self.bulk.worthwhile(view.state, due):
            halt = self.bulk.run(view, due)
            if halt or self.bulk.is_late:
                return halt
            view = self.indexer.catalog.load()
            due = self._ordered(view, scope, first)
        vectors: dict[bytes, bytes] = {}
        at = view.state.cursor
        with suppress(CursorMoved):
            for wave in _waves(due, WAVE_REQUESTS * self.indexer.embedder.most_bytes):
                if self.indexer.is_late:
                    break
                # A result is stored in an entry of the tail: a file of a pack gets one.
                at = self._record([s for s in wave if s.path_lower not in view.state.tail], at)
                works, halt = self._index(view, wave, vectors)
                at = self._record(_changed(works), at)
                if halt:
                    return halt
        return None

    def _ordered(self, view: View, scope: str | None, first: Collection[str]) -> list[Seen]:
        return sorted(
            self.due(view, scope),
            key=lambda seen: (
                seen.path_lower not in first,
                seen.workspace != scope,
                -seen.modified.timestamp(),
                seen.path_lower,
            ),
        )

    def _record(self, files: Sequence[Seen], seen_at: StoredCursor) -> StoredCursor:
        return self.index.record(files, seen_at=seen_at) if files else seen_at

    def _index(
        self, view: View, wave: Sequence[Seen], vectors: dict[bytes, bytes]
    ) -> tuple[list[Work], Unavailable | None]:
        twins = view.snapshot.by_content((seen.content_hash for seen in wave), self.recipe)
        prepared = each(self.parallel, partial(self._prepare, twins), wave)
        works = [result for result in prepared if isinstance(result, Work)]
        for work in works:
            vectors |= vectors_of(work.claimed)
        missing = {text for work in works for text in work.draft.texts(vectors)}
        vectors |= view.snapshot.vectors(missing)
        if ServiceSilent() in self.indexer.index_all(works, vectors):
            return works, EmbeddingSilent()
        return works, next((r for r in prepared if isinstance(r, Unavailable)), None)

    def _prepare(self, twins: Twins, seen: Seen) -> Work | Unavailable | None:
        """Claim a file and read it. None if that settled it, or if there is no need."""
        if self.indexer.is_late:
            return None
        claimed = self.indexer.claim(seen.path_lower)
        if claimed is None:
            return None
        try:
            result = self._result(claimed, twins)
        except FileMissing:
            result = None  # the next listing says so
        except Unavailable as error:
            self.index.unclaim(claimed)
            return error
        match result:
            case Work():
                return result
            case None:
                self.index.unclaim(claimed)
            case settled:
                with suppress(IndexLost):
                    self.index.store(claimed, settled)
        return None

    def _result(self, claimed: TailEntry, twins: Twins) -> Work | Settled | None:
        entry = claimed.entry
        if entry is None or not entry.is_due(self.recipe, self.clock.now().date()):
            return None
        seen = entry.seen
        # A result that is there may be that of a write which no listing has shown yet.
        if entry.settled is None:
            if twin := twins.get(seen.content_hash):
                path, indexed = twin
                return self.indexer.drafter.moved(indexed, source=path, seen=seen)
            if seen.size > MAX_FILE:
                return Skipped(seen.rev, seen.content_hash, SkipReason.TOO_LARGE)
        try:
            stored = self.files.read(FileRef.at(seen.path_lower), MAX_FILE)
        except FileTooLarge:
            return Skipped(seen.rev, seen.content_hash, SkipReason.TOO_LARGE)
        except NotDownloadable:
            return Skipped(seen.rev, seen.content_hash, SkipReason.NOT_DOWNLOADABLE)
        draft = self.indexer.drafter.draft(stored)
        return Work(claimed, stored.entry, draft) if isinstance(draft, Draft) else draft


def _changed(works: Iterable[Work]) -> list[Seen]:
    """The files that were read at another rev than a listing, which may lag behind, has shown."""
    return [
        seen_of(work.read)
        for work in works
        if work.claimed.seen and work.claimed.seen.rev != work.read.rev
    ]


def _waves(due: Iterable[Seen], most_bytes: int) -> Iterator[list[Seen]]:
    wave: list[Seen] = []
    size = 0
    for seen in due:
        if wave and (len(wave) == WAVE_FILES or size + seen.size > most_bytes):
            yield wave
            wave, size = [], 0
        wave.append(seen)
        size += seen.size
    if wave:
        yield wave
