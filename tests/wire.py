"""What goes over the wire of a boto3 client: requests counted, answers lost or followed."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError
from botocore.httpsession import URLLib3Session
from urllib3 import HTTPResponse


@contextmanager
def requests_of(client: Any) -> Iterator[Counter[str]]:
    """Count the requests that are sent in here, retries included, by the operation's name."""
    sent: Counter[str] = Counter()

    def count(event_name: str, **_: object) -> None:
        sent[event_name.rpartition(".")[2]] += 1

    with _registered(client, "before-send", count):
        yield sent


@contextmanager
def lost_answer(client: Any, operation: str, times: int = 1) -> Iterator[None]:
    """Let the next requests of `operation` reach the service, but their answers get lost."""
    losses = times

    def lose(request: Any, **_: object) -> None:
        nonlocal losses
        if losses:
            losses -= 1
            URLLib3Session().send(request)
            raise ConnectionClosedError(endpoint_url=request.url)

    with _registered(client, f"before-send.{_event_name(client)}.{operation}", lose):
        yield
    assert not losses, f"{operation} was not called often enough"


@contextmanager
def cut_answer(client: Any, operation: str, *, times: int = 1, body: bool) -> Iterator[None]:
    """Let the next answers to `operation` end within their body, or already within the headers."""
    left = times

    def cut(request: Any, **_: object) -> AWSResponse | None:
        nonlocal left
        if not left:
            return None
        left -= 1
        whole = URLLib3Session().send(request)
        came = whole.raw.read()[:100] if body else b""
        headers: Any = whole.headers if body else {}
        raw = HTTPResponse(BytesIO(came), preload_content=False)
        return AWSResponse(whole.url, whole.status_code, headers, raw)

    with _registered(client, f"before-send.{_event_name(client)}.{operation}", cut):
        yield
    assert not left, f"{operation} was not called often enough"


@contextmanager
def unreachable(client: Any, *operations: str) -> Iterator[None]:
    """Let no request of the client reach the service, or none of these operations."""

    def refuse(request: Any, event_name: str, **_: object) -> None:
        if not operations or event_name.rpartition(".")[2] in operations:
            raise EndpointConnectionError(endpoint_url=request.url)

    with _registered(client, "before-send", refuse):
        yield


@contextmanager
def after_answer(client: Any, operation: str, action: Callable[[], None]) -> Iterator[None]:
    """Do `action` once, when the next answer to `operation` has come."""
    waiting = [action]

    def act(**_: object) -> None:
        if waiting:
            waiting.pop()()

    with _registered(client, f"after-call.{_event_name(client)}.{operation}", act):
        yield
    assert not waiting, f"{operation} was not called"


def _event_name(client: Any) -> str:
    name: str = client.meta.service_model.service_id.hyphenize()
    return name


@contextmanager
def _registered(client: Any, event: str, handler: Any) -> Iterator[None]:
    client.meta.events.register_first(event, handler)
    try:
        yield
    finally:
        client.meta.events.unregister(event, handler)
