"""The embeddings server, seen through OpenAI's own client."""

import json
import math
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import numpy as np
import openai
import pytest

from local.embedders import MODELS
from local.embeddings import Fault
from local.openai import EmbeddingsServer

MODEL = "text-embedding-3-small"


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer("hashed") as server:
        yield server


@contextmanager
def client(server: EmbeddingsServer, timeout: float = 60) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=server.url, api_key="local", max_retries=0, timeout=timeout
    ) as client:
        yield client


def embed(server: EmbeddingsServer, *texts: str) -> openai.types.CreateEmbeddingResponse:
    with client(server) as api:
        return api.embeddings.create(model=MODEL, input=list(texts))


def test_each_text_gets_a_unit_vector_and_its_tokens_are_counted(server: EmbeddingsServer) -> None:
    answer = embed(server, "two tomatoes", "one")
    assert [data.index for data in answer.data] == [0, 1]
    assert [len(data.embedding) for data in answer.data] == [256, 256]
    assert [math.hypot(*data.embedding) for data in answer.data] == pytest.approx([1, 1])
    assert answer.usage.total_tokens == 3
    assert server.received.inputs == ["two tomatoes", "one"]
    assert (server.received.requests, server.received.tokens) == (1, 3)


def test_numbers_and_base64_carry_the_same_vectors(server: EmbeddingsServer) -> None:
    with client(server) as api:
        numbers = api.embeddings.create(model=MODEL, input="tomatoes", encoding_format="float")
        packed = api.embeddings.create(model=MODEL, input="tomatoes")
    assert packed.data[0].embedding == numbers.data[0].embedding


def test_fewer_dimensions_are_the_first_ones_made_a_unit_again(server: EmbeddingsServer) -> None:
    with client(server) as api:
        text = "many different words make a vector with many places"
        full = api.embeddings.create(model=MODEL, input=text).data[0].embedding
        short = api.embeddings.create(model=MODEL, input=text, dimensions=200).data[0].embedding
    start = np.array(full[:200])
    assert short == pytest.approx(list(start / np.linalg.norm(start)), abs=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_puts_like_texts_nearer_and_does_not_mind_company(model: str) -> None:
    with EmbeddingsServer(model) as server:
        near, far, query = (
            np.array(data.embedding)
            for data in embed(
                server,
                "The tomatoes in the garden had their first fruit in June.",
                "The quarterly report lists every invoice that was paid.",
                "When did the tomatoes fruit?",
            ).data
        )
        alone = embed(server, "When did the tomatoes fruit?").data[0].embedding
    assert query @ near > query @ far + 0.1
    assert list(query) == alone


@pytest.mark.parametrize("model", MODELS)
def test_every_model_takes_any_text_up_to_the_limit(model: str) -> None:
    hostile = [
        "\x00",
        " ",
        "\n\n",
        "!?",
        "🍅" * 2_048,
        "a" * 8_192,
        "日本語" * 900,
        "the a " * 1_300,
    ]
    with EmbeddingsServer(model) as server:
        answer = embed(server, *hostile)
    lengths = [math.hypot(*data.embedding) for data in answer.data]
    assert lengths == pytest.approx([1] * len(hostile), abs=1e-5)
    assert answer.usage.total_tokens <= sum(len(text.encode()) for text in hostile)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["a", ""],
        ["a"] * 2_049,
        ["a" * 8_193],
        ["é" * 4_097],
        ["a" * 8_192] * 37,
    ],
    ids=["none", "empty", "one-empty", "too-many", "too-long", "too-many-bytes", "too-much"],
)
def test_what_the_api_refuses_is_refused_and_not_counted(
    server: EmbeddingsServer, texts: list[str]
) -> None:
    with pytest.raises(openai.BadRequestError):
        embed(server, *texts)
    assert server.received.inputs == []


def test_more_dimensions_than_the_model_has_are_refused(server: EmbeddingsServer) -> None:
    with client(server) as api, pytest.raises(openai.BadRequestError):
        api.embeddings.create(model=MODEL, input="a", dimensions=257)


def test_a_refused_text_fails_its_request_alone(server: EmbeddingsServer) -> None:
    server.refuse("bad")
    with pytest.raises(openai.BadRequestError):
        embed(server, "good", "bad")
    assert len(embed(server, "good").data) == 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("rate_limit", openai.RateLimitError),
        ("server_error", openai.InternalServerError),
        ("lost_answer", openai.APIConnectionError),
    ],
)
def test_a_fault_lasts_as_many_requests_as_it_was_asked_to(
    server: EmbeddingsServer, fault: Fault, error: type[Exception]
) -> None:
    server.fail(fault, times=2)
    for _ in range(2):
        with pytest.raises(error):
            embed(server, "a")
    assert len(embed(server, "a").data) == 1
    assert server.received.requests == 3


