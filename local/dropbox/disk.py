"""Changes in a real folder that are taken back unless all of them succeed. No link is followed."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from local.dropbox import paths
from local.dropbox.storage import NotKept, Reason

CACHE = ".dropbox.cache"  # where the desktop program, too, writes a file before it moves it in

_REASONS: Final[dict[int | None, Reason]] = {
    errno.ENOSPC: "insufficient_space",
    errno.EDQUOT: "insufficient_space",
    errno.EFBIG: "insufficient_space",
    errno.ENAMETOOLONG: "malformed_path",
    errno.EINVAL: "malformed_path",
    errno.EILSEQ: "malformed_path",
}


@contextmanager
def kept() -> Iterator[None]:
    """An error of the disk is NotKept.

    A link, or whatever else Dropbox does not sync, that is in the way is no_write_permission, too:
    a conflict would tell of a file that no listing shows.
    """
    try:
        yield
    except OSError as error:
        raise NotKept(_REASONS.get(error.errno, "no_write_permission")) from error


def write(path: Path, data: bytes, *, by_way_of: Path) -> None:
    """A reader sees the old bytes or the new ones, never a part."""
    new = by_way_of / f"{uuid4().hex}.new"
    try:
        new.write_bytes(data)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def goes_through_link(folder: str, place: str) -> bool:
    """Whether a place below `folder` is a link, or is reached by one."""
    while len(place) > len(folder):
        if Path(place).is_symlink():
            return True
        place = paths.parent_of(place)
    return False


class Attempt:
    """`with Attempt(folder) as attempt:` ends with all the changes made, or with none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._aside = folder / CACHE
        self._undo = ExitStack()
        self._removed: list[Path] = []
        self._checked: set[str] = set()

    def __enter__(self) -> "Attempt":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._undo.close()
            return
        for removed in self._removed:
            with suppress(OSError):  # it is out of the folder, which is what counts
                _erase(removed)

    def on_failure(self, act: Callable[[], object]) -> None:
        """Done after an error, the last one first."""
        self._undo.callback(_quietly, act)

    def make_folder(self, place: str) -> None:
        """With those above it. Raises NotADirectoryError where something else is, also a link."""
        self._folder.mkdir(parents=True, exist_ok=True)
        unsure: list[str] = []
        while place not in self._checked and len(place) > len(str(self._folder)):
            unsure.append(place)
            place = paths.parent_of(place)
        for one in reversed(unsure):
            self._make_one(Path(one))
            self._checked.add(one)

    def _make_one(self, place: Path) -> None:
        try:
            place.mkdir()
        except FileExistsError:
            if not stat.S_ISDIR(place.lstat().st_mode):
                raise NotADirectoryError(errno.ENOTDIR, "not a folder") from None
        else:
            self.on_failure(place.rmdir)

    def write(self, place: str, data: bytes) -> os.stat_result:
        """Put a file there. One that is replaced does not come back: let it be the last change."""
        self.make_folder(paths.parent_of(place))
        self.make_folder(str(self._aside))
        file = Path(place)
        is_new = not os.path.lexists(file)
        if not is_new and not stat.S_ISREG(file.lstat().st_mode):
            raise OSError(errno.ELOOP, "not a file")
        write(file, data, by_way_of=self._aside)
        if is_new:
            self.on_failure(file.unlink)
        return file.lstat()

    def remove(self, place: str) -> None:
        """Take it out, with all that is below."""
        if goes_through_link(str(self._folder), place):
            raise OSError(errno.ELOOP, "reached by a link")
        self.make_folder(str(self._aside))
        removed = _beside(self._aside / "removed")
        with suppress(FileNotFoundError):
            Path(place).rename(removed)
            self._removed.append(removed)
            self.on_failure(lambda: removed.rename(place))
        self._checked.clear()


def _quietly(act: Callable[[], object]) -> None:
    with suppress(OSError):
        act()


def _beside(place: Path) -> Path:
    return place.with_name(f"{uuid4().hex}.old")


def _erase(place: Path) -> None:
    """Folder by folder, each moved up first: none is too deep for a path or for Python's stack."""
    ahead = [place]
    while ahead:
        next_one = ahead.pop()
        if not stat.S_ISDIR(next_one.lstat().st_mode):
            next_one.unlink()
            continue
        ahead += [below.rename(_beside(place)) for below in list(next_one.iterdir())]
        next_one.rmdir()
