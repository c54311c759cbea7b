"""How long each function takes to start, from what was built, under Lambda's runtime client.

Beside it stand the same tools on the official MCP SDK and on FastMCP, and FastAPI with Mangum
alone, all compiled as our layers are, each in a folder of its own. The kinds take turns; medians
are shown. A start ends when the process asks for its first event. The first answer is that to what
a client sends first: for ours the metadata of the sign-in, which the rivals do not have.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from textwrap import dedent

from bench.tables import table
from deploy.build import HERE, build
from local.processes import Child
from local.runtime_api import Failed, Invocation, RuntimeApi
from local.runtime_client import alone
from memorybox.toolsets.catalogue import MEMORY

RUNS = 10
_PLACE = HERE.folder.with_name("rivals")
_LAYERS = tuple(HERE.folder / layer / "python" for layer in ("DependenciesLayer", "MemoryboxLayer"))
_FLOOR = "FastAPI + Mangum alone"
_UV = Path(sys.executable).with_name("uv")

_PACKAGES: Mapping[str, Sequence[str]] = {
    _FLOOR: ("fastapi==0.165.0", "mangum==0.22.0"),
    "official MCP SDK": ("mcp==2.3.0", "mangum==0.22.0"),
    "FastMCP": ("fastmcp==4.2.3", "mangum==0.22.0"),
}
_APPS: Mapping[str, str] = {
    _FLOOR: """
        from fastapi import FastAPI
        from mangum import Mangum
        app = FastAPI()
        @app.post("/mcp")
        async def mcp() -> dict[str, object]:
            return {}
        handler = Mangum(app, lifespan="off")
        """,
    "official MCP SDK": """
        from mangum import Mangum
        from mcp.server import MCPServer
        server = MCPServer("Memory Box")
        TOOLS
        app = server.streamable_http_app(stateless_http=True, json_response=True)
        handler = Mangum(app)
        """,
    "FastMCP": """
        from fastmcp import FastMCP
        from mangum import Mangum
        server = FastMCP("Memory Box")
        TOOLS
        handler = Mangum(server.http_app(stateless_http=True, json_response=True))
        """,
}
_METADATA = "/.well-known/oauth-protected-resource"
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that starts: a folder with app.py, and where its packages are."""

    name: str
    folder: Path
    paths: Sequence[Path]
    event: Mapping[str, object]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Start:
    """Milliseconds since the process began: when it was ready, and when it had answered."""

    ready_cpu: float
    ready: float
    answered_cpu: float
    answered: float


def measure() -> str:
    """The table of starts, as text."""
    build(HERE)
    client = alone(_PLACE / "runtime")
    kinds = [*_ours(), *_rivals()]
    starts: dict[str, list[Start]] = {kind.name: [] for kind in kinds}
    for turn in range(RUNS + 1):
        for kind in kinds:
            start = _start(kind, client)
            if turn:  # the first one fills the caches
                starts[kind.name].append(start)
    floor = median(start.ready_cpu for start in starts[_FLOOR])
    rows = [
        (
            name,
            *(
                f"{median(getattr(start, column) for start in found):.0f}"
                for column in ("ready_cpu", "ready", "answered_cpu", "answered")
            ),
            f"{median(start.ready_cpu for start in found) / floor:.2f}",
        )
        for name, found in starts.items()
    ]
    heads = ("process", "ready, CPU ms", "wall ms", "answered, CPU ms", "wall ms", "ratio")
    return table(heads, rows)


def _ours() -> Iterator[Kind]:
    challenge = {"requestContext": {"http": {"method": "GET"}}, "headers": {}}
    nothing = {"Records": [{"messageId": "1", "body": "", "eventSource": "aws:sqs"}]}
    mcp, metadata = HERE.folder / "McpFunction", _request("GET", _METADATA)
    yield Kind("mcp", mcp, _LAYERS, metadata)
    yield Kind("mcp, first asked for a page", mcp, _LAYERS, _request("GET", "/privacy"))
    yield Kind("webhook", HERE.folder / "WebhookFunction", _LAYERS, challenge)
    yield Kind("indexer", HERE.folder / "IndexerFunction", _LAYERS, nothing)
    yield Kind("mcp, everything loaded at once", mcp, _LAYERS, metadata, {"WARM_UP": "1"})
    yield Kind("mcp without .pyc", mcp, _uncompiled(), metadata)


