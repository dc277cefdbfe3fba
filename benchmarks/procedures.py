"""The other procedures beside the library that most people would take: R, scikit-learn, glmnet, leaps."""

from __future__ import annotations

import numpy as np
from compare import Comparison, Rival, timed
from sklearn.linear_model import Lasso as ScikitLasso
from sklearn.tree import DecisionTreeRegressor
from stopwatch import r_stopwatch

from pyearthdof.procedures import (
    BestSubset,
    CubicSpline,
    Lasso,
    MonotoneCubicSpline,
    RegressionTree,
    SmoothingSpline,
)

__all__ = ["comparisons"]

TOPIC = "Other procedures, many responses"


def comparisons():
    """Each procedure at a size of the paper's tables and figures."""
    yield from _splines()
    yield from _lassos()
    yield from _trees()
    yield from _subsets()


def _compare(work, procedure, X, Y, *others, r=None):
    rivals = list(others)
    running = None
    if r is not None:
        name, setup, call = r
        loop = f"for (j in seq_len(ncol(Y))) {{ y <- Y[, j]; fit <- {call} }}"
        running = r_stopwatch(setup, loop, X=X, Y=Y)
        rivals.insert(0, Rival(name, running.seconds))
    ours = Rival(f"{type(procedure).__name__}.fit_many", timed(lambda: procedure.fit_many(X, Y)))
    yield Comparison(TOPIC, f"{work}, {Y.shape[1]} responses", (*rivals, ours), Y.shape[1])
    if running is not None:
        running.close()


def _splines():
    X = np.arange(1.0, 101.0)[:, None]
    Y = np.random.default_rng(0).normal(size=(100, 500))
    smooth = "smooth.spline(X[, 1], y, lambda = 0.01, nknots = 100)"
    yield from _compare(
        "smoothing spline, n = 100",
        SmoothingSpline(0.01, n_knots=100),
        X,
        Y,
        r=("smooth.spline() in R", "", smooth),
    )
    basis = "B <- unclass(splines::bs(X[, 1], df = 10, intercept = TRUE))"
    yield from _compare(
        "cubic spline, 10 functions, n = 100",
        CubicSpline(10),
        X,
        Y,
        r=("lm.fit() in R", basis, "lm.fit(B, y)"),
    )
    cone = basis + "\nH <- crossprod(B); A <- t(diag(10)[-1, ] - diag(10)[-10, ])"
    yield from _compare(
        "monotone cubic spline, 10 functions, n = 100",
        MonotoneCubicSpline(10),
        X,
        Y,
        r=("quadprog in R", cone, "quadprog::solve.QP(H, crossprod(B, y), A, rep(0, 9))"),
    )


def _lassos():
    rng = np.random.default_rng(2)
    for p in (20, 120):
        X = rng.normal(size=(100, p))
        Y = X[:, :3].sum(axis=1, keepdims=True) + rng.normal(size=(100, 200))

        def scikit(X=X, Y=Y):
            for y in Y.T:
                ScikitLasso(0.2, fit_intercept=False, tol=1e-12).fit(X, y)

        glmnet = (
            "glmnet(X, y, lambda = 0.2, intercept = FALSE, standardize = FALSE, thresh = 1e-14, "
            "maxit = 1e6)"
        )
        yield from _compare(
            f"lasso, n = 100, p = {p}",
            Lasso(40.0),
            X,
            Y,
            Rival("scikit-learn, a loop", timed(scikit)),
            r=("glmnet in R", "suppressMessages(library(glmnet))", glmnet),
        )


def _trees():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 10)), rng.normal(size=(100, 200))

    def scikit():
        for y in Y.T:
            DecisionTreeRegressor(max_depth=4).fit(X, y)

    loop = Rival("scikit-learn, a loop", timed(scikit))
    yield from _compare("tree of depth 4, n = 100, p = 10", RegressionTree(4), X, Y, loop)


def _subsets():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 10))
    Y = X[:, :5] @ np.arange(1.0, 6.0)[:, None] + rng.normal(size=(20, 200))
    leaps = "regsubsets(X, y, intercept = FALSE, nvmax = 3)"
    yield from _compare(
        "best subset of size 3, n = 20, p = 10",
        BestSubset(size=3),
        X,
        Y,
        r=("leaps in R", "suppressMessages(library(leaps))", leaps),
    )
