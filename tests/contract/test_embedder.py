"""What every Embedder promises, on the real client against the local server."""

import math
import struct
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from local.embedders import HashedWords
from local.embeddings import Fault
from local.openai import EmbeddingsServer, Spoil
from memorybox.adapters.openai.embedder import OpenAIEmbedder
from memorybox.clock import SystemClock
from memorybox.deadline import Deadline
from memorybox.search.embedder import Embedder, EmbedderSilent, TextRefused
from tests.fakes.clock import FakeClock

TOMATOES, BEDS = "tomatoes need sun and water", "the raised beds need new soil"


@dataclass(frozen=True, slots=True)
class Service:
    embedder: Embedder
    server: EmbeddingsServer
    clock: FakeClock

    def embed(self, *texts: str) -> list[tuple[float, ...]]:
        answer = self.embedder.embed(texts, Deadline.after(20, self.clock))
        return [struct.unpack(f"{self.embedder.dims}b", vector) for vector in answer.vectors]


@pytest.fixture
def service() -> Iterator[Service]:
    with EmbeddingsServer("hashed") as server:
        embedder = OpenAIEmbedder(api_key="", base_url=server.url, model="a-model", dims=64)
        yield Service(embedder, server, FakeClock())


def test_each_text_gets_the_direction_of_its_vector_in_order(service: Service) -> None:
    both = service.embed(TOMATOES, BEDS)

    assert both == [*service.embed(TOMATOES), *service.embed(BEDS)]
    told = HashedWords().embed([TOMATOES, BEDS])[:, :64]
    assert [towards(vector, row) for vector, row in zip(both, told, strict=True)] == pytest.approx(
        [1, 1], abs=1e-3
    )


