"""The packed index of a part of a workspace: one immutable file, searched as it lies in memory.

A file of sections: those of FileTable, and those of Columns. Parts of a file that is due are kept
for their vectors and are not ranked. No text of a note is in a pack, and no word of it in clear.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Self

import numpy as np

from memorybox.search.columns import Columns
from memorybox.search.model import Entry, Indexed, Part, Recipe, Settled
from memorybox.search.sections import PackDamaged, Sections, Source, assembled
from memorybox.search.table import FileTable


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """Files of one workspace and their parts. A row is the number of a file in path order."""

    recipe: Recipe
    table: FileTable
    columns: Columns

    @classmethod
    def open(cls, data: bytes | bytearray | memoryview) -> Self:
        """Read what `build_pack` made, without a copy: `data` must not change afterwards.

        Raises PackUnknown or PackDamaged.
        """
        return cls._of(Sections.open(data))

    @classmethod
    def over(cls, source: Source) -> Self:
        """Read what a search needs of every part but its vector; the rest stays where it is.

        Raises PackUnknown or PackDamaged, as may whatever reads the rest.
        """
        return cls._of(Sections.over(source))

    @classmethod
    def _of(cls, sections: Sections) -> Self:
        try:
            about = sections.about
            recipe = Recipe(**about["recipe"])
            table = FileTable.over(sections, about["files"])
            columns = Columns.over(sections, recipe.dims, about["parts"])
        except (KeyError, TypeError, ValueError) as error:
            raise PackDamaged("the head of the pack does not describe it") from error
        return cls(recipe, table, columns)

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
        settled: Settled | None = self.table.skipped(row)
        if self.table.indexed[row]:
            settled = Indexed(seen.rev, seen.content_hash, self.recipe, parts)
        elif parts:
            outdated = Recipe(self.recipe.model, self.recipe.dims, splitting=0, terms=0)
            settled = Indexed(seen.rev, seen.content_hash, outdated, parts)
        return Entry(seen, settled)


def build_pack(recipe: Recipe, entries: Iterable[Entry]) -> bytes:
    """The pack of files as they were last seen, each settled at that rev or due.

    A file indexed under another recipe is due; its parts go along if their vectors still count.
    """
    files = sorted(entries, key=lambda entry: entry.seen.path_lower)
    table = FileTable.of(files, recipe)
    columns = Columns.of([_kept_parts(entry, recipe) for entry in files], recipe.dims)
    about = {"recipe": asdict(recipe), "files": len(files), "parts": len(columns.file_of)}
    return assembled(about, table.arrays() | columns.arrays())


def _kept_parts(entry: Entry, recipe: Recipe) -> tuple[Part, ...]:
    settled = entry.settled
    if settled and settled.rev != entry.seen.rev:
        raise ValueError("a pack holds only what was settled at the rev that was last seen")
    if not isinstance(settled, Indexed):
        return ()
    fits = (settled.recipe.model, settled.recipe.dims) == (recipe.model, recipe.dims)
    return settled.parts if fits else ()
