"""Child processes: each in a group of its own, read line by line, ended as a group.

A child whose parent was killed is asked to end, by the system itself, where that is Linux.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

Sink: TypeAlias = Callable[[str], None]
"""Takes one line of output, without its line end."""


def into(path: Path) -> Sink:
    """Appends each line to a file."""

    def append(line: str) -> None:
        with path.open("a") as file:
            file.write(f"{line}\n")

    return append


_LAUNCH: Final = Path(__file__).with_name("launch.py")


class Child:
    """A running command. Its own group keeps a Ctrl-C in the terminal from reaching it.

    `sink` gets each line of its output, `keep_open` are files of ours that it inherits.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        sink: Sink,
        folder: Path | None = None,
        keep_open: Sequence[int] = (),
    ) -> None:
        self._sink = sink
        started: Future[subprocess.Popen[str]] = Future()

        def run() -> None:
            # Linux takes the thread that starts a child for its parent, so it is this one, which
            # lives as long as the child has something to say.
            try:
                process = subprocess.Popen(
                    _launched(command),
                    cwd=folder,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                    pass_fds=keep_open,
                )
            except OSError as error:
                started.set_exception(error)
                return
            started.set_result(process)
            self._read(process)

        self._reader = threading.Thread(target=run, daemon=True)
        self._reader.start()
        self._process = started.result()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def wait(self) -> int:
        """Return its exit code when it has ended."""
        return self._process.wait()

    def stop(self, patience: float = 15.0) -> None:
        """Ask it to end, wait until it has, and kill what is left of its group."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self.kill()

    def kill(self) -> None:
        """End the whole group at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout  # noqa: S101 - it is a pipe, see above
        with process.stdout as lines:
            for line in lines:
                self._sink(line.rstrip("\n"))


def _launched(command: Sequence[str]) -> list[str]:
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()), *command]
