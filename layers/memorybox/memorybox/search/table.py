"""The files of a pack by path, a row each."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Self

import numpy as np

from memorybox.search.model import Entry, Indexed, Recipe, Seen, Skipped, SkipReason
from memorybox.search.sections import Column, Sections
from memorybox.search.vectors import Array

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

INDEXED, DUE = 0, 1
SKIPPED = (
    SkipReason.TOO_LARGE,
    SkipReason.NOT_UTF8,
    SkipReason.OVER_BUDGET,
    SkipReason.REFUSED,
    SkipReason.NOT_DOWNLOADABLE,
)
"""The reasons of the states from 2 on."""


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """Texts of any length, end to end in UTF-8, whose order is that of their characters."""

    ends: Array
    text: Column

    @classmethod
    def of(cls, strings: Iterable[str]) -> Self:
        encoded = [string.encode() for string in strings]
        ends = np.cumsum([len(each) for each in encoded], dtype="<u4")
        return cls(ends, np.frombuffer(b"".join(encoded), "u1"))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, row: int) -> str:
        if row >= len(self.ends):
            raise IndexError
        start = int(self.ends[row - 1]) if row else 0
        return self.text[start : int(self.ends[row])].tobytes().decode()


@dataclass(frozen=True, slots=True, eq=False)
class FileTable:
    """Columns of what is known of each file, rows ascending by path_lower."""

    paths: Strings
    displays: Strings
    """As people see the path; empty if that is the path_lower."""

    revs: Column
    content_hashes: Column
    sizes: Column
    modified: Column
    """i64: microseconds since 1970."""

    states: Array
    """u8: INDEXED under the pack's recipe, DUE, or 2 + the place in SKIPPED."""

    untils: Column
    """u32: the ordinal of the day of the next try; 0 for none."""

    @classmethod
    def over(cls, sections: Sections, files: int) -> Self:
        """The table that is stored in a pack. Raises ValueError if it does not fit."""
        table = cls(
            paths=Strings(sections.array("path_ends"), sections.array("paths")),
            displays=Strings(sections.array("display_ends"), sections.column("displays")),
            revs=sections.column("revs"),
            content_hashes=sections.column("content_hashes"),
            sizes=sections.column("sizes"),
            modified=sections.column("modified"),
            states=sections.array("states"),
            untils=sections.column("untils"),
        )
        if {len(getattr(table, field.name)) for field in fields(cls)} != {files}:
            raise ValueError("the columns are not of one length")
        return table

    @classmethod
    def of(cls, entries: Sequence[Entry], recipe: Recipe) -> Self:
        """The table of these files, which ascend by path. Other recipes' files are due."""
        seen = [entry.seen for entry in entries]
        states = [_state(entry, recipe) for entry in entries]
        return cls(
            paths=Strings.of(file.path_lower for file in seen),
            displays=Strings.of(
                "" if file.path_display == file.path_lower else file.path_display for file in seen
            ),
            revs=np.array([file.rev.encode() for file in seen], "S"),
            content_hashes=np.array([file.content_hash.encode() for file in seen], "S"),
            sizes=np.array([file.size for file in seen], "<u8"),
            modified=np.array([(f.modified - EPOCH) // MICROSECOND for f in seen], "<i8"),
            states=np.array([state for state, _ in states], "u1"),
            untils=np.array([until.toordinal() if until else 0 for _, until in states], "<u4"),
        )

    def arrays(self) -> dict[str, Array]:
        """The columns by name, as `over` finds them."""
        strings = {
            "path_ends": self.paths.ends,
            "paths": self.paths.text[:],
            "display_ends": self.displays.ends,
            "displays": self.displays.text[:],
        }
        rest = [field.name for field in fields(self)][2:]
        return strings | {name: getattr(self, name)[:] for name in rest}

    def __len__(self) -> int:
        return len(self.states)

    @property
    def indexed(self) -> Array:
        """For each row whether it is indexed under the pack's recipe."""
        found: Array = self.states == INDEXED
        return found

    def row(self, path_lower: str) -> int | None:
        """The row of the file at this path."""
        return self.place(path_lower)[0]

    def place(self, path_lower: str) -> tuple[int | None, slice]:
        """The row of the file at this path, and those of the files in the folder at this path."""
        first = bisect_left(self.paths, path_lower)
        row = first if first < len(self) and self.paths[first] == path_lower else None
        after = first if row is None else row + 1
        if after == len(self) or not self.paths[after].startswith(path_lower):
            return row, slice(0)
        start = bisect_left(self.paths, path_lower + "/", after)
        return row, slice(start, bisect_left(self.paths, path_lower + "0", start))  # "0" is next

    def rows_of(self, content_hashes: Collection[str]) -> list[int]:
        """The rows of the files with one of these content hashes."""
        wanted = np.array([each.encode() for each in content_hashes], "S")
        rows: list[int] = np.flatnonzero(np.isin(self.content_hashes[:], wanted)).tolist()
        return rows

    def rev(self, row: int) -> str:
        return _text(self.revs, row)

    def seen(self, row: int) -> Seen:
        path_lower = self.paths[row]
        return Seen(
            path_lower=path_lower,
            path_display=self.displays[row] or path_lower,
            rev=self.rev(row),
            content_hash=_text(self.content_hashes, row),
            size=_number(self.sizes, row),
            modified=EPOCH + _number(self.modified, row) * MICROSECOND,
        )

    def skipped(self, row: int) -> Skipped | None:
        """Why the file has no parts, if it was skipped."""
        state = int(self.states[row])
        if state in (INDEXED, DUE):
            return None
        until = _number(self.untils, row)
        return Skipped(
            rev=self.rev(row),
            content_hash=_text(self.content_hashes, row),
            reason=SKIPPED[state - 2],
            until=date.fromordinal(until) if until else None,
        )


def _state(entry: Entry, recipe: Recipe) -> tuple[int, date | None]:
    match entry.settled:
        case Indexed(recipe=used) if used == recipe:
            return INDEXED, None
        case Skipped(reason=reason, until=until):
            return 2 + SKIPPED.index(reason), until
        case _:
            return DUE, None


def _text(column: Column, row: int) -> str:
    text: bytes = column[row : row + 1][0]
    return text.decode()


def _number(column: Column, row: int) -> int:
    return int(column[row : row + 1][0])
