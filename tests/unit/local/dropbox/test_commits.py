"""The conflict table of uploads, cell by cell."""

from datetime import UTC, datetime

import pytest

from local.dropbox.commits import Conflict, Existing, Intent, Outcome, Written, decide
from local.dropbox.entries import Entry, File, Folder
from local.dropbox.knobs import Knobs, SameBytes

_WHEN = datetime(2026, 11, 30, tzinfo=UTC)
FILE = File("id:1", "/a.md", "rev-current", 3, "same", _WHEN, _WHEN)
FOLDER = Folder("id:2", "/a.md")

ADD: dict[str, str | bool | None] = {}
OVERWRITE: dict[str, str | bool | None] = {"overwrite": True}
CURRENT: dict[str, str | bool | None] = {"rev": "rev-current"}
STALE: dict[str, str | bool | None] = {"rev": "rev-stale"}


def outcome(
    there: Entry | None, mode: dict[str, str | bool | None], data: str, *, strict: bool
) -> Outcome:
    rev, overwrite = mode.get("rev"), mode.get("overwrite")
    intent = Intent(data, strict, rev if isinstance(rev, str) else None, bool(overwrite))
    return decide(there, intent, Knobs())


@pytest.mark.parametrize(
    ("there", "mode", "data", "loose", "strict"),
    [
        (None, ADD, "new", Written(), Written()),
        (None, OVERWRITE, "new", Written(), Written()),
        (None, STALE, "new", Written(), Conflict("file")),
        (FOLDER, ADD, "new", Conflict("folder"), Conflict("folder")),
        (FOLDER, OVERWRITE, "new", Conflict("folder"), Conflict("folder")),
        (FOLDER, STALE, "new", Conflict("folder"), Conflict("folder")),
        (FILE, ADD, "same", Existing(FILE), Conflict("file")),
        (FILE, OVERWRITE, "same", Existing(FILE), Existing(FILE)),
        (FILE, STALE, "same", Existing(FILE), Conflict("file")),
        (FILE, CURRENT, "same", Existing(FILE), Conflict("file")),
        (FILE, ADD, "other", Conflict("file"), Conflict("file")),
        (FILE, OVERWRITE, "other", Written(), Written()),
        (FILE, CURRENT, "other", Written(), Written()),
        (FILE, STALE, "other", Conflict("file"), Conflict("file")),
    ],
)
def test_an_upload_is_written_refused_or_answered_with_what_is_there(
    there: Entry | None,
    mode: dict[str, str | bool | None],
    data: str,
    loose: Outcome,
    strict: Outcome,
) -> None:
    assert outcome(there, mode, data, strict=False) == loose
    assert outcome(there, mode, data, strict=True) == strict


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (SameBytes.CONFLICT, Conflict("file")),
        (SameBytes.EXISTING, Existing(FILE)),
        (SameBytes.WRITTEN, Written()),
    ],
)
def test_equal_bytes_under_strict_are_a_switch_where_dropbox_is_not_known(
    choice: SameBytes, expected: Outcome
) -> None:
    knobs = Knobs(same_bytes_update=choice, same_bytes_overwrite=choice)
    update = Intent("same", strict=True, rev="rev-current")
    overwrite = Intent("same", strict=True, overwrite=True)
    assert decide(FILE, update, knobs) == expected
    assert decide(FILE, overwrite, knobs) == expected


def test_a_stale_rev_is_a_conflict_whatever_the_switch_says() -> None:
    stale = Intent("same", strict=True, rev="rev-stale")
    assert decide(FILE, stale, Knobs(same_bytes_update=SameBytes.WRITTEN)) == Conflict("file")
