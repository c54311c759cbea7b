"""The index of an account as it is now, brought up to date with Dropbox."""

from collections.abc import (
    Callable,
    Collection,
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from memorybox.deadline import Deadline
from memorybox.search.model import PackPointer
from memorybox.search.pack import Pack
from memorybox.search.recorder import Recorder, Shelved
from memorybox.search.snapshot import Snapshot
from memorybox.search.store import (
    CursorMoved,
    IndexState,
    IndexStore,
    PackStore,
    Sighting,
)


@dataclass(frozen=True, slots=True)
class View:
    """The index at one moment. Looking into it may raise PackLost."""

    state: IndexState
    snapshot: Snapshot
    is_complete: bool
    """Whether all changes in Dropbox before that moment are in it."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Where a view comes from."""

    index: IndexStore
    packs: PackStore
    recorder: Recorder
    shelve: Callable[[View, Sequence[Sighting]], Shelved] | None = None
    """Puts new files, if there are many, into packs."""

    def load(self, scope: str | None = None, lost: Collection[str] = ()) -> View:
        """What is recorded, whatever happened in Dropbox since, with the packs of the scope.

        Of the packs beside one that is `lost`, by key, only those younger than it: it may have
        hidden rows of the others.
        """
        state = self.index.load()
        pointers = [at for workspace, at in state.packs.items() if scope in (None, workspace)]
        return self.view(state, [_trusted(pointer, lost) for pointer in pointers])

    def catch_up(self, deadline: Deadline) -> View:
        """Record what changed in Dropbox, until `deadline`, and load. One load if nothing did.

        If somebody else read on meanwhile, it begins again: of a listing from the start that is
        under way, the index shows a part only.
        """
        while True:
            view = self.load()
            with suppress(CursorMoved):
                shelve = self.shelve and partial(self.shelve, view)
                reading = self.recorder.read_on(view.state, view.snapshot, deadline, shelve)
                at = reading.cursor
                if view.state.cursor != at:
                    view = self.load()
                if view.state.unlisted:
                    at = self.recorder.look(sorted(view.state.unlisted), at)
                    view = self.load()
                if view.state.cursor == at:
                    return replace(view, is_complete=reading.is_complete)

    def view(self, state: IndexState, pointers: Iterable[PackPointer]) -> View:
        """What a state says, with these packs."""
        packs = _PacksOnDemand(self.packs, {at.workspace: at for at in pointers})
        return View(state, Snapshot(state.tail, packs), is_complete=False)


class _PacksOnDemand(Mapping[str, Sequence[Pack]]):
    """The packs by workspace, opened when they are asked for: together if all of them are."""

    def __init__(self, store: PackStore, pointers: Mapping[str, PackPointer]) -> None:
        self._store = store
        self._pointers = pointers
        self._opened: dict[str, Sequence[Pack]] = {}

    def __getitem__(self, workspace: str) -> Sequence[Pack]:
        self._open([self._pointers[workspace]])
        return self._opened[workspace]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pointers)

    def __len__(self) -> int:
        return len(self._pointers)

    def items(self) -> ItemsView[str, Sequence[Pack]]:
        self._open(self._pointers.values())
        return self._opened.items()

    def _open(self, pointers: Iterable[PackPointer]) -> None:
        missing = [pointer for pointer in pointers if pointer.workspace not in self._opened]
        packs = iter(self._store.open([ref for pointer in missing for ref in pointer.packs]))
        for pointer in missing:
            self._opened[pointer.workspace] = list(islice(packs, len(pointer.packs)))


def _trusted(pointer: PackPointer, lost: Collection[str]) -> PackPointer:
    last = max((ref.number for ref in pointer.packs if ref.key in lost), default=0)
    return replace(pointer, packs=tuple(ref for ref in pointer.packs if ref.number > last))
