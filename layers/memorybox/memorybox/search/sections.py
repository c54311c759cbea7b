"""A file of named arrays that is checked on read, whole or a range at a time.

    0   magic "MBPK" | u32 format | u32 CRC-32 of the head | u32 length of the head
    16  head: u32 length of the JSON | JSON | u32[…], the CRC-32 of each 16 KiB of the body
    …   body, at the next multiple of 64, as each array in it

The JSON says what the file is about, its "sections": {name: [offset in the body, type, shape]},
types in the manner of numpy, the "size" of the body, and how many of its bytes, the "front", are
to be read first. All numbers are little-endian.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from struct import Struct
from typing import Any, Protocol, Self

import numpy as np

from memorybox.errors import MemoryBoxError
from memorybox.search.vectors import Array

MAGIC, FORMAT = b"MBPK", 4
FIXED = Struct("<4sIII")
BLOCK = 16 * 1024
FIRST = 64 * 1024
"""Bytes that are read of a file elsewhere to learn how long its head is."""
ALIGNMENT = 64


class PackLost(MemoryBoxError):
    """A pack cannot be read: its workspace is to be indexed anew."""

    def __init__(self, why: str, key: str) -> None:
        self.key = key
        super().__init__(why)


class PackDamaged(PackLost):
    """These bytes are not a pack as it was written, or are gone."""


class PackUnknown(PackLost):
    """Not a pack, or of a format that this version cannot read."""


class Column(Protocol):
    """Rows of numbers, in memory or not: a slice of them is read when it is asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice, /) -> Array: ...


class Source(Protocol):
    """Where the bytes of a file lie."""

    @property
    def key(self) -> str:
        """What it is called when it is lost."""

    @property
    def size(self) -> int: ...

    def read(self, start: int, end: int) -> memoryview:
        """These bytes, at a multiple of 64 in memory. Raises PackDamaged if some are not there."""


@dataclass(frozen=True, slots=True)
class Held:
    """The first bytes of a file in memory, or all of them, which nobody changes any more."""

    key: str
    data: memoryview
    rest: Source | None = None

    @property
    def size(self) -> int:
        return self.rest.size if self.rest else len(self.data)

    def read(self, start: int, end: int) -> memoryview:
        if self.rest and end > len(self.data):
            return self.rest.read(start, end)
        return self.data[start:end]


