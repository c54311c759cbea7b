"""The command log of an account, in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock

from memorybox.deadline import Deadline
from memorybox.files.commands import Attempt, Command, Finished, Fresh, Interrupted, Standing
from memorybox.files.errors import CommandReused, CommandRunning


def _no_step() -> None:
    """Nothing waits for a turn."""


@dataclass(frozen=True)
class Run:
    """What is kept of a command."""

    by: object
    """Stands for the request."""

    fingerprint: str
    ends: datetime
    forgotten: datetime
    attempt: Attempt | None = None
    result: str | None = None


@dataclass
class CommandBook:
    """What all requests of one account share."""

    runs: dict[tuple[str, str], Run] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


class InMemoryCommandLog:
    """The command log as one request sees it."""

    def __init__(
        self, book: CommandBook, deadline: Deadline, step: Callable[[], None] = _no_step
    ) -> None:
        self._book = book
        self._deadline = deadline
        self._step = step
        self._request = object()

    def begin(self, command: Command) -> Standing:
        self._step()
        now = self._deadline.clock.now()
        ends = now + timedelta(seconds=self._deadline.remaining())
        fresh = Run(self._request, command.fingerprint, ends, forgotten=now + timedelta(hours=24))
        with self._book.lock:
            known = self._book.runs.get(_key(command))
            if known is None or known.forgotten <= now:
                self._book.runs[_key(command)] = fresh
                return Fresh()
            if known.fingerprint != command.fingerprint:
                raise CommandReused(command.id)
            if known.result is not None:
                return Finished(known.result)
            if known.ends > now:
                raise CommandRunning
            self._book.runs[_key(command)] = replace(fresh, attempt=known.attempt)
            return Interrupted(known.attempt) if known.attempt else Fresh()

    def attempting(self, command: Command, attempt: Attempt) -> None:
        self._step()
        with self._book.lock:
            if (run := self._mine(command)) is None:
                raise CommandRunning
            self._book.runs[_key(command)] = replace(run, attempt=attempt)

    def finish(self, command: Command, result: str) -> None:
        self._step()
        forgotten = self._deadline.clock.now() + timedelta(hours=24)
        with self._book.lock:
            if (run := self._mine(command)) is not None:
                self._book.runs[_key(command)] = replace(run, result=result, forgotten=forgotten)

    def forget(self, command: Command) -> None:
        self._step()
        with self._book.lock:
            if self._mine(command) is not None:
                del self._book.runs[_key(command)]

    def _mine(self, command: Command) -> Run | None:
        run = self._book.runs.get(_key(command))
        return run if run is not None and run.by is self._request and run.result is None else None


def _key(command: Command) -> tuple[str, str]:
    return command.tool, command.id
