"""Sends texts to the model in full requests, and stops in time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from memorybox.deadline import Deadline
from memorybox.search.embedder import (
    MOST_INPUTS,
    Embedder,
    EmbedderSilent,
    TextRefused,
)

LAST_START = 5.0
"""Seconds before the end of a call, of 25 s, from which on no request starts."""

LAST_ANSWER = 2.0
"""Seconds before the end of a call at which the last answer is given up."""


class Halt(Enum):
    """Why some texts have no vector."""

    NO_TIME = auto()
    SILENT = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors that came, by identity, and the tokens that all this may have cost."""

    vectors: Mapping[bytes, bytes]
    used: int
    halt: Halt | None = None


def embed(embedder: Embedder, texts: Mapping[bytes, str], deadline: Deadline) -> Embedded:
    """Embed texts given by identity, as far as time, and the service, allow.

    What a lost answer cost is unknown: then each byte is counted as a token.
    """
    vectors: dict[bytes, bytes] = {}
    used = 0
    for batch in batches(texts, embedder.most_bytes):
        if deadline.earlier(LAST_START).has_passed:
            return Embedded(vectors, used, Halt.NO_TIME)
        most = tokens_at_most(batch.values())
        try:
            answer = embedder.embed(list(batch.values()), deadline.earlier(LAST_ANSWER))
        except EmbedderSilent:
            return Embedded(vectors, used + most, Halt.SILENT)
        except TextRefused as refused:
            vectors |= {
                key: refused.vectors[text] for key, text in batch.items() if text in refused.vectors
            }
            return Embedded(vectors, used + refused.tokens, Halt.REFUSED)
        vectors |= zip(batch, answer.vectors, strict=True)
        used += answer.tokens
    return Embedded(vectors, used)


def batches(texts: Mapping[bytes, str], most_bytes: int) -> Iterator[dict[bytes, str]]:
    """The texts in as few requests as hold them in this order."""
    batch: dict[bytes, str] = {}
    size = 0
    for key, text in texts.items():
        length = len(text.encode())
        if len(batch) == MOST_INPUTS or size + length > most_bytes:
            yield batch
            batch, size = {}, 0
        batch[key] = text
        size += length
    if batch:
        yield batch


def tokens_at_most(texts: Iterable[str]) -> int:
    """A token is at least one byte of UTF-8."""
    return sum(len(text.encode()) for text in texts)
