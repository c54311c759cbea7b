"""Calls that are made side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """What `work` makes of each item, on threads that know for whom it is done, and until when."""
    if len(items) <= 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        begun = [pool.submit(copy_context().run, work, item) for item in items]
        return [each.result() for each in begun]
