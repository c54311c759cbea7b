"""Short ways to say what is in an index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from memorybox.search.model import Entry, Indexed, Part, Recipe, Seen, TailEntry
from memorybox.search.pack import Pack, build_pack
from memorybox.search.parts import identity
from memorybox.search.terms import TERMS_VERSION, Lexicon, plus
from memorybox.search.vectors import directions

DIMS = 4
RECIPE = Recipe("model", DIMS, splitting=1, terms=TERMS_VERSION)
LEXICON = Lexicon(b"key of the account")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
EAST = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Elsewhere:
    """A Source that counts what is read of it."""

    data: bytes
    key: str = "elsewhere"
    read_at: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, start: int, end: int) -> memoryview:
        self.read_at.append((start, end))
        return memoryview(self.data)[start:end]


def seen(path: str, rev: str = "1", content: str = "") -> Seen:
    """A file of that path; its content_hash is made of `content`, or else of path and rev."""
    return Seen(path.lower(), path, rev, content or f"hash of {path} {rev}", 71, NOON)


def vector(*numbers: float) -> bytes:
    """The direction of these numbers."""
    [direction] = directions(np.array([numbers]))
    return direction


def part(path: str, text: str, direction: Sequence[float] = EAST, start: int = 0) -> Part:
    words = plus(LEXICON.words(text), LEXICON.path_words(path.lower()))
    end = start + len(text.encode())
    return Part(start, end, identity("model", DIMS, text), vector(*direction), words)


def indexed(path: str, *parts: Part, rev: str = "1", recipe: Recipe = RECIPE) -> Entry:
    file = seen(path, rev)
    return Entry(file, Indexed(rev, file.content_hash, recipe, parts))


def note(path: str, text: str, direction: Sequence[float] = EAST, rev: str = "1") -> Entry:
    """An indexed file of one part."""
    return indexed(path, part(path, text, direction), rev=rev)


def pack_of(
    *entries: Entry,
    recipe: Recipe = RECIPE,
    number: int = 1,
    hides: Mapping[int, Sequence[int]] | None = None,
) -> Pack:
    return Pack.open(build_pack(recipe, entries, number, hides))


def packed(*entries: Entry) -> list[Pack]:
    """A workspace of one pack."""
    return [pack_of(*entries)]


def tail(*entries: Entry | str) -> dict[str, TailEntry]:
    """The tail with these entries; a plain path is one that is gone."""
    found = [
        TailEntry(entry, version=1)
        if isinstance(entry, str)
        else TailEntry(entry.seen.path_lower, version=1, seen=entry.seen, settled=entry.settled)
        for entry in entries
    ]
    return {at.path_lower: at for at in found}
