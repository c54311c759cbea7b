"""The members of a zip that Dropbox makes of a folder."""

import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO

from memorybox.files.hashing import content_hash

LARGEST = 1 << 20
"""Bytes of a member that is worth a look: a larger file is no note."""


def members(archive: bytes, wanted: Collection[str]) -> Mapping[str, bytes]:
    """The contents of the members that are `wanted`, by their content_hash.

    Names are not looked at: in a zip they may be spelt in many ways, and the hash says it all. A
    member that is damaged, or a zip that is none, is left out.
    """
    found: dict[str, bytes] = {}
    for data in _contents(archive):
        key = content_hash(data)
        if key in wanted:
            found[key] = data
    return found


def _contents(archive: bytes) -> Iterator[bytes]:
    try:
        opened = zipfile.ZipFile(BytesIO(archive))
    except zipfile.BadZipFile:
        return
    with opened:
        for member in opened.infolist():
            if member.is_dir() or member.file_size > LARGEST:
                continue
            try:
                yield opened.read(member)
            except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
                continue
