"""The memory of one large fit of Friedman's function: the native engine and `earth(x, y)` in a plain R.

Both are measured alike, on Linux: each fits in a process of its own, which holds the data and has fitted a
few rows before. Then the system's mark of the most memory that the process ever held is set back, the fit
runs, and the mark less what was held before is printed.

python benchmarks/memory.py                                  150,000 x 20, degrees 1 and 2, 1 and 2 threads
python benchmarks/memory.py --n 1000000 --degree 2 --alone   without R
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from large import friedman, size_parser
from stopwatch import Stopwatch, r_stopwatch

NATIVE = """
import sys, time
import numpy as np
from pyearthdof import Earth
X, y = np.load("X.npy"), np.load("y.npy")
earth = Earth(degree=int(sys.argv[1]), engine="native", n_jobs=int(sys.argv[2]))
earth.fit(X[:1000], y[:1000])
print("ready", flush=True)
for _ in sys.stdin:
    began = time.perf_counter()
    earth.fit(X, y)
    print(time.perf_counter() - began, flush=True)
"""


def main() -> None:
    """Measure what was asked for, and print."""
    arguments = size_parser(__doc__).parse_args()
    X, y = friedman(arguments.n, arguments.p)
    for degree in arguments.degree:
        work = f"n = {arguments.n}, p = {arguments.p}, degree {degree}"
        if not arguments.alone:
            show(work, "earth(x, y) in R", in_r(X, y, degree))
        for threads in arguments.threads:
            show(work, f"native, threads: {threads}", native(X, y, degree, threads))


def in_r(X: np.ndarray, y: np.ndarray, degree: int) -> Stopwatch:
    """A plain R that has the data."""
    return r_stopwatch(
        "suppressMessages(library(earth)); y <- as.vector(y); "
        f"invisible(earth(X[1:1000, ], y[1:1000], degree = {degree})); invisible(gc())",
        f"fit <- earth(X, y, degree = {degree})",
        X=X,
        y=y,
    )


def native(X: np.ndarray, y: np.ndarray, degree: int, threads: int) -> Stopwatch:
    """A Python that has the data."""
    folder = Path(tempfile.mkdtemp(prefix="pyearthdof-bench-"))
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return Stopwatch([sys.executable, "-c", NATIVE, str(degree), str(threads)], cwd=folder)


def show(work: str, rival: str, process: Stopwatch) -> None:
    """Let a process fit once, and print its memory."""
    before = held(process.pid, "VmRSS")
    Path(f"/proc/{process.pid}/clear_refs").write_text(
        "5"
    )  # the mark of the most memory is set back
    seconds = process.seconds()
    most = held(process.pid, "VmHWM")
    process.close()
    print(f"{work}: {rival:20s} {most - before:6.0f} MB above {before:.0f} MB, {seconds:.2f} s")


def held(pid: int, name: str) -> float:
    """Megabytes that a process holds (VmRSS), or the most that it held (VmHWM)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status).group(1)) / 1024


if __name__ == "__main__":
    main()
