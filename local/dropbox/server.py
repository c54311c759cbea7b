"""The emulator as an object: a service behind a port, for tests and for `make run`."""

import threading
from datetime import datetime
from types import TracebackType

from local.dropbox.clock import EmulatedClock
from local.dropbox.connection import HttpServer
from local.dropbox.grants import App
from local.dropbox.service import Service


class DropboxEmulator(Service):
    """`with DropboxEmulator() as dropbox:` listens on a free loopback port until the end."""

    def __init__(
        self,
        app: App | None = None,
        *,
        port: int = 0,
        start_time: datetime | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(app or App(), EmulatedClock(start_time), seed=seed)
        self._http = HttpServer(port, self.answer, self.clock)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,))

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def start(self) -> "DropboxEmulator":
        self._thread.start()
        return self

    def stop(self) -> None:
        self.stopping.set()
        self._http.close()
        self._thread.join()

    def __enter__(self) -> "DropboxEmulator":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
