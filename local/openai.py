"""An embeddings server on loopback that answers as OpenAI's API does."""

import argparse
import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from local.embedders import MODELS, Embedder, Matrix, unit
from local.embeddings import FAULTS, Fault, Invalid, Wanted, answer, error, parsed
from local.loopback import Connection, Server

_STEERING: Final = "/_emulator/"

Spoil = Callable[[dict[str, Any]], object]
"""Makes another body, of any JSON, of that of an answer, which it may change."""


@dataclass(slots=True)
class Received:
    """What came in: every request, and the texts and tokens of those that were worked on."""

    requests: int = 0
    tokens: int = 0
    inputs: list[str] = field(default_factory=list)


class EmbeddingsServer:
    """`with EmbeddingsServer("hashed") as server:` serves at `server.url` until the block ends."""

    def __init__(self, model: str | Embedder = "hashed", port: int = 0) -> None:
        self._embedder = MODELS[model]() if isinstance(model, str) else model
        self._lock = threading.Lock()
        self._received = Received()
        self._fault: Fault | None = None
        self._times = math.inf
        self._latency = 0.0
        self._refused: frozenset[str] = frozenset()
        self._spoil: Spoil | None = None
        self._healed = threading.Event()
        self._http = Server(port, type("_BoundConnection", (_Connection,), {"embeddings": self}))

    @property
    def url(self) -> str:
        """What OPENAI_BASE_URL wants."""
        return f"http://{self._http.address}/v1"

    @property
    def dimensions(self) -> int:
        """How long the model's own vectors are."""
        return self._embedder.dimensions

    @property
    def received(self) -> Received:
        """What came in since the start, or since `forget`."""
        with self._lock:
            seen = self._received
            return Received(seen.requests, seen.tokens, list(seen.inputs))

    def fail(self, fault: Fault, times: float = math.inf) -> None:
        """Do `fault` to the next `times` requests, or to all until `heal`."""
        with self._lock:
            self._fault, self._times = fault, times

    def delay(self, seconds: float) -> None:
        """Hold every answer back."""
        self._latency = seconds

    def refuse(self, *texts: str) -> None:
        """Answer requests that hold one of `texts` with 400, as a provider's filter would."""
        self._refused = frozenset(texts)

    def spoil(self, change: Spoil) -> None:
        """Answer with what `change` makes of each answer."""
        self._spoil = change

    def heal(self) -> None:
        """Answer as usual again, and let go what hangs."""
        with self._lock:
            self._fault, self._latency, self._refused = None, 0.0, frozenset()
            self._spoil = None
            self._healed.set()
            self._healed = threading.Event()

    def forget(self) -> None:
        """Count from zero again."""
        with self._lock:
            self._received = Received()

    def start(self) -> "EmbeddingsServer":
        self._http.start()
        return self

    def stop(self) -> None:
        self.heal()
        self._http.stop()

    def __enter__(self) -> "EmbeddingsServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def arrive(self) -> Fault | None:
        """Count a request, hold it back as asked, and say what is to go wrong with it."""
        with self._lock:
            self._received.requests += 1
            healed = self._healed
            fault = self._fault
            if fault:
                self._times -= 1
                if self._times <= 0:
                    self._fault = None
        healed.wait(None if fault == "hang" else self._latency)
        return fault

    def embed(self, wanted: Wanted) -> tuple[Matrix, int]:
        """The vectors a request asks for and the tokens it costs. Raises Invalid."""
        if self._refused.intersection(wanted.texts):
            raise Invalid("Your request was rejected as a result of our safety system.")
        vectors = self._embedder.embed(wanted.texts)[:, : wanted.dimensions]
        tokens = sum(min(self._embedder.tokens(text), len(text.encode())) for text in wanted.texts)
        with self._lock:
            self._received.inputs.extend(wanted.texts)
            self._received.tokens += tokens
        return unit(vectors), tokens

    def spoiled(self, answer: dict[str, Any]) -> object:
        return self._spoil(answer) if self._spoil else answer


class _Connection(Connection):
    embeddings: EmbeddingsServer

    def get(self) -> None:
        match self.path:
            case "/v1/models":
                model = {"id": "local", "object": "model", "created": 0, "owned_by": "local"}
                self._say({"object": "list", "data": [model]})
            case "/_emulator/received":
                self._say(asdict(self.embeddings.received))
            case _:
                self._refuse(HTTPStatus.NOT_FOUND, f"Invalid URL (GET {self.path})")

    def post(self) -> None:
        try:
            request = parsed(self.body() or b"{}")
            match self.path:
                case "/v1/embeddings":
                    self._embed(request)
                case _ if self.path.startswith(_STEERING):
                    self._steer(self.path.removeprefix(_STEERING), request)
                    self._say({})
                case _:
                    self._refuse(HTTPStatus.NOT_FOUND, f"Invalid URL (POST {self.path})")
        except Invalid as invalid:
            self._refuse(HTTPStatus.BAD_REQUEST, str(invalid))

    def _steer(self, action: str, request: Mapping[str, Any]) -> None:
        match action, request:
            case "fail", {"fault": fault} if fault in FAULTS:
                self.embeddings.fail(fault, _number(request.get("times", math.inf)))
            case "delay", {"seconds": seconds}:
                self.embeddings.delay(min(_number(seconds), threading.TIMEOUT_MAX))
            case "refuse", {"texts": [*texts]}:
                self.embeddings.refuse(*map(str, texts))
            case "heal", _:
                self.embeddings.heal()
            case "forget", _:
                self.embeddings.forget()
            case _:
                raise Invalid(f"The emulator does not know what this means: {action}")

    def _embed(self, request: Mapping[str, Any]) -> None:
        fault = self.embeddings.arrive()
        if fault == "rate_limit":
            status = HTTPStatus.TOO_MANY_REQUESTS
            self._refuse(status, "Rate limit reached.", {"retry-after": "1"})
            return
        if fault == "server_error":
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "The server had an error.")
            return
        wanted = Wanted.parse(request, self.embeddings.dimensions)
        vectors, tokens = self.embeddings.embed(wanted)
        if fault == "lost_answer":
            self.close_connection = True
            return
        self._say(self.embeddings.spoiled(answer(wanted, vectors, tokens, fault)))

    def _refuse(
        self, status: HTTPStatus, message: str, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.answer(json.dumps(error(status, message)).encode(), status, headers)

    def _say(self, body: object) -> None:
        self.answer(json.dumps(body).encode())


def _number(value: object) -> float:
    if not isinstance(value, int | float) or not value >= 0:
        raise Invalid(f"A number of at least 0 is wanted, and not {value!r:.20}")
    return value


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m local.openai", description=__doc__)
    parser.add_argument("--port", type=int, default=8092)
    parser.add_argument("--model", choices=MODELS, default="minilm")
    options = parser.parse_args(arguments)
    with EmbeddingsServer(options.model, options.port) as server:
        print(f"OPENAI_BASE_URL={server.url} EMBEDDING_DIMENSIONS={server.dimensions}", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
