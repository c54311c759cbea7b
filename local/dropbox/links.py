"""Addresses that work without a token: temporary links and upload links."""

import mimetypes
from typing import TypeVar

from local.dropbox.clock import EmulatedClock
from local.dropbox.entries import content_hash
from local.dropbox.exchange import Request
from local.dropbox.handouts import Handouts
from local.dropbox.routes.transfer import TEMPORARY, UPLOAD
from local.dropbox.wire import JSON_TYPE, Refusal, Response, RouteError, encoded

_T = TypeVar("_T")


def link_answer(request: Request, handouts: Handouts, clock: EmulatedClock) -> Response | None:
    """The answer where the path is such an address, else None."""
    if request.path.startswith(TEMPORARY):
        return _download(request, handouts, clock)
    if request.path.startswith(UPLOAD):
        return _upload(request, handouts, clock)
    return None


def _download(request: Request, handouts: Handouts, clock: EmulatedClock) -> Response:
    link = _known(handouts.temporary_links, request.path.removeprefix(TEMPORARY))
    if clock.now() >= link.expires:
        raise _gone()
    kind = mimetypes.guess_type(link.name)[0] or "application/octet-stream"
    return Response(200, link.data, kind)


def _upload(request: Request, handouts: Handouts, clock: EmulatedClock) -> Response:
    link = _known(handouts.upload_links, request.path.removeprefix(UPLOAD))
    if link.is_used or clock.now() >= link.expires:
        raise _gone()
    data = request.body()
    try:
        link.accept(data)
    except RouteError:
        return Response(409)  # bare: the reason is not told
    link.is_used = True
    return Response(200, encoded({"content-hash": content_hash(data)}), JSON_TYPE)


def _known(links: dict[str, _T], key: str) -> _T:
    if key not in links:
        raise Refusal(Response(404, b"Not Found"))
    return links[key]


def _gone() -> Refusal:
    return Refusal(Response(410, b"Gone"))
