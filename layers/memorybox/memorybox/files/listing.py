"""The notes of a listing: which files count, how their names are spelt, in which order."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import attrgetter

from memorybox.files.model import Change, Entry, FileEntry, FolderEntry


def notes(entries: Iterable[Entry]) -> tuple[FileEntry, ...]:
    """The notes among `entries`: by workspace, newest change first, then by path."""
    entries = tuple(entries)
    names = folder_names(entries)
    found = [
        spelt(entry, names) for entry in entries if isinstance(entry, FileEntry) and entry.is_note
    ]
    found.sort(key=attrgetter("path_lower"))
    found.sort(key=attrgetter("modified"), reverse=True)
    found.sort(key=lambda entry: entry.path_lower.split("/")[1])
    return tuple(found)


def folder_names(entries: Iterable[Change]) -> dict[str, str]:
    """The last component of each folder, by path_lower, as the folder's own entry spells it."""
    return {
        entry.path_lower: entry.path_display.rpartition("/")[2]
        for entry in entries
        if isinstance(entry, FolderEntry)
    }


def spelt(entry: FileEntry, folder_names: Mapping[str, str]) -> FileEntry:
    """The file with its folders spelt like this, as far as they are known.

    Dropbox vouches for the case of the last component of a display path only.
    """
    shown = entry.path_display.split("/")
    keys = entry.path_lower.split("/")
    folders = (
        folder_names.get("/".join(keys[: depth + 1]), shown[depth])
        for depth in range(1, len(keys) - 1)
    )
    return replace(entry, path_display="/".join(["", *folders, shown[-1]]))
