"""The answer of a download route: the result in a header, the bytes or a range of them."""

from local.dropbox.calls import Download
from local.dropbox.exchange import Request
from local.dropbox.wire import Response, encoded

_BINARY = "application/octet-stream"


def download_response(download: Download, request: Request) -> Response:
    headers = {
        "Dropbox-API-Result": encoded(download.result).decode(),
        "Original-Content-Length": str(len(download.data)),
    }
    if download.etag is not None:
        headers["Etag"] = f'W/"{download.etag}"'
        if request.headers.get("If-None-Match") == headers["Etag"]:
            return Response(304, headers=headers)
    if not download.ranges:
        return Response(200, download.data, _BINARY, headers)
    return _ranged(download.data, request.headers.get("Range", ""), headers)


def _ranged(data: bytes, asked: str, headers: dict[str, str]) -> Response:
    headers["Accept-Ranges"] = "bytes"
    part = _range(asked, len(data))
    if part is None:
        return Response(200, data, _BINARY, headers)
    if part.start >= len(data):
        return Response(416, b"", _BINARY, {**headers, "Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(data)}"
    return Response(206, data[part.start : part.stop], _BINARY, headers)


def _range(header: str, size: int) -> range | None:
    """The one byte range of RFC 9110, section 14.1.2; anything else is ignored."""
    unit, _, spec = header.partition("=")
    first, dash, last = spec.partition("-")
    if unit != "bytes" or not dash or not (first or last).isdigit() or "," in last:
        return None
    if not first:
        return range(max(0, size - int(last)), size)
    return range(int(first), min(size, int(last) + 1) if last else size)
