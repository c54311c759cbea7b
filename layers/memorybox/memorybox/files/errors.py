"""Why a file could not be read or changed, in the words the caller sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from memorybox.errors import Refused, Unavailable
from memorybox.quoting import quoted

if TYPE_CHECKING:
    from memorybox.files.model import FileRef

LARGEST_CHANGEABLE = 10_000_000
"""Bytes of the largest file that append and patch change."""


def _name(ref: FileRef) -> str:
    return f"The file {quoted(ref.path)} in workspace {quoted(ref.workspace)}"


class OneWorkspaceNeeded(Refused):
    """ "all" was given to a tool that acts on one file."""

    says_nothing_was_written: ClassVar[bool] = False

    def __init__(self, workspace: str) -> None:
        super().__init__(f'this tool needs one workspace, not "all" (got {quoted(workspace)})')


class WorkspaceNotAllowed(Refused):
    """The name can be no workspace."""

    def __init__(self, workspace: str, reason: str) -> None:
        super().__init__(
            f"workspace {quoted(workspace)} is not allowed: {reason}. "
            'A workspace is one top-level folder, such as "garden".'
        )


class PathNotAllowed(Refused):
    """The path can be no markdown file inside a workspace."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"path {quoted(path)} is not allowed: {reason}. "
            'Give the path inside the workspace, such as "beds/plan.md".'
        )


class NotARev(Refused):
    """The text given as expected_rev has not the form of a rev."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"expected_rev {quoted(text)} is not a rev. Read the file and pass the rev it gives."
        )


class FileMissing(Refused):
    """There is no file of this name to read."""

    def __init__(self, ref: FileRef) -> None:
        super().__init__(f"{_name(ref)} does not exist. Call list to see the files there.")


class NothingToReplace(Refused):
    """There is no file of this name, yet the caller expected one at some rev."""

    def __init__(self, ref: FileRef) -> None:
        super().__init__(
            f"{_name(ref)} does not exist. To create it, call write without expected_rev."
        )


class FileExists(Refused):
    """A file of this name is there already, in this or another letter case."""

    says_nothing_was_written: ClassVar[bool] = False

    def __init__(self, ref: FileRef) -> None:
        super().__init__(
            f"{_name(ref)} already exists. To replace it, pass its current rev as expected_rev."
        )


class FileChanged(Refused):
    """The file is at another rev than the caller expected."""

    says_nothing_was_written: ClassVar[bool] = False  # the sentence has it already

    def __init__(self, ref: FileRef, *, current: str, expected: str) -> None:
        super().__init__(
            f"{_name(ref)} is at rev {quoted(current)}, not {quoted(expected)}. "
            "It changed since you read it. Nothing was written."
        )


class NotText(Refused):
    """The bytes are not UTF-8, so they cannot be shown."""

    def __init__(self, ref: FileRef, offset: int) -> None:
        super().__init__(
            f"{_name(ref)} is not UTF-8 text (first bad byte at {offset}), so it cannot be shown. "
            "Open it in Dropbox."
        )


class NotTextToChange(Refused):
    """The bytes are not UTF-8, so text cannot be added or replaced."""

    def __init__(self, ref: FileRef) -> None:
        super().__init__(f"{_name(ref)} is not UTF-8 text, so it cannot be changed here.")


class FileTooLarge(Refused):
    """The file has more bytes than the reader takes."""

    def __init__(self, ref: FileRef, size: int) -> None:
        self.size = size
        super().__init__(
            f"{_name(ref)} has {size} bytes, too many to read in one answer. Open it in Dropbox."
        )


class TooLargeToChange(Refused):
    """The file has, or would get, more bytes than append and patch handle."""

    def __init__(self, ref: FileRef, size: int) -> None:
        super().__init__(
            f"{_name(ref)} has {size} bytes; files over {LARGEST_CHANGEABLE:,} bytes cannot be "
            "changed here."
        )


class NotDownloadable(Refused):
    """Dropbox keeps the file but does not give out its bytes (restricted content)."""

    def __init__(self, ref: FileRef) -> None:
        super().__init__(f"{_name(ref)} cannot be downloaded from Dropbox. Open it in Dropbox.")


class EditEmpty(Refused):
    """An edit names no text to replace."""

    def __init__(self, number: int, of: int) -> None:
        super().__init__(
            f"Edit {number} of {of}: old_text is empty. "
            "To add text use append, to replace the whole file use write."
        )


class EditNotFound(Refused):
    """The text that an edit replaces does not occur."""

    def __init__(self, ref: FileRef, number: int, of: int, hint: str) -> None:
        super().__init__(
            f"Edit {number} of {of}: old_text does not occur in the file {quoted(ref.path)} "
            f"in workspace {quoted(ref.workspace)}. {hint}"
        )


class EditAmbiguous(Refused):
    """The text that an edit replaces occurs more than once."""

    def __init__(self, ref: FileRef, number: int, of: int, count: int, lines: str) -> None:
        super().__init__(
            f"Edit {number} of {of}: old_text occurs {count} times in the file {quoted(ref.path)} "
            f"in workspace {quoted(ref.workspace)} (lines {lines}), it must occur exactly once. "
            "Add more of the text around it."
        )


class FolderInTheWay(Refused):
    """A folder has the name that the file should get."""

    def __init__(self, ref: FileRef) -> None:
        super().__init__(
            f"A folder is at {quoted(ref.path)} in workspace {quoted(ref.workspace)}. "
            "Choose another name."
        )


class FileInTheWay(Refused):
    """A file stands where a folder of the path is needed."""

    def __init__(self, ref: FileRef, ancestor: str) -> None:
        super().__init__(
            f"{quoted(ancestor)} in workspace {quoted(ref.workspace)} is a file, "
            f"so it cannot hold {quoted(ref.path)}. Choose another name."
        )


class NameNotTaken(Refused):
    """Dropbox does not take this name."""

    def __init__(self, ref: FileRef) -> None:
        super().__init__(f"Dropbox does not take the name {quoted(ref.path)}. Choose another name.")


class NotAllowedToWrite(Refused):
    """The user may look at this place in Dropbox, but not change it."""

    def __init__(self, ref: FileRef) -> None:
        super().__init__(
            f"Dropbox does not allow changes at {quoted(ref.path)} in workspace "
            f"{quoted(ref.workspace)}. Choose another name."
        )


class DropboxFull(Refused):
    """The user's Dropbox has no room left."""

    def __init__(self) -> None:
        super().__init__("This Dropbox is full. Free some space and try again.")


