"""The port to the embedding model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from memorybox.deadline import Deadline

MOST_INPUTS = 2_048  # of one request (openai API reference, Create embeddings)
MOST_BYTES = 300_000  # the API takes 300,000 tokens in all; a token is at least one byte


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One vector for each text, in order, and what they cost."""

    vectors: tuple[bytes, ...]
    """`dims` signed bytes each: a direction, whose length says nothing."""

    tokens: int
    """As the service counted; one for each byte if it does not say, or cannot be right."""


class EmbedderSilent(Exception):
    """The service did not answer in time, or asks to wait. The texts may have been counted."""


class TextRefused(Exception):
    """The service does not take one of the texts, or did not give each of them a vector."""

    def __init__(self, tokens: int, vectors: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self.tokens = tokens
        """What it cost all the same, told as in Embeddings."""
        self.vectors = vectors
        """By text, those that came."""
        super().__init__()


class Embedder(Protocol):
    """A model that gives near vectors to texts of near meaning."""

    @property
    def model(self) -> str: ...

    @property
    def dims(self) -> int: ...

    @property
    def most_bytes(self) -> int:
        """Bytes of a request that the service answers within a few seconds, up to MOST_BYTES."""

    def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Embed at most MOST_INPUTS texts of `most_bytes` together, none of them blank.

        Answers are checked for count, order, length, finite numbers and zero vectors. Raises
        EmbedderSilent or TextRefused.
        """
