"""An HTTP API in front of functions: routes, limits, throttling, conversion both ways."""

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final, TypeAlias
from uuid import uuid4

import uvicorn

from local.lambdas import PayloadTooLarge
from local.payload import (
    MAX_BODY,
    MAX_HEAD,
    HttpRequest,
    HttpResponse,
    head_size,
    route_key,
    to_event,
    to_response,
)
from local.runtime_api import Failed
from local.throttle import Limit, Throttle

Invoke: TypeAlias = Callable[[object], object]
"""Answers an event or raises Failed."""

_Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_NO_LIMITS: Final[Mapping[str, Limit]] = MappingProxyType({})
_WAITING: Final = 128  # requests that may wait for a worker
_TOO_LARGE: Final = HttpResponse.message(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request Entity Too Large"
)


@dataclass(frozen=True, slots=True)
class Access:
    """One request and its response, for the log."""

    request: HttpRequest
    response: HttpResponse
    route: str
    milliseconds: int


class Gateway:
    """Serves `routes` on loopback from `start` to `stop`.

    `routes` maps `METHOD /path` and `$default` to functions. `on_access` hears of each request.
    `limits` are those of local/throttle.py, by route; without any, nothing is throttled.
    """

    def __init__(
        self,
        routes: Mapping[str, Invoke],
        on_access: Callable[[Access], None],
        port: int = 0,
        timeout: float = 30.0,
        limits: Mapping[str, Limit] = _NO_LIMITS,
    ) -> None:
        self._throttle = Throttle(limits)
        self._routes = routes
        self._on_access = on_access
        self._timeout = timeout
        self.renames_challenge = False
        """Answer `WWW-Authenticate` as `x-amzn-remapped-www-authenticate`, as REST APIs do."""
        self._threads = ThreadPoolExecutor(_WAITING, "gateway")
        self._socket = socket.create_server(("127.0.0.1", port), backlog=128)
        # Those it accepts inherit it. Without it, each call on a kept connection takes 44 ms.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._app,
                interface="asgi3",
                proxy_headers=False,
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                h11_max_incomplete_event_size=64 * 1024,  # so that the limit below is what counts
                timeout_graceful_shutdown=3,
            )
        )
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    @property
    def url(self) -> str:
        host, port = self._socket.getsockname()
        return f"http://{host}:{port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take no more requests, and wait a little for those under way."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _app(self, scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        started = time.monotonic()
        request = await _request(scope, receive)
        if request is None:
            return
        route = route_key(request, self._routes)
        response = await self._answer(request, route)
        if self.renames_challenge:
            response = replace(response, headers=[_renamed(*pair) for pair in response.headers])
        await _send_response(response, send)
        self._on_access(
            Access(request, response, route, round((time.monotonic() - started) * 1000))
        )

    async def _answer(self, request: HttpRequest, route: str) -> HttpResponse:
        if refusal := self._refusal(request):
            return refusal
        request_id = str(uuid4())
        event = to_event(request, route, request_id, datetime.now(UTC))
        answering = asyncio.get_running_loop().run_in_executor(
            self._threads, self._routes[route], event
        )
        try:
            return to_response(await asyncio.wait_for(answering, self._timeout), request_id)
        except PayloadTooLarge:
            return _TOO_LARGE
        except TimeoutError:
            return HttpResponse.message(HTTPStatus.SERVICE_UNAVAILABLE, "Service Unavailable")
        except Failed:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            return HttpResponse.message(status, "Internal Server Error")

    def _refusal(self, request: HttpRequest) -> HttpResponse | None:
        """The answer to a request that reaches no function."""
        if not self._throttle.admits(request.method, request.path, time.monotonic()):
            return HttpResponse.message(HTTPStatus.TOO_MANY_REQUESTS, "Too Many Requests")
        if head_size(request) > MAX_HEAD:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            return HttpResponse.message(status, "Request Header Fields Too Large")
        return _TOO_LARGE if len(request.body) > MAX_BODY else None


async def _request(scope: Mapping[str, Any], receive: _Receive) -> HttpRequest | None:
    """The whole request. None if the client went away before its end."""
    target: bytes = scope["raw_path"]
    if scope["query_string"]:
        target += b"?" + scope["query_string"]
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if len(body) <= MAX_BODY:  # the rest is read, so that the client gets to its answer
            body += message.get("body", b"")
        more = message.get("more_body", False)
    return HttpRequest(
        scope["method"],
        target.decode("latin-1"),
        [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
        bytes(body),
        scope["client"][0],
    )


async def _send_response(response: HttpResponse, send: _Send) -> None:
    headers = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in response.headers
        if name != "content-length"
    ]
    headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


def _renamed(name: str, value: str) -> tuple[str, str]:
    return (f"x-amzn-remapped-{name}" if name == "www-authenticate" else name), value
