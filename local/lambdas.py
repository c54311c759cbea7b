"""Functions run as Lambda runs them: by the real runtime client, in processes of their own."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, LifoQueue
from threading import Lock, Thread
from typing import Final

from local.processes import Child, Sink
from local.runtime_api import (
    Failed,
    HandlerFailed,
    InitFailed,
    Invocation,
    RuntimeApi,
    TimedOut,
    WorkerDied,
)

MAX_PAYLOAD: Final = 6_291_456  # bytes, each way
_STARTS_WITHIN: Final = 30.0  # seconds. Lambda allows 10, on a machine that does nothing else.


class PayloadTooLarge(Failed):
    """The event is over Lambda's limit. It was not handed over."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the template says about one function. `folder` holds app.py with `handler`."""

    name: str
    folder: Path
    timeout: float
    environment: Mapping[str, str]
    memory: int = 1024
    python: Sequence[str] = (sys.executable,)
    """The interpreter and its options."""


class Function:
    """One function: a worker from the start, and another for an event that meets none idle.

    A worker takes one event at a time. With `most_workers` busy, an event waits. `sink` gets every
    line that the workers print.
    """

    def __init__(self, settings: Settings, sink: Sink, most_workers: int = 1) -> None:
        self.settings = settings
        self._sink = sink
        self._most_workers = most_workers
        self._workers: set[_Worker] = set()
        self._idle: LifoQueue[_Worker] = LifoQueue()  # the one used last is the warmest
        self._stopped = False
        self._lock = Lock()
        self._idle.put(self._add())

    def await_start(self) -> None:
        """Return when the first worker is ready for an event. Raises InitFailed."""
        for worker in list(self._workers):
            worker.await_start()

    def invoke(self, event: object) -> object:
        """The handler's answer to `event`. Raises Failed, by its subclass for the reason.

        A worker that ran into the timeout, or died, is replaced. One that cannot start is not:
        it would fail in the same way.
        """
        payload = json.dumps(event).encode()
        if len(payload) > MAX_PAYLOAD:
            raise PayloadTooLarge(f"The event has {len(payload)} bytes.")
        worker = self._take()
        try:
            if isinstance(worker.failure, WorkerDied):  # while it had nothing to do
                worker = self._replace(worker)
            answer = worker.run(payload)
        except (TimedOut, WorkerDied):
            worker = self._replace(worker)
            raise
        finally:
            self._idle.put(worker)
        if len(answer) > MAX_PAYLOAD:
            raise HandlerFailed(f"Function.ResponseSizeTooLarge: {len(answer)} bytes")
        return json.loads(answer)

    def stop(self) -> None:
        """End the workers, whatever they are at. Every event from now on ends with WorkerDied."""
        with self._lock:
            self._stopped = True
            for worker in self._workers:
                worker.stop()

    def _take(self) -> "_Worker":
        """A worker that is nobody else's until it is put back."""
        with self._lock:
            may_grow = len(self._workers) < self._most_workers and not self._stopped
            if may_grow and self._idle.empty():
                return self._add()
        return self._idle.get()

    def _add(self) -> "_Worker":
        worker = _Worker(self.settings, self._sink)
        self._workers.add(worker)
        return worker

    def _replace(self, worker: "_Worker") -> "_Worker":
        with self._lock:
            if self._stopped:
                return worker
            worker.stop()
            self._workers.remove(worker)
            return self._add()


class _Worker:
    """One process and its listener."""

    def __init__(self, settings: Settings, sink: Sink) -> None:
        self._settings = settings
        self._sink = sink
        self._api = RuntimeApi(
            f"arn:aws:lambda:us-east-1:000000000000:function:{settings.name}:live"
        )
        self._process = Child(
            [*settings.python, "-m", "awslambdaric", "app.handler"],
            _environment(settings, self._api.address),
            sink,
            settings.folder,
        )
        self._watcher = Thread(target=self._watch)
        self._watcher.start()

    @property
    def failure(self) -> Failed | None:
        """Why it takes no more events."""
        return self._api.failure

    def await_start(self) -> None:
        if not self._api.started.wait(_STARTS_WITHIN):
            self._api.fail(InitFailed(f"Not ready within {_STARTS_WITHIN:.0f} s."))
        if isinstance(self.failure, InitFailed):
            raise self.failure

    def run(self, event: bytes) -> bytes:
        self.await_start()
        invocation = Invocation(event, self._settings.timeout)
        self._api.submit(invocation)
        try:
            outcome = invocation.outcome.get(timeout=self._settings.timeout)
        except Empty:
            seconds = f"{self._settings.timeout:.2f} seconds"
            self._sink(f"{invocation.id} Task timed out after {seconds}")
            raise TimedOut(f"Task timed out after {seconds}") from None
        if isinstance(outcome, Failed):
            raise outcome
        return outcome

    def stop(self) -> None:
        self._process.kill()
        self._watcher.join()
        self._api.stop()

    def _watch(self) -> None:
        code = self._process.wait()
        died = f"The process ended with exit code {code}."
        self._api.fail(WorkerDied(died) if self._api.started.is_set() else InitFailed(died))


def _environment(settings: Settings, runtime_api: str) -> dict[str, str]:
    """Only what Lambda would set, so that nothing of this machine leaks into a handler."""
    return {
        "PATH": os.environ["PATH"],
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(settings.memory),
        "AWS_LAMBDA_FUNCTION_NAME": settings.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "1",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{settings.name}",
        "AWS_LAMBDA_LOG_LEVEL": "INFO",
        "AWS_LAMBDA_LOG_STREAM_NAME": "local",
        "AWS_LAMBDA_RUNTIME_API": runtime_api,
        "LAMBDA_TASK_ROOT": str(settings.folder),
        "_HANDLER": "app.handler",
    } | dict(settings.environment)
