"""The port that wakes the indexer."""

from collections.abc import Sequence
from typing import Protocol

MOST_PATHS = 100
"""Paths of one message."""


class ChangeQueue(Protocol):
    """Messages about one account. They may come late, twice or in another order."""

    def changed(self, paths: Sequence[str]) -> None:
        """These paths changed and are recorded; at most MOST_PATHS go into one message."""

    def go_on(self) -> None:
        """There is more to read or to index: take up where it stands."""
