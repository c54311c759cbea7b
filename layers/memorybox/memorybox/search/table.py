"""The files of a pack by path, a row each."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple, Self

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
    """Texts of any length, end to end in UTF-8, where the order is that of their characters."""

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
        start, end = int(self.ends[row - 1]) if row else 0, int(self.ends[row])
        return self.text[start:end].tobytes().decode() if start < end else ""

    def decoded(self) -> list[str]:
        """All of them, for those who look at many."""
        text, ends = self.text[:].tobytes(), self.ends.tolist()
        return [text[start:end].decode() for start, end in pairwise([0, *ends])]


class Record(NamedTuple):
    """What is known of each file beside its path and its state."""

    rev: bytes
    content_hash: bytes
    size: int
    modified: int
    """Microseconds since EPOCH."""

    until: int
    """The day of the next try by its ordinal; 0 if there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class FileTable:
    """Columns of what is known of each file, rows ascending by path_lower."""

    paths: list[str]
    displays: Strings
    """As people see the path; empty if that is the path_lower."""

    states: Array
    """u8: INDEXED under the pack's recipe, DUE, or 2 + the place in SKIPPED."""

    records: Column
    """What else there is of each file, together: it is one read where they are not in memory."""

    @classmethod
    def over(cls, sections: Sections, files: int) -> Self:
        """The table that is stored in a pack. Raises ValueError if it does not fit."""
        table = cls(
            paths=Strings(sections.array("path_ends"), sections.array("paths")).decoded(),
            displays=Strings(sections.array("display_ends"), sections.column("displays")),
            states=sections.array("states"),
            records=sections.column("records"),
        )
        if {len(getattr(table, field.name)) for field in fields(cls)} != {files}:
            raise ValueError("the columns are not of one length")
        return table

    @classmethod
    def of(cls, entries: Sequence[Entry], recipe: Recipe) -> Self:
        """The table of these files, which ascend by path. Other recipes' files are due."""
        seen = [entry.seen for entry in entries]
        states = [_state(entry, recipe) for entry in entries]
        columns = {
            "rev": np.array([file.rev.encode() for file in seen], "S"),
            "content_hash": np.array([file.content_hash.encode() for file in seen], "S"),
            "size": np.array([file.size for file in seen], "<u8"),
            "modified": np.array([(f.modified - EPOCH) // MICROSECOND for f in seen], "<i8"),
            "until": np.array([until.toordinal() if until else 0 for _, until in states], "<u4"),
        }
        records = np.empty(len(seen), [(name, columns[name].dtype) for name in Record._fields])
        for name, column in columns.items():
            records[name] = column
        return cls(
            paths=[file.path_lower for file in seen],
            displays=Strings.of(
                "" if file.path_display == file.path_lower else file.path_display for file in seen
            ),
            states=np.array([state for state, _ in states], "u1"),
            records=records,
        )

    def arrays(self) -> dict[str, Array]:
        """The columns by name, as `over` finds them."""
        paths = Strings.of(self.paths)
        return {
            "path_ends": paths.ends,
            "paths": paths.text[:],
            "display_ends": self.displays.ends,
            "displays": self.displays.text[:],
            "states": self.states,
            "records": self.records[:],
        }

    def loaded(self) -> Self:
        """The same in memory, for who looks at many rows."""
        displays = Strings(self.displays.ends, self.displays.text[:])
        return replace(self, displays=displays, records=self.records[:])

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
        """For each of these content hashes the row of a file that is indexed, if there is one."""
        wanted = np.array([each.encode() for each in content_hashes], "S")
        hashes = self.records[:]["content_hash"]
        rows = np.flatnonzero(np.isin(hashes, wanted) & self.indexed)
        _, firsts = np.unique(hashes[rows], return_index=True)
        found: list[int] = rows[firsts].tolist()
        return found

    def rev(self, row: int) -> str:
        return self._record(row).rev.decode()

    def seen(self, row: int) -> Seen:
        path_lower, record = self.paths[row], self._record(row)
        return Seen(
            path_lower=path_lower,
            path_display=self.displays[row] or path_lower,
            rev=record.rev.decode(),
            content_hash=record.content_hash.decode(),
            size=record.size,
            modified=EPOCH + record.modified * MICROSECOND,
        )

    def skipped(self, row: int, recipe: Recipe) -> Skipped | None:
        """Why the file has no parts, if it was skipped; `recipe` is the pack's."""
        state, record = int(self.states[row]), self._record(row)
        if state in (INDEXED, DUE):
            return None
        reason = SKIPPED[state - 2]
        return Skipped(
            rev=record.rev.decode(),
            content_hash=record.content_hash.decode(),
            reason=reason,
            until=date.fromordinal(record.until) if record.until else None,
            recipe=recipe if reason is SkipReason.REFUSED else None,
        )

    def _record(self, row: int) -> Record:
        [record] = self.records[row : row + 1].tolist()
        return Record(*record)


def _state(entry: Entry, recipe: Recipe) -> tuple[int, date | None]:
    match entry.settled:
        case Indexed(recipe=used) if used == recipe:
            return INDEXED, None
        case Skipped(reason=reason, until=until, recipe=under) if under in (None, recipe):
            return 2 + SKIPPED.index(reason), until
        case _:
            return DUE, None