def test_a_lost_answer_was_paid_for(server: EmbeddingsServer) -> None:
    server.fail("lost_answer", times=1)
    with pytest.raises(openai.APIConnectionError):
        embed(server, "a")
    assert server.received.inputs == ["a"]


@pytest.mark.parametrize(
    ("fault", "shape"), [("wrong_count", (1, 256)), ("wrong_dimensions", (2, 255))]
)
def test_a_misshapen_answer_is_misshapen(
    server: EmbeddingsServer, fault: Fault, shape: tuple[int, int]
) -> None:
    server.fail(fault)
    assert np.array([data.embedding for data in embed(server, "a", "b").data]).shape == shape


def test_a_wrong_order_is_told_by_the_index(server: EmbeddingsServer) -> None:
    server.fail("wrong_order")
    assert [data.index for data in embed(server, "a", "b", "c").data] == [2, 0, 1]


def test_spoiled_vectors_are_nan_or_zero(server: EmbeddingsServer) -> None:
    server.fail("nan", times=1)
    assert np.isnan(embed(server, "a").data[0].embedding).all()
    server.fail("zero_vector", times=1)
    assert embed(server, "a").data[0].embedding == [0.0] * 256


def test_a_hanging_request_outlives_the_clients_patience_and_ends_when_healed(
    server: EmbeddingsServer,
) -> None:
    server.fail("hang", times=1)
    with client(server, timeout=0.1) as api, pytest.raises(openai.APITimeoutError):
        api.embeddings.create(model=MODEL, input="a")
    server.heal()
    assert len(embed(server, "a").data) == 1


def test_latency_holds_every_answer_back_until_healed(server: EmbeddingsServer) -> None:
    server.delay(60)
    with client(server, timeout=0.1) as api, pytest.raises(openai.APITimeoutError):
        api.embeddings.create(model=MODEL, input="a")
    server.heal()
    assert len(embed(server, "a").data) == 1


def test_another_process_steers_it_over_http(server: EmbeddingsServer) -> None:
    with client(server) as api:
        control = server.url.replace("/v1", "/_emulator")
        api.post(f"{control}/fail", body={"fault": "server_error", "times": 1}, cast_to=object)
        with pytest.raises(openai.InternalServerError):
            embed(server, "a")
        embed(server, "b")
        received = api.get(f"{control}/received", cast_to=object)
    assert received == {"requests": 2, "tokens": 1, "inputs": ["b"]}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("_emulator/fail", b'{"wrong": "server_error"}'),
        ("_emulator/fail", b'{"fault": "no such"}'),
        ("_emulator/fail", b'{"fault": "nan", "times": "often"}'),
        ("_emulator/fail", b"[]"),
        ("_emulator/delay", b'{"seconds": null}'),
        ("_emulator/delay", b'{"seconds": NaN}'),
        ("_emulator/refuse", b'{"texts": "bad"}'),
        ("_emulator/no_such", b"{}"),
        ("v1/embeddings", b"[]"),
        ("v1/embeddings", b"[" * 100_000),
        ("v1/embeddings", b'{"input": "\\ud83c"}'),
    ],
)
def test_what_it_does_not_understand_is_answered_and_changes_nothing(
    server: EmbeddingsServer, path: str, body: bytes
) -> None:
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    with closing(connection):
        connection.request("POST", f"/{path}", body)
        answer = connection.getresponse()
        assert (answer.status, list(json.loads(answer.read()))) == (400, ["error"])
    assert len(embed(server, "a").data) == 1


@pytest.mark.parametrize("text", ["a", "🍅", "é", "?", "日本", "\x00", "🏳️‍🌈"])
@pytest.mark.parametrize("dimensions", [1, 64, 256])
def test_hashed_words_give_every_text_a_direction_at_any_length(
    server: EmbeddingsServer, text: str, dimensions: int
) -> None:
    with client(server) as api:
        answer = api.embeddings.create(model=MODEL, input=text, dimensions=dimensions)
    assert math.hypot(*answer.data[0].embedding) == pytest.approx(1)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("🍅", "I love 🍅 from the garden"),
        ("cafe", "the Café at the corner"),
        ("cafe\u0301", "the café at the corner"),
        ("snake_case", "rename snake_case now"),
    ],
)
def test_hashed_words_find_an_emoji_and_a_word_however_its_accents_are_written(
    server: EmbeddingsServer, query: str, text: str
) -> None:
    wanted, found, other = (
        np.array(data.embedding) for data in embed(server, query, text, "an invoice paid").data
    )
    assert wanted @ found > 0.25 > wanted @ other


def test_stopping_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    with EmbeddingsServer("hashed") as server, client(server) as api:
        api.embeddings.create(model=MODEL, input="a")
    assert threading.active_count() == before
