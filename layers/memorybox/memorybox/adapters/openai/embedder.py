"""Embeddings from OpenAI, or from any server that speaks its API."""

from __future__ import annotations

import logging
from base64 import b64decode
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memorybox.deadline import Deadline, lasting
from memorybox.search.embedder import MOST_BYTES, EmbedderSilent, Embeddings, TextRefused
from memorybox.search.embedding import tokens_at_most

if TYPE_CHECKING:
    from openai import OpenAI

    from memorybox.search.vectors import Array

SHORTEST_CALL = 0.5
"""Seconds; with less left, no request is sent."""

_PAUSE = 1.0
_BAD_TEXT = {400, 413, 422}

_log = logging.getLogger(__name__)


class _Again(Exception):
    """The service did no work and may do it a moment later."""


class OpenAIEmbedder:
    """Embedder over the `openai` client, which is loaded by the first request: it takes a while."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        model: str,
        dims: int,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.model, self.dims, self.most_bytes = model, dims, most_bytes
        self._api_key, self._base_url = api_key, base_url

    def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        try:
            answer = self._ask(texts, deadline)
        except _Again as error:
            # Only what was surely not counted is asked for twice: a budget counts it once.
            if deadline.remaining() < _PAUSE + SHORTEST_CALL:
                raise EmbedderSilent from error
            deadline.clock.sleep(_PAUSE)
            try:
                answer = self._ask(texts, deadline)
            except _Again as again:
                raise EmbedderSilent from again
        tokens = _tokens(answer, tokens_at_most(texts))
        _log.info("Texts were embedded", extra={"embedded_tokens": tokens})
        vectors = self._vectors(answer, texts)
        if len(vectors) < len(set(texts)):
            raise TextRefused(tokens, vectors)
        return Embeddings(tuple(vectors[text] for text in texts), tokens)

    @cached_property
    def _client(self) -> OpenAI:
        from httpx2 import Client
        from openai import OpenAI

        from memorybox.adapters.openai.transport import Transport

        return OpenAI(
            api_key=self._api_key or "none",  # a server on this machine asks for none
            base_url=self._base_url,
            max_retries=0,
            http_client=Client(transport=Transport()),
        )

    def _ask(self, texts: Sequence[str], deadline: Deadline) -> object:
        """The JSON of the answer, whatever it is; None if it is none."""
        import openai

        if deadline.remaining() < SHORTEST_CALL:
            raise EmbedderSilent
        try:
            with lasting(deadline):
                answer = self._client.embeddings.with_raw_response.create(
                    input=list(texts),
                    model=self.model,
                    dimensions=self.dims,
                    encoding_format="base64",
                )
        except (openai.RateLimitError, openai.InternalServerError) as error:
            raise _Again from error
        except openai.APIStatusError as error:
            if error.status_code in _BAD_TEXT:
                raise TextRefused(tokens_at_most(texts)) from error
            raise EmbedderSilent from error
        except (openai.APIError, ValueError) as error:
            raise EmbedderSilent from error
        try:
            return answer.http_response.json()
        except (ValueError, RecursionError):  # the second on what is nested too deeply
            return None

    def _vectors(self, answer: object, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors of an answer, by text. A text whose vector has no direction has none."""
        import numpy as np

        from memorybox.search.vectors import directions

        rows = {
            text: row
            for text, numbers in zip(texts, _embeddings(answer, len(texts)), strict=False)
            if (row := _row(numbers, self.dims)) is not None
        }
        return dict(zip(rows, directions(np.stack([*rows.values()])), strict=True)) if rows else {}


def _embeddings(answer: object, count: int) -> list[object]:
    """What an answer holds for each text, in order; nothing if it does not fit the request."""
    match answer:
        case {"data": [*items]}:
            placed = {}
            for item in items:
                match item:
                    case {"index": int(index), "embedding": numbers}:
                        placed[index] = numbers
            if len(items) == count and placed.keys() == set(range(count)):
                return [placed[index] for index in range(count)]
    return []


def _row(numbers: object, dims: int) -> Array | None:
    """A vector in base64, as it was asked for, or as a list, as some servers give it all the same.

    None if it is not one of `dims` finite numbers, or all of them are zero.
    """
    import numpy as np

    try:
        if isinstance(numbers, str):
            row = np.frombuffer(b64decode(numbers), "<f4").astype(np.float64)
        else:
            row = np.array(numbers, np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    return row if row.shape == (dims,) and np.isfinite(row).all() and row.any() else None


def _tokens(answer: object, most: int) -> int:
    match answer:
        case {"usage": {"total_tokens": int(tokens)}} if type(tokens) is int and tokens >= 0:
            return min(tokens, most)
    return most
