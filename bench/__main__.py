"""Every measurement, one after another. Each can be run alone: `python -m bench.calls`."""

import argparse
import subprocess
import sys

MEASUREMENTS = {
    "imports": "What it costs to load a function",
    "calls": "What a call asks of others",
    "speed": "How long a search computes",
}

parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
parser.add_argument("--data", help="folder of the public sets, to measure what a search finds")
given = parser.parse_args()

for name, title in MEASUREMENTS.items():
    print(f"\n## {title}\n", flush=True)
    subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True)
if given.data:
    print("\n## What a search finds\n", flush=True)
    subprocess.run([sys.executable, "-m", "bench.quality", "--data", given.data], check=True)
