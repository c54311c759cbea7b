from datetime import UTC, datetime

from memorybox.search.downloads import ENOUGH, MOST_FILES, TOGETHER, downloads
from memorybox.search.model import Seen

Reads = list[tuple[str, int]]


def seen(path: str, size: int = 2_000) -> Seen:
    return Seen(path, path, "1", path, size, datetime(2026, 11, 30, tzinfo=UTC))


def files(folder: str, count: int, size: int = 2_000) -> list[Seen]:
    return [seen(f"{folder}/{number:05}.md", size) for number in range(count)]


def plan(wanted: list[Seen], known: list[Seen]) -> Reads:
    """Each download's folder, if it is a zip, and how many files it is to bring."""
    return [(download.folder, len(download.files)) for download in downloads(wanted, known)]


def test_a_workspace_that_is_new_as_a_whole_is_one_zip() -> None:
    notes = files("/garden", 10) + files("/garden/beds", 10)

    assert plan(notes, notes) == [("/garden", 20)]


def test_large_folders_are_zips_of_their_own() -> None:
    notes = files("/garden/a", ENOUGH) + files("/garden/b", 50) + files("/garden", 3)

    assert plan(notes, notes) == [("/garden/a", ENOUGH), ("/garden/b", 50), ("", 3)]


def test_many_small_folders_come_in_one_zip_with_the_folder_that_holds_them() -> None:
    notes = [note for number in range(ENOUGH) for note in files(f"/garden/{number}", 2)]

    assert plan(notes, notes) == [("/garden", len(notes))]


def test_a_folder_of_which_little_is_wanted_is_read_file_by_file() -> None:
    known = files("/garden", 100)

    assert plan(known[:20], known) == [("", TOGETHER), ("", TOGETHER), ("", 4)]


def test_a_folder_with_more_files_than_a_zip_holds_is_read_file_by_file() -> None:
    known = files("/garden", MOST_FILES + 1)

    assert {folder for folder, _ in plan(known, known)} == {""}


def test_files_are_read_in_the_order_in_which_they_are_wanted() -> None:
    old, new = files("/garden/old", ENOUGH), files("/garden/new", ENOUGH)

    assert plan([*new, *old], old + new) == [("/garden/new", ENOUGH), ("/garden/old", ENOUGH)]


def test_each_file_is_wanted_once() -> None:
    known = files("/garden", 30) + files("/garden/a", 900) + files("/garden/b/c", 900)
    wanted = known[::2] + known[1:40:2]

    read = [file for download in downloads(wanted, known) for file in download.files]

    assert sorted(read, key=lambda file: file.path_lower) == sorted(
        wanted, key=lambda file: file.path_lower
    )


def test_nothing_wanted_is_nothing_read() -> None:
    assert plan([], files("/garden", 3)) == []
