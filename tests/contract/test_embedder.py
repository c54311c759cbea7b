"""What every Embedder promises, on the real client against the local server."""

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from local.embedders import HashedWords
from local.embeddings import Fault
from local.openai import EmbeddingsServer
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
    assert (caught.value.tokens, service.server.received.requests) == (None, 1)


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
