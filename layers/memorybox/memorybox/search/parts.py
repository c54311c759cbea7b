"""Where a file is cut into parts: by the text near each cut, so that an edit moves few of them."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from zlib import crc32

SPLITTING_VERSION = 1
"""Changes with every change of the rules below: the files are then split anew."""

MAX_FILE = 1_000_000
"""A file of more bytes is not indexed."""

WHOLE = 8_000
"""A file of up to so many bytes is one part."""

LEAST, EARLY, USUAL, MOST = 500, 1_200, 2_000, 2_500
"""Bytes of a part: never fewer; rather not fewer; if nothing else decides; never more."""

NEAR = 64
"""Bytes before a place that decide whether it is cut: what is inserted behind it moves nothing."""

CONTINUATION = range(0x80, 0xC0)
"""Bytes of UTF-8 that do not start a character."""

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class TextPart:
    """The text at the bytes `start` to `end` of a file."""

    start: int
    end: int
    text: str


def parts_of(data: bytes) -> tuple[TextPart, ...]:
    """The parts of a file that are worth embedding: those of white space only are left out.

    Raises UnicodeDecodeError when the file is not UTF-8.
    """
    data.decode()
    parts, start = [], 0
    for piece in split(data):
        text, end = piece.decode(), start + len(piece)
        if not text.isspace():
            parts.append(TextPart(start, end, text))
        start = end
    return tuple(parts)


def identity(model: str, dims: int, text: str) -> bytes:
    """16 bytes that stand for the vector of a text, so that no text is embedded twice."""
    return blake2b(f"{model}|{dims}|{text}".encode(), digest_size=16).digest()


def split(data: bytes) -> list[bytes]:
    """The parts of a UTF-8 file; joined they are the file, byte for byte.

    No cut lies inside a character or a CRLF. Parts of a file that is cut have 500 to 2,500 bytes.
    """
    if len(data) <= WHOLE:
        return [data] if data else []
    text = _Places(data)
    parts, start = [], 0
    while len(data) - start > MOST:
        end = text.cut(start)
        parts.append(data[start:end])
        start = end
    return [*parts, data[start:]]


class _Places:
    """The places at which a text may be cut."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._lines: list[int] = []
        self._paragraphs: list[int] = []
        blank = False
        for line in LINE.finditer(data):
            after_blank, blank = blank, not line[0].strip(b" \t\r\n")
            self._lines.append(line.start())
            if after_blank and not blank:
                self._paragraphs.append(line.start())

    def cut(self, start: int) -> int:
        """Where the part that begins at `start` ends."""
        first, stop = start + LEAST, min(start + MOST, len(self._data) - LEAST) + 1
        places = next(filter(None, self._by_kind(first, stop)))
        late = places[bisect_left(places, start + EARLY) :]
        return min(late, key=lambda place: self._rank(place, start), default=places[-1])

    def _by_kind(self, first: int, stop: int) -> Iterator[list[int]]:
        """The places of each kind, the best kind first."""
        data = self._data
        yield _between(self._paragraphs, first, stop)
        yield _between(self._lines, first, stop)
        yield [p for p in range(first, stop) if data[p - 1] in b" \t"]
        yield [p for p in range(first, stop) if _starts_character(data, p)]

    def _rank(self, place: int, start: int) -> tuple[int, int, int]:
        return crc32(self._data[place - NEAR : place]), abs(place - start - USUAL), place


def _between(places: list[int], first: int, stop: int) -> list[int]:
    return places[bisect_left(places, first) : bisect_left(places, stop)]


def _starts_character(data: bytes, place: int) -> bool:
    return data[place] not in CONTINUATION and data[place - 1 : place + 1] != b"\r\n"
