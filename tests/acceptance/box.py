"""One user's memory, as a client and as another app in the same Dropbox see it."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from local.dropbox.accounts import Account
from local.dropbox.clock import EmulatedClock
from local.dropbox.entries import File
from local.dropbox.faults import Fault
from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from memorybox.mcp.server import Answer
from memorybox.mcp.toolset import ToolResult

T = TypeVar("T")

LONGEST_ERROR = 1_500
_OUTCOME_UNKNOWN = "may or may not have changed"
_NEVER_SAID = ("Traceback", "ValidationError", "did not match pattern")


class Box(ABC):
    """A user who is signed in to the product, with an app folder that is empty at first."""

    def __init__(
        self, service: DropboxEmulator, dropbox: Account, embeddings: EmbeddingsServer
    ) -> None:
        self.service = service
        self.dropbox = dropbox
        """The user's Dropbox. Its methods act as another app would."""

        self.embeddings = embeddings

    @abstractmethod
    def post(self, body: bytes) -> Answer:
        """The answer to a POST to /mcp, with the user's token."""

    def request(self, method: str, params: Mapping[str, object]) -> Mapping[str, Any]:
        """The result of a request that the protocol takes."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.post(json.dumps(message).encode())
        assert answer.status == 200, answer
        result = json.loads(answer.body)["result"]
        assert isinstance(result, dict)
        return result

    def call(self, tool: str, /, **arguments: object) -> ToolResult:
        """What a tool answers, if it has the form that every answer has."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert result.keys() == {"content", "isError"}
        assert all(block.keys() == {"type", "text"} for block in result["content"])
        texts = tuple(block["text"] for block in result["content"])
        if result["isError"]:
            assert len(texts) == 1
            assert len(texts[0]) <= LONGEST_ERROR
            assert not any(words in texts[0] for words in _NEVER_SAID)
        return ToolResult(texts, result["isError"])

    def says(self, tool: str, /, **arguments: object) -> str:
        """The one text of a call that succeeds."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result
        assert len(result.texts) == 1
        return result.texts[0]

    def refuses(self, tool: str, /, **arguments: object) -> str:
        """The text of a call that fails and writes nothing, unless it says that this is unsure."""
        before = self.revs()
        result = self.call(tool, **arguments)
        assert result.is_error, result
        assert self.revs() == before or _OUTCOME_UNKNOWN in result.texts[0]
        return result.texts[0]

    def together(self, *calls: Callable[[], T]) -> Sequence[T]:
        """The results of calls that are made at the same time."""
        with ThreadPoolExecutor(len(calls)) as pool:
            return [running.result() for running in [pool.submit(call) for call in calls]]

    def rev(self, location: str) -> str:
        """The rev that Dropbox has for a file."""
        entry = self.dropbox.get(location)
        assert isinstance(entry, File), location
        return entry.rev

    def revs(self) -> Mapping[str, str]:
        """Every file of the app folder, with its rev."""
        return {location: self.rev(location) for location in self.dropbox.files()}

    def time_is(self, moment: datetime) -> None:
        """Let Dropbox's clock stand still at a moment, for what happens in this account."""
        self.dropbox.clock = EmulatedClock(moment)

    def breaks(self, *faults: Fault) -> None:
        """Let Dropbox do these faults to the calls for this user."""
        for fault in faults:
            self.service.faults.add(replace(fault, account=self.dropbox.account_id))

    def calls_of_dropbox(self, route: str = "files/*") -> int:
        """How many calls for this user, about files in general or of one route, Dropbox had."""
        return self.service.log.count(route, self.dropbox.account_id)
