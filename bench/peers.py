"""What other memories and stores find, and how fast, beside ours on the same notes and model.

    python -m bench.peers --data FOLDER [--questions 150] [SET ...]

Ours is the whole product, asked over HTTP; a peer is asked over its own interface. All use one
embeddings server and its model. Each peer is in a virtual environment of its own, which is made at
the first run; one that cannot be installed or run has a line that says so. Peers that do not cut
long texts are given our parts, and a file counts where its first part comes.
"""

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from os import environ
from pathlib import Path
from statistics import median
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from bench import peers_installed as installed
from bench.latency import UNLIMITED, Session, search_until_complete
from bench.peers_scripts import CHROMADB, LANCEDB, MEM0
from bench.quality_sets import Found, Questions, Ranking, distinct, load
from bench.tables import table
from local.product import Options, Product
from memorybox.search.parts import parts_of

SETS = ("obsidian-en", "locomo-all")
MODEL, DIMENSIONS = "wordllama", 256
FILES, PARTS = 20, 60
"""How many hits are asked for: of files, and of parts where a peer knows only those."""


@dataclass(frozen=True, slots=True)
class Job:
    """Notes to be found, questions to be asked of them, and a folder for whatever is kept."""

    notes: Path
    files: Mapping[str, str]
    questions: Mapping[str, str]
    embeddings: str
    state: Path

    def parts(self) -> list[tuple[str, str]]:
        """Path and text of each part of each file."""
        return [
            (path, part.text)
            for path, text in self.files.items()
            for part in parts_of(text.encode())
        ]


@dataclass(slots=True)
class Answers:
    """What was found for each question, and how long each search took."""

    found: dict[str, Ranking] = field(default_factory=dict)
    milliseconds: list[float] = field(default_factory=list)


Ask = Callable[[Job], Answers]


def ours(job: Job, product: Product) -> Answers:
    session, answers = Session(product.url), Answers()
    search_until_complete(session)
    for warm in (False, True):
        for asked, question in list(job.questions.items())[: None if warm else 5]:
            began = time.perf_counter()
            text = session.call("search", workspace="all", query=question, limit=FILES)
            if warm:
                answers.milliseconds.append(1_000 * (time.perf_counter() - began))
                answers.found[asked] = re.findall(r"^\d+\. (.+)  score \S+$", text, re.MULTILINE)
    return answers


def basic_memory(kind: str) -> Ask:
    def ask(job: Job) -> Answers:
        place = installed.with_loadable_sqlite(
            "basic-memory", "basic-memory==0.24.1", "pysqlite3-binary"
        )
        embedding = "BASIC_MEMORY_SEMANTIC_EMBEDDING"
        environment = {
            "HOME": str(job.state),
            "OPENAI_API_KEY": "local",
            "BASIC_MEMORY_CLOUD_MODE": "false",
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "true",
            f"{embedding}_PROVIDER": "openai",
            f"{embedding}_MODEL": "text-embedding-3-small",
            f"{embedding}_API_BASE": job.embeddings,
            f"{embedding}_DIMENSIONS": str(DIMENSIONS),
        }
        program = str(place / "bin/basic-memory")
        # Adding a project indexes it, vectors included.
        installed.run([program, "project", "add", "box", str(job.notes)], environment)
        return asyncio.run(_search_notes(program, environment, job, kind))

    return ask


async def _search_notes(
    program: str, environment: Mapping[str, str], job: Job, kind: str
) -> Answers:
    answers = Answers()
    async with _mcp([program, "mcp"], environment) as session:
        for warm in (False, True):
            for asked, question in list(job.questions.items())[: None if warm else 5]:
                arguments = {"query": question, "search_type": kind, "page_size": FILES}
                arguments |= {"project": "box", "output_format": "json"}
                began = time.perf_counter()
                text = await _call(session, "search_notes", arguments)
                if warm:
                    answers.milliseconds.append(1_000 * (time.perf_counter() - began))
                    hits = json.loads(text).get("results", [])
                    answers.found[asked] = distinct(hit["file_path"] for hit in hits)
    return answers


def mcp_memory_service(job: Job) -> Answers:
    place = installed.with_loadable_sqlite(
        "mcp-memory-service",
        "mcp-memory-service-lite==12.4.0",
        "mcp==1.30.0",
        "pysqlite3-binary",
    )
    environment = {
        "HOME": str(job.state),
        "MCP_EXTERNAL_EMBEDDING_URL": f"{job.embeddings}/embeddings",
        "MCP_EXTERNAL_EMBEDDING_MODEL": "text-embedding-3-small",
        "MCP_EXTERNAL_EMBEDDING_API_KEY": "local",
        "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
        "MCP_MEMORY_SQLITE_PATH": str(job.state / "memories.db"),
    }
    return asyncio.run(_search_memories([str(place / "bin/memory"), "server"], environment, job))


async def _search_memories(
    command: Sequence[str], environment: Mapping[str, str], job: Job
) -> Answers:
    answers, path_of = Answers(), dict[str, str]()
    async with _mcp(command, environment) as session:
        for number, (path, text) in enumerate(job.parts()):
            # With a conversation of its own no text is refused as too much like another.
            arguments: dict[str, Any] = {"content": text, "conversation_id": str(number)}
            stored = re.search(r"hash: (\w+)", await _call(session, "memory_store", arguments))
            if stored:
                path_of[stored[1]] = path
        for asked, question in job.questions.items():
            arguments = {"query": question, "limit": PARTS, "mode": "hybrid"}
            began = time.perf_counter()
            text = await _call(session, "memory_search", arguments)
            answers.milliseconds.append(1_000 * (time.perf_counter() - began))
            hashes = re.findall(r"^ *Hash: (\w+)", text, re.MULTILINE)
            answers.found[asked] = distinct(path_of[each] for each in hashes if each in path_of)
    return answers


