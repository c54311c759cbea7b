"""What a Dropbox holds, and how the API shows it."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeAlias

from local.dropbox import paths

Json: TypeAlias = dict[str, Any]

_BLOCK = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class File:
    """One revision of a file. `path_display` has the right case only in its last component."""

    id: str
    path_display: str
    rev: str
    size: int
    content_hash: str
    client_modified: datetime
    server_modified: datetime


@dataclass(frozen=True, slots=True)
class Folder:
    id: str
    path_display: str


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of an entry that was deleted."""

    path_display: str
    was_folder: bool
    at: datetime


Entry: TypeAlias = File | Folder


def content_hash(data: bytes) -> str:
    """https://www.dropbox.com/developers/reference/content-hash"""
    blocks = (sha256(data[at : at + _BLOCK]).digest() for at in range(0, len(data), _BLOCK))
    return sha256(b"".join(blocks)).hexdigest()


def timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def metadata(entry: Entry) -> Json:
    """An entry where its type is known from the route: without `.tag`."""
    shown: Json = {
        "name": paths.name_of(entry.path_display),
        "path_lower": paths.lower(entry.path_display),
        "path_display": entry.path_display,
        "id": entry.id,
    }
    if isinstance(entry, File):
        shown |= {
            "client_modified": timestamp(entry.client_modified),
            "server_modified": timestamp(entry.server_modified),
            "rev": entry.rev,
            "size": entry.size,
            "is_downloadable": True,
            "content_hash": entry.content_hash,
        }
    return shown


def tagged_metadata(entry: Entry | Tombstone) -> Json:
    """An entry where it could be a file, a folder or a deleted one: with `.tag`."""
    match entry:
        case File():
            return {".tag": "file", **metadata(entry)}
        case Folder():
            return {".tag": "folder", **metadata(entry)}
        case Tombstone():
            return {
                ".tag": "deleted",
                "name": paths.name_of(entry.path_display),
                "path_lower": paths.lower(entry.path_display),
                "path_display": entry.path_display,
            }
