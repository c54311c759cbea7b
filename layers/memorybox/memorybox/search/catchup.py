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
from memorybox.search.bundles import Work
from memorybox.search.catalog import View
from memorybox.search.drafts import Draft
from memorybox.search.embedder import MOST_BYTES
from memorybox.search.errors import EmbeddingSilent
from memorybox.search.indexer import Indexer, vectors_of
from memorybox.search.model import Indexed, Recipe, Seen, Settled, Skipped, SkipReason, TailEntry
from memorybox.search.parallel import Parallel, each
from memorybox.search.parts import MAX_FILE
from memorybox.search.results import ServiceSilent
from memorybox.search.store import CursorMoved, IndexLost, IndexStore

WAVE_FILES = 200
WAVE_BYTES = 4 * MOST_BYTES
"""How much is read before the next requests to the embedding model."""

Twins = Mapping[str, tuple[str, Indexed]]
"""By content_hash, a path at which this content was indexed, and how."""


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Works off what the changes in Dropbox left to do, file by file, until the time is up."""

    files: FileStore
    index: IndexStore
    indexer: Indexer
    parallel: Parallel
    clock: Clock

    @property
    def recipe(self) -> Recipe:
        return self.indexer.drafter.recipe

    def due(self, view: View, scope: str | None) -> list[Seen]:
        """What is to be indexed: all of the scope, and what changed elsewhere.

        A file elsewhere that is due although nothing happened to it waits for a search there.
        """
        today = self.clock.now().date()
        if scope is None:
            return view.snapshot.due(self.recipe, today)
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

        Returns what kept it from going on, if it was not time.
        """
        due = sorted(
            self.due(view, scope),
            key=lambda seen: (
                seen.path_lower not in first,
                seen.workspace != scope,
                -seen.modified.timestamp(),
                seen.path_lower,
            ),
        )
        if not self._enter(view, due):
            return None
        vectors: dict[bytes, bytes] = {}
        for wave in _waves(due):
            if self.indexer.is_late:
                return None
            if halt := self._index(view, wave, vectors):
                return halt
        return None

    def _enter(self, view: View, due: Sequence[Seen]) -> bool:
        """Make sure that each file has an entry to be stored in, also one that only a pack holds.

        False if somebody recorded changes meanwhile: the view is outdated.
        """
        packed = [seen for seen in due if seen.path_lower not in view.state.tail]
        try:
            if packed:
                self.index.record(packed, seen_at=view.state.cursor)
        except CursorMoved:
            return False
        return True

    def _index(
        self, view: View, wave: Sequence[Seen], vectors: dict[bytes, bytes]
    ) -> Unavailable | None:
        twins = view.snapshot.by_content((seen.content_hash for seen in wave), self.recipe)
        prepared = each(self.parallel, partial(self._prepare, twins), wave)
        works = [result for result in prepared if isinstance(result, Work)]
        for work in works:
            vectors |= vectors_of(work.claimed)
        missing = {text for work in works for text in work.draft.texts(vectors)}
        vectors |= view.snapshot.vectors(missing)
        if ServiceSilent() in self.indexer.index_all(works, vectors):
            return EmbeddingSilent()
        return next((result for result in prepared if isinstance(result, Unavailable)), None)

    def _prepare(self, twins: Twins, seen: Seen) -> Work | Unavailable | None:
        """Claim a file and read it. None if that settled it, or if there is no need."""
        if self.indexer.is_late:
            return None
        claimed = self.indexer.claim(seen.path_lower)
        if claimed is None:
            return None
        try:
            draft = self._settled_or_draft(claimed, twins)
            if isinstance(draft, Draft):
                return Work(claimed, draft)
            self._close(claimed, draft)
        except FileMissing:
            self._close(claimed, None)  # the next listing says so
        except Unavailable as error:
            self._close(claimed, None)
            return error
        return None

    def _settled_or_draft(self, claimed: TailEntry, twins: Twins) -> Settled | Draft | None:
        entry = claimed.entry
        if entry is None or not entry.is_due(self.recipe, self.clock.now().date()):
            return None
        seen = entry.seen
        if twin := twins.get(seen.content_hash):
            path, indexed = twin
            return self.indexer.drafter.moved(indexed, source=path, seen=seen)
        reason = SkipReason.TOO_LARGE
        if seen.size <= MAX_FILE:
            try:
                stored = self.files.read(FileRef.at(seen.path_lower), MAX_FILE)
                return self.indexer.drafter.draft(stored)
            except NotDownloadable:
                reason = SkipReason.NOT_DOWNLOADABLE
            except FileTooLarge:
                pass
        return Skipped(seen.rev, seen.content_hash, reason)

    def _close(self, claimed: TailEntry, settled: Settled | None) -> None:
        if settled is None:
            self.index.unclaim(claimed)
        else:
            with suppress(IndexLost):
                self.index.store(claimed, settled)


def _waves(due: Iterable[Seen]) -> Iterator[list[Seen]]:
    wave: list[Seen] = []
    size = 0
    for seen in due:
        if wave and (len(wave) == WAVE_FILES or size + seen.size > WAVE_BYTES):
            yield wave
            wave, size = [], 0
        wave.append(seen)
        size += seen.size
    if wave:
        yield wave
