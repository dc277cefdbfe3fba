"""Single fits of the data sets that come with R: the native engine against `earth(x, y)` in a running R.

python benchmarks/real_data.py --runs 20

Every data frame of R's own packages (and of earth, kernlab, mda) with 15 to 20,000 complete rows and two or
more numeric columns; the last one is the response. Times on the clock, one thread. A run of small data is ten
fits, because R's clock counts milliseconds; a ratio is that of the medians of alternating runs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from compare import timed
from stopwatch import r_stopwatch

from pyearthdof import Earth

WRITE = """
folder <- commandArgs(TRUE)[1]
for (package in c("datasets", "MASS", "survival", "lattice", "earth", "kernlab", "mda")) {
  if (!requireNamespace(package, quietly = TRUE)) next
  for (name in unique(sub(" .*", "", data(package = package)$results[, "Item"]))) {
    frame <- tryCatch(get(name, envir = {e <- new.env(); data(list = name, package = package, envir = e); e}),
                      error = function(e) NULL, warning = function(w) NULL)
    if (!is.data.frame(frame)) next
    frame <- frame[vapply(frame, function(x) is.numeric(x) && is.null(dim(x)), TRUE)]
    numeric <- na.omit(as.data.frame(lapply(frame, as.numeric)))
    numeric <- numeric[vapply(numeric, function(x) all(is.finite(x)) && length(unique(x)) > 1, TRUE)]
    if (nrow(numeric) < 15 || ncol(numeric) < 2 || nrow(numeric) > 20000) next
    file <- file(file.path(folder, paste(package, name, ncol(numeric), sep = "-")), "wb")
    writeBin(unlist(numeric, use.names = FALSE), file)
    close(file)
  }
}
"""


def main() -> None:
    """Print a line for each fit, and the quartiles of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--degree", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["Rscript", "-e", WRITE, folder], check=True, stdout=subprocess.DEVNULL)
        for file in sorted(Path(folder).iterdir()):
            values = np.fromfile(file).reshape(int(file.name.rsplit("-", 1)[1]), -1).T.copy()
            for degree in arguments.degree:
                ratios.append(compare(file.name, values, degree, arguments.runs))
    low, median, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    slower = sum(ratio < 1 for ratio in ratios)
    print(f"{len(ratios)} fits: {min(ratios):.2f} to {max(ratios):.2f} times R's speed, median {median:.2f}, "
          f"quartiles {low:.2f} and {high:.2f}; slower than R: {slower}")  # fmt: skip


def compare(name: str, values: np.ndarray, degree: int, runs: int) -> float:
    """How many times faster than R, by medians of runs in turns."""
    X, y = np.ascontiguousarray(values[:, :-1]), values[:, -1].copy()
    fits = 1 if X.size > 20_000 else 10
    loop = r_stopwatch("suppressMessages(library(earth)); y <- as.vector(y)",
                       f"for (k in 1:{fits}) fit <- earth(X, y, degree = {degree})", X=X, y=y)  # fmt: skip
    earth = Earth(degree=degree, engine="native")
    ours = timed(lambda: [earth.fit(X, y) for _ in range(fits)])
    pairs = [(loop.seconds(), ours()) for _ in range(runs + 1)][1:]
    loop.close()
    by_r, by_us = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{name:32s} {len(X):6d} x {X.shape[1]:3d} degree {degree}: R {1e3 * by_r / fits:8.2f} ms, "
          f"ours {1e3 * by_us / fits:8.2f} ms, {by_r / by_us:6.2f}x", flush=True)  # fmt: skip
    return by_r / by_us


if __name__ == "__main__":
    main()
