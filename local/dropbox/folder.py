"""An account in a real folder: notes are files there, and editing one is another app's edit.

The folder is written before the journal. A crash between the two leaves a file that the journal
does not know, which the next start takes for an edit: nothing is lost.
"""

import os
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

from local.dropbox import paths
from local.dropbox.entries import File, Folder, content_hash
from local.dropbox.journal import from_line, to_line
from local.dropbox.storage import MadeFolder, OutsideEdit, Removed, Wrote
from local.dropbox.tree import Change

_CACHE = ".dropbox.cache"  # where the desktop program, too, writes a file before it moves it in

_Signature: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """An entry of the folder. `signature` is None for a folder, and for a file not yet read."""

    path: Path
    is_folder: bool
    signature: _Signature | None = None
    content_hash: str = field(default="", compare=False)


class FolderStorage:
    """`folder` holds the notes; `state` the journal and the bytes of every revision."""

    def __init__(self, folder: Path, state: Path) -> None:
        self._folder, self._state = folder, state
        self._cache = folder / _CACHE
        self._bytes = state / "revisions"
        self._known: dict[str, _OnDisk] = {}
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
        """A file that is as it was recorded costs one look; anything else a walk of the folder."""
        if path_lower is not None and self._is_unchanged(path_lower):
            return
        found = dict(self._walk(self._folder, ""))
        yield from self._removed(found)
        for path, now in found.items():
            yield from self._edited(path, now)

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
        match change.entry:
            case None:
                self._forget(change.path_lower)
            case Folder():
                path = self._place(change.path_display)
                self._known[change.path_lower] = _OnDisk(path, is_folder=True)
            case File():
                path = self._place(change.path_display)
                known = _OnDisk(path, is_folder=False, content_hash=change.entry.content_hash)
                self._known[change.path_lower] = known

    def _place(self, path_display: str) -> Path:
        """Where a path is on disk: as it is written there, else as it is shown."""
        known = self._known.get(paths.lower(path_display))
        if known is not None:
            return known.path
        above = self._known.get(paths.lower(paths.parent_of(path_display)))
        return (above.path if above else self._folder) / paths.name_of(path_display)

    def _forget(self, path_lower: str) -> None:
        for known in [p for p in self._known if p == path_lower or paths.is_under(p, path_lower)]:
            del self._known[known]

    def _show(self, change: Change) -> None:
        """Make the folder say what the change says, unless it does already."""
        known = self._known.get(change.path_lower)
        match change.entry:
            case None:
                if known is not None:
                    _delete(known.path)
            case Folder():
                self._place(change.path_display).mkdir(parents=True, exist_ok=True)
            case File():
                if known is not None and known.content_hash == change.entry.content_hash:
                    return
                self._write_file(change.path_display, change.entry)
                return
        self._know(change)

    def _write_file(self, path_display: str, file: File) -> None:
        place = self._place(path_display)
        place.parent.mkdir(parents=True, exist_ok=True)
        self._cache.mkdir(parents=True, exist_ok=True)
        _write(place, self.read(file.content_hash), by_way_of=self._cache)
        signature = _signature(place.stat())
        known = _OnDisk(place, False, signature, file.content_hash)
        self._known[paths.lower(path_display)] = known

    # From the folder to the journal.

    def _is_unchanged(self, path_lower: str) -> bool:
        known = self._known.get(path_lower)
        if known is None or known.signature is None:
            return False
        try:
            return _signature(known.path.lstat()) == known.signature
        except OSError:
            return False

    def _walk(self, directory: Path, above: str) -> Iterator[tuple[str, _OnDisk]]:
        """What Dropbox would sync, a folder before its children, by lowered path."""
        seen: set[str] = set()
        for item in self._items(directory, above):
            shown = f"{above}/{paths.stored(item.name)}"
            path_lower = paths.lower(shown)
            if path_lower in seen:
                continue  # differs from a sibling by case or normal form only
            seen.add(path_lower)
            if item.is_dir(follow_symlinks=False):
                yield path_lower, _OnDisk(Path(item.path), is_folder=True)
                yield from self._walk(Path(item.path), shown)
            elif item.is_file(follow_symlinks=False):
                signature = _signature(item.stat(follow_symlinks=False))
                yield path_lower, _OnDisk(Path(item.path), False, signature)

    def _items(self, directory: Path, above: str) -> "list[os.DirEntry[str]]":
        """Names that Dropbox takes; of two that collide, the one that is known comes first."""
        try:
            items = [item for item in os.scandir(directory) if _is_synced(item.name)]
        except FileNotFoundError:
            return []

        def is_new(item: "os.DirEntry[str]") -> bool:
            known = self._known.get(paths.lower(f"{above}/{paths.stored(item.name)}"))
            return known is None or known.path != Path(item.path)

        return sorted(items, key=lambda item: (is_new(item), item.name))

    def _removed(self, found: dict[str, _OnDisk]) -> Iterator[OutsideEdit]:
        for path, known in sorted(self._known.items()):
            now = found.get(path)
            gone = now is None or now.is_folder != known.is_folder
            if gone and path in self._known:
                self._forget(path)
                yield Removed(path)

    def _edited(self, path: str, now: _OnDisk) -> Iterator[OutsideEdit]:
        known = self._known.get(path)
        shown = self._shown(now.path)
        if now.is_folder:
            self._known[path] = now
            if known is None:
                yield MadeFolder(shown)
            return
        if known is not None and known.signature == now.signature:
            return
        try:
            data = now.path.read_bytes()
        except FileNotFoundError:
            return
        key = content_hash(data)
        self._known[path] = _OnDisk(now.path, False, now.signature, key)
        if known is None or known.content_hash != key:
            modified = datetime.fromtimestamp(now.path.stat().st_mtime, UTC)
            yield Wrote(shown, data, modified.replace(microsecond=0))

    def _shown(self, path: Path) -> str:
        return paths.stored("/" + path.relative_to(self._folder).as_posix())


def _birth(state: Path) -> str:
    """Tells this state from one that was deleted, whose cursors are worth nothing now."""
    file = state / "birth"
    if not file.exists():
        file.write_text(uuid4().hex, encoding="ascii")
    return file.read_text(encoding="ascii")


def _is_synced(name: str) -> bool:
    if name == _CACHE or not _is_unicode(name):
        return False
    path = "/" + unicodedata.normalize("NFC", name)
    return not (paths.is_malformed(path) or paths.is_disallowed(path))


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _signature(stat: os.stat_result) -> _Signature:
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


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
