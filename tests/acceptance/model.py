"""The embedding model of the acceptance tests."""

from collections.abc import Callable, Sequence

import numpy as np

from local.embedders import HashedWords, Matrix


def _nothing(_: Sequence[str]) -> None:
    """Nothing happens."""


class SteeredModel(HashedWords):
    """Texts that share words are near, but for those whose vector a test chose."""

    def __init__(self) -> None:
        self.chosen: dict[str, Sequence[float]] = {}
        self.meanwhile: Callable[[Sequence[str]], None] = _nothing
        """Happens while a request for these texts is worked on."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.meanwhile(texts)
        vectors = super().embed(texts)
        for row, text in zip(vectors, texts, strict=True):
            if (vector := self.chosen.get(text)) is not None:
                row[:] = np.pad(np.array(vector, np.float32), (0, self.dimensions - len(vector)))
        return vectors

    def forget(self) -> None:
        """Know no chosen vector, and do nothing meanwhile."""
        self.chosen.clear()
        self.meanwhile = _nothing