def script(name: str, packages: Sequence[str], source: str) -> Ask:
    """A library: the source runs in its environment and answers all questions."""

    def ask(job: Job) -> Answers:
        place = installed.in_an_environment(name, *packages)
        given, answered = job.state / "job.json", job.state / "answers.json"
        asked = {"parts": job.parts(), "questions": job.questions, "embeddings": job.embeddings}
        more = {"dimensions": DIMENSIONS, "limit": PARTS, "folder": str(job.state)}
        given.write_text(json.dumps(asked | more))
        program = [str(place / "bin/python"), "-c", source, str(given), str(answered)]
        installed.run(program, {"HOME": str(job.state), "OPENAI_API_KEY": "local"})
        answers = json.loads(answered.read_text())
        found = {each: distinct(paths) for each, paths in answers["found"].items()}
        return Answers(found, answers["milliseconds"])

    return ask


def qmd(job: Job) -> Answers:
    place = installed.by_npm("qmd", "@tobilu/qmd@0.9.0", "bun")
    programs = place / "node_modules/.bin"
    environment = {"HOME": str(job.state), "PATH": f"{programs}:{environ['PATH']}"}
    program, answers = str(programs / "qmd"), Answers()
    installed.run([program, "collection", "add", str(job.notes), "--name", "box"], environment)
    # Its paths are made over: lower case, and a dash for whatever is no letter.
    path_of = {_plain(path): path for path in job.files}
    for asked, question in job.questions.items():
        began = time.perf_counter()
        text = installed.run(
            [program, "search", question, "-n", str(FILES), "--files"], environment
        )
        answers.milliseconds.append(1_000 * (time.perf_counter() - began))
        hits = re.findall(r"qmd://box/(.+?\.md)", text)
        answers.found[asked] = distinct(
            path_of[_plain(hit)] for hit in hits if _plain(hit) in path_of
        )
    return answers


def _plain(path: str) -> str:
    return re.sub(r"[\W_]+", "", path.casefold())


@asynccontextmanager
async def _mcp(
    command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[ClientSession]:
    program, *arguments = command
    server = StdioServerParameters(command=program, args=arguments, env={**environ, **environment})
    with Path("/dev/null").open("w") as nowhere:
        async with stdio_client(server, errlog=nowhere) as streams, ClientSession(*streams) as one:
            await one.initialize()
            yield one


async def _call(session: ClientSession, tool: str, arguments: dict[str, Any]) -> str:
    result = await session.call_tool(tool, arguments)
    return "".join(content.text for content in result.content if content.type == "text")


PEERS: Mapping[str, Ask] = {
    "basic-memory 0.24.1, hybrid": basic_memory("hybrid"),
    "basic-memory 0.24.1, text": basic_memory("text"),
    "mem0ai 2.2.1": script("mem0", ["mem0ai==2.2.1"], MEM0),
    "mcp-memory-service-lite 12.4.0, hybrid": mcp_memory_service,
    "chromadb 1.5.9": script("chromadb", ["chromadb==1.5.9"], CHROMADB),
    "lancedb 0.40.0, hybrid": script("lancedb", ["lancedb==0.40.0"], LANCEDB),
    "qmd 0.9.0, search": qmd,
}


def measure(folder: Path, name: str, most: int, chosen: Sequence[str]) -> str:
    """The table of one set."""
    questions = load(folder, name)
    asked = dict(sorted(questions.queries.items(), key=lambda one: crc32(one[0].encode()))[:most])
    with TemporaryDirectory() as place:
        notes = Path(place) / "box"
        for path, text in questions.files.items():
            (notes / path).parent.mkdir(parents=True, exist_ok=True)
            (notes / path).write_bytes(text.encode())
        options = Options(notes, Path(place) / "state", model=MODEL, environment=UNLIMITED)
        with Product(options, say=lambda _: None) as product:
            rows: list[list[str]] = []
            asks: dict[str, Ask] = {"Memory Box": lambda job: ours(job, product)}
            for peer, ask in {**asks, **{each: PEERS[each] for each in chosen}}.items():
                state = Path(place) / f"peer{len(rows)}"
                state.mkdir()
                job = Job(notes, questions.files, asked, product.embeddings.url, state)
                rows.append([peer, *_cells(ask, job, questions)])
                print(*rows[-1], file=sys.stderr, flush=True)
    heads = ("", "R@1", "R@3", "R@8", "nDCG@10", "MRR", "a search, p50 ms")
    about = f"{name}: {len(questions.files):,} notes, {len(asked):,} of its questions, {MODEL}"
    return f"{about}\n\n{table(heads, rows)}"


def _cells(ask: Ask, job: Job, questions: Questions) -> list[str]:
    try:
        answers = ask(job)
    except (CalledProcessError, OSError) as error:
        return ["-"] * 5 + [f"does not run here: {type(error).__name__}"]
    for each, source in questions.source.items():
        if each in answers.found:
            answers.found[each] = [path for path in answers.found[each] if path != source]
    found = Found.of(answers.found, questions.relevant)
    return [*found.cells(), f"{median(answers.milliseconds):.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--questions", type=int, default=150, help="of each set, at most")
    parser.add_argument("--peer", action="append", choices=sorted(PEERS))
    parser.add_argument("sets", nargs="*", default=SETS)
    options = parser.parse_args()
    if not (options.data / "load.py").is_file():
        print(f"skipped: no sets in {options.data}")
        return
    peers = options.peer or list(PEERS)
    for name in options.sets:
        print(measure(options.data, name, options.questions, peers), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
