"""The port that keeps our own writers apart."""

from contextlib import AbstractContextManager
from typing import Protocol

LAST_TURN = 1.0
"""Seconds before the end of a call from which on a turn would come too late to be of use."""


class TurnNeverCame(Exception):
    """Others held the lease for as long as the call could wait."""


class Leases(Protocol):
    """Leases of one account. They save work and keep equal texts apart; revs guard the files."""

    def writer(self) -> AbstractContextManager[None]:
        """Hold the right to write to this account's files: one of our writers at a time.

        Waits for its turn, and raises TurnNeverCame LAST_TURN seconds before the call's deadline.
        A holder that vanished loses the lease when its own deadline has passed.
        """
