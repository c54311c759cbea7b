"""A program that ends when the one that started it does, however that ended.

`python -I -S launch.py PARENT COMMAND...` becomes COMMAND. Linux alone can do this.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2); kept when another program takes over


def main() -> None:
    parent, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == int(parent):  # else it ended before this was arranged
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main()