def _uncompiled() -> Sequence[Path]:
    place = _PLACE / "uncompiled"
    shutil.rmtree(place, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    return [shutil.copytree(layer, place / layer.parent.name, ignore=ignored) for layer in _LAYERS]


def _rivals() -> Iterator[Kind]:
    for name, packages in _PACKAGES.items():
        folder = _PLACE / name.replace(" ", "-")
        if not folder.exists():
            _install(folder, packages)
        (folder / "app.py").write_text(dedent(_APPS[name]).replace("TOOLS", _tools()))
        yield Kind(name, folder, [folder], _request("POST", "/mcp", _INITIALIZE))


def _install(folder: Path, packages: Sequence[str]) -> None:
    python = sys.executable
    installing = ["pip", "install", "--quiet", "--python", python, "--target", str(folder)]
    subprocess.run([_UV, *installing, *packages], check=True)
    compiling = ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(folder)]
    subprocess.run([python, *compiling], check=True)


def _tools() -> str:
    """Functions with the names, arguments and descriptions of our tools."""
    kinds = {"string": "str", "integer": "int", "array": "list[dict[str, str]]"}
    lines = []
    for tool in MEMORY.tools:
        properties: Mapping[str, Mapping[str, str]] = tool.input_schema["properties"]  # type: ignore[assignment]
        required: Sequence[str] = tool.input_schema["required"]  # type: ignore[assignment]
        arguments = sorted(properties, key=lambda name: name not in required)
        signature = ", ".join(
            f"{name}: {kinds[properties[name]['type']]}"
            + ("" if name in required else " | None = None")
            for name in arguments
        )
        lines += [
            f"@server.tool(name={tool.name!r}, description={tool.description!r})",
            f"def {tool.name}_({signature}) -> str: return ''",
        ]
    return "\n".join(lines)


def _start(kind: Kind, client: Path) -> Start:
    api = RuntimeApi("arn:aws:lambda:us-east-1:000000000000:function:bench:live")
    printed: list[str] = []
    begun = time.monotonic()
    process = Child(
        [sys.executable, "-S", "-m", "awslambdaric", "app.handler"],
        {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, [*kind.paths, client])),
            "PYTHONDONTWRITEBYTECODE": "1",  # as on Lambda, where layers cannot be written to
            "AWS_LAMBDA_RUNTIME_API": api.address,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_LAMBDA_FUNCTION_NAME": "bench",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
            "LAMBDA_TASK_ROOT": str(kind.folder),
            **kind.environment,
        },
        printed.append,
        kind.folder,
    )
    try:
        api.started.wait(60)
        ready, ready_cpu = time.monotonic() - begun, _cpu(process.pid)
        invocation = Invocation(json.dumps(kind.event).encode(), 30)
        api.submit(invocation)
        outcome = invocation.outcome.get(timeout=30)
        answered, answered_cpu = time.monotonic() - begun, _cpu(process.pid)
    finally:
        process.kill()
        api.stop()
    if isinstance(outcome, Failed) or json.loads(outcome).get("statusCode", 200) >= 500:  # noqa: PLR2004
        raise SystemExit(f"{kind.name} does not answer: {outcome!r}\n" + "\n".join(printed))
    return Start(ready_cpu * 1_000, ready * 1_000, answered_cpu * 1_000, answered * 1_000)


def _cpu(pid: int) -> float:
    """Seconds on a processor of all threads of a process, user and system."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def _request(method: str, path: str, message: object = None) -> Mapping[str, object]:
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {
            "host": "localhost",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        },
        "requestContext": {
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
            },
            "stage": "$default",
        },
        "body": json.dumps(message),
        "isBase64Encoded": False,
    }


if __name__ == "__main__":
    print(measure())
