"""The packed index of a workspace: one immutable file, searched as it lies in memory.

    0     magic "MBPK" | u32 format | u32 CRC-32 of all that follows | u32 length of the head
    16    head, JSON: {"recipe": {…}, "files": n, "parts": n, "sections": {name: [offset, length]}}
    4096  sections, each at a multiple of 64: "files", zlib JSON, and one for each column

`files` has a row for each file, ascending by path_lower:
`[path_lower, path_display, rev, content_hash, size, modified, state, until]`. A state is "indexed",
"due" or the reason for which the file was skipped. Parts of a due file are kept for their vectors
and are not ranked. No text of a note is in a pack, and no word of it in clear.
"""

import json
import zlib
from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from struct import Struct
from typing import Any, Self

import numpy as np

from memorybox.errors import MemoryBoxError
from memorybox.search.columns import Array, Columns
from memorybox.search.model import (
    Entry,
    Indexed,
    Part,
    Recipe,
    Seen,
    Settled,
    Skipped,
    SkipReason,
)

MAGIC, FORMAT = b"MBPK", 1
FIXED = Struct("<4sII")
HEAD = 4_096
ALIGNMENT = 64

INDEXED, DUE = "indexed", "due"

Row = list[Any]


class PackDamaged(MemoryBoxError):
    """These bytes are not a pack as it was written: index the workspace anew."""


class PackUnknown(MemoryBoxError):
    """Not a pack, or of a format that this version cannot read: index the workspace anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """The files of one workspace and their parts. A row is the number of a file in path order."""

    recipe: Recipe
    rows: list[Row]
    paths: list[str]
    indexed: Array
    """For each row whether it is indexed under the pack's recipe."""

    columns: Columns

    @classmethod
    def open(cls, data: bytes | bytearray | memoryview) -> Self:
        """Read what `build_pack` made, without a copy: `data` must not change afterwards.

        Raises PackUnknown or PackDamaged.
        """
        view = memoryview(data).toreadonly()
        head = _checked_head(view)
        try:
            sections = {
                name: view[offset : offset + length]
                for name, (offset, length) in head["sections"].items()
            }
            recipe = Recipe(**head["recipe"])
            rows: list[Row] = json.loads(zlib.decompress(sections.pop("files")))
            columns = Columns.over(sections, dims=recipe.dims)
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise PackDamaged("the head of the pack does not describe it") from error
        if (head["files"], head["parts"]) != (len(rows), len(columns.file_of)):
            raise PackDamaged("the head of the pack counts other files or parts")
        return cls(
            recipe=recipe,
            rows=rows,
            paths=[row[0] for row in rows],
            indexed=np.array([row[6] == INDEXED for row in rows], bool),
            columns=columns,
        )

    @property
    def files(self) -> int:
        return len(self.rows)

    @property
    def parts(self) -> int:
        return len(self.columns.file_of)

    def row(self, path_lower: str) -> int | None:
        """The row of the file at this path."""
        row = bisect_left(self.paths, path_lower)
        return row if self.paths[row : row + 1] == [path_lower] else None

    def below(self, path_lower: str) -> slice:
        """The rows of the files in this folder and its folders."""
        first = bisect_left(self.paths, path_lower + "/")
        return slice(first, bisect_left(self.paths, path_lower + "0", first))  # "0" follows "/"

    def rev(self, row: int) -> str:
        rev: str = self.rows[row][2]
        return rev

    def rows_of(self, hashes: Container[str]) -> list[int]:
        """The rows of the files with one of these content hashes."""
        return [number for number, row in enumerate(self.rows) if row[3] in hashes]

    def seen(self, row: int) -> Seen:
        path_lower, path_display, rev, content_hash, size, modified, *_ = self.rows[row]
        when = datetime.fromisoformat(modified)
        return Seen(path_lower, path_display, rev, content_hash, size, when)

    def skipped(self, row: int) -> Skipped | None:
        """Why the file has no parts, if it was skipped."""
        _, _, rev, content_hash, _, _, state, until = self.rows[row]
        if state in (INDEXED, DUE):
            return None
        when = until and date.fromisoformat(until)
        return Skipped(rev, content_hash, SkipReason(state), when)

    def take(self, rows: Sequence[int]) -> list[Entry]:
        """The entries of these rows, in one pass over the pack."""
        chosen = np.zeros(self.files, bool)
        chosen[list(rows)] = True
        parts: dict[int, list[Part]] = {row: [] for row in rows}
        for row, part in self.columns.parts(chosen[self.columns.file_of]):
            parts[row].append(part)
        return [self._entry(row, tuple(parts[row])) for row in rows]

    def _entry(self, row: int, parts: tuple[Part, ...]) -> Entry:
        seen = self.seen(row)
        settled: Settled | None = self.skipped(row)
        if self.indexed[row]:
            settled = Indexed(seen.rev, seen.content_hash, self.recipe, parts)
        elif parts:
            outdated = Recipe(self.recipe.model, self.recipe.dims, splitting=0, terms=0)
            settled = Indexed(seen.rev, seen.content_hash, outdated, parts)
        return Entry(seen, settled)


