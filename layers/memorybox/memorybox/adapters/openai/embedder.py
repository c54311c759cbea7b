"""Embeddings from OpenAI, or from any server that speaks its API."""

from __future__ import annotations

import logging
from base64 import b64decode
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memorybox.deadline import Deadline, lasting
from memorybox.search.embedder import MOST_BYTES, EmbedderSilent, Embeddings, TextRefused

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import CreateEmbeddingResponse

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
        tokens = _tokens(answer)
        _log.info("Texts were embedded", extra={"embedded_tokens": tokens})
        try:
            return Embeddings(self._vectors(answer, len(texts)), tokens)
        except ValueError as error:
            raise TextRefused(tokens) from error

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

    def _ask(self, texts: Sequence[str], deadline: Deadline) -> CreateEmbeddingResponse:
        import openai

        if deadline.remaining() < SHORTEST_CALL:
            raise EmbedderSilent
        try:
            with lasting(deadline):
                return self._client.embeddings.create(
                    input=list(texts),
                    model=self.model,
                    dimensions=self.dims,
                    encoding_format="base64",
                )
        except (openai.RateLimitError, openai.InternalServerError) as error:
            raise _Again from error
        except openai.APIStatusError as error:
            if error.status_code in _BAD_TEXT:
                raise TextRefused(None) from error
            raise EmbedderSilent from error
        except (openai.APIError, ValueError) as error:
            raise EmbedderSilent from error

    def _vectors(self, answer: CreateEmbeddingResponse, count: int) -> tuple[bytes, ...]:
        """Raises ValueError for an answer that cannot be used."""
        import numpy as np

        from memorybox.search.vectors import directions

        data = sorted(answer.data, key=lambda item: item.index)
        if [item.index for item in data] != list(range(count)):
            raise ValueError("not one vector for each text")
        rows = [np.frombuffer(b64decode(str(item.embedding)), "<f4") for item in data]
        if any(len(row) != self.dims for row in rows):
            raise ValueError("vectors of another length")
        matrix = np.stack(rows).astype(np.float64)
        if not np.isfinite(matrix).all() or not matrix.any(axis=1).all():
            raise ValueError("a vector without a direction")
        return tuple(directions(matrix))


def _tokens(answer: CreateEmbeddingResponse) -> int:
    try:
        return answer.usage.total_tokens
    except AttributeError as error:  # the client takes JSON of any shape
        raise TextRefused(None) from error
