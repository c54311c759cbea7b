"""The workspaces that a person lets a client use, as they write them on the consent page."""

import unicodedata

from memorybox.errors import Refused

MOST = 20
MOST_BYTES = 255  # of a name in Dropbox


def workspaces_of(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each once; none means all. Raises Refused."""
    names = (unicodedata.normalize("NFC", name.strip()) for name in text.split(","))
    named = tuple(dict.fromkeys(filter(None, names)))
    if len(named) > MOST or any(len(name.encode()) > MOST_BYTES for name in named):
        raise Refused(f"At most {MOST} workspaces can be named. Go back and name fewer.")
    return () if any(name.lower() == "all" for name in named) else named
