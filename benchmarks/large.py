"""One large fit of Friedman's function: the native engine against `earth(x, y)` in a plain R, in turns.

python benchmarks/large.py                                   150,000 x 20, degrees 1 and 2, 1 and 2 threads
python benchmarks/large.py --n 1000000 --degree 2 --alone    without R: time and memory
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator

import numpy as np
from compare import Comparison, Rival, measure, timed
from stopwatch import Stopwatch, r_stopwatch

from pyearthdof import Earth


def main() -> None:
    """Measure what was asked for, and print."""
    parser = size_parser(__doc__)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    X, y = friedman(arguments.n, arguments.p)
    for degree in arguments.degree:
        loop = None if arguments.alone else in_r(X, y, degree)
        show(_fits(X, y, degree, arguments.threads, loop), arguments.runs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process, data included: {peak:.0f} MB")


def size_parser(doc: str) -> argparse.ArgumentParser:
    """The command line of a fit of a chosen size."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--n", type=int, default=150_000)
    parser.add_argument("--p", type=int, default=20)
    parser.add_argument("--degree", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--alone", action="store_true", help="only the native engine")
    return parser


def comparisons() -> Iterator[Comparison]:
    """The default sizes, for the page."""
    X, y = friedman(150_000, 20)
    for degree in (1, 2):
        loop = in_r(X, y, degree)
        yield _fits(X, y, degree, (1, 2), loop)
        loop.close()


def in_r(X: np.ndarray, y: np.ndarray, degree: int) -> Stopwatch:
    """A plain R that has the data."""
    return r_stopwatch(
        "suppressMessages(library(earth)); y <- as.vector(y)",
        f"fit <- earth(X, y, degree = {degree})",
        X=X,
        y=y,
    )


def _fits(X, y, degree: int, threads, loop: Stopwatch | None) -> Comparison:
    rivals = [] if loop is None else [Rival("earth(x, y) in R", loop.seconds)]
    for count in threads:
        earth = Earth(degree=degree, engine="native", n_jobs=count)
        # A copy: nothing is known of this X from the fit before.
        name = f"native engine, {count} thread{'s' * (count > 1)}"
        rivals.append(Rival(name, lambda e=earth: once(e, X.copy(), y)))
    n, p = X.shape
    work = f"n = {n}, p = {p}, degree {degree}"
    return Comparison("One large fit", work, tuple(rivals), most_runs=3)


def show(comparison: Comparison, runs: int) -> None:
    """Print a line for R and one for each number of threads."""
    for row in measure(comparison, runs):
        spread = f"({row.ratio_low:.2f} to {row.ratio_high:.2f})"
        seconds = row.ms_per_fit / 1e3
        print(
            f"{row.work}: {row.rival:24s} {seconds:8.3f} s {row.ratio:7.2f}x {spread}", flush=True
        )


def once(earth: Earth, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds of one fit."""
    return timed(lambda: earth.fit(X, y))()


def friedman(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's function of five uniform predictors among p, with noise."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(n, p))
    smooth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, smooth + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=n)


if __name__ == "__main__":
    main()
