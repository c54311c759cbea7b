"""The port that makes a repeated command harmless."""

from dataclasses import dataclass
from typing import Protocol

from memorybox.files.model import Rev


@dataclass(frozen=True, slots=True)
class Command:
    """A call that may be sent again: the caller's own id, the tool, a digest of the arguments."""

    tool: str
    id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """An upload that a command is about to make: content on top of a base rev (None: creates)."""

    content_hash: str
    base: Rev | None


@dataclass(frozen=True, slots=True)
class Fresh:
    """The command is new, or earlier runs of it wrote nothing. It is marked as running now."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An earlier run vanished during this upload, which may have been committed."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Finished:
    """The command was done before. Its result, word for word."""

    result: str


Standing = Fresh | Interrupted | Finished


class CommandLog(Protocol):
    """What became of the commands of one account in the last 24 hours, at least."""

    def begin(self, command: Command) -> Standing:
        """Mark the command as running and say what is known of it.

        Raises CommandReused if the id came with another fingerprint, CommandRunning while the
        first run may still be going on.
        """

    def attempting(self, command: Command, attempt: Attempt) -> None:
        """Record, before an upload, what it will write."""

    def finish(self, command: Command, result: str) -> None:
        """Keep the result. From now on `begin` answers with it."""

    def forget(self, command: Command) -> None:
        """The run failed and wrote nothing: the same id may start anew."""
