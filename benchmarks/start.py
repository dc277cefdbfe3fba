"""How long it takes until the package works: its import, its command line, the first fit of a process.

python benchmarks/start.py --runs 5

Every number is the median of new processes. Imports are processor time, and what they take more than
`import sklearn.base` alone; the rest is time on the clock. Nothing is written by these processes: the first
fit is that of an installation whose folders are read-only.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

NOTHING, YARDSTICK, OURS = "pass", "import sklearn.base", "from pyearthdof import Earth"
IMPORT = """
import time
{line}
print(time.process_time())
"""
FIRST_FIT = """
import time
import numpy as np
from pyearthdof import Earth
rng = np.random.default_rng(0)
X = rng.normal(size=(330, 9))
y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=330)
fit = lambda: Earth(engine="native", degree=2).fit(X, y, {weights})
began = time.perf_counter()
fit()
first = time.perf_counter() - began
began = time.perf_counter()
fit()
print(first, time.perf_counter() - began)
"""
HELP = "from pyearthdof.cli import main; main()"


def main() -> None:
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = range(parser.parse_args().runs)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        imports = [{line: _numbers(IMPORT.format(line=line), folder)[0]
                    for line in (NOTHING, YARDSTICK, OURS)} for _ in runs]  # fmt: skip
        fits = {weights: [_numbers(FIRST_FIT.format(weights=weights), folder) for _ in runs]
                for weights in ("None", "np.arange(1.0, 331.0)")}  # fmt: skip
        helps = [_clock([sys.executable, "-c", HELP, "--help"], folder) for _ in runs]
    for line in (NOTHING, YARDSTICK, OURS):
        print(f"{line}: {_median(r[line] for r in imports):.2f} s of processor time")
    more = _median(r[OURS] - r[YARDSTICK] for r in imports)
    print(f"the last more than the one before: {more:.2f} s")
    print(f"pyearthdof --help: {_median(helps):.2f} s")
    for weights, times in fits.items():
        first, second = (_median(column) for column in zip(*times, strict=True))
        kind = "without weights" if weights == "None" else "with weights"
        print(
            f"native fit of 330 x 9, degree 2, {kind}: first {first:.3f} s, second {second:.3f} s"
        )


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}


def _numbers(code: str, folder: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, cwd=folder, env=_environment(),
    )  # fmt: skip
    return [float(word) for word in done.stdout.split()]


def _clock(command: list[str], folder: str) -> float:
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True, cwd=folder, env=_environment())
    return time.perf_counter() - began


def _median(values) -> float:
    return statistics.median(values)


if __name__ == "__main__":
    main()
