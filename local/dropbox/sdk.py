"""The real SDK, pointed at an emulator."""

from typing import Any
from urllib.parse import urlsplit

import requests


class LoopbackSession(requests.Session):
    """Sends every request to `base_url`, with the host it was meant for in a header."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.trust_env = False
        self._base_url = base_url.rstrip("/")

    def request(  # type: ignore[override]  # the SDK passes everything else by keyword
        self, method: str, url: str, **options: Any
    ) -> requests.Response:
        parts = urlsplit(url)
        query = f"?{parts.query}" if parts.query else ""
        options["headers"] = {**(options.get("headers") or {}), "X-Emulated-Host": parts.netloc}
        return super().request(method, self._base_url + parts.path + query, **options)
