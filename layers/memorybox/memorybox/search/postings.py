"""Which parts hold a term, and how often.

`Occurrences` say that part after part, as it was counted; `Postings` term after term, as a pack
holds it. Terms that equally many parts hold are of one class. Their codes are of one length, so the
place of a term in its class says where its code is: no offset of a term is kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Self

import numpy as np

from memorybox.search.codes import OFTEN, Code
from memorybox.search.model import Words
from memorybox.search.sections import Column, Sections
from memorybox.search.vectors import Array

PARTS = 0xFFFFFF
"""A pack has no more: part, term and count are sorted as one number of eight bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """The terms of parts, part after part, those of each ascending."""

    parts: int
    holders: Array
    """u32: the number of the part."""

    terms: Array
    """u32."""

    counts: Array
    """u8: how often the part holds the term."""

    @classmethod
    def of(cls, words: Sequence[Words]) -> Self:
        """Those of parts with these words, by their numbers."""
        each = [len(part.counts) for part in words]
        return cls(
            parts=len(words),
            holders=np.repeat(np.arange(len(words), dtype="<u4"), each),
            terms=np.frombuffer(b"".join(part.terms for part in words), "<u4"),
            counts=np.frombuffer(b"".join(part.counts for part in words), "u1"),
        )

    def holding(self, term: int) -> tuple[Array, Array]:
        """The parts that hold the term, ascending, and how often each does."""
        at = np.flatnonzero(self.terms == np.uint32(term))
        return self.holders[at], self.counts[at]

    def among(self, chosen: Array) -> "Occurrences":
        """Those of the parts for which the mask `chosen` is true."""
        at = chosen[self.holders]
        return Occurrences(self.parts, self.holders[at], self.terms[at], self.counts[at])

    def coded(self) -> "Postings":
        """The same as a pack holds it."""
        return Postings.of(self)


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The terms of parts, term after term."""

    parts: int
    terms: Array
    """u32: class after class, ascending in each."""

    held_by: Array
    """u32: how many parts hold each term of a class; classes ascend by it."""

    firsts: Array
    """u32: where among the terms each class begins; at last, where they all end."""

    starts: Array
    """u32: where among the codes each class begins; at last, where they all end."""

    often_of: Array
    """u32: for each count of OFTEN or more the place of its term, ascending."""

    often: Array
    """u8: that count; those of one term in the order of the parts."""

    codes: Column
    """u8: the codes of the terms, bit after bit; each class begins with a byte of its own."""

    @classmethod
    def of(cls, occurrences: Occurrences) -> Self:
        by_term = occurrences.terms.astype("<u8") << 32 | occurrences.holders << 8
        numbers = np.sort(by_term | occurrences.counts)
        terms = numbers >> 32
        begin = np.flatnonzero(np.append(True, terms[1:] != terms[:-1])[: len(terms)])
        spread = np.diff(np.append(begin, len(terms)))
        by_class = np.argsort(spread, kind="stable")
        held_by, sizes = np.unique(spread, return_counts=True)
        firsts = np.cumsum([0, *sizes])
        codes, often_of, often = list[bytes](), [firsts[:0]], [occurrences.counts[:0]]
        for many, (first, last) in zip(held_by.tolist(), pairwise(firsts), strict=True):
            at = begin[by_class[first:last], np.newaxis] + np.arange(many)
            holders = (numbers[at] >> 8 & PARTS).astype("<u4")
            counts = numbers[at].astype("u1")
            bits = Code.of(many, occurrences.parts).encoded(holders, counts)
            codes.append(np.packbits(bits).tobytes())
            often_of.append(first + np.nonzero(counts >= OFTEN)[0])
            often.append(counts[counts >= OFTEN])
        return cls(
            parts=occurrences.parts,
            terms=terms[begin[by_class]].astype("<u4"),
            held_by=held_by.astype("<u4"),
            firsts=firsts.astype("<u4"),
            starts=np.cumsum([0, *map(len, codes)]).astype("<u4"),
            often_of=np.concatenate(often_of).astype("<u4"),
            often=np.concatenate(often),
            codes=np.frombuffer(b"".join(codes), "u1"),
        )

    @classmethod
    def over(cls, sections: Sections, parts: int) -> Self:
        """Those that are stored in a pack. Raises ValueError if they do not fit."""
        postings = cls(
            parts=parts,
            terms=sections.array("terms"),
            held_by=sections.array("held_by"),
            firsts=sections.array("firsts"),
            starts=sections.array("starts"),
            often_of=sections.array("often_of"),
            often=sections.array("often"),
            codes=sections.column("codes"),
        )
        if (
            not len(postings.firsts) == len(postings.starts) == len(postings.held_by) + 1
            or postings.firsts[-1] != len(postings.terms)
            or postings.starts[-1] != len(postings.codes)
            or len(postings.often_of) != len(postings.often)
        ):
            raise ValueError("the postings are not of one length")
        return postings

    def arrays(self) -> dict[str, Array]:
        """The columns by name, as `over` finds them."""
        names = [field.name for field in fields(self) if field.name != "parts"]
        return {name: getattr(self, name)[:] for name in names}

    def holding(self, term: int) -> tuple[Array, Array]:
        """The parts that hold the term, ascending, and how often each does."""
        found = self.terms == np.uint32(term)  # of 50,000 in no common order: 5 µs
        if not found.any():
            return np.empty(0, "<u4"), np.empty(0, "u1")
        place = int(found.argmax())
        number = int(self.firsts.searchsorted(np.uint32(place), "right")) - 1
        [holders], [counts] = self._decoded(self.codes, number, place, place + 1)
        return holders, counts

    def among(self, chosen: Array) -> Occurrences:
        """Those of the parts for which the mask `chosen` is true."""
        numbers = np.sort(np.concatenate([np.empty(0, "<u8"), *self._numbers(chosen)]))
        return Occurrences(
            self.parts,
            holders=(numbers >> 40).astype("<u4"),
            terms=(numbers >> 8).astype("<u4"),
            counts=numbers.astype("u1"),
        )

    def coded(self) -> Self:
        """The same as a pack holds it."""
        return self

    def _numbers(self, chosen: Array) -> Iterator[Array]:
        """Part, term and count of each as one number, which sorts as they do."""
        codes = self.codes[:]
        for number, (first, last) in enumerate(pairwise(self.firsts.tolist())):
            holders, counts = self._decoded(codes, number, first, last)
            terms = self.terms[first:last, np.newaxis].astype("<u8")
            at = chosen[holders]
            yield (holders.astype("<u8") << 40 | terms << 8 | counts)[at]

    def _decoded(self, codes: Column, number: int, first: int, last: int) -> tuple[Array, Array]:
        """Holders and counts of terms of a class, from one place to another, a row for each."""
        code = Code.of(int(self.held_by[number]), self.parts)
        start, end = ((place - int(self.firsts[number])) * code.bits for place in (first, last))
        base = int(self.starts[number])
        data = codes[base + start // 8 : base + -(-end // 8)]
        bits = np.unpackbits(data)[start % 8 :][: end - start].reshape(-1, code.bits)
        holders, counts = code.decoded(bits)
        often = slice(*self.often_of.searchsorted(np.array([first, last], "<u4")))
        counts[counts == OFTEN] = self.often[often]
        return holders, counts
