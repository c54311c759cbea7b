"""The days that a text names, each as one word, however they are written: 2026-11-30.

2026/11/30, 30 November 2026, Nov 30th, 2026 and 2026年11月30日 have few words in common, and those
stand in many other texts. What can be read as several days is each of them: 03/04/2026 is two.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, starmap

NAMES = (  # noqa: SIM905 - twelve lines otherwise
    "january february march april may june july august september october november december"
).split()
MONTHS = {
    name: number
    for number, full in enumerate(NAMES, 1)
    for name in (full, full[:3], full[:4], str(number), f"{number:02}")  # and Sept.
}
YEAR = re.compile(r"(?:19|20)[0-9]{2}")
"""A line without has no day."""

DAY = re.compile(r"(0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th|t[0-9]{2})?")
SIGNS = frozenset("年月년월")
"""Between the numbers of a day in Chinese, Japanese and Korean."""


def days(words: Sequence[str]) -> Iterator[str]:
    """The words are those of a line in order, in small letters."""
    plain = [word for word in words if word not in SIGNS]
    for first, second, third in zip(plain, plain[1:], plain[2:], strict=False):
        orders = (first, second, third), (third, first, second), (third, second, first)
        yield from dict.fromkeys(chain.from_iterable(starmap(_day, orders)))


def _day(year: str, month: str, day: str) -> Iterator[str]:
    if YEAR.fullmatch(year) and month in MONTHS and (number := DAY.fullmatch(day)):
        yield f"{year}-{MONTHS[month]:02}-{int(number[1]):02}"
