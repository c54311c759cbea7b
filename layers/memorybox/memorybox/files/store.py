"""The port to where the files are."""

from collections.abc import Collection, Mapping
from typing import Protocol

from memorybox.files.model import ChangePage, Cursor, Entry, FileEntry, FileRef, Rev, StoredFile


class FileStore(Protocol):
    """The app folder of one account, within the time of one call.

    Names ignore case. Every method may raise SignInEnded, DropboxSilent or DropboxAsksToWait; if a
    writing method raises one of them, or a Refused, nothing was written.
    """

    def entries(self, location: str) -> tuple[Entry, ...]:
        """Every file and folder below a folder ("" is the root), at any depth.

        All pages, or an error: never a short list. A folder that does not exist has no entries.
        The folder's own entry may be among them.
        """

    def look(self, location: str) -> Entry | None:
        """What is at a path now, or None."""

    def read(self, ref: FileRef, at_most: int) -> StoredFile:
        """The file's bytes and metadata from one download. Several threads may read at once.

        Raises FileMissing, NotDownloadable, or FileTooLarge if it has more than `at_most` bytes.
        """

    def contents(self, location: str, wanted: Collection[str], at_most: int) -> Mapping[str, bytes]:
        """What files below a folder hold, by content_hash, from one download: those of `wanted`.

        The hashes are worked out from the bytes. What Dropbox does not give in one piece of
        `at_most` bytes is not there. Several threads may read at once.
        """

    def create(self, ref: FileRef, data: bytes) -> FileEntry:
        """Make the file, with its folders, unless something is there.

        Of two creators one wins. Raises FileExists (also for equal bytes and other letter case),
        FolderInTheWay, FileInTheWay, NameNotTaken, DropboxFull, or OutcomeUnknown if the answer
        was lost and the revisions cannot be read.
        """

    def replace(self, ref: FileRef, data: bytes, *, base: Rev) -> FileEntry:
        """Replace the whole file if it is still at rev `base`: a compare-and-swap.

        Raises FileChanged, NothingToReplace (a deleted file stays deleted) and what create raises.
        """

    def committed(self, ref: FileRef, content_hash: str, *, base: Rev | None) -> FileEntry | None:
        """The version with this content that directly followed `base` (None: made the file).

        None if there is no such version. Tells whether an upload with a lost answer took effect.
        Raises OutcomeUnknown if a file was made with this content and is gone from here: it may
        have been that upload's. So if a folder is here, of whose past Dropbox does not tell.
        """

    def changes(self, cursor: Cursor | None, location: str = "") -> ChangePage:
        """The next changes below a folder ("" is the root); from the start without a cursor.

        A cursor goes on where it was given, whatever the location. Applied in order they give the
        present state; the folder's own entry may be among them. Raises CursorReset.
        """
