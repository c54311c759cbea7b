"""A markdown file in a workspace, and what Dropbox tells about it.

A workspace is the first component of a path in the app folder: `/garden/beds/plan.md` is
`beds/plan.md` in `garden`. Files directly in the app folder are in no workspace.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NewType

from memorybox.files import names
from memorybox.files.errors import (
    NotARev,
    OneWorkspaceNeeded,
    PathNotAllowed,
    WorkspaceNotAllowed,
)

ALL = "all"

Rev = NewType("Rev", str)
"""One version of a file: Dropbox's own opaque `rev`. Equal or not equal, never ordered."""

Cursor = NewType("Cursor", str)
"""A place in an account's stream of changes, as Dropbox gave it."""

_REV = re.compile(r"[0-9a-f]{9,}")


def parse_rev(text: str) -> Rev:
    """`text` as a rev; raises NotARev for what cannot be one (files.stone: `[0-9a-f]{9,}`)."""
    if not _REV.fullmatch(text):
        raise NotARev(text)
    return Rev(text)


def is_all(workspace: str) -> bool:
    """Whether the name means every workspace. Dropbox ignores case in names, and so does this."""
    return workspace.lower() == ALL


@dataclass(frozen=True, slots=True)
class FileRef:
    """One file, by the names a caller used.

    `location` is what Dropbox is asked for: always "/" + workspace + "/" + path, so that its other
    forms (`id:`, `rev:`, `ns:`) are plain letters here.
    """

    workspace: str
    path: str
    location: str

    @classmethod
    def parse(cls, workspace: str, path: str) -> "FileRef":
        """The file of these names, in Unicode normal form C as Dropbox keeps them.

        Raises OneWorkspaceNeeded, WorkspaceNotAllowed or PathNotAllowed.
        """
        if is_all(workspace):
            raise OneWorkspaceNeeded(workspace)
        check_workspace(workspace)
        if fault := names.path_fault(path):
            raise PathNotAllowed(path, fault)
        return cls(workspace, path, unicodedata.normalize("NFC", f"/{workspace}/{path}"))

    @classmethod
    def at(cls, location: str) -> "FileRef":
        """The file at a path that Dropbox itself gave."""
        workspace, _, path = location[1:].partition("/")
        return cls(workspace, path, location)

    @property
    def verbatim(self) -> "FileRef":
        """The same names without normalisation."""
        return replace(self, location=f"/{self.workspace}/{self.path}")

    @property
    def workspace_location(self) -> str:
        return unicodedata.normalize("NFC", f"/{self.workspace}")

    def check_new(self) -> None:
        """Raises PathNotAllowed if no new file may get this path."""
        if fault := names.new_path_fault(self.path):
            raise PathNotAllowed(self.path, fault)


def check_workspace(workspace: str) -> None:
    """Raises WorkspaceNotAllowed for what can never be the name of a workspace."""
    if fault := names.workspace_fault(workspace):
        raise WorkspaceNotAllowed(workspace, fault)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file as Dropbox's metadata shows it.

    `path_lower` is Dropbox's own key and never computed here. `path_display` has the case people
    see; Dropbox vouches for its last component only. `modified` is `server_modified`, in UTC.
    """

    path_lower: str
    path_display: str
    rev: Rev
    content_hash: str
    size: int
    modified: datetime
    is_downloadable: bool = True

    @property
    def workspace(self) -> str:
        return self.path_display[1:].partition("/")[0]

    @property
    def path(self) -> str:
        return self.path_display[1:].partition("/")[2]

    @property
    def is_note(self) -> bool:
        """Whether tools see it: a markdown file in a workspace that Dropbox lets us download."""
        return self.is_downloadable and is_note_path(self.path_lower)


def is_note_path(path_lower: str) -> bool:
    """Whether a file at this path is a note: `.md` with a name before it, inside a workspace."""
    workspace, _, path = path_lower[1:].partition("/")
    name = path.rpartition("/")[2]
    return name.endswith(names.SUFFIX) and len(name) > len(names.SUFFIX) and not is_all(workspace)


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A folder as Dropbox's metadata shows it."""

    path_lower: str
    path_display: str


@dataclass(frozen=True, slots=True)
class Removed:
    """Whatever was at this path is gone, and everything under it as a folder."""

    path_lower: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The bytes of one version of a file, with the metadata of the same download."""

    entry: FileEntry
    data: bytes


Entry = FileEntry | FolderEntry
Change = FileEntry | FolderEntry | Removed


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Some changes, in order, and the cursor behind them. It may be empty and yet not the last."""

    changes: tuple[Change, ...]
    cursor: Cursor
    has_more: bool


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement of a patch."""

    old_text: str
    new_text: str
