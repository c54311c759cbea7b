"""A model that embeds each text once and keeps its vector on disk, for the slow ones."""

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from local.embedders import MODELS, Embedder, Matrix

CACHE = Path(__file__).parent.parent / ".local/bench"
AT_ONCE = 16


class Remembering:
    """The model of that name, with a file of all vectors it ever made."""

    def __init__(self, model: str, folder: Path = CACHE) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._model: Embedder = MODELS[model]()
        self._kept = sqlite3.connect(folder / f"{model}.sqlite")
        self._kept.execute(
            "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB)"
        )
        self.dimensions = self._model.dimensions

    def tokens(self, text: str) -> int:
        return self._model.tokens(text)

    def embed(self, texts: Sequence[str]) -> Matrix:
        new = [text for text in dict.fromkeys(texts) if self._vector(text) is None]
        for at in range(0, len(new), AT_ONCE):
            some = new[at : at + AT_ONCE]
            with self._kept:
                self._kept.executemany(
                    "INSERT INTO vectors VALUES (?, ?)",
                    [
                        (_key(text), vector.astype("<f4").tobytes())
                        for text, vector in zip(some, self._model.embed(some), strict=True)
                    ],
                )
        return np.stack([np.frombuffer(self._vector(text) or b"", "<f4") for text in texts])

    def _vector(self, text: str) -> bytes | None:
        row = self._kept.execute("SELECT vector FROM vectors WHERE text = ?", [_key(text)])
        return next((vector for (vector,) in row), None)


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
