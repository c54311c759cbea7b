"""Questions made out of a set: those of people who know what they look for.

Of a vault the notes of its own language are asked for; all that is beside them may be found, too.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from zlib import crc32

from bench.quality_sets import Questions

HEADINGS = 3
"""Of one note, at most."""

SPOKEN = re.compile(r"^# .* on (\d+ \w+, \d{4})")
RELEASED = re.compile(r"^Released on (\d{4}/\d\d/\d\d)")
VERSION = re.compile(r"v[\d.]+")

Asked = Iterator[tuple[str, str]]
"""A question and the path of a file that answers it."""


@dataclass(slots=True)
class Made:
    """The files of a set, with questions of another kind. Each question is its own name."""

    files: Mapping[str, str]
    queries: Mapping[str, str]
    relevant: Mapping[str, Set[str]]
    scope: Mapping[str, str]
    source: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, kind: str, questions: Questions) -> "Made":
        relevant = defaultdict[str, set[str]](set)
        for question, path in KINDS[kind](questions):
            relevant[question].add(path)
        asked = {question: question for question in relevant}
        return cls(questions.files, asked, relevant, dict.fromkeys(asked, "all"))


def _titles(of: Questions) -> Asked:
    for path in _own(of):
        yield PurePosixPath(path).stem.lower(), path


def _file_names(of: Questions) -> Asked:
    for title, path in _titles(of):
        yield f"{title.replace(' ', '-')}.md", path


def _headings(of: Questions) -> Asked:
    """Those that no other note has."""
    found = [(head, path) for path in _own(of) for head in _headings_of(of.files[path])]
    times, taken = Counter(head for head, _ in found), Counter[str]()
    for head, path in sorted(found, key=lambda one: crc32("".join(one).encode())):
        if times[head] == 1 and taken[path] < HEADINGS:
            taken[path] += 1
            yield head, path


def _headings_of(text: str) -> set[str]:
    return {head.lower() for head in re.findall(r"^##+ (.{6,})$", text, re.MULTILINE)}


def _versions(of: Questions) -> Asked:
    for path in of.files:
        if VERSION.fullmatch(PurePosixPath(path).stem):
            yield PurePosixPath(path).stem, path


def _days(of: Questions, form: str) -> Asked:
    """Those that notes say they are of."""
    for path, text in of.files.items():
        for pattern, written in ((SPOKEN, "%d %B, %Y"), (RELEASED, "%Y/%m/%d")):
            if found := pattern.search(text):
                day = datetime.strptime(found[1], written).replace(tzinfo=UTC)
                yield f"what is new on {day:{form}}", path


def _own(of: Questions) -> list[str]:
    """A question of a vault is answered by a note of its language, whose folder that is."""
    languages = {path.split("/")[0] for paths in of.relevant.values() for path in paths}
    return [path for path in of.files if path.split("/")[0] in languages]


KINDS: Mapping[str, Callable[[Questions], Asked]] = {
    "titles": _titles,
    "file names": _file_names,
    "headings": _headings,
    "versions": _versions,
    "days as 2026-11-30": lambda of: _days(of, "%Y-%m-%d"),
    "days as 30 November 2026": lambda of: _days(of, "%d %B %Y"),
}
VAULTS = tuple(f"obsidian-{language}" for language in ("en", "de", "ja", "ko", "zh"))
SETS = (
    *(f"{kind}: {vault}" for kind in ("titles", "headings") for vault in VAULTS),
    *(f"{kind}: obsidian-en" for kind in KINDS if kind not in {"titles", "headings"}),
    *(f"{kind}: locomo" for kind in KINDS if kind.startswith("days")),
)
