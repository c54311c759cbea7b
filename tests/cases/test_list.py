"""Lists on which tools like this one have failed: a page was lost, other files showed up."""

import json

from tests.acceptance.box import Box


def test_l01_only_md_files_are_listed_and_none_of_the_root(box: Box) -> None:
    for path in ("a.md", "B.MD", "x.md/inner.md", ".trash/old.md"):
        box.dropbox.put(f"/garden/{path}", "note")
    for path in ("c.markdown", "d.txt", ".obsidian/app.json"):
        box.dropbox.put(f"/garden/{path}", "{}")
    box.dropbox.put("/readme.md", "root")

    files = json.loads(box.says("list", workspace="garden"))["files"]

    assert sorted(file["path"] for file in files) == [
        ".trash/old.md",
        "B.MD",
        "a.md",
        "x.md/inner.md",
    ]


def test_l05_2500_files_come_in_one_answer(box: Box) -> None:
    for number in range(2_500):
        box.dropbox.put(f"/garden/n{number:04}.md", "x")
    box.dropbox.set(page_size=500, empty_pages=1)

    files = json.loads(box.says("list", workspace="garden"))["files"]

    assert [file["path"] for file in sorted(files, key=lambda file: str(file["path"]))] == [
        f"n{number:04}.md" for number in range(2_500)
    ]


def test_l06_an_empty_file_has_size_0(box: Box) -> None:
    box.dropbox.put("/garden/a.md", "")

    [file] = json.loads(box.says("list", workspace="garden"))["files"]

    assert file["size"] == 0
