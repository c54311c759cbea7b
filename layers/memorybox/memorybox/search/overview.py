"""What the owner of an account is told about their notes and the index of them."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from memorybox.clock import Clock
from memorybox.deadline import Deadline
from memorybox.errors import Unavailable
from memorybox.search.catalog import Catalog, View
from memorybox.search.healing import heal
from memorybox.search.model import Recipe
from memorybox.search.names import names
from memorybox.search.results import Unindexed
from memorybox.search.sections import PackLost


@dataclass(frozen=True, slots=True)
class WorkspaceState:
    """How many notes a workspace has, and how many of them search finds."""

    name: str
    notes: int
    searchable: int
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Overview:
    """The workspaces by name; the notes that are not indexed, by name, and how many wait."""

    workspaces: tuple[WorkspaceState, ...]
    unindexed: tuple[Unindexed, ...]
    waiting: int
    is_current: bool
    """Whether all that Dropbox has now is counted; else it is as of an earlier look."""


def overview(catalog: Catalog, recipe: Recipe, clock: Clock, deadline: Deadline) -> Overview:
    """The state of an index, compared with Dropbox as far as there is time. Embeds nothing."""
    lost = set[str]()
    while True:
        try:
            view = catalog.load(lost=lost) if lost else _viewed(catalog, deadline)
            return _described(view, recipe, clock)
        except PackLost as loss:
            if not _is_healed(catalog, loss, deadline):
                lost.add(loss.key)


def _viewed(catalog: Catalog, deadline: Deadline) -> View:
    try:
        return catalog.catch_up(deadline)
    except Unavailable:
        return catalog.load()


def _is_healed(catalog: Catalog, lost: PackLost, deadline: Deadline) -> bool:
    try:
        return heal(catalog, lost, deadline)
    except Unavailable:
        return False


def _described(view: View, recipe: Recipe, clock: Clock) -> Overview:
    snapshot, today = view.snapshot, clock.now().date()
    files = list(snapshot.files())
    named = names(files)
    due = {seen.path_lower for seen in snapshot.due(recipe, today)}
    skipped = snapshot.skipped(recipe, today)
    missing = due | {seen.path_lower for seen, _ in skipped}
    notes = Counter(seen.workspace for seen in files)
    searchable = Counter(seen.workspace for seen in files if seen.path_lower not in missing)
    shown = {seen.workspace: named[seen.path_lower][0] for seen in files}
    changed = {
        seen.workspace: seen.modified for seen in sorted(files, key=lambda seen: seen.modified)
    }
    unindexed = (
        Unindexed(*named[seen.path_lower], settled.reason, settled.until)
        for seen, settled in skipped
    )
    return Overview(
        workspaces=tuple(
            WorkspaceState(shown[key], notes[key], searchable[key], changed[key])
            for key in sorted(notes)
        ),
        unindexed=tuple(sorted(unindexed, key=lambda file: (file.workspace, file.path))),
        waiting=len(due),
        is_current=view.is_complete,
    )
