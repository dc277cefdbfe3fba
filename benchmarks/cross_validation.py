"""Cross-validation: the native engine against `earth(x, y, nfold = 10)` in a plain R, in turns.

python benchmarks/cross_validation.py                        5,000 x 20, 10 folds, degrees 1 and 2, 2 threads
python benchmarks/cross_validation.py --varmod lm --ncross 3 with a variance model
"""

from __future__ import annotations

import argparse

from compare import Comparison, Rival, measure
from large import friedman, once
from stopwatch import r_stopwatch

from pyearthdof import Earth


def main() -> None:
    """Measure what was asked for, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=5_000)
    parser.add_argument("--p", type=int, default=20)
    parser.add_argument("--nfold", type=int, default=10)
    parser.add_argument("--ncross", type=int, default=1)
    parser.add_argument("--varmod", default="none")
    parser.add_argument("--degree", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    for degree in arguments.degree:
        compare(arguments, degree)


def compare(arguments, degree: int) -> None:
    """Print a line for R and one for each number of threads."""
    X, y = friedman(arguments.n, arguments.p)
    folds = {"nfold": arguments.nfold, "ncross": arguments.ncross}
    called = ", ".join(f"{name} = {value}" for name, value in folds.items())
    loop = r_stopwatch(
        "suppressMessages(library(earth)); y <- as.vector(y)",
        f'set.seed(1); earth(X, y, degree = {degree}, {called}, varmod.method = "{arguments.varmod}")',
        X=X,
        y=y,
    )
    rivals = [Rival(f"earth(x, y, {called}) in R", loop.seconds)]
    for threads in arguments.threads:
        earth = Earth(
            degree=degree, engine="native", varmod_method=arguments.varmod, random_state=1,
            n_jobs=threads, **folds,
        )  # fmt: skip
        rivals.append(Rival(f"native, threads: {threads}", lambda e=earth: once(e, X.copy(), y)))
    work = f"n = {arguments.n}, p = {arguments.p}, degree {degree}, {called}"
    for row in measure(Comparison("Cross-validation", work, tuple(rivals)), arguments.runs):
        spread = f"({row.ratio_low:.2f} to {row.ratio_high:.2f})"
        print(f"{work}: {row.rival:40s} {row.ms_per_fit / 1e3:8.3f} s {row.ratio:7.2f}x {spread}")
    loop.close()


if __name__ == "__main__":
    main()
