"""The notes of a listing."""

from datetime import UTC, datetime

from memorybox.files.listing import notes
from memorybox.files.model import Entry, FileEntry, FolderEntry, Rev


def file(path: str, *, second: int = 0, downloadable: bool = True) -> FileEntry:
    moment = datetime(2026, 10, 31, 5, 46, second, tzinfo=UTC)
    return FileEntry(path.lower(), path, Rev("0" * 9), "", 1, moment, downloadable)


def names(*entries: Entry) -> list[str]:
    return [f"{entry.workspace}/{entry.path}" for entry in notes(entries)]


def test_only_markdown_files_in_workspaces_are_notes() -> None:
    entries: list[Entry] = [
        file("/garden/a.md"),
        file("/garden/B.MD"),
        file("/garden/c.markdown"),
        file("/garden/d.txt"),
        FolderEntry("/garden/x.md", "/garden/x.md"),
        file("/garden/x.md/inner.md"),
        file("/garden/.trash/old.md"),
        file("/garden/cloud.md", downloadable=False),
        file("/readme.md"),
        file("/All/x.md"),
    ]
    assert names(*entries) == [
        "garden/.trash/old.md",
        "garden/a.md",
        "garden/B.MD",
        "garden/x.md/inner.md",
    ]


def test_the_newest_change_comes_first_within_each_workspace() -> None:
    entries = [
        file("/work/a.md", second=9),
        file("/garden/old.md", second=1),
        file("/garden/b.md", second=5),
        file("/garden/a.md", second=5),
    ]
    assert names(*entries) == ["garden/a.md", "garden/b.md", "garden/old.md", "work/a.md"]


def test_a_folder_has_one_spelling() -> None:
    entries: list[Entry] = [
        FolderEntry("/garden", "/Garden"),
        FolderEntry("/garden/beds", "/garden/Beds"),
        file("/GARDEN/BEDS/other.md"),
        file("/garden/Beds/Plan.md"),
    ]
    assert names(*entries) == ["Garden/Beds/other.md", "Garden/Beds/Plan.md"]
