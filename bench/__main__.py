"""Measurements, one after another. Each can be run alone: `python -m bench.calls`.

    python -m bench [--data FOLDER] [--write] [NAME ...]

With --write, what a measurement prints takes its place in docs/benchmarks.md.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence

from bench.page import publish

MEASUREMENTS: Mapping[str, Sequence[str]] = {
    "imports": ["bench.imports"],
    "calls": ["bench.calls"],
    "costs": ["bench.costs"],
    "speed": ["bench.speed"],
    "first_index": ["bench.first_index"],
    "healing": ["bench.healing"],
}
SLOWLY = ("locomo", "locomo-all", "obsidian-en", "obsidian-ja", "obsidian-zh")
ON_SETS: Mapping[str, Sequence[str]] = {
    "quality": ["bench.quality"],
    "quality-minilm": ["bench.quality", "--model", "minilm", *SLOWLY],
    "quality-made": ["bench.quality", "--made"],
    "peers": ["bench.peers"],
    "coarse": ["bench.coarse"],
    "sizes": ["bench.sizes"],
}
USUAL = ("imports", "calls", "costs", "speed")
"""What runs when nothing is named, and `quality` if the sets are there. The others take long."""

parser = argparse.ArgumentParser(prog="make bench", description=__doc__.partition("\n")[0])
parser.add_argument("--data", help="folder of the public sets, to measure what a search finds")
parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md, too")
parser.add_argument("names", nargs="*", help=f"of {', '.join([*MEASUREMENTS, *ON_SETS])}")
given = parser.parse_args()

for name in given.names or [*USUAL, *(["quality"] if given.data else [])]:
    if name in ON_SETS and not given.data:
        parser.error(f"{name} needs --data")
    module = [*ON_SETS[name], "--data", given.data] if name in ON_SETS else MEASUREMENTS[name]
    print(f"\n## {name}\n", flush=True)
    program = [sys.executable, "-m", *module]
    ran = subprocess.run(program, check=False, text=True, stdout=subprocess.PIPE)
    print(ran.stdout, flush=True)  # of what fails, too: it may have printed a table before
    ran.check_returncode()
    if given.write:
        publish(name, ran.stdout.strip())
