import pytest

from memorybox.deadline import Deadline
from memorybox.search.embedder import EmbedderSilent, Embeddings
from memorybox.search.remembering import RememberingEmbedder, VectorMemory
from tests.fakes.clock import FakeClock
from tests.fakes.search import HashedEmbedder

CLOCK = FakeClock()
SOON = Deadline.after(10, CLOCK)


def test_a_text_is_sent_once_and_its_vector_given_again() -> None:
    outside = HashedEmbedder(CLOCK)
    embedder = RememberingEmbedder(outside, VectorMemory())

    first = embedder.embed(["red tomatoes", "onions"], SOON)
    again = embedder.embed(["onions", "peas", "red tomatoes"], SOON)

    assert outside.requests == [["red tomatoes", "onions"], ["peas"]]
    assert (first.tokens, again.tokens) == (3, 1)
    [peas] = HashedEmbedder(CLOCK).embed(["peas"], SOON).vectors
    assert again.vectors == (first.vectors[1], peas, first.vectors[0])


def test_nothing_is_sent_when_all_is_known() -> None:
    outside = HashedEmbedder(CLOCK)
    embedder = RememberingEmbedder(outside, VectorMemory())
    first = embedder.embed(["onions"], SOON)
    outside.is_silent = True

    assert embedder.embed(["onions"], SOON) == Embeddings(first.vectors, tokens=0)


def test_what_was_used_last_is_kept_longest() -> None:
    outside = HashedEmbedder(CLOCK)
    embedder = RememberingEmbedder(outside, VectorMemory(most=2))
    for texts in (["a"], ["b"], ["a"], ["c"], ["a"], ["b"]):
        embedder.embed(texts, SOON)

    assert outside.inputs == ["a", "b", "c", "b"]


def test_a_vector_of_another_model_is_another() -> None:
    memory = VectorMemory()
    RememberingEmbedder(HashedEmbedder(CLOCK), memory).embed(["onions"], SOON)
    smaller = HashedEmbedder(CLOCK, dims=32)

    RememberingEmbedder(smaller, memory).embed(["onions"], SOON)

    assert smaller.inputs == ["onions"]


def test_a_lost_answer_is_not_remembered() -> None:
    outside = HashedEmbedder(CLOCK)
    embedder = RememberingEmbedder(outside, VectorMemory())
    outside.is_silent = True
    with pytest.raises(EmbedderSilent):
        embedder.embed(["onions"], SOON)
    outside.is_silent = False

    embedder.embed(["onions"], SOON)

    assert outside.inputs == ["onions"]
