"""Other memories and stores: how each takes the notes in, and how it is asked.

A peer is entered with a job and gives its searches by their kinds, "" where it has but one. Peers
that do not cut long texts are given our parts, and a file counts where its first part comes.
"""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from os import environ
from pathlib import Path
from typing import Any, TypeAlias

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from bench import peers_installed as installed
from bench.peers_scripts import CHROMADB, LANCEDB, MEM0
from bench.quality_sets import Ranking, distinct
from memorybox.search.parts import parts_of

FILES, PARTS = 20, 30
"""How many hits are asked for: of files, and of parts where a peer knows only those."""


@dataclass(frozen=True, slots=True)
class Job:
    """Notes to be found, and folders of one peer alone: some write into the notes."""

    files: Mapping[str, str]
    notes: Path
    """The files, in a folder."""
    state: Path
    """For whatever is kept."""
    embeddings: str
    dimensions: int

    def parts(self) -> list[tuple[str, str]]:
        """Path and text of each part of each file."""
        return [
            (path, part.text)
            for path, text in self.files.items()
            for part in parts_of(text.encode())
        ]


Search: TypeAlias = Callable[[str], Awaitable[Ranking]]
Peer: TypeAlias = Callable[[Job], AbstractAsyncContextManager[Mapping[str, Search]]]


@asynccontextmanager
async def basic_memory(job: Job) -> AsyncIterator[Mapping[str, Search]]:
    place = installed.with_loadable_sqlite(
        "basic-memory", "basic-memory==0.24.1", "pysqlite3-binary"
    )
    semantic = "BASIC_MEMORY_SEMANTIC"
    environment = {
        "HOME": str(job.state),
        "OPENAI_API_KEY": "local",
        "BASIC_MEMORY_AUTO_UPDATE": "false",
        "BASIC_MEMORY_CLOUD_MODE": "false",
        f"{semantic}_SEARCH_ENABLED": "true",
        f"{semantic}_EMBEDDING_PROVIDER": "openai",
        f"{semantic}_EMBEDDING_MODEL": "text-embedding-3-small",
        f"{semantic}_EMBEDDING_API_BASE": job.embeddings,
        f"{semantic}_EMBEDDING_DIMENSIONS": str(job.dimensions),
        # Its own least similarity is that of another model, with which most hits would be left out.
        f"{semantic}_MIN_SIMILARITY": "0",
    }
    program = str(place / "bin/basic-memory")
    # Adding a project indexes it, vectors included.
    installed.run([program, "project", "add", "box", str(job.notes)], environment)
    async with _mcp("basic-memory", [program, "mcp"], environment) as call:

        def of(kind: str) -> Search:
            async def search(question: str) -> Ranking:
                arguments = {"query": question, "search_type": kind, "page_size": FILES}
                arguments |= {"project": "box", "output_format": "json"}
                hits = json.loads(await call("search_notes", arguments))["results"]
                return distinct(hit["file_path"] for hit in hits)

            return search

        yield {kind: of(kind) for kind in ("hybrid", "vector", "text")}


@asynccontextmanager
async def mcp_memory_service(job: Job) -> AsyncIterator[Mapping[str, Search]]:
    name = "mcp-memory-service"
    place = installed.with_loadable_sqlite(
        name, "mcp-memory-service-lite==12.4.0", "mcp==1.30.0", "pysqlite3-binary"
    )
    environment = {
        "HOME": str(job.state),
        "MCP_EXTERNAL_EMBEDDING_URL": f"{job.embeddings}/embeddings",
        "MCP_EXTERNAL_EMBEDDING_MODEL": "text-embedding-3-small",
        "MCP_EXTERNAL_EMBEDDING_API_KEY": "local",
        "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
        "MCP_MEMORY_SQLITE_PATH": str(job.state / "memories.db"),
    }
    async with _mcp(name, [str(place / "bin/memory"), "server"], environment) as call:
        path_of: dict[str, str] = {}
        for number, (path, text) in enumerate(job.parts()):
            # With a conversation of its own no text is refused as too much like another.
            arguments = {"content": text, "conversation_id": str(number)}
            if stored := re.search(r"hash: (\w+)", await call("memory_store", arguments)):
                path_of[stored[1]] = path

        def of(mode: str) -> Search:
            async def search(question: str) -> Ranking:
                arguments = {"query": question, "limit": PARTS, "mode": mode}
                text = await call("memory_search", arguments)
                hashes = re.findall(r"^ *Hash: (\w+)", text, re.MULTILINE)
                return distinct(path_of[each] for each in hashes if each in path_of)

            return search

        yield {mode: of(mode) for mode in ("hybrid", "semantic")}


