"""What the tests of the AWS adapters share: the objects of one request, and index entries."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from struct import pack

from memorybox.adapters.aws.budget import DynamoBudget
from memorybox.adapters.aws.commands import DynamoCommandLog
from memorybox.adapters.aws.index import DynamoIndexStore
from memorybox.adapters.aws.journal import DynamoJournal
from memorybox.adapters.aws.leases import DynamoLeases
from memorybox.adapters.aws.session import Session
from memorybox.files.model import Cursor, FileEntry, Rev
from memorybox.search.model import Indexed, Part, Recipe, Seen, TailEntry, Words
from memorybox.search.store import StoredCursor

ACCOUNT_CAP = 1_000

NOTHING_YET = StoredCursor(None, 0)
CURSOR = Cursor("cursor 1")
RECIPE = Recipe("model", dims=512, splitting=1, terms=1)
MOMENT = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)


@dataclass(frozen=True)
class Request:
    """What a request has of its account."""

    session: Session
    budget: DynamoBudget
    index: DynamoIndexStore
    leases: DynamoLeases
    journal: DynamoJournal
    commands: DynamoCommandLog

    def write(self, path_display: str, rev: str = "1", *, is_new: bool = True) -> None:
        """A turn of the writer that makes one version of a note."""
        with self.leases.writer():
            self.journal.note(entry(path_display, rev), is_new=is_new)

    def claim(self, path_lower: str, owner: str = "owner") -> TailEntry:
        """The entry, which nobody else has claimed."""
        entry = self.index.claim(path_lower, owner=owner, deadline=self.session.deadline)
        assert entry
        return entry


RequestOf = Callable[..., Request]
"""Begins a request of an account, by default the test's own and by the machine's clock."""


def entry(path_display: str, rev: str) -> FileEntry:
    return FileEntry(path_display.lower(), path_display, Rev(rev), "content hash", 12, MOMENT)


def seen(path_lower: str, rev: str = "rev 1") -> Seen:
    return Seen(path_lower, path_lower.upper(), rev, "content hash", 12, MOMENT)


def indexed(parts: int, rev: str = "rev 1", fill: int = 0) -> Indexed:
    """A result of so many parts of about 0.7 kB each; `fill` tells one result from another."""
    words = Words(terms=pack("<40I", *range(40)), counts=bytes(40), length=40)
    vector = bytes([fill]) * 512
    return Indexed(
        rev,
        "content hash",
        RECIPE,
        tuple(
            Part(start=n, end=n + 1, identity=n.to_bytes(16, "big"), vector=vector, words=words)
            for n in range(parts)
        ),
    )
