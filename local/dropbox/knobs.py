"""Where Dropbox may behave in more than one way, per account; the defaults are its strict side."""

from dataclasses import dataclass, field
from enum import StrEnum


class Connection(StrEnum):
    """What the user did to the app's access."""

    LINKED = "linked"
    UNLINKED = "unlinked"
    SUSPENDED = "suspended"


class AppFolder(StrEnum):
    """What became of the app folder itself."""

    PRESENT = "present"
    NOT_FOUND = "not_found"  # lists say path/not_found, the next write makes it again
    CONFLICT = "conflict"  # every call is a 409
    UNAUTHORIZED = "unauthorized"  # every call is a 401


class SameBytes(StrEnum):
    """What a strict upload of the bytes that are there already does."""

    CONFLICT = "conflict"
    EXISTING = "existing"
    WRITTEN = "written"


class Content(StrEnum):
    """Why the bytes of a path are not to be had."""

    RESTRICTED = "restricted_content"
    UNSUPPORTED = "unsupported_file"
    SYMLINK = "symlink"
    WRONG_HASH = "wrong_hash"


@dataclass(frozen=True, slots=True)
class Knobs:
    connection: Connection = Connection.LINKED
    app_folder: AppFolder = AppFolder.PRESENT
    app_disabled: bool = False
    space: int = 2 * 1024**3
    """Bytes the account may hold; beyond it uploads answer insufficient_space."""

    page_size: int = 500
    empty_pages: int = 0
    """How many empty pages with has_more come before the first entry of each listing."""
    coalesce: bool = True
    """Whether only the last change of a path is listed."""
    children_after_delete: bool = False
    """Whether the children of a deleted folder are listed after it."""
    folder_in_recursive_list: bool = True
    listing_lag: float = 0.0
    """Seconds until a change is seen by list_folder and list_folder/continue."""
    revisions_lag: float = 0.0
    """Seconds until a revision is seen by list_revisions."""
    lookup_lag: float = 0.0
    """Seconds for which get_metadata, download, move and delete do not find a new entry."""

    emoji_allowed: bool = True
    case_rename_allowed: bool = True
    overwrite_keeps_name: bool = True

    same_bytes_update: SameBytes = SameBytes.CONFLICT
    same_bytes_overwrite: SameBytes = SameBytes.EXISTING
    deleted_conflict: str = "file"
    """The conflict tag of update(rev) on a path where nothing is."""

    refuse_overlapping_writes: bool = False
    refuse_same_list_twice: bool = False
    force_async_jobs: bool = False
    unknown_fields: bool = False
    """Whether results carry fields that no client knows yet."""

    content: dict[str, Content] = field(default_factory=dict)
    """By lowered path."""
