"""Two threads beside one, on the same work: rows for the page, or a table with the slowest last.

    python benchmarks/threads.py
    python benchmarks/threads.py --runs 15

Threads start only where the work pays for them, so that the second should be nowhere more than 5 % slower.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator

import numpy as np
from compare import Comparison, Rival, measure, timed

from pyearthdof import Earth

__all__ = ["comparisons"]

# n, p, degree
SIZES = (
    (50, 2, 1), (50, 2, 2), (100, 5, 1), (100, 5, 2), (200, 20, 1), (330, 9, 1), (330, 9, 2),
    (1000, 10, 1), (1000, 10, 2), (1000, 50, 1), (2000, 20, 1), (2000, 20, 2), (5000, 10, 1),
    (5000, 20, 2), (10_000, 50, 1), (20_000, 20, 1), (50_000, 20, 1), (100_000, 50, 1),
)  # fmt: skip
SECONDS = 0.03  # of a run: small work is repeated


def comparisons() -> Iterator[Comparison]:
    """Fits of 18 sizes, exhaustive pruning, five responses, and folds with a variance model."""
    for n, p, degree in SIZES:
        X, y = data(n, p)
        yield _both(f"fit, n = {n}, p = {p}, degree {degree}", X, y, degree=degree)
    X, y = data(1000, 10)
    yield _both("exhaustive pruning, n = 1000, p = 10", X, y, pmethod="exhaustive")
    X, y = data(2000, 20)
    Y = np.column_stack([np.roll(X, k, axis=1)[:, 0] ** 2 + y for k in range(5)])
    yield _both("five responses, n = 2000, p = 20", X, Y)
    X, y = data(500, 5)
    folds = {"nfold": 5, "ncross": 3, "varmod_method": "lm", "random_state": 1}
    yield _both("15 folds and a variance model, n = 500, p = 5", X, y, **folds)


def data(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """A curve, an interaction and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.sin(X[:, 0]) + X[:, 1] * (X[:, -1] > 0) + rng.normal(size=n) / 2


def _both(work: str, X, y, **options) -> Comparison:
    def fit(n_jobs: int) -> Callable[[], object]:
        return lambda: Earth(engine="native", n_jobs=n_jobs, **options).fit(X, y)

    fit(1)()
    repeats = max(1, round(SECONDS / timed(fit(1))()))
    rivals = (
        Rival("1 thread", timed(_repeated(fit(1), repeats))),
        Rival("2 threads", timed(_repeated(fit(2), repeats))),
    )
    return Comparison("One thread and two", work, rivals, repeats)


def _repeated(work: Callable[[], object], times: int) -> Callable[[], object]:
    return lambda: [work() for _ in range(times)]


def main() -> None:
    """Print a line for each work, and the slowest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    ratios = []
    for comparison in comparisons():
        one, two = measure(comparison, arguments.runs)
        ratios.append(two.ratio)
        print(
            f"{comparison.work:48s} {one.ms_per_fit:10.3f} {two.ms_per_fit:10.3f} ms {two.ratio:6.2f}x "
            f"({two.ratio_low:.2f} to {two.ratio_high:.2f})",
            flush=True,
        )
    print(f"slowest {min(ratios):.3f}x, median {statistics.median(ratios):.2f}x")


if __name__ == "__main__":
    main()
