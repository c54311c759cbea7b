"""MiniStack, the emulator of AWS, as a child process with its state in a folder."""

import fcntl
import os
import shutil
import signal
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from local import ports
from local.processes import Child, into

_COMMAND: Final = Path(__file__).parent.parent / ".venv-ministack/bin/ministack"
_STARTS_WITHIN: Final = 20.0  # seconds; usually half a second
_ENDS_WITHIN: Final = 20.0  # seconds; it writes all its state on the way out


class DidNotStart(Exception):
    """It cannot run as things are. Says what to do."""


class MiniStack:
    """Starting, until `await_start` has returned. Raises DidNotStart.

    `environment` turns on what MiniStack does not do by itself, such as AUTH. `say` hears of one
    that an earlier run left behind, and that is stopped.
    """

    def __init__(
        self,
        state: Path,
        port: int | None = None,
        environment: Mapping[str, str] | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self.endpoint = f"http://127.0.0.1:{port or ports.free()}"
        self._log = state / "ministack.log"
        self._environment = environment or {}
        self._say = say
        self._process = self._started(state.resolve())

    def await_start(self) -> None:
        """Return when it answers. Raises DidNotStart."""
        patience = time.monotonic() + _STARTS_WITHIN
        while time.monotonic() < patience and self.exit_code is None:
            with (
                suppress(OSError),
                urllib.request.urlopen(f"{self.endpoint}/_ministack/health", timeout=1),  # noqa: S310
            ):
                return
            time.sleep(0.02)
        raise DidNotStart(f"MiniStack does not start. See {self._log}.")

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.exit_code

    def stop(self) -> None:
        """End it cleanly: only then does it write everything but S3 to the state folder."""
        self._process.stop()

    def _started(self, state: Path) -> Child:
        if not _COMMAND.exists():
            raise DidNotStart("MiniStack is not installed. Run make setup.")
        state.mkdir(parents=True, exist_ok=True)
        temporary = state / "temp"
        with (state / "lock").open("a+") as lock:
            self._take(lock, state)
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir()
            self._log.write_text("")
            # The lock is handed down, and so held as long as MiniStack lives, even without us.
            process = Child(
                [str(_COMMAND)],
                os.environ
                | {
                    "BIND_HOST": "127.0.0.1",  # its default is every interface
                    "GATEWAY_PORT": self.endpoint.rpartition(":")[2],
                    "IOT_MTLS_ENABLED": "false",
                    "LOG_LEVEL": "WARNING",
                    "PERSIST_STATE": "1",
                    "S3_PERSIST": "1",
                    "STATE_DIR": str(state / "services"),
                    "S3_DATA_DIR": str(state / "objects"),
                    "TMPDIR": str(temporary),
                }
                | dict(self._environment),
                into(self._log),
                keep_open=[lock.fileno()],
            )
            lock.truncate(0)
            lock.write(f"{process.pid} {os.getpid()}")
            return process

    def _take(self, lock: TextIO, state: Path) -> None:
        if _is_free(lock):
            return
        lock.seek(0)
        holder, _, owner = lock.read().partition(" ")
        if not owner or _lives(int(owner)):
            raise DidNotStart(
                f"{state} is in use by another run, as MiniStack in process {holder}. "
                "Stop that one first, or choose another folder with --state."
            )
        self._say(f"Stopping MiniStack in process {holder}, which a run that was killed left.")
        with suppress(ProcessLookupError):
            os.kill(int(holder), signal.SIGTERM)
        patience = time.monotonic() + _ENDS_WITHIN
        while not _is_free(lock):
            if time.monotonic() > patience:
                raise DidNotStart(f"MiniStack in process {holder} does not end. Kill it.")
            time.sleep(0.02)


def _is_free(lock: TextIO) -> bool:
    """Whether nobody held it; from now on we do."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is somebody else's
        pass
    return True
