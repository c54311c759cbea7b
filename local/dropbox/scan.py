"""What lies in a real folder, as far as Dropbox would sync it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from local.dropbox import paths
from local.dropbox.disk import CACHE

Signature: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class OnDisk:
    """An entry of the folder. `signature` is None for a folder, and for a file not yet read."""

    path: str
    is_folder: bool
    signature: Signature | None = None
    content_hash: str = field(default="", compare=False)


class Inventory:
    """What the folder is known to hold: by key, which is the lowered path, and by place on disk."""

    def __init__(self) -> None:
        self._by_key: dict[str, OnDisk] = {}
        self._keys: dict[str, str] = {}
        self._before: list[tuple[str, OnDisk | None]] = []

    def get(self, key: str) -> OnDisk | None:
        return self._by_key.get(key)

    def key_at(self, path: str) -> str | None:
        return self._keys.get(path)

    def __iter__(self) -> Iterator[str]:
        """The keys, a folder before its children; some may be forgotten on the way."""
        return iter(sorted(self._by_key))

    def put(self, key: str, entry: OnDisk) -> None:
        self._set(key, entry)

    def forget(self, key: str) -> None:
        """With all that is below."""
        for gone in [one for one in self._by_key if one == key or paths.is_under(one, key)]:
            self._set(gone, None)

    def settle(self) -> None:
        """What was put and forgotten is so for good."""
        self._before.clear()

    def revert(self) -> None:
        """Know again what was known when it was last settled."""
        for key, entry in reversed(list(self._before)):
            self._set(key, entry)
        self._before.clear()

    def _set(self, key: str, entry: OnDisk | None) -> None:
        before = self._by_key.pop(key, None)
        self._before.append((key, before))
        if before is not None:
            del self._keys[before.path]
        if entry is not None:
            self._by_key[key] = entry
            self._keys[entry.path] = key


def scan(folder: Path, known: Inventory) -> dict[str, OnDisk]:
    """All there is, a folder before its children; what did not change is the known object."""
    return dict(_walk(str(folder), known))


def has_news(directory: str, known: Inventory) -> bool:
    """Whether a directory went, or got an entry that is not known."""
    try:
        with os.scandir(directory) as items:
            return any(known.key_at(item.path) is None and _is_synced(item.name) for item in items)
    except OSError:
        return True


def signature(stat: os.stat_result) -> Signature:
    """Another one whenever a file was written."""
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _walk(folder: str, known: Inventory) -> Iterator[tuple[str, OnDisk]]:
    """Without recursion: folders may be deeper than Python's stack. Links are not followed."""
    seen: set[str] = set()
    ahead = _items(folder, "", known)[::-1]
    while ahead:
        key, item = ahead.pop()
        if key in seen or (now := _looked_at(item)) is None:
            continue  # differs from a sibling by case or normal form only, or is a link
        seen.add(key)
        yield key, _same(known.get(key), now)
        if now.is_folder:
            ahead += reversed(_items(item.path, key, known))


def _looked_at(item: "os.DirEntry[str]") -> OnDisk | None:
    if item.is_dir(follow_symlinks=False):
        return OnDisk(item.path, is_folder=True)
    if not item.is_file(follow_symlinks=False):
        return None
    try:
        now = signature(item.stat(follow_symlinks=False))
    except OSError:  # gone meanwhile
        return None
    return OnDisk(item.path, is_folder=False, signature=now)


def _same(known: OnDisk | None, now: OnDisk) -> OnDisk:
    return known if known is not None and known == now else now


def _items(directory: str, above: str, known: Inventory) -> "list[tuple[str, os.DirEntry[str]]]":
    """Keys and items; of two that collide, the one that is known comes first."""
    old: list[tuple[str, os.DirEntry[str]]] = []
    new: list[tuple[str, os.DirEntry[str]]] = []
    try:
        with os.scandir(directory) as items:
            for item in items:
                if (key := known.key_at(item.path)) is not None:
                    old.append((key, item))
                elif _is_synced(item.name):
                    new.append((f"{above}/{paths.lower(paths.stored(item.name))}", item))
    except OSError:  # gone meanwhile, or not ours to read
        return []
    return sorted(old, key=itemgetter(0)) + sorted(new, key=lambda pair: pair[1].name)


def _is_synced(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    path = "/" + paths.stored(name)
    return name != CACHE and not (paths.is_malformed(path) or paths.is_disallowed(path))
