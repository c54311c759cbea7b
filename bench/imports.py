"""What it costs to load each function, beside loading FastAPI and Mangum alone.

CPU seconds of whole processes, user and system, as the operating system counts them; the kinds take
turns, and the medians are compared.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from bench.tables import table

RUNS = 15
_ROOT = Path(__file__).parent.parent
_KINDS: Mapping[str, tuple[str, str]] = {
    "Python alone": ("pass", "."),
    "FastAPI + Mangum alone": ("import fastapi, mangum", "."),
    "functions/mcp": ("import app", "functions/mcp"),
    "functions/webhook": ("import app", "functions/webhook"),
    "functions/indexer": ("import app", "functions/indexer"),
}
_FLOOR = "FastAPI + Mangum alone"
_LATE = ("dropbox", "openai", "numpy", "boto3", "botocore", "requests", "Stemmer", "simsimd")


def measure() -> str:
    """The table of costs, as text."""
    seconds: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    for turn in range(RUNS + 1):
        for kind, (statement, folder) in _KINDS.items():
            taken = _cpu_seconds(statement, folder)
            if turn:  # the first one fills the caches
                seconds[kind].append(taken)
    floor = median(seconds[_FLOOR])
    rows = [
        (
            kind,
            f"{median(taken) * 1000:.0f}",
            f"{median(taken) / floor:.2f}",
            len(_modules(*_KINDS[kind])),
            ", ".join(name for name in _LATE if name in _modules(*_KINDS[kind])) or "none",
        )
        for kind, taken in seconds.items()
    ]
    return table(("process", "CPU ms", "ratio", "modules", "loaded of the late ones"), rows)


def _environment(folder: str) -> dict[str, str]:
    paths = [str(_ROOT / folder), str(_ROOT / "layers/memorybox")]
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    cache = str(_ROOT / ".local/pycache")  # layers are shipped compiled
    return given | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONPYCACHEPREFIX": cache}


def _cpu_seconds(statement: str, folder: str) -> float:
    process = os.spawnve(
        os.P_NOWAIT, sys.executable, [sys.executable, "-c", statement], _environment(folder)
    )
    _, status, used = os.wait4(process, 0)
    assert status == 0, f"{statement} in {folder} failed"
    return used.ru_utime + used.ru_stime


def _modules(statement: str, folder: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    reading, writing = os.pipe()
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", program],
        _environment(folder),
        file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)],
    )
    os.close(writing)
    with os.fdopen(reading) as output:
        modules = set(output.read().split())
    os.waitpid(process, 0)
    return modules


if __name__ == "__main__":
    print(measure())
