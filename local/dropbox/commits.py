"""Whether an upload is written: the conflict table of `WriteMode` and `strict_conflict`."""

from dataclasses import dataclass
from typing import TypeAlias

from local.dropbox.entries import Entry, File, Folder
from local.dropbox.knobs import Knobs, SameBytes


@dataclass(frozen=True, slots=True)
class Written:
    """The bytes become a new revision."""


@dataclass(frozen=True, slots=True)
class Existing:
    """Nothing is written; the answer is the file that is there."""

    file: File


@dataclass(frozen=True, slots=True)
class Conflict:
    tag: str


Outcome: TypeAlias = Written | Existing | Conflict


@dataclass(frozen=True, slots=True)
class Intent:
    """What an upload asks for. `rev` is given for update alone."""

    content_hash: str
    strict: bool
    rev: str | None = None
    overwrite: bool = False


def decide(there: Entry | None, intent: Intent, knobs: Knobs) -> Outcome:
    match there:
        case None:
            gone = intent.rev is not None and intent.strict
            return Conflict(knobs.deleted_conflict) if gone else Written()
        case Folder():
            return Conflict("folder")
        case File(content_hash=intent.content_hash):
            return _decide_same_bytes(there, intent, knobs)
        case File():
            current = intent.overwrite or intent.rev == there.rev
            return Written() if current else Conflict("file")


def _decide_same_bytes(there: File, intent: Intent, knobs: Knobs) -> Outcome:
    if not intent.strict:
        return Existing(there)
    if intent.overwrite:
        choice = knobs.same_bytes_overwrite
    elif intent.rev == there.rev:
        choice = knobs.same_bytes_update
    else:
        choice = SameBytes.CONFLICT
    match choice:
        case SameBytes.CONFLICT:
            return Conflict("file")
        case SameBytes.EXISTING:
            return Existing(there)
        case SameBytes.WRITTEN:
            return Written()
