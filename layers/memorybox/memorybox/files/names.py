"""Which names a workspace and a file may have.

Some are refused always, since they could reach outside the workspace or have no meaning. Others
only for what is new: a file that another app gave an odd name stays readable and changeable.
"""

import re
import unicodedata
from collections.abc import Callable

SUFFIX = ".md"
LONGEST = 255
"""Bytes of one component. Dropbox refuses a longer one only after the upload."""

LONGEST_PATH = 4_000
"""Bytes of a whole path. A longer one does not fit in the header that carries it to Dropbox."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_DOTS_ALONE = re.compile(r"(?:^|/)\.\.?(?:/|\Z)")
_DOT_LAST = re.compile(r"\.(?:/|\Z)")
_PADDED = re.compile(r"(?:^|/)\s|\s(?:/|\Z)")

_Rules = tuple[tuple[str, Callable[[str], object]], ...]
"""Faults of a name, in the order they are looked for."""


def workspace_fault(name: str) -> str | None:
    """Why the name can never be a workspace's, or None."""
    return _first_fault(_WORKSPACE_RULES, name)


def new_workspace_fault(name: str) -> str | None:
    """Why no workspace of this name may be made, or None."""
    return _first_fault(_NEW_WORKSPACE_RULES, name)


def path_fault(path: str) -> str | None:
    """Why the path can never be a note's, or None."""
    return _first_fault(_PATH_RULES, path)


def new_path_fault(path: str) -> str | None:
    """Why no note may be made at the path, or None."""
    return _first_fault(_NEW_PATH_RULES, path)


def lowered(name: str) -> str:
    """A name or path without letter case, to compare only: the key of a file is Dropbox's to make.

    Letter by letter, as Dropbox makes it: ß stays one, a sigma that ends a word is like any other,
    and İ is a plain i.
    """
    letters = (letter.lower()[0] for letter in unicodedata.normalize("NFC", name))
    return unicodedata.normalize("NFC", "".join(letters))


def has_lone_surrogate(text: str) -> bool:
    """Whether `text` has half of a surrogate pair, which no UTF-8 can hold."""
    return _SURROGATE.search(text) is not None


def _has_long_part(path: str) -> bool:
    names = unicodedata.normalize("NFC", path).encode().split(b"/")
    return max(map(len, names)) > LONGEST


_CHARACTER_RULES: _Rules = (
    ("it has a backslash", lambda name: "\\" in name),
    ("it has a control character", lambda name: "\0" in name),
    ("it has half of a surrogate pair", _SURROGATE.search),
    (f"it is over {LONGEST_PATH:,} bytes", lambda name: len(name.encode()) > LONGEST_PATH),
)
_WORKSPACE_RULES: _Rules = (
    ("it is empty", lambda name: not name),
    ('it is "." or ".."', lambda name: name in {".", ".."}),
    ("it has a slash", lambda name: "/" in name),
    *_CHARACTER_RULES,
)
_NEW_WORKSPACE_RULES: _Rules = (
    ("it is blank", str.isspace),
    ("it has a control character", _CONTROL.search),
    ("it starts or ends with a space", _PADDED.search),
    ("it is over 255 bytes", _has_long_part),
)
_PATH_RULES: _Rules = (
    ("it is empty", lambda path: not path),
    ('it starts with "/"', lambda path: path.startswith("/")),
    ('it ends with "/"', lambda path: path.endswith("/")),
    ("it has an empty part", lambda path: "//" in path),
    ('it has a "." or ".." part', _DOTS_ALONE.search),
    *_CHARACTER_RULES,
    ("it does not end in .md", lambda path: not path.lower().endswith(SUFFIX)),
    ("it has no name before .md", lambda path: len(path.rpartition("/")[2]) == len(SUFFIX)),
)
_NEW_PATH_RULES: _Rules = (
    ("it has a control character", _CONTROL.search),
    ("a name in it starts or ends with a space", _PADDED.search),
    ("a folder in it ends with a dot", _DOT_LAST.search),
    ("a name in it is over 255 bytes", _has_long_part),
)


def _first_fault(rules: _Rules, name: str) -> str | None:
    for fault, applies in rules:
        if applies(name):
            return fault
    return None
