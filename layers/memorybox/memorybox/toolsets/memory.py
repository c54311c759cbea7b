"""The six tools over a user's notes: list, read, write, append, patch, search."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from memorybox.errors import MemoryBoxError, Refused, Unavailable, trace
from memorybox.files.commands import Command, CommandLog, Finished, Interrupted
from memorybox.files.errors import FileTooLarge, OutcomeUnknown
from memorybox.files.model import FileRef, Rev, StoredFile, check_workspace, is_all
from memorybox.files.service import Files, Note
from memorybox.mcp.toolset import ToolResult
from memorybox.search.results import IndexOutcome, NoTime, SearchResult
from memorybox.toolsets import answers
from memorybox.toolsets.arguments import Arguments

_log = logging.getLogger(__name__)

LARGEST_ANSWER = 5_000_000
"""Bytes of a response of the function. Lambda's own limit is 6 MB."""


class FileIndex(Protocol):
    """What the tools need of search."""

    def index_now(self, stored: StoredFile) -> IndexOutcome:
        """Make a file that was just written findable. Never raises."""

    def search(self, workspace: str | None, query: str, limit: int) -> SearchResult:
        """The files nearest in meaning; raises Refused or Unavailable with the sentence to say."""


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """The tools bound to one account, for the length of one call."""

    files: Files
    index: FileIndex
    commands: CommandLog

    def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        """The answer of a tool. Raises Refused or Unavailable with the sentence to say."""
        match name:
            case "list":
                return self._list(arguments)
            case "read":
                return self._read(arguments)
            case "search":
                return self._search(arguments)
            case _:
                return self._change(name, arguments)

    def _list(self, given: Mapping[str, object]) -> ToolResult:
        workspace = _scope(Arguments.of("list", given, ("workspace",)))
        result = ToolResult((answers.listed(self.files.list(workspace)),))
        if answers.wire_size(result) > LARGEST_ANSWER:
            raise Refused("Too many files for one answer. List one workspace at a time.")
        return result

    def _read(self, given: Mapping[str, object]) -> ToolResult:
        _, ref = Arguments.of_one_file("read", given, ("workspace", "path"))
        stored = self.files.read(ref, LARGEST_ANSWER)
        result = ToolResult((answers.heading(stored), stored.data.decode()))
        if answers.wire_size(result) > LARGEST_ANSWER:
            raise FileTooLarge(ref, len(stored.data))
        return result

    def _search(self, given: Mapping[str, object]) -> ToolResult:
        arguments = Arguments.of("search", given, ("workspace", "query", "limit"))
        workspace, query, limit = _scope(arguments), arguments.query(), arguments.limit()
        return ToolResult((answers.found(self.index.search(workspace, query, limit), workspace),))

    def _change(self, name: str, given: Mapping[str, object]) -> ToolResult:
        """A tool that writes. Its errors say that nothing was written, where that is sure."""
        try:
            match name:
                case "write":
                    return self._write(given)
                case "append":
                    return self._append(given)
                case _:
                    return self._patch(given)
        except (Refused, Unavailable) as error:
            ending = " Nothing was written." if error.says_nothing_was_written else ""
            return ToolResult((f"{error}{ending}",), is_error=True)

    def _write(self, given: Mapping[str, object]) -> ToolResult:
        arguments, ref = Arguments.of_one_file(
            "write", given, ("workspace", "path", "text", "expected_rev", "command_id")
        )
        text, expected = arguments.text("text"), arguments.expected_rev()
        return self._once(
            arguments.command(),
            ref,
            lambda note: self.files.write(ref, text, expected=expected, note=note),
        )

    def _append(self, given: Mapping[str, object]) -> ToolResult:
        arguments, ref = Arguments.of_one_file(
            "append", given, ("workspace", "path", "text", "command_id")
        )
        text = arguments.text("text")
        return self._once(
            arguments.command(), ref, lambda note: self.files.append(ref, text, note=note)
        )

    def _patch(self, given: Mapping[str, object]) -> ToolResult:
        arguments, ref = Arguments.of_one_file(
            "patch", given, ("workspace", "path", "edits", "expected_rev", "command_id")
        )
        edits, expected = arguments.edits(), arguments.needed_rev()
        return self._once(
            arguments.command(),
            ref,
            lambda note: self.files.patch(ref, edits, expected=expected, note=note),
        )

    def _once(
        self, command: Command | None, ref: FileRef, change: Callable[[Note], StoredFile]
    ) -> ToolResult:
        """Make the change and index the file; a command that was done before is only answered."""
        if command is None:
            stored = change(lambda _: None)
            return self._changed(stored.entry.rev, stored)
        standing = self.commands.begin(command)
        if isinstance(standing, Finished):
            return ToolResult((standing.result,))
        recovered = None
        if isinstance(standing, Interrupted):
            recovered = self.files.recover(ref, standing.attempt)
        rev, stored = recovered or self._run(command, change)
        result = self._changed(rev, stored)
        with _after_the_change():  # a repeat finds it by its revision
            self.commands.finish(command, result.texts[0])
        return result

    def _run(
        self, command: Command, change: Callable[[Note], StoredFile]
    ) -> tuple[Rev, StoredFile]:
        try:
            stored = change(lambda attempt: self.commands.attempting(command, attempt))
        except OutcomeUnknown:
            raise  # a repeat looks for the upload first
        except MemoryBoxError:
            with suppress(Unavailable):
                self.commands.forget(command)
            raise
        return stored.entry.rev, stored

    def _changed(self, rev: Rev, stored: StoredFile) -> ToolResult:
        outcome: IndexOutcome = NoTime()
        with _after_the_change():
            outcome = self.index.index_now(stored)
        return ToolResult((answers.written(rev, outcome),))


@contextmanager
def _after_the_change() -> Iterator[None]:
    """The file is written: whatever breaks from now on, the caller gets its rev."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - see above
        _log.error("A step after a change failed", extra={"trace": list(trace(error))})


def _scope(arguments: Arguments) -> str | None:
    """The workspace to look into; None for "all"."""
    workspace = arguments.string("workspace")
    if is_all(workspace):
        return None
    check_workspace(workspace)
    return workspace
