"""Peers, each installed in a place of its own, and how their programs are run."""

import sys
from asyncio import create_subprocess_exec
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from os import environ, killpg
from pathlib import Path
from shutil import rmtree, which
from signal import SIGKILL
from subprocess import PIPE, CalledProcessError, Popen

PLACE = Path(__file__).parent.parent / ".aws-sam/peers"
LONGEST = 20 * 60.0
"""Seconds that a program may run."""

_UV = Path(sys.executable).with_name("uv")
_PYTHONS = Path(environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"

_LOADABLE = """\
import sys, pysqlite3, pysqlite3.dbapi2
sys.modules["sqlite3"] = pysqlite3
sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2
"""
"""Many builds of Python have an sqlite3 that loads no extensions, and so finds words only."""


def in_an_environment(name: str, *packages: str) -> Path:
    """The virtual environment with these packages."""
    place = PLACE / name
    if not (place / ".ready").exists():
        rmtree(place, ignore_errors=True)
        python = next(map(str, sorted(_PYTHONS.glob("3.12.*/bin/python"))), "3.12")
        run([str(_UV), "venv", "--quiet", "--python", python, str(place)])
        into = ["--compile-bytecode", "--python", str(place / "bin/python")]
        run([str(_UV), "pip", "install", "--quiet", *into, *packages])
        (place / ".ready").touch()
    return place


def with_loadable_sqlite(name: str, *packages: str) -> Path:
    """As `in_an_environment`, with an sqlite3 that loads extensions."""
    place = in_an_environment(name, *packages)
    [site] = place.glob("lib/python*/site-packages")
    (site / "sitecustomize.py").write_text(_LOADABLE)
    return place


def by_npm(name: str, *packages: str) -> Path:
    """The folder with these packages of npm."""
    place = PLACE / name
    if not (place / ".ready").exists():
        place.mkdir(parents=True, exist_ok=True)
        npm = which("npm")
        if npm is None:
            raise FileNotFoundError("npm")
        run([npm, "install", "--silent", "--prefix", str(place), *packages])
        (place / ".ready").touch()
    return place


def log(name: str) -> Path:
    """Where it stands what a peer's program says besides its answers."""
    return PLACE / f"{name}.log"


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a program prints.

    Raises CalledProcessError when it fails, and TimeoutExpired when it does not end.
    """
    everything = {**environ, **(environment or {})}
    with Popen(
        command, text=True, stdout=PIPE, stderr=PIPE, env=everything, start_new_session=True
    ) as process:
        try:
            printed, said = process.communicate(timeout=LONGEST)
        finally:
            _end(process.pid)
    if process.returncode:
        raise CalledProcessError(process.returncode, command, printed, said)
    return printed


@asynccontextmanager
async def answering(
    name: str, command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[Callable[[str], Awaitable[str]]]:
    """A program that answers each line with another, for as long as the block lasts."""
    everything = {**environ, **environment}
    with log(name).open("w") as said:
        process = await create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=said, env=everything, start_new_session=True
        )
    lines, answers = process.stdin, process.stdout
    assert lines
    assert answers

    async def answer(line: str) -> str:
        lines.write(f"{line}\n".encode())
        return (await answers.readuntil()).decode()

    try:
        yield answer
    finally:
        _end(process.pid)
        await process.wait()


def _end(group: int) -> None:
    """End a program and all that it started."""
    with suppress(ProcessLookupError):
        killpg(group, SIGKILL)
