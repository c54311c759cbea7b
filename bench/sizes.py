"""What the bytes of a part are, in packs of the public sets.

    python -m bench.sizes --data FOLDER [--dims 512] [SET ...]

Each set is a workspace in one pack. The vectors are random: any take as many bytes. Revs and
content hashes are as long as those of Dropbox.
"""

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.quality_sets import Questions, load
from bench.tables import table
from memorybox.search.model import Entry, Indexed, Part, Recipe, Seen
from memorybox.search.pack import build_pack
from memorybox.search.parts import SPLITTING_VERSION, parts_of
from memorybox.search.sections import Sections
from memorybox.search.terms import TERMS_VERSION, Lexicon, plus

LANGUAGES = ("en", "de", "ja", "ko", "zh")
SETS = ("locomo", "cranfield", "scifact", *(f"obsidian-{each}" for each in LANGUAGES))
LEXICON = Lexicon(b"bench")
REV, CONTENT_HASH = "0" * 31, "0" * 64

KINDS: Mapping[str, Sequence[str]] = {
    "vectors": ("vectors", "norms", "part_at", "bounds", "centres"),
    "who holds a term, how often": ("codes", "often", "often_of"),
    "terms": ("terms", "held_by", "firsts", "starts"),
    "parts": ("file_of", "spans", "identities", "lengths"),
    "files": ("path_ends", "paths", "display_ends", "displays", "states", "records"),
}
"""The sections of a pack. What is left of it are its head and gaps between sections."""


def entries(questions: Questions, recipe: Recipe) -> list[Entry]:
    """The files of a set as they would be indexed."""
    random, when = np.random.default_rng(1), datetime(2026, 1, 1, tzinfo=UTC)
    found = []
    for name, text in questions.files.items():
        path = f"/{name}"
        path_words = LEXICON.path_words(path.lower())
        parts = tuple(
            Part(
                piece.start,
                piece.end,
                random.bytes(16),
                random.bytes(recipe.dims),
                plus(LEXICON.words(piece.text), path_words),
            )
            for piece in parts_of(text.encode())
        )
        seen = Seen(path.lower(), path, REV, CONTENT_HASH, len(text.encode()), when)
        found.append(Entry(seen, Indexed(REV, CONTENT_HASH, recipe, parts)))
    return found


def measure(name: str, questions: Questions, dims: int) -> list[str]:
    """The line of the table for a set."""
    recipe = Recipe("any", dims, SPLITTING_VERSION, TERMS_VERSION)
    files = entries(questions, recipe)
    parts = [p for at in files if isinstance(at.settled, Indexed) for p in at.settled.parts]
    data = build_pack(recipe, files)
    sections = Sections.open(data)
    size = {
        section: sections.column(section, *shape[1:])[:].nbytes
        for section, (_, _, shape) in sections.about["sections"].items()
    }
    kinds = [sum(size[section] for section in kind) for kind in KINDS.values()]
    per_part = [
        sum(len(part.words.counts) for part in parts),
        size["terms"] // 4,
        len(data),
        *kinds,
        len(data) - sum(kinds),
    ]
    return [name, f"{len(parts):,}", *(f"{each / len(parts):,.0f}" for each in per_part)]


HEADS = ("set", "parts", "terms a part", "different terms", "bytes a part", *KINDS, "head, gaps")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--dims", type=int, default=512)
    parser.add_argument("sets", nargs="*", default=SETS)
    options = parser.parse_args()
    measured = [measure(each, load(options.data, each), options.dims) for each in options.sets]
    print(table(HEADS, measured))


if __name__ == "__main__":
    main()
