"""What is installed is pinned to its bytes, and no older than the last known fault."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FLOORS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "floors.toml").read_text())
LOCKS = {"product": "layers/dependencies/requirements.txt", "tests": "tests/requirements.txt"}
_PIN = re.compile(r"^([a-z0-9][a-z0-9.-]*)==([^ ;\\]+)", re.MULTILINE)


def pinned(lock: str) -> list[tuple[str, Version]]:
    """A package may have several pins, each for some version of Python."""
    found = _PIN.findall((ROOT / lock).read_text())
    return [(name, Version(version)) for name, version in found]


def too_old(pins: Iterable[tuple[str, Version]], floors: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} {version}: {floors[name]['for']}"
        for name, version in pins
        if name in floors and version < Version(floors[name]["least"])
    ]


@pytest.mark.parametrize("lock", LOCKS)
def test_nothing_is_older_than_the_last_known_fault(lock: str) -> None:
    assert too_old(pinned(LOCKS[lock]), FLOORS[lock]) == []


def test_a_version_below_its_floor_is_named_with_the_reason() -> None:
    floors = {"starlette": {"least": "1.3.1", "for": "CVE-2026-54283"}}
    assert too_old([("starlette", Version("1.3.0"))], floors) == ["starlette 1.3.0: CVE-2026-54283"]


@pytest.mark.parametrize(
    "lock",
    [
        *LOCKS.values(),
        *["deploy/checks.txt", "deploy/sam.txt", "local/ministack.txt", "local/models.txt"],
    ],
)
def test_every_pin_has_its_hashes(lock: str) -> None:
    blocks = re.split(r"\n(?=[a-z0-9])", (ROOT / lock).read_text())
    pins = [block for block in blocks if "==" in block.partition("\n")[0]]
    assert len(pins) == len(pinned(lock))
    assert [pin.partition(" ")[0] for pin in pins if "--hash=sha256:" not in pin] == []