@dataclass(frozen=True, slots=True, eq=False)
class Sections:
    """The sections of a file, and what its head says about them."""

    about: Mapping[str, Any]
    _source: Source
    _body: int
    _checks: Array
    _is_sound: bool = False
    """Whether all of it was checked when it was opened."""

    @classmethod
    def open(cls, data: bytes | bytearray | memoryview, key: str = "") -> Self:
        """Those of a file in memory, all checked. Raises PackLost."""
        sections = cls._over(Held(key, memoryview(data).toreadonly()))
        sections.read(0, sections.about["size"])
        return replace(sections, _is_sound=True)

    @classmethod
    def over(cls, source: Source) -> Self:
        """Those of a file elsewhere: what its head names as the front is read now.

        Each is checked when it is read. Raises PackLost.
        """
        first = cls._over(Held(source.key, source.read(0, min(FIRST, source.size)), source))
        return replace(first, _source=Held(source.key, first.front(source), source))

    @classmethod
    def _over(cls, source: Source) -> Self:
        if source.size < FIXED.size:
            raise PackDamaged("the file is cut off", source.key)
        magic, version, checksum, length = FIXED.unpack(source.read(0, FIXED.size))
        if (magic, version) != (MAGIC, FORMAT):
            raise PackUnknown(f"this is not a pack of format {FORMAT}", source.key)
        body = _aligned(FIXED.size + length)
        if source.size < body:
            raise PackDamaged("the head is cut off", source.key)
        head = source.read(0, body)[FIXED.size :]
        if zlib.crc32(head) != checksum:
            raise PackDamaged("the checksum of the head is wrong", source.key)
        described = 4 + int.from_bytes(head[:4], "little")
        about = json.loads(bytes(head[4:described]))
        if source.size != body + about["size"]:
            raise PackDamaged("the file has another length", source.key)
        return cls(about, source, body, np.frombuffer(head[described:length], "<u4"))

    def front(self, source: Source) -> memoryview:
        """What is to be read first, from the beginning of the file on."""
        blocks = -(-self.about["front"] // BLOCK)
        return source.read(0, min(self._body + blocks * BLOCK, source.size))

    @property
    def key(self) -> str:
        return self._source.key

    def array(self, name: str) -> Array:
        """A section, now in memory."""
        return self.column(name)[:]

    def column(self, name: str, *width: int) -> Column:
        """A section, where it is, of rows of this shape.

        Raises KeyError, TypeError or ValueError if there is none.
        """
        offset, described, (rows, *shape) = self.about["sections"][name]
        dtype = _dtype(described)
        row = dtype.itemsize * prod(width)
        if [*width] != shape or offset + rows * row > self.about["size"]:
            raise ValueError("a section is of another shape")
        stored = _Stored(self, offset, dtype, rows, width, row)
        return stored.read(0, rows) if self._is_sound else stored

    def read(self, start: int, end: int) -> memoryview:
        """Bytes of the body. Raises PackDamaged."""
        if self._is_sound:
            return self._source.read(self._body + start, self._body + end)
        first, last = start // BLOCK, -(-end // BLOCK)
        stop = min(self._body + last * BLOCK, self._source.size)
        data = self._source.read(self._body + first * BLOCK, stop)
        for number in range(first, last):
            at = (number - first) * BLOCK
            if zlib.crc32(data[at : at + BLOCK]) != self._checks[number]:
                raise PackDamaged("a checksum is wrong", self.key)
        return data[start - first * BLOCK : end - first * BLOCK]


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """A Column that is read from its section."""

    sections: Sections
    offset: int
    dtype: np.dtype[Any]
    rows: int
    width: tuple[int, ...]
    row: int
    """Bytes of one."""

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: slice, /) -> Array:
        first, last, _ = rows.indices(self.rows)
        return self.read(first, max(first, last))

    def read(self, first: int, last: int) -> Array:
        start, end = self.offset + first * self.row, self.offset + last * self.row
        rows = np.frombuffer(self.sections.read(start, end), self.dtype)
        return rows.reshape(-1, *self.width) if self.width else rows


def assembled(
    about: Mapping[str, Any], front: Mapping[str, Array], rest: Mapping[str, Array], ahead: int
) -> bytes:
    """The file of these arrays, with what else its head is to say.

    The first bytes of the rest, `ahead` of them, are to be read with the front.
    """
    sections: dict[str, tuple[int, list[Any], tuple[int, ...]]] = {}
    pieces: list[bytes] = []
    end = 0
    for name, array in [*front.items(), *rest.items()]:
        start = _aligned(end)
        sections[name] = (start, array.dtype.descr, array.shape)
        pieces += [bytes(start - end), array.tobytes()]
        end = start + array.nbytes
    body = b"".join(pieces)
    begun = min(sections[name][0] for name in rest)
    places = {"sections": sections, "front": begun + ahead, "size": end}
    text = json.dumps({**about, **places}).encode()
    checks = [zlib.crc32(body[at : at + BLOCK]) for at in range(0, end, BLOCK)]
    head = len(text).to_bytes(4, "little") + text + np.array(checks, "<u4").tobytes()
    padded = head.ljust(_aligned(FIXED.size + len(head)) - FIXED.size, b"\0")
    return b"".join([FIXED.pack(MAGIC, FORMAT, zlib.crc32(padded), len(head)), padded, body])


def aligned(size: int) -> memoryview:
    """A buffer of `size` bytes to read a file into, so that its sections are aligned in memory."""
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room.data[start : start + size]


def _dtype(described: list[list[str]]) -> np.dtype[Any]:
    """The type with this `descr`: one of records has names in it, a plain one an empty name."""
    [(name, plain), *_] = described
    return np.dtype([(name, kind) for name, kind in described]) if name else np.dtype(plain)


def _aligned(size: int) -> int:
    return size + -size % ALIGNMENT
