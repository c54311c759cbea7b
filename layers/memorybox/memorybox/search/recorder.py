"""Reads what changed in Dropbox, and records it as the cursor moves on.

A listing from the start (the first one, or after Dropbox forgot the cursor) takes every file that
was known for gone, in the same step that records its first page: those that vanished meanwhile are
never shown. Files that are shown again agree with their results and cost nothing. So a listing may
stop at any page, and whoever comes next goes on from there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from memorybox.deadline import Deadline
from memorybox.errors import Unavailable
from memorybox.files.errors import CursorReset
from memorybox.files.listing import folder_names, spelt
from memorybox.files.model import (
    Change,
    ChangePage,
    Cursor,
    FileEntry,
    FolderEntry,
    is_note_path,
)
from memorybox.files.store import FileStore
from memorybox.search.model import Entry, PackPointer, Seen
from memorybox.search.store import (
    CursorMoved,
    Gone,
    IndexState,
    IndexStore,
    Sighting,
    StoredCursor,
)

TOGETHER = 10_000
"""Sightings that are recorded together, where packs can take them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How far the changes were read."""

    paths: tuple[str, ...]
    """Of the files that are new or changed."""

    cursor: StoredCursor
    is_complete: bool


class Known(Protocol):
    """The files that the index knows, those in packs too."""

    def files(self) -> Iterable[Seen]: ...

    def entry(self, path_lower: str) -> Entry | None: ...


@dataclass(frozen=True, slots=True)
class Shelved:
    """What is to be recorded, some of it by packs that are ready to be pointed to."""

    packs: Sequence[PackPointer]
    rest: Sequence[Sighting]


Shelve = Callable[[Sequence[Sighting]], Shelved]


@dataclass(frozen=True, slots=True)
class Recorder:
    """Keeps the index of one account informed."""

    files: FileStore
    index: IndexStore

    def record(self, deadline: Deadline) -> Reading:
        """Record the changes since the cursor, without a look into the packs.

        What cannot be told without them, a listing from the start above all, is left to others.
        """
        while True:
            with suppress(CursorMoved):
                return self.read_on(self.index.load(), None, deadline)

    def read_on(
        self,
        state: IndexState,
        known: Known | None,
        deadline: Deadline,
        shelve: Shelve | None = None,
    ) -> Reading:
        """Record the changes since the cursor of `state` until there are no more, or no time.

        `known` is from the same moment, and so is what `shelve` puts into packs. Nothing is stored
        if nothing changed. Raises CursorMoved, also when a pack made `state` an old one.
        """
        folder = _Folder(state.tail, known)
        at, paths = state.cursor, dict[str, None]()
        with suppress(_PacksNeeded):
            while not deadline.has_passed:
                read = self._read(folder, at.cursor, deadline, TOGETHER if shelve else 1)
                sightings = list(read.sightings.values())
                shelved = shelve(sightings) if shelve else Shelved((), sightings)
                if read.is_news:
                    at = self.index.record(
                        shelved.rest, seen_at=at, then=read.cursor, packs=shelved.packs
                    )
                paths |= {s.path_lower: None for s in sightings if isinstance(s, Seen)}
                if not read.has_more:
                    return Reading(tuple(paths), at, is_complete=True)
                if shelved.packs:
                    raise CursorMoved
        return Reading(tuple(paths), at, is_complete=False)

    def look(self, paths: Iterable[str], seen_at: StoredCursor) -> StoredCursor:
        """Record how it is now at paths that a listing, lagging behind, has not shown yet.

        Raises CursorMoved.
        """
        found = [(path, self.files.look(path)) for path in paths]
        sightings = [
            seen_of(entry) if isinstance(entry, FileEntry) and entry.is_note else Gone(path)
            for path, entry in found
        ]
        return self.index.record(sightings, seen_at=seen_at)

    def _read(
        self, folder: "_Folder", cursor: Cursor | None, deadline: Deadline, most: int
    ) -> "_Read":
        """The next pages together: one, and more until there are `most` sightings.

        If a further one cannot be had, those before it count.
        """
        page, is_first = self._page(cursor)
        read = _Read(page.cursor, page.has_more, is_news=is_first)
        read.add(page, folder.apply(page.changes, from_start=is_first))
        with suppress(Unavailable):
            while read.has_more and len(read.sightings) < most and not deadline.has_passed:
                page, is_first = self._page(read.cursor)
                read.add(page, folder.apply(page.changes, from_start=is_first))
        return read

    def _page(self, cursor: Cursor | None) -> tuple[ChangePage, bool]:
        """The next changes, and whether they are the first of all."""
        if cursor is not None:
            with suppress(CursorReset):
                return self.files.changes(cursor), False
        return self.files.changes(None), True


@dataclass(slots=True)
class _Read:
    """Pages of changes that are recorded together."""

    cursor: Cursor
    has_more: bool
    is_news: bool
    """Whether there is anything to be recorded, be it only the cursor."""

    sightings: dict[str, Sighting] = field(default_factory=dict)

    def add(self, page: ChangePage, sightings: Iterable[Sighting]) -> None:
        self.cursor, self.has_more = page.cursor, page.has_more
        self.is_news = self.is_news or bool(page.changes) or page.has_more
        self.sightings |= {sighting.path_lower: sighting for sighting in sightings}


class _PacksNeeded(Exception):
    """Only who knows the packs can tell what a change means."""


class _Folder:
    """What the index knows of the app folder, while changes are applied to it."""

    def __init__(self, tail: Iterable[str], known: Known | None) -> None:
        self._known = known
        self._latest: dict[str, Sighting] = {}
        self._paths = sorted(tail)
        self._names: dict[str, str] = {}
        self._is_listing = False

    def apply(self, changes: tuple[Change, ...], *, from_start: bool) -> list[Sighting]:
        """What is to be recorded for a page of changes, which are applied in order."""
        before = self._files() if from_start else {}
        self._is_listing |= from_start
        self._names |= folder_names(changes)
        sightings: dict[str, Sighting] = {path: Gone(path) for path in before}
        self._note(sightings.values())
        for change in changes:
            effects = list(self._effects(change))
            self._note(effects)
            sightings |= {effect.path_lower: effect for effect in effects}
        return [s for path, s in sightings.items() if s != before.get(path)]

    def _files(self) -> dict[str, Seen]:
        if self._known is None:
            raise _PacksNeeded
        latest = {seen.path_lower: seen for seen in self._known.files()} | self._latest
        return {path: seen for path, seen in latest.items() if isinstance(seen, Seen)}

    def _effects(self, change: Change) -> Iterator[Sighting]:
        """A file replaces what was there with all below it; a removal takes it all away.

        A folder leaves alone what is below it.
        """
        path = change.path_lower
        if isinstance(change, FolderEntry):
            if is_note_path(path) and self._is_file(path):
                yield Gone(path)
            return
        yield from map(Gone, self._below(path))
        if isinstance(change, FileEntry) and change.is_note:
            yield seen_of(spelt(change, self._names))
        elif not self._is_listing or path in self._latest:
            yield Gone(path)  # perhaps a folder that only a pack knows

    def _is_file(self, path: str) -> bool:
        if path in self._latest:
            return isinstance(self._latest[path], Seen)
        if self._known is None:
            raise _PacksNeeded
        return self._known.entry(path) is not None

    def _below(self, path: str) -> list[str]:
        first = bisect_left(self._paths, path + "/")
        return self._paths[first : bisect_left(self._paths, path + "0", first)]  # "0" follows "/"

    def _note(self, sightings: Iterable[Sighting]) -> None:
        for sighting in sightings:
            path = sighting.path_lower
            place = bisect_left(self._paths, path)
            if self._paths[place : place + 1] != [path]:
                self._paths.insert(place, path)
            self._latest[path] = sighting


def seen_of(entry: FileEntry) -> Seen:
    """The file as the index keeps it."""
    return Seen(
        path_lower=entry.path_lower,
        path_display=entry.path_display,
        rev=entry.rev,
        content_hash=entry.content_hash,
        size=entry.size,
        modified=entry.modified,
    )
