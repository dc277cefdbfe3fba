"""What many fits of the adaptive procedures cost, against scikit-learn's and R's loops on the same data.

Trees at the size of the paper's table; best subset and the lasso at the size of the paper's figures.
R times its own loops (leaps, glmnet) inside R, without start-up and reading. One thread:
    OMP_NUM_THREADS=1 python benchmarks/adaptive.py
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import Lasso as ScikitLasso
from sklearn.tree import DecisionTreeRegressor

from pyearthdof.procedures.base import Procedure
from pyearthdof.procedures.lasso import Lasso
from pyearthdof.procedures.subset import BestSubset, best_subsets
from pyearthdof.procedures.tree import RegressionTree

R_LOOP = """
X <- as.matrix(read.csv("X.csv", header = FALSE)); Y <- as.matrix(read.csv("Y.csv", header = FALSE))
suppressMessages(library({package}))
time <- system.time(for (j in seq_len(ncol(Y))) {{ y <- Y[, j]; {call} }})[["elapsed"]]
cat(time)
"""
LEAPS = "regsubsets(X, y, intercept = FALSE, nvmax = ncol(X), really.big = TRUE)"
GLMNET = "glmnet(X, y, lambda = 0.2, intercept = FALSE, standardize = FALSE, thresh = 1e-14, maxit = 1e6)"


def seconds(work, repeats: int = 3) -> float:
    """Best of some runs, after one that compiles and warms up."""
    work()
    best = np.inf
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def r_seconds(package: str, call: str, X, Y) -> float | None:
    """Seconds of an R loop over the columns of Y; None without R."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder, "X.csv"), X, delimiter=",")
        np.savetxt(Path(folder, "Y.csv"), Y, delimiter=",")
        code = R_LOOP.format(package=package, call=call)
        done = subprocess.run(
            ["Rscript", "--vanilla", "-e", code],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def line(name: str, ours: float, **others: float | None) -> None:
    print(f"{name}: {ours:.4f} s", end="")
    for who, theirs in others.items():
        print(
            f"; {who} {'not here' if theirs is None else f'{theirs:.3f} s ({theirs / ours:.1f} x)'}",
            end="",
        )
    print(flush=True)


def trees() -> None:
    rng = np.random.default_rng(0)

    def table():
        for p in (1, 5, 10):
            for depth in range(5):
                for _ in range(10):
                    X, Y = rng.standard_normal((100, p)), rng.standard_normal((100, 100))
                    RegressionTree(depth).fit_many(X, Y)

    line("table of trees at paper size, 15,000 fits", seconds(table, 1))
    X, Y = rng.standard_normal((100, 10)), rng.standard_normal((100, 500))
    line(
        "500 trees of depth 4, n = 100, p = 10",
        seconds(lambda: RegressionTree(4).fit_many(X, Y)),
        scikit_learn=seconds(
            lambda: [DecisionTreeRegressor(max_depth=4).fit(X, y) for y in Y.T], 1
        ),
        our_own_loop=seconds(lambda: Procedure.fit_many(RegressionTree(4), X, Y), 1),
    )


def subsets() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 10))
    Y = X[:, :5] @ np.arange(1.0, 6.0)[:, None] + rng.standard_normal((20, 500))
    line(
        "500 best subsets of every size, n = 20, p = 10",
        seconds(lambda: BestSubset().fit_many_sizes(X, Y)),
        leaps=r_seconds("leaps", LEAPS, X, Y),
    )
    line(
        "500 best subsets of size 3, n = 20, p = 10",
        seconds(lambda: BestSubset(size=3).fit_many(X, Y)),
        our_own_loop=seconds(lambda: Procedure.fit_many(BestSubset(size=3), X, Y), 1),
    )
    distance = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    X = rng.standard_normal((100, 30)) @ np.linalg.cholesky(0.9**distance).T
    y = X @ rng.standard_normal(30) + rng.standard_normal(100)
    line(
        "best subset of every size, n = 100, p = 30, correlation 0.9",
        seconds(lambda: best_subsets(X, y)),
        leaps=r_seconds("leaps", LEAPS, X, y[:, None]),
    )


def lassos() -> None:
    rng = np.random.default_rng(2)
    for p in (20, 120):
        X = rng.standard_normal((100, p))
        Y = X[:, :3].sum(axis=1, keepdims=True) + rng.standard_normal((100, 500))
        line(
            f"500 lassos, n = 100, p = {p}, lam = 40",
            seconds(lambda X=X, Y=Y: Lasso(40.0).fit_many(X, Y)),
            scikit_learn=seconds(
                lambda X=X, Y=Y: [
                    ScikitLasso(0.2, fit_intercept=False, tol=1e-12).fit(X, y) for y in Y.T
                ],
                1,
            ),
            glmnet=r_seconds("glmnet", GLMNET, X, Y),
            our_own_loop=seconds(lambda X=X, Y=Y: Procedure.fit_many(Lasso(40.0), X, Y), 1),
        )


if __name__ == "__main__":
    trees()
    subsets()
    lassos()
