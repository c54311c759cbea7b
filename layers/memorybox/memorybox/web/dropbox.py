"""Where a note is found on Dropbox's own site.

Dropbox documents neither address; both are those that its site shows. The app folder has its name
in them, which a person may have changed.
"""

from urllib.parse import quote

_SITE = "https://www.dropbox.com"


def note_url(folder: str, path_display: str) -> str:
    """The page that shows a note."""
    parent, _, name = path_display.rpartition("/")
    return f"{_SITE}/home/{quote(folder + parent)}?preview={quote(name, safe='')}"


def versions_url(folder: str, path_display: str) -> str:
    """The page with all versions of a note, from which one is restored."""
    return f"{_SITE}/history/{quote(folder + path_display)}"
