"""The cookies of a sign-in: a random value for ten minutes, for our own host alone."""

from starlette.requests import Request
from starlette.responses import Response

_SECONDS = 600


class Cookie:
    """Over plain http, which is for one's own machine, browsers refuse prefix and `Secure`."""

    def __init__(self, name: str, *, is_https: bool) -> None:
        self._name = f"__Host-memorybox-{name}" if is_https else f"memorybox-{name}"
        self._is_https = is_https

    def read(self, request: Request) -> str | None:
        return request.cookies.get(self._name)

    def set(self, response: Response, value: str) -> None:
        """Lax, because the browser comes back from Dropbox and must bring it."""
        response.set_cookie(
            self._name,
            value,
            max_age=_SECONDS,
            path="/",
            secure=self._is_https,
            httponly=True,
            samesite="lax",
        )
