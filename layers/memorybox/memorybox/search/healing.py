"""Goes on without a pack that cannot be read.

What it alone knew can only be told by Dropbox: its workspace is listed, and compared with the tail
and the packs that are left. The lost one also said which rows of older packs hold no more. So these
packs count again only in the last step, with which all that is otherwise by now is recorded.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

from memorybox.deadline import Deadline
from memorybox.search.catalog import Catalog, View
from memorybox.search.model import PackPointer
from memorybox.search.recorder import Shelved
from memorybox.search.sections import PackLost
from memorybox.search.store import CursorMoved, IndexState

AT_ONCE = 500
"""Files that are recorded between two looks at the time."""


def heal(catalog: Catalog, lost: PackLost, deadline: Deadline, at_once: int = AT_ONCE) -> bool:
    """Let the index do without a pack. False if there was no time.

    Then what is recorded stays recorded, and whoever comes next goes on. A workspace that is not
    within reach of one listing loses all its packs: a listing of everything finds its files again.
    """
    keys = {lost.key}
    while not deadline.has_passed:
        try:
            with suppress(CursorMoved):
                return _healed(catalog, keys, deadline, at_once)
        except PackLost as another:
            keys.add(another.key)
    return False


def _healed(catalog: Catalog, keys: Collection[str], deadline: Deadline, at_once: int) -> bool:
    state = catalog.index.load()
    for pointer in state.packs.values():
        left = tuple(ref for ref in pointer.packs if ref.key not in keys)
        if left != pointer.packs:
            view = _without_others(catalog, state, replace(pointer, packs=left))
            news = catalog.recorder.relist(pointer.workspace, view.snapshot, deadline)
            if news is not None:
                shelved = catalog.shelve(view, news) if catalog.shelve else Shelved((), news)
                return _recorded(catalog, view, shelved, deadline, at_once)
            if deadline.has_passed:
                return False
            catalog.index.discard(pointer, seen_at=state.cursor)
    return True


def _without_others(catalog: Catalog, state: IndexState, pointer: PackPointer) -> View:
    """What is known of one workspace."""
    workspace = pointer.workspace
    tail = {path: at for path, at in state.tail.items() if at.workspace == workspace}
    return catalog.view(replace(state, tail=tail, packs={workspace: pointer}), [pointer])


def _recorded(
    catalog: Catalog, view: View, shelved: Shelved, deadline: Deadline, at_once: int
) -> bool:
    at, rest = view.state.cursor, shelved.rest
    while len(rest) > at_once:
        at = catalog.index.record(rest[:at_once], seen_at=at)
        rest = rest[at_once:]
        if deadline.has_passed:  # only now: each call comes further, however slow the listing was
            return False
    left = [replace(one, generation=one.generation + 1) for one in view.state.packs.values()]
    catalog.index.record(rest, seen_at=at, packs=shelved.packs or left)
    return True
