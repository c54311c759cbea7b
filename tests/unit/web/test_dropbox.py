"""Links into Dropbox say exactly the name of the note, whatever it is made of."""

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybox.web.dropbox import note_url, versions_url

_NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1)


@pytest.mark.parametrize(
    ("path", "home", "history"),
    [
        ("/garden/plan.md", "garden?preview=plan.md", "garden/plan.md"),
        ("/a b/c+d/e&f=g.md", "a%20b/c%2Bd?preview=e%26f%3Dg.md", "a%20b/c%2Bd/e%26f%3Dg.md"),
        ("/w/#1?%41.md", "w?preview=%231%3F%2541.md", "w/%231%3F%2541.md"),
        ("/zoë/ß 🌱.md", "zo%C3%AB?preview=%C3%9F%20%F0%9F%8C%B1.md", None),
        ("/w/\"'<>.md", "w?preview=%22%27%3C%3E.md", "w/%22%27%3C%3E.md"),
        ("/w/..md", "w?preview=..md", "w/..md"),
    ],
)
def test_odd_names_are_percent_encoded(path: str, home: str, history: str | None) -> None:
    assert note_url("Apps/Box", path) == f"https://www.dropbox.com/home/Apps/Box/{home}"
    if history is not None:
        assert (
            versions_url("Apps/Box", path) == f"https://www.dropbox.com/history/Apps/Box/{history}"
        )


@given(_NAMES, _NAMES, _NAMES)
def test_a_reader_of_the_link_gets_the_names_back(folder: str, workspace: str, name: str) -> None:
    path = f"/{workspace}/{name}"
    note, versions = urlsplit(note_url(folder, path)), urlsplit(versions_url(folder, path))

    assert unquote(note.path) == f"/home/{folder}/{workspace}"
    assert parse_qs(note.query, keep_blank_values=True) == {"preview": [name]}
    assert (unquote(versions.path), versions.query) == (f"/history/{folder}{path}", "")
    assert (note.fragment, versions.fragment) == ("", "")
    assert note.netloc == versions.netloc == "www.dropbox.com"
