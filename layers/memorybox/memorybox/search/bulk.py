"""Indexes many files at once: read in few downloads, embedded in full requests, put into a pack.

For a file by itself an entry, a claim and a result are written. For thousands that would be most of
the work, and DynamoDB takes a thousand writes a second for one account. So here the account's index
lease stands for all claims, and the next pack of the workspace takes the results: one object, and
one write. What somebody else has begun, or changed, is left alone; whoever was faster wins.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from memorybox.errors import Unavailable
from memorybox.files.errors import FileMissing, FileTooLarge, NotDownloadable
from memorybox.files.model import FileEntry, FileRef, Rev, StoredFile
from memorybox.files.store import FileStore
from memorybox.search.budget import Spending
from memorybox.search.bundles import Work, bundled
from memorybox.search.catalog import View
from memorybox.search.downloads import Download, downloads, one_by_one
from memorybox.search.drafts import Draft
from memorybox.search.embedding import LAST_START
from memorybox.search.errors import EmbeddingSilent
from memorybox.search.indexer import Indexer
from memorybox.search.model import Seen, Settled, TailEntry
from memorybox.search.packer import Packer
from memorybox.search.parallel import Parallel
from memorybox.search.parts import MAX_FILE
from memorybox.search.results import IndexOutcome, ServiceSilent
from memorybox.search.store import IndexState

MANY = 100
"""Files of a workspace that are worth a pack of their own."""

REQUESTS = 8
"""How many requests go to the embedding model together."""

ENOUGH = 2_500
"""Results that are worth a pack. Each next one has twice as many, so all of them cost two."""

PACKING = 2.0
"""Seconds in which the last pack is made."""

AHEAD = 8
"""How many downloads are under way while files are embedded."""


@dataclass(frozen=True, slots=True)
class Bulk:
    """For the holder of the account's index lease."""

    files: FileStore
    indexer: Indexer
    packer: Packer
    parallel: Parallel
    many: int = MANY

    @property
    def is_late(self) -> bool:
        """Whether nothing new is begun, so that what was begun can still be packed."""
        return self.indexer.deadline.earlier(LAST_START + PACKING).has_passed

    def run(self, view: View, due: Sequence[Seen]) -> Unavailable | None:
        """Index the files of those workspaces of which many are due; `due` is in order.

        What it has not indexed when it ends is still due. Returns what kept it from going on.
        """
        for workspace, files in self.worthwhile(view.state, due).items():
            halt = _Harvest(self, view, workspace).reap(files)
            if halt or self.is_late:
                return halt
        return None

    def worthwhile(self, state: IndexState, due: Sequence[Seen]) -> dict[str, list[Seen]]:
        """The files that can be indexed together, by workspace."""
        largest = self.indexer.embedder.most_bytes
        files: dict[str, list[Seen]] = {}
        for seen in due:
            if seen.size <= largest and _is_untouched(state, seen.path_lower):
                files.setdefault(seen.workspace, []).append(seen)
        return {name: some for name, some in files.items() if len(some) >= self.many}


@dataclass(frozen=True, slots=True)
class _Read:
    """What a download brought."""

    files: list[StoredFile]
    missing: list[Seen]
    """Files that were not in the folder's zip as they were listed."""

    halt: Unavailable | None = None


