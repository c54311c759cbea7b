"""What an answer has to load first, on which somebody waits when a function starts."""

import os
import subprocess
import sys
from textwrap import dedent


def test_only_a_page_loads_fastapi() -> None:
    program = """
        import sys
        from tests.unit.web.site import Site

        site = Site()
        for path in ("/mcp", "/token", "/register", "/.well-known/oauth-protected-resource"):
            site.call("POST", path)
        print("fastapi" in sys.modules)
        site.call("GET", "/privacy")
        print("fastapi" in sys.modules)
        """
    ran = subprocess.run(
        [sys.executable, "-c", dedent(program)],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.split() == ["False", "True"], ran.stderr
