"""Child processes, and what becomes of them when their parent is killed."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from textwrap import dedent

import pytest

from local.processes import Child

ROOT = Path(__file__).parents[2]

PARENT = """
    import os, sys, threading
    from local.processes import Child

    lifeline = int(sys.argv[1])
    child = Child([sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)"],
                  os.environ, lambda line: print(line, flush=True), keep_open=[lifeline])
    threading.Event().wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="No other system does this by itself.")
def test_a_child_ends_when_its_parent_is_killed() -> None:
    heard, held = os.pipe()
    command = [sys.executable, "-c", dedent(PARENT), str(held)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, pass_fds=[held]) as parent:
        os.close(held)
        assert parent.stdout
        assert parent.stdout.readline() == b"1\n"
        parent.send_signal(signal.SIGKILL)
    ended, _, _ = select.select([heard], [], [], 10)
    assert ended
    assert os.read(heard, 1) == b""  # nobody holds the other end any more
    os.close(heard)


def test_a_child_outlives_the_thread_that_made_it() -> None:
    children: list[Child] = []
    lines: list[str] = []

    def make() -> None:
        program = "import time; time.sleep(0.5); print('still here')"
        children.append(Child([sys.executable, "-c", program], os.environ, lines.append))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    (child,) = children
    assert child.wait() == 0
    child.stop()
    assert lines == ["still here"]