class _Harvest:
    """The files of one workspace on their way into its next pack."""

    def __init__(self, bulk: Bulk, view: View, workspace: str) -> None:
        self._bulk, self._indexer = bulk, bulk.indexer
        self._view, self._workspace = view, workspace
        self._vectors: dict[bytes, bytes] = {}
        self._results: dict[str, Settled] = {}
        self._packed = 0

    def reap(self, files: Sequence[Seen]) -> Unavailable | None:
        """Index the files. Returns what kept it from going on."""
        try:
            return self._reap(self._without_twins(files))
        finally:
            self._pack()  # what is paid for is kept, whatever happened

    def _without_twins(self, files: Sequence[Seen]) -> list[Seen]:
        """The files whose contents are not indexed anywhere; for the others that is the result."""
        snapshot, drafter = self._view.snapshot, self._indexer.drafter
        twins = snapshot.by_content((seen.content_hash for seen in files), drafter.recipe)
        for seen in files:
            if twin := twins.get(seen.content_hash):
                path, indexed = twin
                self._results[seen.path_lower] = drafter.moved(indexed, source=path, seen=seen)
        return [seen for seen in files if seen.path_lower not in self._results]

    def _reap(self, files: Sequence[Seen]) -> Unavailable | None:
        waiting = list[Work]()
        known = list(self._view.snapshot.files(self._workspace))
        for read in self._reading(downloads(files, known)):
            if self._bulk.is_late:
                return read.halt
            waiting += self._drafted(read.files)
            if read.halt:
                return self._embed(waiting) or read.halt
            while len(full := self._full(waiting)) < len(waiting):
                if halt := self._embed(full):
                    return halt
                done = {work.read.path_lower for work in full}
                waiting = [work for work in waiting if work.read.path_lower not in done]
        return self._embed(waiting)

    def _reading(self, planned: Sequence[Download]) -> Iterator[_Read]:
        ahead = deque(planned)
        under_way = deque[Callable[[], _Read]]()
        while True:
            while ahead and len(under_way) < AHEAD and not self._bulk.is_late:
                under_way.append(self._bulk.parallel.start(partial(self._read, ahead.popleft())))
            if not under_way:
                return
            read = under_way.popleft()()
            ahead.extend(one_by_one(read.missing))
            yield read

    def _read(self, download: Download) -> _Read:
        read = _Read([], [])
        try:
            if download.folder:
                self._read_folder(download, read)
            else:
                self._read_files(download, read)
        except Unavailable as error:
            return replace(read, halt=error)
        return read

    def _read_folder(self, download: Download, read: _Read) -> None:
        wanted = {seen.content_hash for seen in download.files}
        contents = self._bulk.files.contents(download.folder, wanted, download.at_most)
        for seen in download.files:
            if seen.content_hash in contents:
                read.files.append(StoredFile(_entry(seen), contents[seen.content_hash]))
            else:
                read.missing.append(seen)

    def _read_files(self, download: Download, read: _Read) -> None:
        for seen in download.files:
            if self._bulk.is_late:
                return
            with suppress(FileMissing, FileTooLarge, NotDownloadable):
                stored = self._bulk.files.read(FileRef.at(seen.path_lower), MAX_FILE)
                if stored.entry.rev == seen.rev:
                    read.files.append(stored)

    def _drafted(self, files: Sequence[StoredFile]) -> Iterator[Work]:
        for stored in files:
            draft = self._indexer.drafter.draft(stored)
            path = stored.entry.path_lower
            if isinstance(draft, Draft):
                yield Work(TailEntry(path, version=0), stored.entry, draft)
            else:
                self._results[path] = draft

    def _full(self, works: Sequence[Work]) -> list[Work]:
        """The first of the files, as many as make full requests."""
        most = self._indexer.embedder.most_bytes
        if sum(work.read.size for work in works) < REQUESTS * most:
            return list(works)
        bundles, _ = bundled(works, self._vectors, most)
        return [work for bundle in bundles[:REQUESTS] for work in bundle.works]

    def _embed(self, works: Sequence[Work]) -> Unavailable | None:
        state = self._indexer.index.load()
        works = [work for work in works if _is_untouched(state, work.claimed.path_lower)]
        missing = {text for work in works for text in work.draft.texts(self._vectors)}
        self._vectors |= self._view.snapshot.vectors(missing)
        outcomes = self._indexer.index_all(works, self._vectors, self._keep)
        if len(self._results) >= max(ENOUGH, self._packed):
            self._pack()
        return EmbeddingSilent() if ServiceSilent() in outcomes else None

    def _keep(
        self,
        work: Work,
        settled: Settled | None,
        outcome: IndexOutcome,
        spending: Spending | None,
    ) -> IndexOutcome:
        if spending:
            self._indexer.ledger.settle(spending)
        if settled:
            self._results[work.claimed.path_lower] = settled
        return outcome

    def _pack(self) -> None:
        packer, catalog = self._bulk.packer, self._indexer.catalog
        while self._results and not self._indexer.deadline.has_passed:
            if packer.fold(catalog.load(), self._workspace, self._results):
                self._packed += len(self._results)
                self._results = {}


def _is_untouched(state: IndexState, path_lower: str) -> bool:
    """Whether nobody has begun to index the file, and nothing of an older text is kept for it."""
    at = state.tail.get(path_lower)
    is_open = at is None or (at.settled is None and at.claim is None)
    return is_open and path_lower not in state.unlisted


def _entry(seen: Seen) -> FileEntry:
    return FileEntry(
        path_lower=seen.path_lower,
        path_display=seen.path_display,
        rev=Rev(seen.rev),
        content_hash=seen.content_hash,
        size=seen.size,
        modified=seen.modified,
    )
