"""Reads what changed in Dropbox, and records it as the cursor moves on.

A listing from the start (the first one, or after Dropbox forgot the cursor) takes every file that
was known for gone, in the same step that records its first pages: those that vanished meanwhile are
never shown. Files that are shown again agree with their results and cost nothing; among those first
pages they are not even recorded. So a listing may stop at any page, and whoever comes next goes on
from there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
from memorybox.search.model import Entry, PackPointer, Seen, folders_of
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

WITHIN_REACH = 10_000
"""Files and folders of a workspace that can surely be listed within one call."""


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
    within_reach: int = WITHIN_REACH

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
                sightings = read.news()
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

    def relist(self, workspace: str, known: Known, deadline: Deadline) -> Sequence[Sighting] | None:
        """What is to be recorded of a workspace of which `known` is only in part as it is now.

        None if it was not listed to its end: there is no time left, or it is not within reach.
        """
        read = _Read(self.files, _Folder((), known), None, f"/{workspace}")
        while read.has_more and read.shown < self.within_reach and not deadline.has_passed:
            read.go_on()
        return None if read.has_more else read.news()

    def _read(
        self, folder: "_Folder", cursor: Cursor | None, deadline: Deadline, most: int
    ) -> "_Read":
        """The next pages together: one, and more until there are `most` sightings.

        If a further one cannot be had, those before it count.
        """
        read = _Read(self.files, folder, cursor)
        read.go_on()
        with suppress(Unavailable):
            while read.has_more and read.size < most and not deadline.has_passed:
                read.go_on()
        return read


class _Read:
    """Pages of changes, of the whole app folder or below a folder, that are recorded together."""

    def __init__(
        self, files: FileStore, folder: "_Folder", cursor: Cursor | None, location: str = ""
    ) -> None:
        self.cursor = cursor
        self.has_more = True
        self.shown = 0
        """How many entries there were."""
        self.is_news = False
        """Whether there is anything to be recorded, be it only the cursor."""
        self._files, self._folder, self._location = files, folder, location
        self._sightings: dict[str, Sighting] = {}
        self._known: Mapping[str, Seen] | None = None
        """The files that a listing from the start began with."""

    @property
    def size(self) -> int:
        """How many paths there are in it that a listing from the start did not begin with."""
        return len(self._sightings) - len(self._known or ())

    def go_on(self) -> None:
        """Read the next page."""
        page, is_first = self._page()
        if is_first:
            known = self._folder.begin_anew()
            if self._known is None:
                # What this very read has shown is not recorded yet, and is news however it ends.
                shown = self._sightings
                self._known = {path: known[path] for path in known if path not in shown}
            self._sightings |= {path: Gone(path) for path in known}
        self._sightings |= self._folder.apply(page.changes)
        self.cursor, self.has_more = page.cursor, page.has_more
        self.shown += len(page.changes)
        self.is_news = self.is_news or is_first or bool(page.changes) or page.has_more

    def news(self) -> list[Sighting]:
        """What is to be recorded: what was not known, and what lies below it in a pack.

        A path in the tail hides all rows below it, so these must be there too.
        """
        known = self._known or {}
        new = {path for path, sighting in self._sightings.items() if sighting != known.get(path)}
        return [
            sighting
            for path, sighting in self._sightings.items()
            if path in new or not new.isdisjoint(folders_of(path))
        ]

    def _page(self) -> tuple[ChangePage, bool]:
        """The next changes, and whether they are the first of all."""
        if self.cursor is not None:
            with suppress(CursorReset):
                return self._files.changes(self.cursor), False
        return self._files.changes(None, self._location), True


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

    def begin_anew(self) -> Mapping[str, Seen]:
        """Take every file for gone until it is shown. Returns those that were there."""
        self._is_listing = True
        known = self._files()
        self._note(map(Gone, known))
        return known

    def apply(self, changes: tuple[Change, ...]) -> dict[str, Sighting]:
        """What a page of changes, which are applied in order, says of which path."""
        self._names |= folder_names(changes)
        sightings: dict[str, Sighting] = {}
        for change in changes:
            effects = list(self._effects(change))
            self._note(effects)
            sightings |= {effect.path_lower: effect for effect in effects}
        return sightings

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
