"""A change as one line of text, so that a journal is a file that only grows."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from local.dropbox.entries import Entry, File, Folder, Json
from local.dropbox.tree import Change


class Journal:
    """The file. The process may end at any moment, though not the machine."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> tuple[list[Change], bool]:
        """The changes, and whether some were lost: then what comes after the first is cut off.

        A last line without its end is no loss: the process ended before it answered.
        """
        if not self._file.exists():
            return [], False
        changes: list[Change] = []
        size = 0
        data = self._file.read_bytes()
        for change, length in _whole(data):
            changes.append(change)
            size += length
        if size < len(data):
            self.cut(size)
        return changes, b"\n" in data[size:]

    def append(self, changes: Sequence[Change]) -> int:
        """Add all of them or, with an OSError, none. Returns the size before, for `cut`."""
        left = memoryview("".join(to_line(change) + "\n" for change in changes).encode())
        with self._file.open("ab", buffering=0) as log:
            size = log.tell()
            try:
                while left:
                    left = left[log.write(left) :]
            except BaseException:
                log.truncate(size)
                raise
        return size

    def cut(self, size: int) -> None:
        """Forget what was added since the file had this size."""
        with self._file.open("r+b") as log:
            log.truncate(size)


def _whole(data: bytes) -> Iterator[tuple[Change, int]]:
    """Each change and its bytes, as far as every line is whole and follows the one before."""
    for position, line in enumerate(data.splitlines(keepends=True)):
        try:
            change = from_line(line.decode())
        except (KeyError, TypeError, ValueError):
            return
        if change.position != position or not line.endswith(b"\n"):
            return
        yield change, len(line)


def to_line(change: Change) -> str:
    return json.dumps(
        {
            "position": change.position,
            "path": change.path_display,
            "at": change.at.isoformat(),
            "entry": asdict(change.entry) if change.entry else None,
        },
        default=datetime.isoformat,
    )


def from_line(line: str) -> Change:
    """Raises ValueError, KeyError or TypeError on a line that was not written whole."""
    fields = json.loads(line)
    entry = _entry(fields["entry"]) if fields["entry"] else None
    at = datetime.fromisoformat(fields["at"])
    return Change(fields["position"], fields["path"], entry, at)


def _entry(fields: Json) -> Entry:
    if "rev" not in fields:
        return Folder(**fields)
    times = ("client_modified", "server_modified")
    return File(**fields | {name: datetime.fromisoformat(fields[name]) for name in times})
