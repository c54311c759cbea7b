"""`make run`: the whole product on this machine, without a network and without keys."""

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from local.embedders import MODELS
from local.ministack import DidNotStart
from local.product import Options, Product
from local.runtime_api import InitFailed

_BANNER = """
Memory Box runs at  {mcp}

  connect     claude mcp add --transport http memorybox {mcp}
  inspect     npx @modelcontextprotocol/inspector --cli {mcp} --transport http --method tools/list
  notes       {folder}
  state       {state}

Started in {seconds:.1f} s. Ctrl-C stops it; notes and state stay.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    _isolate()
    stopping = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, stop)
    started = time.monotonic()
    try:
        with Product(options, _say) as product:
            print(
                _BANNER.format(
                    mcp=f"{product.url}/mcp",
                    folder=options.folder.resolve(),
                    state=options.state.resolve(),
                    seconds=time.monotonic() - started,
                ),
                flush=True,
            )
            while not stopping.wait(0.5) and not product.trouble():
                pass
            trouble = product.trouble()
            print(trouble or "Stopping.", flush=True)
    except DidNotStart as reason:
        print(reason, file=sys.stderr)
        return 1
    except InitFailed as reason:
        log = options.state / "functions.log"
        print(f"A function does not start: {reason}. More in {log}.", file=sys.stderr)
        return 1
    return 1 if trouble else 0


def _options(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="make run", description=__doc__)
    parser.add_argument(
        "--port", type=int, default=8080, help="the first of four; 0 takes free ones"
    )
    parser.add_argument("--folder", type=Path, default=Path("box"), help="where the notes are")
    parser.add_argument("--state", type=Path, default=Path(".local"), help="all that is not notes")
    parser.add_argument("--workers", type=int, default=4, help="most processes of a function")
    parser.add_argument("--model", choices=MODELS, default="minilm", help="what embeds the notes")
    given = parser.parse_args(arguments)
    return Options(
        given.folder, given.state, port=given.port or None, model=given.model, workers=given.workers
    )


def _isolate() -> None:
    """Nothing here leaves the machine, and what is set up for the real AWS has no say."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ["NO_PROXY"] = "*"


def _say(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
