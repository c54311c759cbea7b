"""Lambda's Runtime API: how one worker process gets its events and gives its answers.

The API does not name the worker, so each has a listener of its own.
https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from queue import SimpleQueue
from threading import Event, Lock
from uuid import uuid4

from local.loopback import Connection, Server

_PATH = "/2018-06-01/runtime"


class Failed(Exception):
    """The function gave no answer."""


class InitFailed(Failed):
    """The process could not import the handler, or ended before it was ready."""


class HandlerFailed(Failed):
    """The handler raised."""


class WorkerDied(Failed):
    """The process ended."""


class TimedOut(Failed):
    """The handler ran into the function's timeout."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """An event for a worker, and the mailbox where the first thing put is what came of it."""

    event: bytes
    timeout: float
    outcome: SimpleQueue[bytes | Failed] = field(default_factory=SimpleQueue)
    id: str = field(default_factory=lambda: str(uuid4()))


class RuntimeApi:
    """The listener of one worker. `started` is set once the worker is ready, or failed to be."""

    def __init__(self, function_arn: str) -> None:
        self.started = Event()
        self.failure: Failed | None = None
        self._function_arn = function_arn
        self._lock = Lock()
        self._current: Invocation | None = None
        self._waiting: SimpleQueue[Invocation | None] = SimpleQueue()
        self._server = Server(0, type("_BoundWorker", (_Worker,), {"api": self}))
        self._server.start()

    @property
    def address(self) -> str:
        """What AWS_LAMBDA_RUNTIME_API wants."""
        return self._server.address

    def submit(self, invocation: Invocation) -> None:
        """Hand an event to the worker, which works on one at a time."""
        with self._lock:
            self._current = invocation
            if self.failure:
                invocation.outcome.put(self.failure)
            else:
                self._waiting.put(invocation)

    def fail(self, failure: Failed) -> None:
        """The worker does nothing more. The first reason is the one that counts."""
        with self._lock:
            self.failure = self.failure or failure
            if self._current:
                self._current.outcome.put(self.failure)
            self._waiting.put(None)
            self.started.set()

    def stop(self) -> None:
        self.fail(WorkerDied("The worker was stopped."))
        self._server.stop()

    def next(self) -> Invocation | None:
        """Wait for an event. None: there will be none."""
        self.started.set()
        return self._waiting.get()

    def headers(self, invocation: Invocation) -> dict[str, str]:
        """What the worker is told about an event besides its body."""
        trace = uuid4().hex
        return {
            "Lambda-Runtime-Aws-Request-Id": invocation.id,
            "Lambda-Runtime-Deadline-Ms": str(int((time.time() + invocation.timeout) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": self._function_arn,
            "Lambda-Runtime-Trace-Id": f"Root=1-{trace[:8]}-{trace[8:]};Sampled=0",
        }

    def settle(self, request_id: str, outcome: bytes | Failed) -> None:
        """What came of the event with this id. Late news of an earlier one is dropped."""
        with self._lock:
            if self._current and self._current.id == request_id:
                self._current.outcome.put(outcome)


class _Worker(Connection):
    api: RuntimeApi

    def get(self) -> None:
        invocation = self.api.next() if self.path == f"{_PATH}/invocation/next" else None
        if invocation is None:
            self.close_connection = True
            return
        self.answer(invocation.event, headers=self.api.headers(invocation))

    def post(self) -> None:
        body = self.body()
        match self.path.removeprefix(_PATH).split("/")[1:]:
            case ["init", "error"]:
                self.api.fail(InitFailed(_reason(body)))
            case ["invocation", request_id, "response"]:
                self.api.settle(request_id, body)
            case ["invocation", request_id, "error"]:
                self.api.settle(request_id, HandlerFailed(_reason(body)))
        self.answer(b'{"status":"OK"}', HTTPStatus.ACCEPTED)


def _reason(body: bytes) -> str:
    error = json.loads(body)
    return f"{error['errorType']}: {error['errorMessage']}"
