"""Dropbox's rules for paths: letter case, Unicode form, and the names it refuses."""

import re
import unicodedata
from functools import lru_cache

_LONGEST_NAME = 255  # UTF-16 units
_LONGEST_PATH = 4096  # bytes, as the file system's
_DISALLOWED = {"desktop.ini", "thumbs.db", ".ds_store", "icon\r", ".dropbox", ".dropbox.attr"}
_FORBIDDEN = re.compile(r"[\\\x00\x7f]")
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")

# Letters with two cases that Unicode got between 3.2, which Python still knows, and 4.1.
_ADDED_BY_UNICODE_4 = re.compile(
    "[\u03f7-\u03fb\u023b-\u023d\u04f6\u04f7\u2c00-\u2c5e\u2c80-\u2ce3\u2d00-\u2d25]"
)


def lower(path: str) -> str:
    """The key of a path, lowered as Python 2.5 did it: letter by letter, by Unicode 4.1.

    A final sigma gets no form of its own, and letters that came later keep their case.
    """
    return path.lower() if path.isascii() else "".join(map(_lower_letter, path))


@lru_cache(maxsize=4096)
def _lower_letter(letter: str) -> str:
    lowered = letter.lower()[0]  # only İ lowers to two code points; its simple mapping is i
    return lowered if _is_old(letter) and _is_old(lowered) else letter


def _is_old(letter: str) -> bool:
    assigned = unicodedata.ucd_3_2_0.category(letter) != "Cn"
    return assigned or _ADDED_BY_UNICODE_4.match(letter) is not None


def stored(path: str) -> str:
    """The form in which the server keeps a path. A lookup is not brought into it."""
    return unicodedata.normalize("NFC", path)


def is_malformed(path: str, *, emoji_allowed: bool = True) -> bool:
    """Whether no entry can have this path. The root, "", is not malformed."""
    if _FORBIDDEN.search(path) or (not emoji_allowed and _BEYOND_BMP.search(path)):
        return True
    if len(path.encode("utf-8", "surrogatepass")) > _LONGEST_PATH:
        return True
    return any(map(_is_malformed_name, path.split("/")[1:]))


def _is_malformed_name(name: str) -> bool:
    if name in {"", ".", ".."} or name.endswith(" "):
        return True
    return len(name.encode("utf-16-le", "surrogatepass")) // 2 > _LONGEST_NAME


def is_disallowed(path: str) -> bool:
    """Whether a component is a name that Dropbox never syncs."""
    return any(name.lower() in _DISALLOWED for name in path.split("/"))


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]


def ancestors(path: str) -> list[str]:
    """The folders above a path, outermost first, without the root."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(2, len(names))]


def is_under(path: str, folder: str) -> bool:
    """Whether `path` is inside `folder`. Both are lowered; the root is ""."""
    return path.startswith(folder + "/")


def renamed(path: str, note: str) -> str:
    """`/a/file.txt` and `1` -> `/a/file (1).txt`, as Dropbox makes room for a second one."""
    folder, name = parent_of(path), name_of(path)
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    return f"{folder}/{stem} ({note}){dot}{extension}"
