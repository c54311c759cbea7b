"""An account in a real folder: notes are files there, and editing one is another app's edit.

The journal is written before the folder. A crash between the two leaves a folder that lags behind,
which the next start takes for an edit: what was never answered did not happen.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from local.dropbox import disk, paths
from local.dropbox.disk import Attempt
from local.dropbox.entries import File, Folder, content_hash
from local.dropbox.journal import Journal
from local.dropbox.scan import Inventory, OnDisk, has_news, scan, signature
from local.dropbox.storage import MadeFolder, OutsideEdit, Removed, Wrote
from local.dropbox.tree import Change


class FolderStorage:
    """`folder` holds the notes; `state` the journal and the bytes of every revision."""

    def __init__(self, folder: Path, state: Path) -> None:
        self._folder, self._state = folder, state
        self._bytes = state / "revisions"
        self._known = Inventory()
        for directory in (folder, self._bytes):
            directory.mkdir(parents=True, exist_ok=True)
        self._log = Journal(state / "journal.jsonl")
        self.birth = _birth(state)

    def journal(self) -> Sequence[Change]:
        changes, is_damaged = self._log.read()
        if is_damaged:
            self.birth = _new_birth(self._state)
        for change in changes:
            self._know(change)
        self._known.settle()
        return changes

    def keep(self, data: bytes) -> str:
        key = content_hash(data)
        if not (self._bytes / key).exists():
            with self._kept():
                disk.write(self._bytes / key, data, by_way_of=self._state)
        return key

    def read(self, content_hash: str) -> bytes:
        return (self._bytes / content_hash).read_bytes()

    def record(self, changes: Sequence[Change]) -> None:
        with self._kept(), Attempt(self._folder) as attempt:
            size = self._log.append(changes)
            attempt.on_failure(lambda: self._log.cut(size))
            for change in changes:
                self._show(change, attempt)
        self._known.settle()

    def outside_edits(self, path_lower: str | None = None) -> Iterator[OutsideEdit]:
        """One path that is as it was recorded costs one look; anything else a walk."""
        if path_lower is not None and self._is_as_known(path_lower):
            return
        found = scan(self._folder, self._known)
        yield from self._removed(found)
        for key, now in found.items():
            if self._known.get(key) is not now:
                yield from self._edited(key, now)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """After an error nothing is known but what is recorded."""
        try:
            with disk.kept():
                yield
        except BaseException:
            self._known.revert()
            raise

    # From the journal to the folder.

    def _know(self, change: Change) -> None:
        key = change.path_lower
        match change.entry:
            case None:
                self._known.forget(key)
            case Folder():
                self._known.put(key, OnDisk(self._place(change.path_display), is_folder=True))
            case File():
                place, kept = self._place(change.path_display), change.entry.content_hash
                self._known.put(key, OnDisk(place, is_folder=False, content_hash=kept))

    def _place(self, path_display: str) -> str:
        """Where a path is on disk: as it is written there, else as it is shown."""
        known = self._known.get(paths.lower(path_display))
        if known is not None:
            return known.path
        above = self._known.get(paths.lower(paths.parent_of(path_display)))
        return f"{above.path if above else self._folder}/{paths.name_of(path_display)}"

    def _show(self, change: Change, attempt: Attempt) -> None:
        """Make the folder say what the change says, unless it does already."""
        known = self._known.get(change.path_lower)
        match change.entry:
            case None:
                if known is not None:
                    attempt.remove(known.path)
            case Folder():
                attempt.make_folder(self._place(change.path_display))
            case File():
                if known is None or known.content_hash != change.entry.content_hash:
                    self._show_file(change.path_display, change.entry, attempt)
                return
        self._know(change)

    def _show_file(self, path_display: str, file: File, attempt: Attempt) -> None:
        place = self._place(path_display)
        now = signature(attempt.write(place, self.read(file.content_hash)))
        self._known.put(paths.lower(path_display), OnDisk(place, False, now, file.content_hash))

    # From the folder to the journal.

    def _is_as_known(self, key: str) -> bool:
        """True only if a walk would find nothing at this path that is not known."""
        known = self._known.get(key)
        place = known.path if known else self._nearest_folder(key)
        if disk.goes_through_link(str(self._folder), place):
            return False
        if known is None:
            return not has_news(place, self._known)
        try:
            return known.signature == signature(Path(place).lstat())
        except OSError:
            return False

    def _nearest_folder(self, key: str) -> str:
        """Where an entry of this key, or the folder it is in, would have to appear."""
        above = (self._known.get(one) for one in reversed(paths.ancestors(key)))
        return next((one.path for one in above if one is not None), str(self._folder))

    def _removed(self, found: dict[str, OnDisk]) -> Iterator[OutsideEdit]:
        for key in self._known:
            known, now = self._known.get(key), found.get(key)
            if known is not None and (now is None or now.is_folder != known.is_folder):
                self._known.forget(key)
                yield Removed(key)

    def _edited(self, key: str, now: OnDisk) -> Iterator[OutsideEdit]:
        known = self._known.get(key)
        shown = paths.stored("/" + Path(now.path).relative_to(self._folder).as_posix())
        if now.is_folder:
            yield from self._noticed(key, now, [] if known else [MadeFolder(shown)])
            return
        try:
            data = Path(now.path).read_bytes()
        except OSError:  # gone meanwhile, or not ours to read
            return
        kept = content_hash(data)
        is_new = known is None or known.content_hash != kept
        edits = [Wrote(shown, data, _modified(now))] if is_new else []
        yield from self._noticed(key, replace(now, content_hash=kept), edits)

    def _noticed(
        self, key: str, now: OnDisk, edits: Sequence[OutsideEdit]
    ) -> Iterator[OutsideEdit]:
        """It is known before it is recorded, which then finds the folder to be as it should."""
        self._known.put(key, now)
        yield from edits
        self._known.settle()


def _birth(state: Path) -> str:
    """Tells this state from one that was deleted, whose cursors are worth nothing now."""
    file = state / "birth"
    return file.read_text(encoding="ascii") if file.exists() else _new_birth(state)


def _new_birth(state: Path) -> str:
    birth = uuid4().hex
    (state / "birth").write_text(birth, encoding="ascii")
    return birth


def _modified(file: OnDisk) -> datetime:
    """In whole seconds, as Dropbox keeps times."""
    nanoseconds = file.signature[0] if file.signature else 0
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC)
