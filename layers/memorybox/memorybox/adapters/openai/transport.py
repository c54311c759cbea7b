"""How bytes travel to the embeddings service: on sockets that know the deadline."""

import httpx2
from urllib3 import PoolManager, Timeout
from urllib3.exceptions import HTTPError

from memorybox.adapters import sockets

CONNECT_TIMEOUT = 3.0
CONNECTIONS = 12
"""How many are kept: as many as there may be threads in one process."""


class Transport(httpx2.BaseTransport):
    """A transport of httpx2, whose own would wait for each packet anew."""

    def __init__(self) -> None:
        self._pools = PoolManager(maxsize=CONNECTIONS, ssl_context=httpx2.create_ssl_context())
        sockets.bind(self._pools)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            answer = self._pools.request(
                request.method,
                str(request.url),
                body=request.read(),
                headers=dict(request.headers),
                timeout=Timeout(connect=CONNECT_TIMEOUT),
                retries=False,
                decode_content=False,
            )
        except HTTPError as error:
            raise httpx2.TransportError("no answer") from error
        return httpx2.Response(answer.status, headers=answer.headers, content=answer.data)

    def close(self) -> None:
        self._pools.clear()
