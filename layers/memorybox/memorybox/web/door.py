"""What every request passes on its way in, and every answer on its way out."""

import logging
from collections.abc import Callable, Iterator
from traceback import walk_tb

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorybox.clock import Clock
from memorybox.deadline import CALL_SECONDS, Deadline, lasting
from memorybox.web.errors import failure
from memorybox.web.perimeter import Perimeter

_log = logging.getLogger(__name__)


class Door:
    """Refuses foreign hosts, adds the headers of every answer, and answers for what broke.

    From here on a request has a deadline.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        perimeter: Perimeter,
        is_https: bool,
        clock: Clock,
        references: Callable[[], str],
    ) -> None:
        self._app = app
        self._perimeter = perimeter
        self._clock = clock
        self._references = references
        self._headers = {
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
            "cache-control": "no-store",
            **({"strict-transport-security": "max-age=63072000"} if is_https else {}),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        asked = Headers(scope=scope)
        if not self._perimeter.admits_host(asked.getlist("host")):
            refusal = PlainTextResponse("Invalid Host header", 421)
            await refusal(scope, receive, send_with_headers)
            return
        try:
            with lasting(Deadline.after(CALL_SECONDS, self._clock)):
                await self._app(scope, receive, send_with_headers)
        except Exception as error:
            if has_begun:
                raise
            answer = self._failure(asked, error)
            await answer(scope, receive, send_with_headers)

    def _failure(self, headers: Headers, error: Exception) -> Response:
        reference = self._references()
        _log.error("A request failed", extra={"reference": reference, "trace": list(_trace(error))})
        return failure(headers, reference)


def _trace(error: BaseException) -> Iterator[str]:
    """What broke and where; messages are left out, they may quote what a person sent."""
    yield type(error).__qualname__
    for frame, line in walk_tb(error.__traceback__):
        yield f"{frame.f_code.co_filename}:{line} {frame.f_code.co_name}"
