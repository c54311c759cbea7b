"""The packed index of a part of a workspace: one immutable file, searched as it lies in memory.

A file of sections: those of FileTable, those of Columns, and the rows of older packs that hold no
more, because their files have changed since or are gone. Parts of a file that is due or skipped are
kept for their vectors and are not ranked. No text of a note is in a pack, and no word of it in
clear.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from memorybox.search.columns import Columns
from memorybox.search.model import NO_REV, Entry, Indexed, Part, Recipe, Settled, Skipped, parts_in
from memorybox.search.sections import PackDamaged, Sections, Source, assembled
from memorybox.search.table import FileTable
from memorybox.search.vectors import Array

Hidden = Mapping[int, Array | Sequence[int]]

FRONT = (
    "hidden_in",
    "hidden_rows",
    "path_ends",
    "paths",
    "display_ends",
    "states",
    "file_of",
    "part_at",
    "bounds",
    "centres",
    "norms",
    "lengths",
    "terms",
    "held_by",
    "firsts",
    "starts",
    "often_of",
    "often",
)
"""The sections that every search reads whole. The sampled vectors come next."""


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """Files of one workspace and their parts. A row is the number of a file in path order."""

    number: int
    recipe: Recipe
    table: FileTable
    columns: Columns
    hides: Hidden
    """By number of an older pack, rows of it that hold no more."""

    front: int
    """Bytes of it that are in memory wherever the rest is."""

    @classmethod
    def open(cls, data: bytes | bytearray | memoryview, key: str = "") -> Self:
        """Read what `build_pack` made, without a copy: `data` must not change afterwards.

        Raises PackLost, which names the key.
        """
        return cls._of(Sections.open(data, key))

    @classmethod
    def over(cls, source: Source) -> Self:
        """Read what a search needs of every part but its vector; the rest stays where it is.

        Raises PackLost, as may whatever reads the rest.
        """
        return cls._of(Sections.over(source))

    @classmethod
    def _of(cls, sections: Sections) -> Self:
        try:
            about = sections.about
            recipe = Recipe(**about["recipe"])
            table = FileTable.over(sections, about["files"])
            columns = Columns.over(sections, recipe.dims, about["parts"])
            hidden_in, hidden_rows = sections.array("hidden_in"), sections.array("hidden_rows")
            older = sorted(set(hidden_in.tolist()))
            hides = {number: hidden_rows[hidden_in == number] for number in older}
            return cls(about["number"], recipe, table, columns, hides, about["front"])
        except (KeyError, TypeError, ValueError) as error:
            why = "the head of the pack does not describe it"
            raise PackDamaged(why, sections.key) from error

    @property
    def files(self) -> int:
        return len(self.table)

    @property
    def parts(self) -> int:
        return len(self.columns.file_of)

    def take(self, rows: Sequence[int]) -> list[Entry]:
        """The entries of these rows, in one pass over the pack."""
        chosen = np.zeros(self.files, bool)
        chosen[list(rows)] = True
        parts: dict[int, list[Part]] = {row: [] for row in rows}
        for row, part in self.columns.parts(chosen[self.columns.file_of]):
            parts[row].append(part)
        return [self._entry(row, tuple(parts[row])) for row in rows]

    def _entry(self, row: int, parts: tuple[Part, ...]) -> Entry:
        seen = self.table.seen(row)
        settled: Settled | None = self.table.skipped(row, self.recipe)
        if self.table.indexed[row]:
            settled = Indexed(seen.rev, seen.content_hash, self.recipe, parts)
        elif isinstance(settled, Skipped) and parts:
            settled = replace(settled, kept=Indexed(NO_REV, "", self.recipe, parts))
        elif parts:
            outdated = Recipe(self.recipe.model, self.recipe.dims, splitting=0, terms=0)
            settled = Indexed(seen.rev, seen.content_hash, outdated, parts)
        return Entry(seen, settled)


def build_pack(
    recipe: Recipe, entries: Iterable[Entry], number: int = 1, hides: Hidden | None = None
) -> bytes:
    """The pack of files as they were last seen, each settled at that rev or due.

    A file indexed under another recipe is due; its parts go along if their vectors still count.
    """
    files = sorted(entries, key=lambda entry: entry.seen.path_lower)
    table = FileTable.of(files, recipe)
    columns = Columns.of([_kept_parts(entry, recipe) for entry in files], recipe.dims).clustered()
    hidden = hides or {}
    rows = [np.array(hidden[older], "<u4") for older in hidden]
    arrays = {
        "hidden_in": np.repeat(np.array([*hidden], "<u4"), [len(each) for each in rows]),
        "hidden_rows": np.concatenate([*rows, np.array([], "<u4")]),
        **table.arrays(),
        **columns.arrays(),
    }
    about = {
        "number": number,
        "recipe": {field.name: getattr(recipe, field.name) for field in fields(recipe)},
        "files": len(files),
        "parts": len(columns.file_of),
    }
    front = {name: arrays.pop(name) for name in FRONT}
    rest = {"vectors": arrays.pop("vectors"), **arrays}
    return assembled(about, front, rest, ahead=rest["vectors"][columns.sampled].nbytes)


def _kept_parts(entry: Entry, recipe: Recipe) -> tuple[Part, ...]:
    settled = entry.settled
    if settled and settled.rev != entry.seen.rev:
        raise ValueError("a pack holds only what was settled at the rev that was last seen")
    held = parts_in(settled)
    if held is None or (held.recipe.model, held.recipe.dims) != (recipe.model, recipe.dims):
        return ()
    return held.parts
