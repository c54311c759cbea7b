"""Where an account's bytes and journal are kept: a port, and its form in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias
from uuid import uuid4

from local.dropbox.entries import content_hash
from local.dropbox.tree import Change


@dataclass(frozen=True, slots=True)
class Wrote:
    """Someone put these bytes at a path without the API."""

    path_display: str
    data: bytes
    modified: datetime


@dataclass(frozen=True, slots=True)
class MadeFolder:
    path_display: str


@dataclass(frozen=True, slots=True)
class Removed:
    """What was at this lowered path is gone, with its children."""

    path_lower: str


OutsideEdit: TypeAlias = Wrote | MadeFolder | Removed


Reason: TypeAlias = Literal["insufficient_space", "malformed_path", "no_write_permission"]


class NotKept(Exception):
    """The disk does not take it, and nothing was done. `reason` is Dropbox's word for it."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class Storage(Protocol):
    """One account's storage. Its account calls it from one thread at a time."""

    birth: str
    """Another one for every storage that began empty."""

    def journal(self) -> Sequence[Change]:
        """Every change recorded so far, oldest first."""

    def keep(self, data: bytes) -> str:
        """Keep these bytes for ever and return their content_hash. Raises NotKept."""

    def read(self, content_hash: str) -> bytes:
        """The bytes that `keep` returned this hash for."""

    def record(self, changes: Sequence[Change]) -> None:
        """Remember changes, whose bytes were kept, in such a way that a restart knows them.

        Raises NotKept, and then none of them was made.
        """

    def outside_edits(self, path_lower: str | None = None) -> Iterator[OutsideEdit]:
        """What differs from the recorded state, everywhere or at one path.

        Each is recorded before the next is asked for. One that could not be comes again.
        """


class MemoryStorage:
    """Ends with the process. Nothing can edit it but the API."""

    def __init__(self) -> None:
        self.birth = uuid4().hex
        self._bytes: dict[str, bytes] = {}

    def journal(self) -> Sequence[Change]:
        return ()

    def keep(self, data: bytes) -> str:
        key = content_hash(data)
        self._bytes[key] = bytes(data)
        return key

    def read(self, content_hash: str) -> bytes:
        return self._bytes[content_hash]

    def record(self, changes: Sequence[Change]) -> None:
        pass

    def outside_edits(self, path_lower: str | None = None) -> Iterator[OutsideEdit]:
        return iter(())