def towards(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine between two vectors."""
    return float(np.dot(one, other)) / (math.hypot(*one) * math.hypot(*other))


def test_the_tokens_are_those_that_the_service_counted(service: Service) -> None:
    answer = service.embedder.embed([TOMATOES, BEDS], Deadline.after(20, service.clock))

    assert answer.tokens == service.server.received.tokens > 0


def test_texts_go_as_they_are(service: Service) -> None:
    texts = ["two\nlines", "<|endoftext|> tomatoes", "トマト \U0001f345", "tab\tand\r\n\x00"]

    service.embed(*texts)

    assert service.server.received.inputs == texts


def test_an_answer_in_another_order_is_put_in_order(service: Service) -> None:
    expected = service.embed(TOMATOES, BEDS)
    service.server.fail("wrong_order")

    assert service.embed(TOMATOES, BEDS) == expected


@pytest.mark.promise("P-070")
@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {},
        *[{"total_tokens": tokens} for tokens in (-1, 10**9, "7", 7.0, math.nan, None, True, [7])],
    ],
    ids=str,
)
def test_a_usage_that_cannot_be_right_is_a_token_for_each_byte(
    service: Service, usage: object
) -> None:
    service.server.spoil(lambda answer: answer | {"usage": usage})

    answer = service.embedder.embed([TOMATOES, BEDS], Deadline.after(20, service.clock))

    assert answer.tokens == len(TOMATOES) + len(BEDS)


def test_vectors_that_are_lists_of_numbers_are_taken_too(service: Service) -> None:
    expected = service.embed(TOMATOES, BEDS)
    service.server.spoil(
        changing(lambda text: np.frombuffer(b64decode(text), "<f4").astype(float).tolist())
    )

    assert service.embed(TOMATOES, BEDS) == expected


def changing(make: Callable[[str], object], *places: int) -> Spoil:
    """Another embedding in these places, or in all of them."""

    def change(answer: dict[str, Any]) -> object:
        for item in answer["data"]:
            if not places or item["index"] in places:
                item["embedding"] = make(item["embedding"])
        return answer

    return change


NO_VECTORS: Mapping[str, object] = {
    "null": None,
    "a number": 7,
    "not base64": "@@@@",
    "not ASCII": "é" * 8,
    "bytes that are no floats": "AAAAAA==",
    "another length": [1.0] * 63,
    "texts": ["a"] * 64,
    "an infinity": [math.inf] * 64,
    "more than fits in a float": [10**400] * 64,
    "a list of lists": [[1.0] * 64],
    "an object": {"0": 1.0},
}


@pytest.mark.parametrize("embedding", NO_VECTORS.values(), ids=NO_VECTORS)
def test_a_text_without_a_vector_does_not_cost_the_others_theirs(
    service: Service, embedding: object
) -> None:
    [beds] = service.embed(BEDS)
    service.server.forget()
    service.server.spoil(changing(lambda _: embedding, 0))

    with pytest.raises(TextRefused) as caught:
        service.embed(TOMATOES, BEDS)
    assert caught.value.vectors == {BEDS: struct.pack("64b", *beds)}
    assert caught.value.tokens == service.server.received.tokens


ANSWERS: Mapping[str, Spoil] = {
    "null": lambda _: None,
    "a text": lambda _: "hi",
    "a list": lambda _: [1, 2],
    "no data": lambda answer: {"usage": answer["usage"]},
    "data that is no list": lambda answer: answer | {"data": 7},
    "items that are no objects": lambda answer: answer | {"data": [1, 2]},
    "an item too many": lambda answer: answer | {"data": [*answer["data"], answer["data"][0]]},
    "one index twice": lambda answer: answer | {"data": [answer["data"][0]] * 2},
    "an index that is text": lambda answer: (
        answer | {"data": [item | {"index": str(item["index"])} for item in answer["data"]]}
    ),
}


@pytest.mark.parametrize("spoil", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_does_not_fit_the_request_has_no_vectors(
    service: Service, spoil: Spoil
) -> None:
    service.server.spoil(spoil)

    with pytest.raises(TextRefused) as caught:
        service.embed(TOMATOES, BEDS)
    assert caught.value.vectors == {}
    assert 0 < caught.value.tokens <= len(TOMATOES) + len(BEDS)


@pytest.mark.parametrize("fault", ["wrong_count", "wrong_dimensions", "nan", "zero_vector"])
def test_an_answer_that_is_no_good_is_refused_with_what_it_cost(
    service: Service, fault: Fault
) -> None:
    service.server.fail(fault)

    with pytest.raises(TextRefused) as caught:
        service.embed(TOMATOES, BEDS)
    assert caught.value.tokens == service.server.received.tokens > 0


def test_a_text_that_the_service_does_not_take_is_refused(service: Service) -> None:
    service.server.refuse(TOMATOES)

    with pytest.raises(TextRefused) as caught:
        service.embed(TOMATOES)
    assert (caught.value.tokens, service.server.received.requests) == (len(TOMATOES), 1)


@pytest.mark.parametrize("fault", ["rate_limit", "server_error"])
def test_a_request_on_which_no_work_was_done_is_sent_again_once(
    service: Service, fault: Fault
) -> None:
    service.server.fail(fault, times=1)
    assert len(service.embed(TOMATOES)) == 1

    service.server.fail(fault)
    with pytest.raises(EmbedderSilent):
        service.embed(TOMATOES)
    assert service.server.received.requests == 4


def test_a_lost_answer_is_not_asked_for_again_for_it_would_be_paid_twice(
    service: Service,
) -> None:
    service.server.fail("lost_answer")

    with pytest.raises(EmbedderSilent):
        service.embed(TOMATOES)
    assert service.server.received.requests == 1


def test_a_service_that_is_not_there_is_silent(service: Service) -> None:
    service.server.stop()

    with pytest.raises(EmbedderSilent):
        service.embed(TOMATOES)


def test_no_request_outlives_the_deadline(service: Service) -> None:
    service.server.fail("hang")
    clock = SystemClock()
    began = clock.monotonic()

    with pytest.raises(EmbedderSilent):
        service.embedder.embed([TOMATOES], Deadline.after(0.8, clock))
    assert clock.monotonic() - began < 1.5


def test_no_request_is_sent_without_time_for_it(service: Service) -> None:
    with pytest.raises(EmbedderSilent):
        service.embedder.embed([TOMATOES], Deadline.after(0.1, service.clock))
    assert service.server.received.requests == 0
