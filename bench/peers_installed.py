"""Peers, each installed in a place of its own, and how their programs are run."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from os import environ
from pathlib import Path
from shutil import rmtree, which

PLACE = Path(__file__).parent.parent / ".aws-sam/peers"
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
        into = ["--python", str(place / "bin/python")]
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


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a program prints. Raises CalledProcessError when it fails."""
    return subprocess.run(
        command, check=True, text=True, capture_output=True, env={**environ, **(environment or {})}
    ).stdout
