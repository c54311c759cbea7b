"""The parts of many files side by side: vectors as one matrix, and the words of all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Self

import numpy as np

from memorybox.search.clusters import Clusters
from memorybox.search.model import Part, Words
from memorybox.search.postings import Occurrences, Postings
from memorybox.search.sections import Column, Sections
from memorybox.search.vectors import Array, cosines, norms


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Little-endian arrays, parts in the order of their files; vectors have one of their own."""

    file_of: Array
    """u32: the number of each part's file, ascending."""

    spans: Column
    """u32, two a part: where it starts and ends in its file."""

    identities: Column
    """u64, two a part: the 16 bytes of its identity."""

    vectors: Column
    """i8, a row a part: its direction, in the order of `part_at`."""

    norms: Array
    """f32: the length of each of these rows."""

    part_at: Array
    """u16, or u32 if need be: whose row each of them is."""

    bounds: Array
    """u32: where among these rows each cluster begins; at last, where they all end."""

    centres: Array
    """i8: the direction of each cluster."""

    lengths: Array
    """u16: how many terms each part has."""

    words: Occurrences | Postings
    """Which terms each part holds, and how often."""

    @classmethod
    def over(cls, sections: Sections, dims: int, parts: int) -> Self:
        """The columns that are stored in a pack. Raises ValueError if they do not fit."""
        columns = cls(
            file_of=sections.array("file_of"),
            spans=sections.column("spans", 2),
            identities=sections.column("identities", 2),
            vectors=sections.column("vectors", dims),
            part_at=sections.array("part_at"),
            bounds=sections.array("bounds"),
            centres=sections.column("centres", dims)[:],
            norms=sections.array("norms"),
            lengths=sections.array("lengths"),
            words=Postings.over(sections, parts),
        )
        by_part = [columns.file_of, columns.spans, columns.identities, columns.vectors]
        by_part += [columns.part_at, columns.norms, columns.lengths]
        if (
            {len(column) for column in by_part} != {parts}
            or len(columns.bounds) != len(columns.centres) + 1
            or columns.bounds[-1] != parts
        ):
            raise ValueError("the columns are not of one length")
        return columns

    @classmethod
    def of(cls, files: Sequence[Sequence[Part]], dims: int) -> Self:
        """The parts of each file, files in order."""
        parts = list(chain.from_iterable(files))
        numbers = np.arange(len(parts), dtype="<u2" if len(parts) <= 1 << 16 else "<u4")
        vectors = _matrix((part.vector for part in parts), "i1", dims)
        return cls(
            file_of=np.repeat(np.arange(len(files), dtype="<u4"), [len(each) for each in files]),
            spans=np.array([(part.start, part.end) for part in parts], "<u4").reshape(-1, 2),
            identities=_matrix((part.identity for part in parts), "<u8", 2),
            vectors=vectors,
            part_at=numbers,
            bounds=np.array([len(parts)], "<u4"),
            centres=vectors[:0],
            norms=norms(vectors),
            lengths=np.array([part.words.length for part in parts], "<u2"),
            words=Occurrences.of([part.words for part in parts]),
        )

    def clustered(self) -> Self:
        """The same with like vectors side by side. All of it must be in memory, in no clusters."""
        vectors = self.vectors[:]
        clusters = Clusters.of(vectors)
        return replace(
            self,
            vectors=vectors[clusters.order],
            norms=self.norms[clusters.order],
            part_at=clusters.order.astype(self.part_at.dtype),
            bounds=clusters.bounds,
            centres=clusters.centres,
        )

    @property
    def sampled(self) -> slice:
        """The rows of `vectors` that are in no cluster: some from everywhere."""
        return slice(0, int(self.bounds[0]))

    @property
    def is_apart(self) -> bool:
        """Whether some of it is not in memory."""
        return not isinstance(self.vectors, np.ndarray)

    def arrays(self) -> dict[str, Array]:
        """The columns by name, as `over` finds them."""
        names = [field.name for field in fields(self) if field.name != "words"]
        return {name: getattr(self, name)[:] for name in names} | self.words.coded().arrays()

    def parts(self, chosen: Array) -> list[tuple[int, Part]]:
        """The parts for which the mask `chosen` is true, each with the number of its file."""
        numbers = np.flatnonzero(chosen)
        spans, identities, vectors = self.spans[:], self.identities[:], self.vectors[:]
        rows = self._rows()
        words = self.words.among(chosen)
        starts = np.searchsorted(words.holders, numbers, side="left")
        ends = np.searchsorted(words.holders, numbers, side="right")
        return [
            (
                int(self.file_of[number]),
                Part(
                    start=int(spans[number, 0]),
                    end=int(spans[number, 1]),
                    identity=identities[number].tobytes(),
                    vector=vectors[rows[number]].tobytes(),
                    words=Words(
                        terms=words.terms[start:end].tobytes(),
                        counts=words.counts[start:end].tobytes(),
                        length=int(self.lengths[number]),
                    ),
                ),
            )
            for number, start, end in zip(numbers, starts, ends, strict=True)
        ]

    def holding(self, term: int) -> tuple[Array, Array]:
        """The parts that hold the term, and how often each does."""
        return self.words.holding(term)

    def cosines(self, rows: slice, vector: Array) -> Array:
        """Those of rows of `vectors`, of which there must be one at least, with a vector."""
        return cosines(self.vectors[rows], self.norms[rows], vector)

    def vectors_of(self, identities: Iterable[bytes]) -> dict[bytes, bytes]:
        """The vectors of those identities that are here."""
        wanted = set(identities)
        first_half = np.frombuffer(b"".join(wanted), "<u8")[::2]
        stored = self.identities[:]
        likely = np.flatnonzero(np.isin(stored[:, 0], first_half))
        rows = self._rows()[likely].tolist()
        return {
            identity: self.vectors[row : row + 1].tobytes()
            for number, row in zip(likely.tolist(), rows, strict=True)
            if (identity := stored[number].tobytes()) in wanted
        }

    def _rows(self) -> Array:
        """The row of each part among the vectors."""
        rows = np.empty(len(self.part_at), np.intp)
        rows[self.part_at] = np.arange(len(rows))
        return rows


def _matrix(rows: Iterable[bytes], dtype: str, width: int) -> Array:
    return np.frombuffer(b"".join(rows), dtype).reshape(-1, width)
