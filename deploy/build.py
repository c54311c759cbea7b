"""Builds what the template names, without Docker: for Lambda, or for this machine."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from deploy.sam import ROOT, sam

MOST_MEGABYTES: Final = 250
"""What Lambda unpacks for one function, its layers included."""

_UV: Final = ROOT / ".venv/bin/uv"


class NotHere(Exception):
    """Something that a build needs is not installed. Says what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """What runs the build: a version of Python, and a platform as uv names it."""

    folder: Path
    python: str
    platform: str


LAMBDA: Final = Target(ROOT / ".aws-sam/build", "3.13", "aarch64-manylinux_2_34")
HERE: Final = Target(ROOT / ".aws-sam/here", "{}.{}".format(*sys.version_info), "")


def build(target: Target) -> Path:
    """Build for `target`, and return the template that names the results. Raises NotHere."""
    tools = {
        "UV": str(_UV),
        "PYTHON": str(_interpreter(target.python)),
        "PLATFORM": target.platform,
    }
    sam("build", "--parallel", "--build-dir", str(target.folder), environment=tools)
    return target.folder / "template.yaml"


def sizes(folder: Path) -> Mapping[str, int]:
    """Unzipped bytes of each layer and function of a build."""
    return {
        part.name: sum(file.stat().st_size for file in _files(part))
        for part in sorted(folder.iterdir())
        if part.is_dir()
    }


def digest(folder: Path) -> str:
    """A name for the contents of a build: the same for equal ones."""
    contents = sha256()
    for file in _files(folder):
        contents.update(f"{file.relative_to(folder)}\0".encode())
        contents.update(sha256(file.read_bytes()).digest())
    return contents.hexdigest()[:16]


def _interpreter(version: str) -> Path:
    """A Python of the version: what another one compiles, it would not load."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders = [*map(str, versions.glob(f"{version}.*/bin")), os.environ["PATH"]]
    found = subprocess.run(
        [_UV, "python", "find", "--system", "--no-python-downloads", version],
        env=os.environ | {"PATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise NotHere(f"Python {version} is not here. Install it: {_UV} python install {version}")
    return Path(found.stdout.strip())


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def main() -> int:
    target = HERE if "--here" in sys.argv else LAMBDA
    try:
        build(target)
    except NotHere as reason:
        print(reason, file=sys.stderr)
        return 1
    found = sizes(target.folder)
    layers = sum(size for name, size in found.items() if name.endswith("Layer"))
    for name, size in found.items():
        whole = "" if name.endswith("Layer") else f", {_megabytes(size + layers)} with its layers"
        print(f"{name:18} {_megabytes(size)}{whole}")
    print(f"unzipped, of {MOST_MEGABYTES} MB that a function may have; {target.folder}")
    return 0


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.2f} MB"


if __name__ == "__main__":
    sys.exit(main())
