"""Grants in a file, so that whoever signed in before a restart still is."""

import json
from pathlib import Path

from local.dropbox.grants import Grants


def keep(grants: Grants, file: Path) -> None:
    """Take up what `file` holds, and write every change there from now on."""

    def save() -> None:
        new = file.with_suffix(".new")
        new.write_text(json.dumps(grants.snapshot()), encoding="utf-8")
        new.replace(file)

    if file.exists():
        grants.restore(json.loads(file.read_text(encoding="utf-8")))
    grants.on_change = save