def library(name: str, source: str, *packages: str, kind: str = "") -> Peer:
    """The source runs in an environment with these packages, and answers line by line."""

    @asynccontextmanager
    async def peer(job: Job) -> AsyncIterator[Mapping[str, Search]]:
        place = installed.in_an_environment(name, *packages)
        given = job.state / "job.json"
        asked = {"parts": job.parts(), "embeddings": job.embeddings, "dimensions": job.dimensions}
        given.write_text(json.dumps(asked | {"limit": PARTS, "folder": str(job.state)}))
        program = [str(place / "bin/python"), "-c", source, str(given)]
        environment = {"HOME": str(job.state), "OPENAI_API_KEY": "local"}
        async with installed.answering(name, program, environment) as answer:

            async def search(question: str) -> Ranking:
                return distinct(json.loads(await answer(json.dumps(question))))

            yield {kind: search}

    return peer


@asynccontextmanager
async def qmd(job: Job) -> AsyncIterator[Mapping[str, Search]]:
    place = installed.by_npm("qmd", "@tobilu/qmd@0.9.0", "bun")
    programs = place / "node_modules/.bin"
    environment = {"HOME": str(job.state), "PATH": f"{programs}:{environ['PATH']}"}
    program = str(programs / "qmd")
    installed.run([program, "collection", "add", str(job.notes), "--name", "box"], environment)
    # Its paths are made over: lower case, and a dash for whatever is no letter.
    path_of = {_plain(path): path for path in job.files}

    async def search(question: str) -> Ranking:
        command = [program, "search", question, "-n", str(FILES), "--files"]
        hits = re.findall(r"qmd://box/(.+?\.md)", installed.run(command, environment))
        return distinct(path_of[_plain(hit)] for hit in hits if _plain(hit) in path_of)

    yield {"search": search}


def _plain(path: str) -> str:
    return re.sub(r"[\W_]+", "", path.casefold())


@asynccontextmanager
async def _mcp(
    name: str, command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[Callable[[str, dict[str, Any]], Awaitable[str]]]:
    """A server over stdio: what calls its tools and returns their text."""
    program, *arguments = command
    server = StdioServerParameters(command=program, args=arguments, env={**environ, **environment})
    with installed.log(name).open("w") as log:
        async with stdio_client(server, errlog=log) as streams, ClientSession(*streams) as session:
            await session.initialize()

            async def call(tool: str, arguments: dict[str, Any]) -> str:
                result = await session.call_tool(tool, arguments)
                text = "".join(each.text for each in result.content if each.type == "text")
                assert not result.is_error, text
                return text

            yield call


PEERS: Mapping[str, Peer] = {
    "basic-memory 0.24.1": basic_memory,
    "mem0ai 2.2.1": library("mem0", MEM0, "mem0ai==2.2.1"),
    "mcp-memory-service-lite 12.4.0": mcp_memory_service,
    "chromadb 1.5.9": library("chromadb", CHROMADB, "chromadb==1.5.9"),
    "lancedb 0.40.0": library("lancedb", LANCEDB, "lancedb==0.40.0", kind="hybrid"),
    "qmd 0.9.0": qmd,
}