class FileBusy(Unavailable):
    """Every try met a change by somebody else."""

    def __init__(self, ref: FileRef) -> None:
        super().__init__(
            f"{_name(ref)} is being changed by others all the time. Try again in a minute."
        )


class OutcomeUnknown(Unavailable):
    """An upload began, and whether it was committed cannot be found out in time."""

    says_nothing_was_written: ClassVar[bool] = False

    def __init__(self, ref: FileRef) -> None:
        super().__init__(
            f"Dropbox did not confirm the write, so the file {quoted(ref.path)} in workspace "
            f"{quoted(ref.workspace)} may or may not have changed. Read it before you try again."
        )


class DropboxSilent(Unavailable):
    """Dropbox did not answer, or answered with a failure of its own."""

    def __init__(self) -> None:
        super().__init__("Dropbox did not answer. Try again in a minute.")


class DropboxAsksToWait(Unavailable):
    """Dropbox limits the rate of our calls for this account."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"Dropbox asks to wait {seconds} seconds. Try again then.")


class CommandReused(Refused):
    """A command_id came again with other arguments."""

    def __init__(self, command: str) -> None:
        super().__init__(
            f"command_id {quoted(command)} was used before with other arguments. Use a new one."
        )


class CommandRunning(Unavailable):
    """The call that first came with this command_id has not ended yet."""

    def __init__(self) -> None:
        super().__init__("The same command is still running. Try again in a few seconds.")


class CursorReset(Exception):
    """Dropbox no longer knows the cursor: list everything anew and compare."""
