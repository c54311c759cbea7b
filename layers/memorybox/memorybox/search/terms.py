"""Which terms a text has, in every script, and their numbers for one account."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, pairwise
from struct import pack, unpack

from Stemmer import Stemmer

from memorybox.search.days import YEAR, days
from memorybox.search.model import Words

TERMS_VERSION = 2
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
RUN = re.compile(rf"[{GLUED}]+|[^\W_{GLUED}]+(?:[{MARKS}]+[^\W_{GLUED}]*)*")
IS_GLUED = re.compile(rf"[{GLUED}]")
ASCII_RUN = re.compile(r"[a-z0-9]+")

# Among them "md", in which the names of all files end.
STOP = frozenset(
    (  # noqa: SIM905 - a quoted list of words is twelve times as long
        "a about an and are as at be been but by can could did do does for from had has have he "
        "her his how i in is it its md my no not of on or our she should that the their there "
        "these they this to was we were what when where which who will with would you your"
    ).split()
)

HEADING = re.compile(r"^#{1,6} .+", re.MULTILINE)
IN_HEADING, IN_PATH = 2, 4
"""How often a word there counts: it says what the text is about."""

MAX_COUNT, MAX_LENGTH = 0xFF, 0xFFFF
MOST_KNOWN = 50_000  # words whose numbers are kept

# Its cache would be shared by threads and is not locked; without one it is fast enough.
_english = Stemmer("english", 0)


def terms(text: str) -> Iterator[str]:
    """The terms of a text, a path or a query, in order and with repeats.

    Folded by NFKC and case. Scripts without blanks give overlapping pairs of characters, all others
    words; English ones without stop words and as their Snowball stems. A day is one more word.
    """
    return chain.from_iterable(map(_terms_of, _runs(text)))


def _runs(text: str) -> list[str]:
    """The words, the stretches of scripts without blanks, and the days that each line names."""
    runs: list[str] = []
    for line in text.split("\n"):
        if line.isascii():  # as most are: a short way
            folded = line.lower()
            words = ASCII_RUN.findall(folded)
        else:
            folded = unicodedata.normalize("NFKC", line).casefold()
            words = RUN.findall(folded)
        runs += words
        if YEAR.search(folded):
            runs += days(words)
    return runs


def _terms_of(run: str) -> Sequence[str]:
    if IS_GLUED.match(run):
        return [*map("".join, pairwise(run))] if run[1:] else [run]
    if run in STOP:
        return ()
    return [_english.stemWord(run) if run.isascii() else run]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Turns terms into numbers that say nothing without the account's key."""

    key: bytes = field(repr=False)
    _known: dict[str, Sequence[int]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def mark(self) -> str:
        """Tells the key from another, and says nothing of it."""
        return blake2b(b"mark", digest_size=4, key=self.key).hexdigest()

    def words(self, text: str, path_lower: str = "") -> Words:
        """The words of a text, and those of the path of its file: each of its parts has them."""
        runs = _runs(text) + IN_PATH * _runs(path_lower.removesuffix(".md"))
        runs += (IN_HEADING - 1) * _runs("\n".join(HEADING.findall(text)))
        counts: defaultdict[int, int] = defaultdict(int)
        for run, count in Counter(runs).items():
            numbers = self._known.get(run)
            for number in self._numbers_of(run) if numbers is None else numbers:
                counts[number] += count
        return _words(counts, sum(counts.values()))

    def path_words(self, path_lower: str) -> Words:
        """The words of workspace, folders and name."""
        return self.words("", path_lower)

    def numbers(self, query: str) -> tuple[int, ...]:
        """The distinct terms of a query, ascending."""
        return tuple(sorted({self._number(term) for term in terms(query)}))

    def _numbers_of(self, run: str) -> Sequence[int]:
        """The numbers of its terms. Few words make up most of all texts: theirs are kept."""
        numbers = tuple(map(self._number, _terms_of(run)))
        if len(numbers) <= 1 and len(self._known) < MOST_KNOWN:
            self._known[run] = numbers
        return numbers

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


def _words(counts: Mapping[int, int], length: int) -> Words:
    numbers = sorted(counts)
    times = [counts[number] for number in numbers]
    if max(times, default=0) > MAX_COUNT:
        times = [min(each, MAX_COUNT) for each in times]
    return Words(
        terms=pack(f"<{len(numbers)}I", *numbers),
        counts=bytes(times),
        length=min(length, MAX_LENGTH),
    )


def _counts(words: Words) -> Counter[int]:
    numbers = unpack(f"<{len(words.counts)}I", words.terms)
    return Counter(dict(zip(numbers, words.counts, strict=True)))
