"""The notes of a listing: which files count, how their names are spelt, in which order."""

from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter

from memorybox.files.model import Entry, FileEntry, FolderEntry


def notes(entries: Iterable[Entry]) -> tuple[FileEntry, ...]:
    """The notes among `entries`: by workspace, newest change first, then by path.

    Dropbox vouches for the case of the last component of a display path only, so each folder is
    spelt as its own entry spells it.
    """
    entries = tuple(entries)
    spellings = {
        entry.path_lower: entry.path_display.rpartition("/")[2]
        for entry in entries
        if isinstance(entry, FolderEntry)
    }
    found = [
        replace(entry, path_display=_spell(entry, spellings))
        for entry in entries
        if isinstance(entry, FileEntry) and entry.is_note
    ]
    found.sort(key=attrgetter("path_lower"))
    found.sort(key=attrgetter("modified"), reverse=True)
    found.sort(key=lambda entry: entry.path_lower.split("/")[1])
    return tuple(found)


def _spell(entry: FileEntry, spellings: dict[str, str]) -> str:
    shown = entry.path_display.split("/")
    keys = entry.path_lower.split("/")
    folders = (
        spellings.get("/".join(keys[: depth + 1]), shown[depth])
        for depth in range(1, len(keys) - 1)
    )
    return "/".join(["", *folders, shown[-1]])
