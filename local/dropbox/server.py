"""The emulator as an object: a service behind a port, for tests and for `make run`."""

import threading
from datetime import datetime
from types import TracebackType

from local.dropbox.clock import EmulatedClock
from local.dropbox.connection import HttpServer
from local.dropbox.control import CONTROL, Control
from local.dropbox.exchange import Outcome, Request
from local.dropbox.grants import App
from local.dropbox.service import Service

_LOOK_SECONDS = 0.5


class DropboxEmulator(Service):
    """`with DropboxEmulator() as dropbox:` listens on a free loopback port until the end.

    Its clock stands still at `start_time` if that is given. Edits in real folders are noticed
    about every half second, and before every call that would show them.
    """

    def __init__(
        self,
        app: App | None = None,
        *,
        port: int = 0,
        webhook_url: str | None = None,
        start_time: datetime | None = None,
        seed: int = 0,
    ) -> None:
        clock = EmulatedClock(start_time)
        self._http = HttpServer(port, self._outcome, clock)
        self.base_url = f"http://127.0.0.1:{self._http.server_port}"
        super().__init__(
            app or App(), clock, base_url=self.base_url, webhook_url=webhook_url, seed=seed
        )
        self._threads = [
            threading.Thread(target=self._http.serve_forever, args=(0.05,)),
            threading.Thread(target=self._look_at_folders),
        ]

    def start(self) -> "DropboxEmulator":
        self.webhooks.start()
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        """Every connection is closed and every thread has ended when this returns."""
        self.stopping.set()
        self.webhooks.stop()
        self._http.close()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> "DropboxEmulator":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _outcome(self, request: Request) -> Outcome:
        if request.path.startswith(CONTROL):
            return Outcome(Control(self).answer(request))
        return self.answer(request)

    def _look_at_folders(self) -> None:
        while not self.stopping.wait(_LOOK_SECONDS):
            for account in list(self.accounts.values()):
                account.notice_outside_edits()
