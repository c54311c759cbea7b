"""The port to doing several things at once."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Parallel(Protocol):
    """Begins work beside other work. What is begun begins nothing itself, so a few threads do."""

    def start(self, work: Callable[[], R]) -> Callable[[], R]:
        """Begin `work`. The function returned waits for its result, or raises what it raised."""


def each(parallel: Parallel, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """The results of `work` for all items, in their order."""
    waits = [parallel.start(partial(work, item)) for item in items]
    return [wait() for wait in waits]
