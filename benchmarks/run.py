"""All comparisons: printed, and stored in docs/ as CSV, Markdown and pictures.

python benchmarks/run.py                all of them, about 20 minutes
python benchmarks/run.py --only mars    one topic, printed only
python benchmarks/run.py --runs 2 --out /tmp/b   a quick look, stored elsewhere
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import classifier
import large
import monte_carlo
import predictions
import scaling
import threads
import weighted
from compare import measure
from page import write_page
from threadpoolctl import threadpool_limits

import mars
import procedures

MODULES = {
    "mars": mars,
    "weighted": weighted,
    "predictions": predictions,
    "classifier": classifier,
    "monte_carlo": monte_carlo,
    "large": large,
    "procedures": procedures,
    "threads": threads,
}
BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=[*MODULES, "scaling"])
    parser.add_argument("--runs", type=int, default=5, help="alternating runs of each comparison")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder for the page")
    arguments = parser.parse_args()
    os.environ.update(dict.fromkeys(BLAS, "1"))  # for the rivals' processes
    with threadpool_limits(1):
        run(arguments)


def run(arguments) -> None:
    """Measure, print and store."""
    rows = []
    for name, module in MODULES.items():
        if arguments.only not in (None, name):
            continue
        for comparison in module.comparisons():
            print(f"{comparison.topic}: {comparison.work}", flush=True)
            found = measure(comparison, arguments.runs)
            for row in found:
                spread = f"({row.ratio_low:.2f} to {row.ratio_high:.2f})"
                print(
                    f"  {row.rival:34s} {row.ms_per_fit:10.3f} ms  {row.ratio:8.2f}x {spread:20s} {row.note}",
                    flush=True,
                )
            rows += found
    if arguments.only in (None, "scaling"):
        found = scaling.measure_scaling(arguments.runs)
        memory = scaling.measure_memory()
        for work, megabytes in memory.items():
            print(f"  {work}: {megabytes:.0f} MB")
    if arguments.only is None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        write_page(arguments.out, rows, found, memory)
        print(f"written: {arguments.out / 'benchmarks.md'}")


if __name__ == "__main__":
    main()
