"""The latest texts of an account keep their vectors: an undone edit is not paid again."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from memorybox.deadline import Deadline
from memorybox.search.embedder import Embedder, Embeddings
from memorybox.search.parts import identity

MOST_VECTORS = 2_000  # about 2 MB at 512 dims


class VectorMemory:
    """The vectors that one account used last, for as long as the process lives."""

    def __init__(self, most: int = MOST_VECTORS) -> None:
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()
        self._most = most
        self._lock = Lock()

    def get(self, key: bytes) -> bytes | None:
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
            return self._vectors.get(key)

    def keep(self, key: bytes, vector: bytes) -> None:
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            if len(self._vectors) > self._most:
                self._vectors.popitem(last=False)


class RememberingEmbedder:
    """An Embedder that sends only what its account has not sent lately."""

    def __init__(self, embedder: Embedder, memory: VectorMemory) -> None:
        self._embedder = embedder
        self._memory = memory

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dims(self) -> int:
        return self._embedder.dims

    @property
    def most_bytes(self) -> int:
        return self._embedder.most_bytes

    def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        keys = [identity(self.model, self.dims, text) for text in texts]
        known = {key: self._memory.get(key) for key in keys}
        new = {key: text for key, text in zip(keys, texts, strict=True) if known[key] is None}
        tokens = 0
        if new:
            answer = self._embedder.embed(list(new.values()), deadline)
            tokens = answer.tokens
            known |= zip(new, answer.vectors, strict=True)
        vectors = tuple(vector for key in keys if (vector := known[key]) is not None)
        for key, vector in zip(keys, vectors, strict=True):
            self._memory.keep(key, vector)
        return Embeddings(vectors, tokens)
