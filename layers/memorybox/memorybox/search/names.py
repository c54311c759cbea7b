"""How files are named in one answer."""

from collections.abc import Iterable

from memorybox.search.model import Seen


def names(files: Iterable[Seen]) -> dict[str, tuple[str, str]]:
    """Workspace and path of each file as people see them, by path_lower.

    Dropbox vouches for the case of the last component only, so a folder may come in several: all
    files of the answer get the one of the oldest file, which most likely made the folder.
    """
    spellings: dict[str, str] = {}
    found: dict[str, tuple[str, str]] = {}
    for seen in sorted(files, key=lambda seen: (seen.modified, seen.path_lower)):
        shown, keys = seen.path_display.split("/"), seen.path_lower.split("/")
        folders = [
            spellings.setdefault("/".join(keys[: depth + 1]), shown[depth])
            for depth in range(1, len(keys) - 1)
        ]
        found[seen.path_lower] = (folders[0], "/".join([*folders[1:], shown[-1]]))
    return found
