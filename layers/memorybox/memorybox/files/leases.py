"""The port that keeps our own writers apart."""

from contextlib import AbstractContextManager
from typing import Protocol


class TurnNeverCame(Exception):
    """Others held the lease until the deadline of the call."""


class Leases(Protocol):
    """Leases of one account. They save work and keep equal texts apart; revs guard the files."""

    def writer(self) -> AbstractContextManager[None]:
        """Hold the right to write to this account's files: one of our writers at a time.

        Waits for its turn. Raises TurnNeverCame when the call's deadline comes first. A holder
        that vanished loses the lease when its own deadline has passed.
        """
