"""An upload, and what became of it when no answer came.

With strict_conflict a second try meets our own first one as a conflict. So after an attempt without
an answer the revisions of the file decide: a version with our content right behind the base rev is
ours, whatever stands on top of it by now.

A new note has no base. If another app moves it away at once, nothing keeps a second try from making
it again, so there is none before Dropbox has had time to show the first, nor ever while that may
still arrive.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from math import inf
from typing import Any

from dropbox.files import FileMetadata, ListRevisionsMode, WriteMode

from memorybox.adapters.dropbox.client import Api, Client
from memorybox.adapters.dropbox.errors import Declined, Unanswered
from memorybox.adapters.dropbox.metadata import file_entry
from memorybox.errors import SignInEnded, Unavailable
from memorybox.files.errors import DropboxSilent, OutcomeUnknown
from memorybox.files.hashing import content_hash
from memorybox.files.model import FileEntry, FileRef, Rev

CONFLICT = ("path", "conflict")

SHOWN_WITHIN = 2.0
"""Seconds after which the revisions show what was committed."""

_PAGE = 20
_SLACK = timedelta(seconds=5)  # Dropbox's servers may differ, and its times are whole seconds


@dataclass(frozen=True, slots=True)
class History:
    """The versions of one path, newest first, as far back as was asked for."""

    versions: tuple[FileMetadata, ...]
    exists: bool
    """Whether the newest version is still there."""

    told_at: datetime | None
    """Dropbox's own time of this answer."""

    def following(self, base: Rev) -> FileEntry | None:
        """The version that came right after `base`."""
        revs = [version.rev for version in self.versions]
        newer = self.versions[: revs.index(base)] if base in revs else ()
        return file_entry(newer[-1]) if newer else None

    def creation(
        self, ref: FileRef, content: str, *, since: datetime | None = None
    ) -> FileEntry | None:
        """The version with this content that made today's file.

        Raises OutcomeUnknown if a file was made with it here, not before `since`, and is gone: it
        may live on under another name, or be another than today's with the same content. A file
        that is made again after a deletion has a new id.
        """
        oldest = {version.id: version for version in self.versions}
        made = [
            age
            for age, entry in enumerate(map(file_entry, oldest.values()))
            if entry.content_hash == content and (since is None or entry.modified >= since)
        ]
        if not made:
            return None
        if made == [0] and self.exists:
            return file_entry(next(iter(oldest.values())))
        raise OutcomeUnknown(ref)

    def is_open_to(self, base: Rev | None) -> bool:
        """Whether an upload on top of `base` can still be committed."""
        newest = self.versions[0].rev if self.exists else None
        return bool(newest == base)

    def knows(self, base: Rev | None) -> bool:
        """Whether the base of the upload is among the versions: Dropbox may show them late."""
        return base is None or any(version.rev == base for version in self.versions)

    def is_enough_for(self, base: Rev | None) -> bool:
        """Whether still older versions would say nothing more about an upload on `base`."""
        if base is None:
            return bool(self.versions[-1].id != self.versions[0].id)
        return self.knows(base)


def history(client: Client, location: str, *, base: Rev | None) -> History:
    """What Dropbox remembers of a path, back to the rev `base`, or to how today's file was made.

    A path of which it remembers nothing has no versions. Raises Declined for a folder.
    """
    try:
        page, told_at = client.read(_revisions(location, before=None))
    except Declined as declined:
        if declined.tags == ("path", "not_found"):
            return History((), exists=False, told_at=None)
        raise
    exists = bool(page.entries) and not page.is_deleted
    past = History(tuple(page.entries), exists, told_at)
    while page.has_more and not past.is_enough_for(base):
        page, _ = client.read(_revisions(location, before=past.versions[-1].rev))
        past = replace(past, versions=(*past.versions, *page.entries))
    return past


@dataclass(frozen=True, slots=True)
class Upload:
    """A whole new content for a file, on top of `base` (None: the file must not exist)."""

    client: Client
    ref: FileRef
    data: bytes
    base: Rev | None

    def commit(self) -> FileEntry:
        """Upload, and find out what became of it if no answer comes.

        Raises Declined if nothing was written, OutcomeUnknown if that cannot be known in time.
        """
        began = self._now()
        try:
            return self._send()
        except Unanswered as unanswered:
            again_at = self._again_at(unanswered)
        try:
            return self._find_out(began, again_at)
        except (Unavailable, SignInEnded) as error:
            raise OutcomeUnknown(self.ref) from error

    def _send(self) -> FileEntry:
        mode = WriteMode.add if self.base is None else WriteMode.update(self.base)
        return file_entry(
            self.client.write(
                lambda api: api.files_upload(
                    self.data,
                    self.ref.location,
                    mode=mode,
                    autorename=False,
                    mute=False,
                    strict_conflict=True,
                )
            )
        )

    def _find_out(self, began: float, again_at: float) -> FileEntry:
        for attempt in count():
            past = self._past()
            if entry := self._ours(past, began):
                return entry
            is_open = past.is_open_to(self.base)
            if not is_open and past.knows(self.base):
                raise Declined(*CONFLICT, "file")
            if is_open and self._now() >= again_at:
                try:
                    return self._send()
                except Unanswered as unanswered:
                    again_at = self._again_at(unanswered)
                except Declined as declined:
                    if declined.tags[:2] != CONFLICT:
                        raise OutcomeUnknown(self.ref) from declined
                    # Perhaps with our own first attempt, which landed late.
            if not self.client.pause(attempt):
                break
        raise DropboxSilent

    def _again_at(self, unanswered: Unanswered) -> float:
        """When to send again what the revisions do not show by then."""
        if self.base is not None:
            return self._now()  # of all attempts on one base Dropbox takes one
        return inf if unanswered.may_arrive else self._now() + SHOWN_WITHIN

    def _past(self) -> History:
        try:
            return history(self.client, self.ref.location, base=self.base)
        except Declined as declined:
            # A folder may have taken the place of what we wrote, which lives on.
            raise OutcomeUnknown(self.ref) from declined

    def _ours(self, past: History, began: float) -> FileEntry | None:
        """The version that our first attempt made, if it made one."""
        wanted = content_hash(self.data)
        if self.base is None:
            # An older note with the same text is not ours.
            since = past.told_at and past.told_at - timedelta(seconds=self._now() - began) - _SLACK
            return past.creation(self.ref, wanted, since=since)
        entry = past.following(self.base)
        return entry if entry and entry.content_hash == wanted else None

    def _now(self) -> float:
        return self.client.deadline.clock.monotonic()


def _revisions(
    location: str, *, before: str | None
) -> Callable[[Api], tuple[Any, datetime | None]]:
    def call(api: Api) -> tuple[Any, datetime | None]:
        page = api.files_list_revisions(
            location, mode=ListRevisionsMode.path, limit=_PAGE, before_rev=before
        )
        return page, api.answered_at

    return call
