"""The workspaces that a person lets a client use, as they write them on the consent page."""

import unicodedata

from memorybox.errors import Refused

MOST = 20
MOST_BYTES = 255  # of a name in Dropbox


def workspaces_of(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each once; an empty text means all. Raises Refused."""
    names = (unicodedata.normalize("NFC", name.strip()) for name in text.split(","))
    named = tuple(dict.fromkeys(filter(None, names)))
    if len(named) > MOST or any(len(name.encode()) > MOST_BYTES for name in named):
        raise Refused(f"At most {MOST} workspaces can be named. Go back and name fewer.")
    if text.strip() and not named:
        raise Refused(
            "No workspace is named. Go back and name one, or leave the field empty for all."
        )
    if any("/" in name or name in (".", "..") for name in named):
        raise Refused("A workspace is a folder at the top, without a slash. Go back and name it.")
    return () if any(name.lower() == "all" for name in named) else named
