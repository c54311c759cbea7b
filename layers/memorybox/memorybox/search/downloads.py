"""Which files are read in one download: those below a folder, where most of it is wanted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from memorybox.search.model import Seen

MOST_FILES = 9_000
"""Dropbox makes a zip of at most 10,000 entries, folders and files that are no notes included."""

MOST_BYTES = 64_000_000
ENTRY_BYTES = 1_000
"""What a file takes in a zip beside its bytes, names of 255 characters included."""

ENOUGH = 1_000
"""Files of one download, so that the first are embedded while others are read."""

FEW = 20
"""Files for which a download of their own folder is not worth while, if a larger one has them."""

TOGETHER = 8
"""Files that one thread reads one after another."""


@dataclass(frozen=True, slots=True)
class Download:
    """Files to be read by one thread: from the zip of a folder, or each by itself."""

    files: Sequence[Seen]
    folder: str = ""
    at_most: int = 0
    """Bytes of the zip. Files that are no notes may lie in the folder too."""


def downloads(wanted: Sequence[Seen], known: Sequence[Seen]) -> list[Download]:
    """How to read the wanted ones of the known files of a workspace, the first ones first."""
    place = {seen.path_lower: number for number, seen in enumerate(wanted)}
    if not wanted:
        return []
    plan = _plan(f"/{wanted[0].workspace}", wanted, known)
    return sorted(plan, key=lambda download: place[download.files[0].path_lower])


def one_by_one(files: Sequence[Seen]) -> Iterator[Download]:
    for start in range(0, len(files), TOGETHER):
        yield Download(files[start : start + TOGETHER])


def _plan(folder: str, wanted: Sequence[Seen], known: Sequence[Seen]) -> Iterator[Download]:
    inside, below = _split(folder, wanted)
    size = sum(seen.size for seen in known)
    is_worth_it = len(wanted) > 1 and 2 * sum(seen.size for seen in wanted) >= size
    is_enough = len(wanted) <= max(ENOUGH, FEW * (len(inside) + len(below)))
    if is_worth_it and is_enough and len(known) <= MOST_FILES and size <= MOST_BYTES:
        yield Download(wanted, folder, size + ENTRY_BYTES * len(known))
        return
    _, known_below = _split(folder, known)
    yield from one_by_one(inside)
    yield from chain.from_iterable(
        _plan(child, some, known_below[child]) for child, some in below.items()
    )


def _split(folder: str, files: Sequence[Seen]) -> tuple[list[Seen], dict[str, list[Seen]]]:
    """The files right in a folder, and those in each folder of it."""
    inside: list[Seen] = []
    below: dict[str, list[Seen]] = {}
    for seen in files:
        name, _, rest = seen.path_lower[len(folder) + 1 :].partition("/")
        if rest:
            below.setdefault(f"{folder}/{name}", []).append(seen)
        else:
            inside.append(seen)
    return inside, below
