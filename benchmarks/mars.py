"""How fast the native engine is beside the authors' loop over R's `earth()` and `predict()`.

python benchmarks/mars.py              four sizes, one run, ratios; one fit of ozone; memory
python benchmarks/mars.py --scaling [FILE.png]   time against n, p and nk, with the log-log slope
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from matplotlib.figure import Figure

from pyearthdof import Earth
from pyearthdof.mars import engine_native as native
from pyearthdof.mars.options import OPTIONS

SIZES = {  # (n, p, nk, degree): responses for R, responses for us, ratio that we want
    (100, 10, 21, 1): (200, 4000, 100),
    (100, 50, 100, 2): (20, 200, 20),
    (3065, 57, 115, 1): (6, 60, 30),
    (3065, 57, 115, 2): (2, 20, 25),
}
R_LOOP = """
suppressMessages(library(earth))
a <- as.integer(commandArgs(TRUE))
set.seed(1); x <- matrix(rnorm(a[1] * a[2]), a[1]); y <- matrix(rnorm(a[1] * a[5]), a[1])
f <- earth(x, y[, 1], nk = 3)
t <- system.time(for (i in seq_len(a[5])) {
  f <- earth(x, y[, i], nk = a[3], pmethod = "none", thresh = 0, degree = a[4], penalty = a[4] + 1)
  predict(f)
})
cat(t[["elapsed"]] / a[5])
"""
R_OZONE = """
suppressMessages(library(earth)); data(ozone1)
x <- as.matrix(ozone1[, -1]); y <- ozone1$O3
for (i in 1:3) earth(x, y, degree = 2)
cat(system.time(for (i in 1:20) earth(x, y, degree = 2))[["elapsed"]] / 20)
"""
OZONE_DATA = "suppressMessages(library(earth)); data(ozone1); write.csv(ozone1, row.names = FALSE)"


def options(**values) -> dict:
    """earth's defaults, and what is given."""
    return {option.name: option.default for option in OPTIONS} | {"linpreds": ()} | values


def monte_carlo_options(nk, degree) -> dict:
    return options(nk=nk, degree=degree, penalty=degree + 1.0, thresh=0.0, pmethod="none")


def run_rscript(code, *arguments) -> str:
    command = ["Rscript", "--vanilla", "-e", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def seconds_of_r(n, p, nk, degree, responses) -> float:
    return float(run_rscript(R_LOOP, n, p, nk, degree, responses))


def seconds_of_native(n, p, nk, degree, responses, n_threads, repeats=3) -> float:
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, responses))
    chosen = monte_carlo_options(nk, degree)
    native.fit_many(X, Y[:, :n_threads], None, chosen, n_threads)
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        native.fit_many(X, Y, None, chosen, n_threads)
        times.append(time.perf_counter() - began)
    return min(times) / responses


def compare_sizes() -> None:
    print("    n   p   nk degree      R loop   1 thread  2 threads  ratio (1)  ratio (2)  wanted")
    for size, (for_r, for_us, wanted) in SIZES.items():
        r = seconds_of_r(*size, for_r)
        one, two = (seconds_of_native(*size, for_us, n_threads) for n_threads in (1, 2))
        print(
            "{:5d} {:3d} {:4d} {:6d}".format(*size),
            f"{1e3 * r:8.2f} ms {1e3 * one:7.3f} ms {1e3 * two:7.3f} ms",
            f"{r / one:9.1f}x {r / two:9.1f}x {wanted:6d}x",
        )


def compare_ozone() -> None:
    import io

    import pandas as pd

    ozone = pd.read_csv(io.StringIO(run_rscript(OZONE_DATA)))
    X, y = ozone.drop(columns="O3"), ozone["O3"]
    model = Earth(degree=2, engine="native").fit(X, y)
    began = time.perf_counter()
    for _ in range(20):
        model.fit(X, y)
    ours = (time.perf_counter() - began) / 20
    r = float(run_rscript(R_OZONE))
    print(f"ozone, one fit: earth() in R {1e3 * r:.1f} ms, Earth(degree=2).fit {1e3 * ours:.1f} ms")


def show_memory() -> None:
    seconds_of_native(3065, 57, 115, 2, 100, 2, repeats=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory with 100 responses at (3065, 57, 115, degree 2), 2 threads: {peak:.0f} MB")


def show_scaling(picture=None) -> None:
    base = {"n": 1000, "p": 20, "nk": 41, "degree": 2}
    grids = {"n": (500, 1000, 2000, 4000, 8000), "p": (5, 10, 20, 40), "nk": (11, 21, 41, 81)}
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for ax, (name, values) in zip(axes, grids.items(), strict=True):
        times = []
        for value in values:
            size = base | {name: value}
            times.append(seconds_of_native(*size.values(), 4, 1, repeats=3))
        slope = np.polyfit(np.log(values), np.log(times), 1)[0]
        listed = ", ".join(f"{v}: {1e3 * t:.2f} ms" for v, t in zip(values, times, strict=True))
        print(f"{name}: {listed}; log-log slope {slope:.2f}")
        rest = ", ".join(f"{k} = {v}" for k, v in base.items() if k != name)
        ax.loglog(values, 1e3 * np.array(times), "o-")
        ax.set(xlabel=name, title=f"{rest}\nslope {slope:.2f}", xticks=values)
        ax.set_xticklabels(map(str, values))
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    ticks = [1, 2, 5, 10, 20, 50]
    axes[0].set(ylabel="ms a fit, one thread", yticks=ticks)
    axes[0].set_yticklabels(map(str, ticks))
    if picture:
        figure.savefig(picture, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scaling", nargs="?", const="", metavar="FILE.png")
    scaling = parser.parse_args().scaling
    if scaling is not None:
        show_scaling(scaling)
        return
    compare_sizes()
    compare_ozone()
    show_memory()


if __name__ == "__main__":
    main()
