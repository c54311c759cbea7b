"""The SAM CLI, in an environment of its own: it pins an older boto3 than the product runs on."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
_COMMAND: Final = ROOT / ".venv-sam/bin/sam"


def sam(
    command: str,
    /,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    quiet: bool = True,
) -> None:
    """Run a command of SAM in the project's folder. Raises CalledProcessError."""
    done = subprocess.run(
        [_COMMAND, command, *arguments],
        cwd=ROOT,
        env=os.environ | {"SAM_CLI_TELEMETRY": "0"} | dict(environment or {}),
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout or "")
        done.check_returncode()
