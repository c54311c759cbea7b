"""The parts of many files side by side: vectors as one matrix, words as postings for each term."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memorybox.search.model import Part, Words

Array = NDArray[Any]

TYPES = {
    "file_of": "<u4",
    "spans": "<u4",
    "hashes": "<u8",
    "vectors": "<f2",
    "lengths": "<u2",
    "terms": "<u4",
    "offsets": "<u4",
    "postings": "<u4",
    "counts": "u1",
}


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Little-endian arrays, parts in the order of their files."""

    file_of: Array
    """u32: the number of each part's file, ascending."""

    spans: Array
    """u32, 2 a part: its start and end in the file."""

    hashes: Array
    """u64, 2 a part: its identity."""

    vectors: Array
    """f16, `dims` a part."""

    lengths: Array
    """u16: how many terms the part has."""

    terms: Array
    """u32, ascending: every term that stands somewhere."""

    offsets: Array
    """u32, one more than terms: where the postings of each begin and the last ones end."""

    postings: Array
    """u32: the parts that hold the term, ascending."""

    counts: Array
    """u8: how often each of them holds it."""

    @classmethod
    def over(cls, sections: Mapping[str, memoryview], dims: int) -> Self:
        """The columns that lie in these bytes, not copied. Raises ValueError if they do not fit."""
        arrays = {name: np.frombuffer(sections[name], dtype) for name, dtype in TYPES.items()}
        widths = {"spans": 2, "hashes": 2, "vectors": dims}
        columns = cls(**arrays | {n: arrays[n].reshape(-1, width) for n, width in widths.items()})
        parts = [columns.file_of, columns.spans, columns.hashes, columns.vectors, columns.lengths]
        if (
            len({len(column) for column in parts}) > 1
            or len(columns.offsets) != len(columns.terms) + 1
            or not columns.offsets[-1] == len(columns.postings) == len(columns.counts)
        ):
            raise ValueError("the columns are not of one length")
        return columns

    @classmethod
    def of(cls, files: Sequence[Sequence[Part]], dims: int) -> Self:
        """The parts of each file, files in order."""
        parts = list(chain.from_iterable(files))
        terms = np.frombuffer(b"".join(part.words.terms for part in parts), "<u4")
        counts = np.frombuffer(b"".join(part.words.counts for part in parts), "u1")
        holders = np.repeat(
            np.arange(len(parts), dtype="<u4"), [len(part.words.counts) for part in parts]
        )
        by_term = np.argsort(terms, kind="stable")
        distinct, starts = np.unique(terms[by_term], return_index=True)
        return cls(
            file_of=np.repeat(np.arange(len(files), dtype="<u4"), [len(each) for each in files]),
            spans=np.array([(part.start, part.end) for part in parts], "<u4").reshape(-1, 2),
            hashes=_matrix((part.identity for part in parts), "<u8", 2),
            vectors=_matrix((part.vector for part in parts), "<f2", dims),
            lengths=np.array([part.words.length for part in parts], "<u2"),
            terms=distinct,
            offsets=np.append(starts, len(terms)).astype("<u4"),
            postings=holders[by_term],
            counts=counts[by_term],
        )

    def sections(self) -> dict[str, memoryview]:
        """The columns as bytes, as `over` takes them."""
        return {name: getattr(self, name).data for name in TYPES}

    def parts(self, chosen: Array) -> list[tuple[int, Part]]:
        """The parts for which the mask `chosen` is true, each with the number of its file."""
        numbers = np.flatnonzero(chosen)
        held = np.flatnonzero(chosen[self.postings])
        held = held[np.argsort(self.postings[held], kind="stable")]
        terms = self.terms[np.searchsorted(self.offsets, held, side="right") - 1]
        counts, holders = self.counts[held], self.postings[held]
        starts = np.searchsorted(holders, numbers, side="left")
        ends = np.searchsorted(holders, numbers, side="right")
        return [
            (
                int(self.file_of[number]),
                Part(
                    start=int(self.spans[number, 0]),
                    end=int(self.spans[number, 1]),
                    identity=self.hashes[number].tobytes(),
                    vector=self.vectors[number].tobytes(),
                    words=Words(
                        terms=terms[start:end].tobytes(),
                        counts=counts[start:end].tobytes(),
                        length=int(self.lengths[number]),
                    ),
                ),
            )
            for number, start, end in zip(numbers, starts, ends, strict=True)
        ]

    def holding(self, term: int) -> tuple[Array, Array]:
        """The parts that hold the term, and how often each does."""
        first, last = (
            np.searchsorted(self.terms, np.uint32(term), side) for side in ("left", "right")
        )
        at = slice(self.offsets[first], self.offsets[last])
        return self.postings[at], self.counts[at]

    def vectors_of(self, identities: Iterable[bytes]) -> dict[bytes, bytes]:
        """The vectors of those identities that are here."""
        wanted = set(identities)
        first_half = np.frombuffer(b"".join(wanted), "<u8")[::2]
        likely = np.flatnonzero(np.isin(self.hashes[:, 0], first_half))
        found = {self.hashes[number].tobytes(): self.vectors[number].tobytes() for number in likely}
        return {identity: found[identity] for identity in wanted & found.keys()}


def _matrix(rows: Iterable[bytes], dtype: str, width: int) -> Array:
    return np.frombuffer(b"".join(rows), dtype).reshape(-1, width)
