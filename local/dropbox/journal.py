"""A change as one line of text, so that a journal is a file that only grows."""

import json
from dataclasses import asdict
from datetime import datetime

from local.dropbox.entries import Entry, File, Folder, Json
from local.dropbox.tree import Change


def to_line(change: Change) -> str:
    return json.dumps(
        {
            "position": change.position,
            "path": change.path_display,
            "at": change.at.isoformat(),
            "entry": asdict(change.entry) if change.entry else None,
        },
        default=datetime.isoformat,
    )


def from_line(line: str) -> Change:
    """Raises ValueError on a line that was not written whole."""
    fields = json.loads(line)
    entry = _entry(fields["entry"]) if fields["entry"] else None
    at = datetime.fromisoformat(fields["at"])
    return Change(fields["position"], fields["path"], entry, at)


def _entry(fields: Json) -> Entry:
    if "rev" not in fields:
        return Folder(**fields)
    times = ("client_modified", "server_modified")
    return File(**fields | {name: datetime.fromisoformat(fields[name]) for name in times})
