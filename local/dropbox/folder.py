"""An account in a real folder: notes are files there, and editing one is another app's edit.

The folder is written before the journal. A crash between the two leaves a file that the journal
does not know, which the next start takes for an edit: nothing is lost.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from local.dropbox import paths
from local.dropbox.entries import File, Folder, content_hash
from local.dropbox.journal import from_line, to_line
from local.dropbox.scan import CACHE, Inventory, OnDisk, has_news, scan, signature
from local.dropbox.storage import MadeFolder, OutsideEdit, Removed, Wrote
from local.dropbox.tree import Change


class FolderStorage:
    """`folder` holds the notes; `state` the journal and the bytes of every revision."""

    def __init__(self, folder: Path, state: Path) -> None:
        self._folder, self._state = folder, state
        self._cache = folder / CACHE
        self._bytes = state / "revisions"
        self._known = Inventory()
        for directory in (folder, self._bytes):
            directory.mkdir(parents=True, exist_ok=True)
        self._log = state / "journal.jsonl"
        self.birth = _birth(state)

    def journal(self) -> Sequence[Change]:
        changes = list(self._read_log())
        for change in changes:
            self._know(change)
        return changes

    def keep(self, data: bytes) -> str:
        key = content_hash(data)
        if not (self._bytes / key).exists():
            _write(self._bytes / key, data, by_way_of=self._state)
        return key

    def read(self, content_hash: str) -> bytes:
        return (self._bytes / content_hash).read_bytes()

    def record(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._show(change)
        with self._log.open("a", encoding="utf-8") as log:
            log.writelines(to_line(change) + "\n" for change in changes)

    def outside_edits(self, path_lower: str | None = None) -> Iterator[OutsideEdit]:
        """One path that is as it was recorded costs one look; anything else a walk."""
        if path_lower is not None and self._is_as_known(path_lower):
            return
        found = scan(self._folder, self._known)
        yield from self._removed(found)
        for key, now in found.items():
            if self._known.get(key) is not now:
                yield from self._edited(key, now)

    def _read_log(self) -> Iterator[Change]:
        """Whole lines only: what a crash cut off was never answered."""
        if not self._log.exists():
            return
        whole, _, torn = self._log.read_text(encoding="utf-8").rpartition("\n")
        if torn:
            _write(self._log, (whole + "\n" if whole else "").encode(), by_way_of=self._state)
        yield from map(from_line, whole.splitlines())

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

    def _show(self, change: Change) -> None:
        """Make the folder say what the change says, unless it does already."""
        known = self._known.get(change.path_lower)
        match change.entry:
            case None:
                if known is not None:
                    _delete(Path(known.path))
            case Folder():
                Path(self._place(change.path_display)).mkdir(parents=True, exist_ok=True)
            case File():
                if known is not None and known.content_hash == change.entry.content_hash:
                    return
                self._write_file(change.path_display, change.entry)
                return
        self._know(change)

    def _write_file(self, path_display: str, file: File) -> None:
        place = Path(self._place(path_display))
        place.parent.mkdir(parents=True, exist_ok=True)
        self._cache.mkdir(parents=True, exist_ok=True)
        _write(place, self.read(file.content_hash), by_way_of=self._cache)
        written = OnDisk(str(place), False, signature(place.stat()), file.content_hash)
        self._known.put(paths.lower(path_display), written)

    # From the folder to the journal.

    def _is_as_known(self, key: str) -> bool:
        """True only if a walk would find nothing at this path that is not known."""
        known = self._known.get(key)
        if known is None:
            return not has_news(self._nearest_folder(key), self._known)
        try:
            return known.signature == signature(Path(known.path).lstat())
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
            self._known.put(key, now)
            if known is None:
                yield MadeFolder(shown)
            return
        try:
            data = Path(now.path).read_bytes()
        except OSError:  # gone meanwhile, or not ours to read
            return
        kept = content_hash(data)
        self._known.put(key, replace(now, content_hash=kept))
        if known is None or known.content_hash != kept:
            yield Wrote(shown, data, _modified(now))


def _birth(state: Path) -> str:
    """Tells this state from one that was deleted, whose cursors are worth nothing now."""
    file = state / "birth"
    if not file.exists():
        file.write_text(uuid4().hex, encoding="ascii")
    return file.read_text(encoding="ascii")


def _modified(file: OnDisk) -> datetime:
    """In whole seconds, as Dropbox keeps times."""
    nanoseconds = file.signature[0] if file.signature else 0
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC)


def _write(path: Path, data: bytes, *, by_way_of: Path) -> None:
    """A reader sees the old bytes or the new ones, never a part."""
    new = by_way_of / f"{uuid4().hex}.new"
    new.write_bytes(data)
    new.replace(path)


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
