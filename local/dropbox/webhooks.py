"""Tells the app which accounts changed, as well or as badly as its knobs say."""

import hmac
import http.client
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from http import HTTPStatus
from random import Random
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from local.dropbox.accounts import Account
from local.dropbox.entries import Json

_TIMEOUT = 10.0
_ATTEMPTS = 10  # 1, 2, 4, ... seconds apart: in all about ten minutes
_UNKNOWN_ACCOUNT = "dbid:" + "x" * 35


@dataclass(frozen=True, slots=True)
class WebhookKnobs:
    enabled: bool = True
    delay: float = 0.0
    spread: float = 0.0
    """Up to so many seconds more, each another: notifications overtake each other."""
    copies: int = 1
    burst: bool = False
    """One notification per change; else those that wait are told together."""
    together: bool = False
    """One POST for every account that waits."""
    lost: int = 0
    """So many of the next notifications get lost."""
    bad_signature: bool = False
    unknown_account: bool = False
    without_delta: bool = False
    first_retry: float = 1.0
    """Seconds until a notification that was not taken comes again; then twice as long, ..."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A POST that was made. `status` is None where nobody answered."""

    accounts: tuple[str, ...]
    status: int | None


@dataclass(frozen=True, slots=True, order=True)
class _Waiting:
    due: float
    number: int
    account: Account
    attempt: int = 0


class Webhooks:
    """One thread sends what is due; `idle` lets a test wait for it."""

    def __init__(self, url: str | None, secret: str, is_linked: Callable[[str], bool]) -> None:
        self.url = url
        self.knobs = WebhookKnobs()
        self.deliveries: list[Delivery] = []
        self._secret = secret.encode()
        self._is_linked = is_linked
        self._waiting: list[_Waiting] = []
        self._numbers = 0
        self._sending = False
        self._stopped = False
        self._changed = threading.Condition()
        self._random = Random(0)  # noqa: S311  # spreads deliveries, protects nothing
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.join()

    def set(self, **knobs: Any) -> None:
        with self._changed:
            self.knobs = replace(self.knobs, **knobs)

    def changed(self, account: Account) -> None:
        """The account has news. Told only if it is linked to the app."""
        with self._changed:
            knobs = self.knobs
            if self.url is None or not knobs.enabled or not self._is_linked(account.account_id):
                return
            if not knobs.burst and any(one.account is account for one in self._waiting):
                return
            for _ in range(knobs.copies):
                wait = knobs.delay + self._random.random() * knobs.spread
                self._push(account, time.monotonic() + wait)
            self._changed.notify_all()

    def idle(self, timeout: float = 10.0) -> bool:
        """Wait until nothing waits to be sent; False if that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._waiting or self._sending), timeout)

    def verify(self) -> bool:
        """The GET with which Dropbox checks an address before it sends anything there."""
        challenge = uuid4().hex
        status, body, headers = self._request("GET", f"?challenge={challenge}", b"", {})
        content_type = headers.get("content-type", "").partition(";")[0]
        return (
            status == HTTPStatus.OK
            and body == challenge.encode()
            and content_type == "text/plain"
            and headers.get("x-content-type-options") == "nosniff"
        )

    def _push(self, account: Account, due: float, attempt: int = 0) -> None:
        self._numbers += 1
        heappush(self._waiting, _Waiting(due, self._numbers, account, attempt))

    def _run(self) -> None:
        while (batch := self._next()) is not None:
            status = self._send([one.account for one in batch])
            with self._changed:
                if status != HTTPStatus.OK:
                    self._push_again(batch)
                self._sending = False
                self._changed.notify_all()

    def _next(self) -> list[_Waiting] | None:
        """What is to be sent now, or None at the end."""
        with self._changed:
            while not self._stopped:
                now = time.monotonic()
                if self._waiting and self._waiting[0].due <= now:
                    self._sending = True
                    return self._pop()
                self._changed.wait(self._waiting[0].due - now if self._waiting else None)
        return None

    def _pop(self) -> list[_Waiting]:
        batch = [heappop(self._waiting)]
        while self.knobs.together and self._waiting:
            batch.append(heappop(self._waiting))
        return batch

    def _push_again(self, batch: list[_Waiting]) -> None:
        for one in batch:
            if one.attempt + 1 < _ATTEMPTS:
                wait = self.knobs.first_retry * 2**one.attempt
                self._push(one.account, time.monotonic() + wait, one.attempt + 1)

    def _send(self, accounts: list[Account]) -> int | None:
        if self.knobs.lost:
            self.set(lost=self.knobs.lost - 1)
            return HTTPStatus.OK
        body = json.dumps(self._notification(accounts)).encode()
        secret = b"another secret" if self.knobs.bad_signature else self._secret
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "DropboxWebhooks/1.0",
            "X-Dropbox-Signature": hmac.new(secret, body, "sha256").hexdigest(),
        }
        try:
            status: int | None = self._request("POST", "", body, headers)[0]
        except (OSError, http.client.HTTPException):
            status = None
        ids = tuple(account.account_id for account in accounts)
        self.deliveries.append(Delivery(ids, status))
        return status

    def _notification(self, accounts: list[Account]) -> Json:
        ids = list(dict.fromkeys(account.account_id for account in accounts))
        if self.knobs.unknown_account:
            ids.append(_UNKNOWN_ACCOUNT)
        notification: Json = {"list_folder": {"accounts": ids}}
        if not self.knobs.without_delta:
            notification["delta"] = {"users": [account.uid for account in accounts]}
        return notification

    def _request(
        self, method: str, query: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, bytes, dict[str, str]]:
        url = urlsplit(self.url or "")
        secure = url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(url.netloc, timeout=_TIMEOUT)
        try:
            connection.request(method, (url.path or "/") + query, body or None, headers)
            response = connection.getresponse()
            answered = {name.lower(): value for name, value in response.getheaders()}
            return response.status, response.read(), answered
        finally:
            connection.close()
