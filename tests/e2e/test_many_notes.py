"""Ten thousand notes in the real product: all of them are found, and each was paid once."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from local.product import Options, Product
from tests.support import inside
from tests.support.assistant import Assistant

pytestmark = [pytest.mark.e2e, pytest.mark.soak]

WORKSPACES, NOTES = 20, 500
PATIENCE = 1_200.0
UNLIMITED = {"CALLS_PER_MINUTE": "100000", "SEARCHES_PER_MINUTE": "100000"}
words = str.split
WORDS = words(
    "bed soil seed frost rain hedge apple bean spade compost water glass shade path wall bee "
    "bread salt flour oven meeting budget letter train river stone window harbour winter song"
)


def text_of(number: int) -> str:
    """A note that no other note is like: its name is a word of its own."""
    drawn = Random(number)
    lines = [" ".join(drawn.choices(WORDS, k=12)) for _ in range(4)]
    return f"# Plan {name_of(number)}\n\n" + "\n".join(f"- {line}." for line in lines) + "\n"


def name_of(number: int) -> str:
    return "".join(
        "bdfgklmnprstvz"[number // 14**place % 14] + "aeiou"[place] for place in range(4)
    )


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    for workspace in range(WORKSPACES):
        folder = tmp_path / "box" / f"space{workspace:02}"
        folder.mkdir(parents=True)
        for note in range(NOTES):
            number = workspace * NOTES + note
            (folder / f"{number}.md").write_text(text_of(number))
    options = Options(
        tmp_path / "box", tmp_path / "state", model="wordllama", environment=UNLIMITED
    )
    with Product(options, say=lambda _: None) as product:
        inside.come_back_after(product, 60)
        yield product


@pytest.mark.promise("P-025", "P-059", "P-061", "P-063", "P-208", "P-209")
def test_each_of_ten_thousand_notes_is_found_and_was_paid_once(product: Product) -> None:
    assistant = Assistant(product.url)

    def is_complete() -> bool:
        found = assistant.call("search", workspace="all", query="what is the plan")
        return found.is_done and "not indexed" not in found.texts[0].lower()

    assert inside.waits_for(is_complete, PATIENCE)
    assert inside.waits_for(lambda: inside.messages(product) == 0, PATIENCE)
    assert inside.index(product) == inside.notes(product)
    assert len(inside.notes(product)) == WORKSPACES * NOTES
    texts = [text for text in product.embeddings.received.inputs if text.startswith("# Plan")]
    assert len(texts) == len(set(texts)) == WORKSPACES * NOTES
    assert product.embeddings.received.tokens <= inside.spent(product)

    for number in Random(1).sample(range(WORKSPACES * NOTES), 20):
        path = f"space{number // NOTES:02}/{number}.md"
        found = assistant.call("search", workspace="all", query=f"plan {name_of(number)}")
        assert found.texts[0].startswith(f"1. {path}  score ")
    listed = assistant.call("list", workspace="all")
    assert listed.texts[0].count('"path":') == WORKSPACES * NOTES

    product.embeddings.forget()
    product.account.put("/space07/3507.md", "# The quince\n\nIt was moved to the wall.\n")
    found = assistant.call("search", workspace="all", query="where is the quince")
    assert found.texts[0].startswith("1. space07/3507.md  score ")
    assert sorted(product.embeddings.received.inputs) == [
        "# The quince\n\nIt was moved to the wall.\n",
        "where is the quince",
    ]
