"""The cookies of a sign-in and of a visit: a random value for our own host alone."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from memorybox.oauth.authorize import STEP_LIFE
from memorybox.oauth.metadata import Issuer
from memorybox.oauth.visits import VISIT_LIFE


class Cookie:
    """Over plain http, which is for one's own machine, browsers refuse prefix and `Secure`."""

    def __init__(self, name: str, *, seconds: int, is_https: bool) -> None:
        self._seconds = seconds
        self._name = f"__Host-memorybox-{name}" if is_https else f"memorybox-{name}"
        self._is_https = is_https

    def read(self, request: Request) -> str | None:
        return request.cookies.get(self._name)

    def set(self, response: Response, value: str) -> None:
        self._set(response, value, self._seconds)

    def clear(self, response: Response) -> None:
        self._set(response, "", 0)

    def _set(self, response: Response, value: str, seconds: int) -> None:
        """Lax, because the browser comes back from Dropbox and must bring it."""
        response.set_cookie(
            self._name,
            value,
            max_age=seconds,
            path="/",
            secure=self._is_https,
            httponly=True,
            samesite="lax",
        )


@dataclass(frozen=True, slots=True)
class Cookies:
    """All cookies that there are.

    `form` is set by whoever sends the browser here, `approval` by the person's consent alone, and
    `visit` by a sign-in to the person's own page.
    """

    form: Cookie
    approval: Cookie
    visit: Cookie

    @classmethod
    def of(cls, issuer: Issuer) -> "Cookies":
        is_https = issuer.url.startswith("https:")
        step = int(STEP_LIFE.total_seconds())
        return cls(
            form=Cookie("form", seconds=step, is_https=is_https),
            approval=Cookie("approval", seconds=step, is_https=is_https),
            visit=Cookie("visit", seconds=int(VISIT_LIFE.total_seconds()), is_https=is_https),
        )
