"""What Dropbox does with letters and names."""

import pytest

from local.dropbox import paths


@pytest.mark.parametrize(
    ("shown", "key"),
    [
        ("/Garden/A.md", "/garden/a.md"),
        ("/\u03a3\u03a3", "/\u03c3\u03c3"),  # Python 3 gives the last one its final form
        ("/\ua64a", "/\ua64a"),  # a letter younger than Python 2.5's Unicode
        ("/\u1e9e", "/\u1e9e"),
        ("/İstanbul", "/istanbul"),
        ("/\u212a", "/k"),  # the Kelvin sign
        ("/ÄÖ", "/äö"),
        ("/\u2c00", "/\u2c30"),  # Glagolitic came with Unicode 4.1
        ("/\u13a0", "/\u13a0"),  # Cherokee had no small letters then
    ],
)
def test_a_path_is_lowered_as_python_2_5_did(shown: str, key: str) -> None:
    assert paths.lower(shown) == key


@pytest.mark.parametrize(
    "path",
    [
        "/a\\b",
        "/a\0",
        "/a\x7f",
        "/a ",
        "/a /b",
        "/.",
        "/..",
        "/a/../b",
        "//a",
        "/a/",
        "/" + "x" * 256,
        ("/" + "x" * 200) * 21,
        "/é" * 1_366,  # 4,098 bytes
    ],
)
def test_a_name_that_no_entry_can_have_is_malformed(path: str) -> None:
    assert paths.is_malformed(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a.",
        "/ a",
        "/a\nb",
        "/.hidden",
        "/~$x.md",
        "/x.swp",
        "/" + "x" * 255,
        "/é" * 1_365,
        "/🍅.md",
        '/"x" (1).md',
    ],
)
def test_odd_names_that_dropbox_takes_are_not_malformed(path: str) -> None:
    assert not paths.is_malformed(path)


def test_an_emoji_counts_as_two_characters_of_the_longest_name() -> None:
    assert not paths.is_malformed("/" + "🍅" * 127)
    assert paths.is_malformed("/" + "🍅" * 128)


def test_emoji_can_be_refused_as_they_were_for_years() -> None:
    assert paths.is_malformed("/🍅.md", emoji_allowed=False)


@pytest.mark.parametrize("name", ["desktop.ini", "Thumbs.DB", ".DS_Store", "icon\r", ".dropbox"])
def test_names_that_dropbox_never_syncs_are_disallowed_in_any_case(name: str) -> None:
    assert paths.is_disallowed(f"/garden/{name}")


@pytest.mark.parametrize(
    ("path", "note", "renamed"),
    [
        ("/a/file.txt", "1", "/a/file (1).txt"),
        ("/a/b.c/file", "2", "/a/b.c/file (2)"),
        ("/.env", "1", "/.env (1)"),
        ("/x.md", "conflicted copy", "/x (conflicted copy).md"),
    ],
)
def test_a_second_file_gets_its_number_before_the_extension(
    path: str, note: str, renamed: str
) -> None:
    assert paths.renamed(path, note) == renamed


def test_the_children_of_a_folder_are_told_by_the_slash() -> None:
    assert paths.is_under("/garden/beds/a.md", "/garden/beds")
    assert not paths.is_under("/garden/beds2/a.md", "/garden/beds")
    assert not paths.is_under("/garden/beds", "/garden/beds")
    assert paths.is_under("/garden", "")
