"""Dropbox's metadata in our words."""

from datetime import UTC
from typing import Any

from dropbox.files import DeletedMetadata, FileMetadata, FolderMetadata

from memorybox.files.model import Change, FileEntry, FolderEntry, Removed, Rev


def file_entry(metadata: FileMetadata) -> FileEntry:
    """A file's metadata. A symlink is shown as what it is for us: nothing to download."""
    return FileEntry(
        path_lower=metadata.path_lower,
        path_display=metadata.path_display,
        rev=Rev(metadata.rev),
        content_hash=metadata.content_hash,
        size=metadata.size,
        modified=metadata.server_modified.replace(tzinfo=UTC),  # the SDK gives naive UTC
        is_downloadable=metadata.is_downloadable and metadata.symlink_info is None,
    )


def change(metadata: Any) -> Change:
    """One entry of a listing."""
    match metadata:
        case FileMetadata():
            return file_entry(metadata)
        case FolderMetadata():
            return FolderEntry(metadata.path_lower, metadata.path_display)
        case DeletedMetadata():
            return Removed(metadata.path_lower)
    raise ValueError("a kind of entry that nobody knows")
