"""An assistant that knows JSON-RPC and nothing else."""

import re
import time
from dataclasses import dataclass
from itertools import count
from typing import Any

import requests

from tests.e2e.tokens import sign_in

PATIENCE = 60.0
"""Seconds after which a call counts as one that hangs. The product promises 25."""

_UNSURE = "may or may not have changed"
_PROMISED = re.compile(
    r"""
    rev:\ [0-9a-f]{9,}\n(
        Indexed\ for\ search(\ in\ \d+\ parts)?\.
        | Not\ indexed\ for\ search\ yet:\ (the\ embedding\ service\ did\ not|there\ was\ no).*
        | size:\ \d+\ bytes
    )
    | \{"files":\[[^\0]*\]\}
    | (\d+\.\ \S+\.md\ \ score\ -?[01]\.\d{3}\n?)* (\nRanked\ by\ words.*)? (\n\d+\ files?\ .*)?
    | (No\ indexed\ file|Not\ indexed:)[^\0]*
    | The\ file\ .*\ (
        already\ exists\.\ .*
        | is\ at\ rev\ .*
        | may\ or\ may\ not\ have\ changed\.\ Read\ it\ before\ you\ try\ again\.
        | is\ being\ changed\ by\ others\ all\ the\ time\.\ .*
        | does\ not\ exist\.\ .*
    )
    | Dropbox\ did\ not\ confirm\ the\ write,\ so\ .*may\ or\ may\ not\ have\ changed\.\ .*
    | Dropbox\ (did\ not\ answer\.\ Try\ again\ in\ a\ minute|asks\ to\ wait\ \d+\ seconds)\..*
    | Memory\ Box\ cannot\ reach\ its\ own\ storage\.\ Try\ again\ in\ a\ minute\..*
    | The\ embedding\ service\ did\ not\ answer,\ so\ nothing\ was\ searched\..*
    | The\ same\ command\ is\ still\ running\.\ Try\ again\ in\ a\ few\ seconds\..*
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back over HTTP. Status 0: nothing at all."""

    status: int
    texts: tuple[str, ...] = ()
    is_error: bool = False
    body: str = ""
    seconds: float = 0.0

    @property
    def is_done(self) -> bool:
        return bool(self.texts) and not self.is_error

    @property
    def wrote_nothing(self) -> bool:
        """Whether it says for sure that the call changed nothing."""
        return self.is_error and bool(self.texts) and _UNSURE not in self.texts[0]

    @property
    def is_promised(self) -> bool:
        """Whether it is a text, or a plain "not now", that the product promises."""
        if self.status == requests.codes.unavailable:
            return "temporarily_unavailable" in self.body
        return bool(self.texts) and _PROMISED.fullmatch(self.texts[0]) is not None

    @property
    def rev(self) -> str:
        return self.texts[0].splitlines()[0].removeprefix("rev: ")


class Assistant:
    """Signed in to the product at `url`. One may serve several threads."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/mcp"
        self._ids = count(1)
        self._headers = {
            "authorization": f"Bearer {sign_in(url)['access_token']}",
            "mcp-protocol-version": "2025-11-25",
            "accept": "application/json, text/event-stream",
        }

    def call(self, tool: str, **arguments: object) -> Reply:
        params = {"name": tool, "arguments": arguments}
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": "tools/call",
            "params": params,
        }
        began = time.monotonic()
        try:
            answer = requests.post(self._url, json=message, headers=self._headers, timeout=PATIENCE)
        except requests.RequestException:
            return Reply(0, seconds=time.monotonic() - began)
        seconds = time.monotonic() - began
        if answer.status_code != requests.codes.ok:
            return Reply(answer.status_code, body=answer.text, seconds=seconds)
        result: dict[str, Any] = answer.json().get("result", {})
        texts = tuple(block["text"] for block in result.get("content", ()))
        return Reply(200, texts, bool(result.get("isError")), answer.text, seconds)
