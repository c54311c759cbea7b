"""Which terms a text has, in every script, and their numbers for one account."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from struct import pack, unpack

from Stemmer import Stemmer

from memorybox.search.model import Words

TERMS_VERSION = 1
"""Changes with every change of the rules below: the files are then counted anew."""

# Thai, Lao, Myanmar, Khmer, kana, Han and Hangul: words are not set apart by blanks, or (Korean)
# carry their endings without one.
GLUED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and points, which \w leaves out: without them a Hindi word falls apart at each.
MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff"
)
RUN = re.compile(rf"(?P<glued>[{GLUED}]+)|[^\W_{GLUED}]+(?:[{MARKS}]+[^\W_{GLUED}]*)*")

STOP = frozenset(
    (  # noqa: SIM905 - a quoted list of words is twelve times as long
        "a about an and are as at be been but by can could did do does for from had has have he "
        "her his how i in is it its my no not of on or our she should that the their there these "
        "they this to was we were what when where which who will with would you your"
    ).split()
)

MAX_COUNT, MAX_LENGTH = 0xFF, 0xFFFF

# Its cache would be shared by threads and is not locked; without one it is fast enough.
_english = Stemmer("english", 0)


def terms(text: str) -> Iterator[str]:
    """The terms of a text, a path or a query, in order and with repeats.

    Folded by NFKC and case. Scripts without blanks give overlapping pairs of characters, all others
    words; English ones without stop words and as their Snowball stems.
    """
    for run in RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = run[0]
        if run["glued"]:
            yield from map("".join, pairwise(word)) if word[1:] else word
        elif word not in STOP:
            yield _english.stemWord(word) if word.isascii() else word


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Turns terms into numbers that say nothing without the account's key."""

    key: bytes = field(repr=False)

    def words(self, text: str) -> Words:
        return self._count(terms(text))

    def path_words(self, path_lower: str) -> Words:
        """The words of workspace, folders and name. Every part of the file has them too."""
        return self._count(terms(path_lower.removesuffix(".md")))

    def numbers(self, query: str) -> tuple[int, ...]:
        """The distinct terms of a query, ascending."""
        return tuple(sorted({self._number(term) for term in terms(query)}))

    def _count(self, found: Iterator[str]) -> Words:
        counts: Counter[int] = Counter()
        for term, count in Counter(found).items():
            counts[self._number(term)] += count
        return _words(counts, counts.total())

    def _number(self, term: str) -> int:
        return int.from_bytes(
            blake2b(term.encode(), digest_size=4, key=self.key).digest(), "little"
        )


def plus(one: Words, other: Words) -> Words:
    """The words of two texts together."""
    return _words(_counts(one) + _counts(other), one.length + other.length)


def minus(whole: Words, taken: Words) -> Words:
    """What is left of `whole` without the words of `taken`, which is a part of it."""
    return _words(_counts(whole) - _counts(taken), whole.length - taken.length)


def _words(counts: Counter[int], length: int) -> Words:
    numbers = sorted(counts)
    return Words(
        terms=pack(f"<{len(numbers)}I", *numbers),
        counts=bytes(min(counts[number], MAX_COUNT) for number in numbers),
        length=min(length, MAX_LENGTH),
    )


def _counts(words: Words) -> Counter[int]:
    numbers = unpack(f"<{len(words.counts)}I", words.terms)
    return Counter(dict(zip(numbers, words.counts, strict=True)))
