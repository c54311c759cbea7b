"""The runtime client without the other packages of this machine, as Lambda has it beside layers."""

from importlib.metadata import files
from pathlib import Path

_PACKAGES = ("awslambdaric", "simplejson", "snapshot_restore_py")


def alone(folder: Path) -> Path:
    """Make `folder` one that a PYTHONPATH can name."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in _PACKAGES:
        for file in files(package) or []:
            site = Path(str(file.locate())).parents[len(file.parts) - 1]
            link = folder / (top := file.parts[0])
            if top != ".." and not link.exists():
                link.symlink_to(site / top)
    return folder
