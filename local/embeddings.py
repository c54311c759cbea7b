"""The embeddings API on paper: what a request must look like, and what an answer does.

https://platform.openai.com/docs/api-reference/embeddings/create
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np

from local.embedders import Matrix

MAX_INPUTS: Final = 2_048
MAX_TOKENS_AN_INPUT: Final = 8_192
MAX_TOKENS_A_REQUEST: Final = 300_000

Fault: TypeAlias = Literal[
    "rate_limit",  # 429
    "server_error",  # 500
    "hang",  # no answer until the fault is healed
    "lost_answer",  # the work is done and counted, then the connection breaks
    "wrong_count",  # the last vector is missing
    "wrong_order",  # the last vector comes first; each `index` is still right
    "wrong_dimensions",  # each vector is one number short
    "nan",
    "zero_vector",
]
FAULTS: Final = get_args(Fault)


class Invalid(Exception):
    """The API refuses this request with status 400."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request asks for."""

    texts: list[str]
    dimensions: int
    model: str
    as_base64: bool

    @classmethod
    def parse(cls, request: Mapping[str, Any], most_dimensions: int) -> "Wanted":
        """Raises Invalid. A byte counts as a token where a limit is checked: no byte-level
        tokenizer makes more tokens than bytes, so what passes here passes the API.
        """
        return cls(
            _texts(request.get("input")),
            _dimensions(request.get("dimensions"), most_dimensions),
            str(request.get("model")),
            request.get("encoding_format") == "base64",
        )


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object of a request. Raises Invalid."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):  # the second on what is nested too deeply
        request = None
    if not isinstance(request, dict):
        raise Invalid("We could not parse the JSON body of your request.")
    return request


def answer(wanted: Wanted, vectors: Matrix, tokens: int, fault: Fault | None) -> dict[str, Any]:
    """The body of an answer with one vector a text, if no fault spoils it."""
    encode = _base64 if wanted.as_base64 else _numbers
    data = [
        {"object": "embedding", "index": index, "embedding": encode(vector)}
        for index, vector in enumerate(_spoiled(vectors, fault))
    ]
    return {
        "object": "list",
        "model": wanted.model,
        "data": data[-1:] + data[:-1] if fault == "wrong_order" else data,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def error(status: HTTPStatus, message: str) -> dict[str, Any]:
    """The body of an answer that is none."""
    is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    kind = "server_error" if is_ours else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _texts(value: object) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Invalid("'$.input' is invalid: this server takes a string or a list of strings.")
    if not 1 <= len(texts) <= MAX_INPUTS:
        raise Invalid(f"'$.input' is invalid: it must hold 1 to {MAX_INPUTS} inputs.")
    try:
        sizes = [len(text.encode()) for text in texts]
    except UnicodeEncodeError:
        raise Invalid("'$.input' is invalid: half of a surrogate pair is no text.") from None
    if 0 in sizes:
        raise Invalid("'$.input' is invalid: input cannot be an empty string.")
    if max(sizes) > MAX_TOKENS_AN_INPUT:
        raise Invalid(f"This model's maximum context length is {MAX_TOKENS_AN_INPUT} tokens.")
    if sum(sizes) > MAX_TOKENS_A_REQUEST:
        raise Invalid(f"Requested {sum(sizes)} tokens, max {MAX_TOKENS_A_REQUEST} per request.")
    return texts


def _dimensions(value: object, most: int) -> int:
    if value is None:
        return most
    if not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid(f"'$.dimensions' is invalid: this model has 1 to {most} dimensions.")
    return value


def _spoiled(vectors: Matrix, fault: Fault | None) -> Matrix:
    match fault:
        case "wrong_count":
            return vectors[:-1]
        case "wrong_dimensions":
            return vectors[:, :-1]
        case "nan":
            return np.full_like(vectors, np.nan)
        case "zero_vector":
            return np.zeros_like(vectors)
        case _:
            return vectors


def _numbers(vector: Matrix) -> list[float]:
    return [float(number) for number in vector]


def _base64(vector: Matrix) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
