"""The parts of many files side by side: vectors as one matrix, words as postings for each term."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Self

import numpy as np

from memorybox.search.clusters import Clusters
from memorybox.search.model import Part, Words
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

    terms: Array
    """u32: every term that stands somewhere, ascending."""

    offsets: Array
    """u32: where the postings of each term begin; at last, where they all end."""

    postings: Column
    """For each term in turn the parts that hold it, ascending: u16, or u32 if need be."""

    counts: Column
    """u8: how often each of them holds it."""

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
            terms=sections.array("terms"),
            offsets=sections.array("offsets"),
            postings=sections.column("postings"),
            counts=sections.column("counts"),
        )
        by_part = [columns.file_of, columns.spans, columns.identities, columns.vectors]
        by_part += [columns.part_at, columns.norms, columns.lengths]
        if (
            {len(column) for column in by_part} != {parts}
            or len(columns.bounds) != len(columns.centres) + 1
            or columns.bounds[-1] != parts
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
        numbers = np.arange(len(parts), dtype="<u2" if len(parts) <= 1 << 16 else "<u4")
        holders = np.repeat(numbers, [len(part.words.counts) for part in parts])
        by_term = _stable_order(terms)
        ascending = terms[by_term]
        starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1])[: len(terms)])
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
            terms=ascending[starts],
            offsets=np.append(starts, len(terms)).astype("<u4"),
            postings=holders[by_term],
            counts=counts[by_term],
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
        return {field.name: getattr(self, field.name)[:] for field in fields(self)}

    def parts(self, chosen: Array) -> list[tuple[int, Part]]:
        """The parts for which the mask `chosen` is true, each with the number of its file."""
        numbers = np.flatnonzero(chosen)
        spans, identities, vectors = self.spans[:], self.identities[:], self.vectors[:]
        rows = self._rows()
        postings = self.postings[:]
        held = np.flatnonzero(chosen[postings])
        held = held[np.argsort(postings[held], kind="stable")]
        terms = self.terms[np.searchsorted(self.offsets, held, side="right") - 1]
        counts, holders = self.counts[:][held], postings[held]
        starts = np.searchsorted(holders, numbers, side="left")
        ends = np.searchsorted(holders, numbers, side="right")
        return [
            (
                int(self.file_of[number]),
                Part(
                    start=int(spans[number, 0]),
                    end=int(spans[number, 1]),
                    identity=identities[number].tobytes(),
                    vector=vectors[rows[number]].tobytes(),
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
        at = slice(int(self.offsets[first]), int(self.offsets[last]))
        return self.postings[at], self.counts[at]

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


def _stable_order(numbers: Array) -> Array:
    """As argsort does, of u32: sorting number and place as one takes a third of its time."""
    places = np.arange(len(numbers), dtype="<u8")
    return np.sort(numbers.astype("<u8") << 32 | places) & 0xFFFFFFFF