def build_pack(recipe: Recipe, entries: Iterable[Entry]) -> bytes:
    """The pack of a workspace: its files as they were last seen, each settled at that rev or due.

    A file indexed under another recipe is due; its parts go along if their vectors still count.
    """
    files = sorted(entries, key=lambda entry: entry.seen.path_lower)
    columns = Columns.of([_kept_parts(entry, recipe) for entry in files], recipe.dims)
    table = zlib.compress(json.dumps([_row(entry, recipe) for entry in files]).encode())
    counts = {"files": len(files), "parts": len(columns.file_of)}
    return _assembled(
        {"recipe": asdict(recipe), **counts}, {"files": memoryview(table), **columns.sections()}
    )


def aligned(size: int) -> memoryview:
    """A buffer of `size` bytes to read a pack into, so that its sections are aligned in memory."""
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room.data[start : start + size]


def _row(entry: Entry, recipe: Recipe) -> Row:
    seen, state, until = entry.seen, DUE, None
    match entry.settled:
        case Indexed(recipe=used) if used == recipe:
            state = INDEXED
        case Skipped(reason=reason, until=when):
            state, until = reason.value, when and when.isoformat()
    modified = seen.modified.isoformat()
    names = (seen.path_lower, seen.path_display, seen.rev, seen.content_hash)
    return [*names, seen.size, modified, state, until]


def _kept_parts(entry: Entry, recipe: Recipe) -> tuple[Part, ...]:
    settled = entry.settled
    if settled and settled.rev != entry.seen.rev:
        raise ValueError("a pack holds only what was settled at the rev that was last seen")
    if not isinstance(settled, Indexed):
        return ()
    fits = (settled.recipe.model, settled.recipe.dims) == (recipe.model, recipe.dims)
    return settled.parts if fits else ()


def _assembled(about: dict[str, Any], sections: dict[str, memoryview]) -> bytes:
    places: dict[str, tuple[int, int]] = {}
    pieces: list[bytes | memoryview] = []
    end = HEAD
    for name, section in sections.items():
        gap, size = -end % ALIGNMENT, section.nbytes
        places[name] = (end + gap, size)
        pieces += [bytes(gap), section]
        end += gap + size
    head = json.dumps({**about, "sections": places}).encode()
    body = len(head).to_bytes(4, "little") + head
    if len(body) > HEAD - FIXED.size:
        raise ValueError("the head does not fit in its place")
    pieces.insert(0, body.ljust(HEAD - FIXED.size, b"\0"))
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return b"".join([FIXED.pack(MAGIC, FORMAT, checksum), *pieces])


def _checked_head(view: memoryview) -> dict[str, Any]:
    if len(view) < HEAD:
        raise PackDamaged("the pack is cut off")
    magic, version, checksum = FIXED.unpack_from(view)
    if (magic, version) != (MAGIC, FORMAT):
        raise PackUnknown(f"this is not a pack of format {FORMAT}")
    body = view[FIXED.size :]
    if zlib.crc32(body) != checksum:
        raise PackDamaged("the checksum of the pack is wrong")
    head: dict[str, Any] = json.loads(bytes(body[4 : 4 + int.from_bytes(body[:4], "little")]))
    return head
