"""The paper's table of splines at its own size, and the same work in R.

Each row of the table is 100 estimates of 100 fits, so 10,000 fits of 100 observations. Printed are
our seconds for all of them, R's for as many calls of `lm.fit` on `bs`, `smooth.spline` and
`quadprog::solve.QP` (timed by R itself on a share of the fits), the ratio, and df with its error. Then
the smoothing spline of 100,000 observations, beside R's. Run as `python benchmarks/splines.py`.
"""

from __future__ import annotations

import shutil
import subprocess
import time

import numpy as np

from pyearthdof.procedures.monotone import MonotoneCubicSpline, MonotoneSmoothingSpline
from pyearthdof.procedures.splines import CubicSpline, SmoothingSpline

X = np.arange(1.0, 101.0)[:, None]
N_ESTIMATES, N_FITS = 100, 100
R_SHARE = 20  # R does one fit in so many

R_SETUP = """
x <- 1:100; n.fits <- {n_fits}; Y <- matrix(rnorm(100 * n.fits), 100)
suppressMessages(library(splines))
"""

R_QP = """
suppressMessages(library(quadprog))
J <- ncol(B); H <- crossprod(B) + {penalty}; A <- t(diag(J)[-1, ] - diag(J)[-J, ])
s <- system.time(apply(Y, 2, function(y) solve.QP(H, crossprod(B, y), A, rep(0, J - 1))$solution))
"""

# A dense Omega by Simpson's rule, which is exact for the squares of piecewise linear functions.
R_OMEGA = """
u <- (x - 1) / 99; nk <- .nknots.smspl(100); k <- u[seq.int(1, 100, length.out = nk)]
t <- c(rep(0, 3), k, rep(1, 3)); B <- splineDesign(t, u, 4)
d2 <- function(z) splineDesign(t, pmin(pmax(z, 0), 1 - 1e-12), 4, rep(2, length(z)))
h <- diff(k); a <- d2(k[-nk]); b <- d2(k[-1] - 1e-12); m <- d2((k[-1] + k[-nk]) / 2)
Omega <- (crossprod(a, h * a) + 4 * crossprod(m, h * m) + crossprod(b, h * b)) / 6
"""


def main() -> None:
    if shutil.which("Rscript") is None:
        print("Rscript is not installed: our own times only")
    print(f"{'procedure':38s} {'df':>8s} {'(se)':>8s} {'ours':>9s} {'R':>9s} {'ratio':>7s}")
    began = time.perf_counter()
    for procedure, r_code in _table():
        df, se, seconds = _measure(procedure)
        theirs = _seconds_in_r(r_code)
        print(f"{procedure!r:38s} {df:8.3f} ({se:.3f}) {seconds:8.2f}s {_beside(seconds, theirs)}")
    print(f"the whole table, R's share included: {time.perf_counter() - began:.1f} s")
    _large()


def _table():
    """Each procedure with R's code for n.fits fits, which leaves a system.time in s."""
    for n_basis in (5, 10, 15):
        basis = f"B <- unclass(bs(x, df = {n_basis}, intercept = TRUE))\n"
        fit = "s <- system.time(apply(Y, 2, function(y) lm.fit(B, y)$fitted.values))"
        yield CubicSpline(n_basis), basis + fit
    for lam in (0.001, 0.01, 0.1):
        call = f"smooth.spline(x, y, lambda = {lam}, nknots = 100)$y"
        fit = f"s <- system.time(apply(Y, 2, function(y) {call}))"
        yield SmoothingSpline(lam, n_knots=100), fit
    for n_basis in (5, 10, 15):
        basis = f"B <- unclass(bs(x, df = {n_basis}, intercept = TRUE))\n"
        yield MonotoneCubicSpline(n_basis), basis + R_QP.format(penalty="0")
    for lam in (0.001, 0.01, 0.1):
        penalty = f"{lam} * (Omega + diag(.Machine$double.eps^(1/3), nrow(Omega)))"
        yield MonotoneSmoothingSpline(lam), R_OMEGA + R_QP.format(penalty=penalty)


def _measure(procedure):
    """Mean and standard error of the estimates of df, and the seconds of all fits."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(100, N_ESTIMATES * N_FITS))
    procedure.fit_many(X, Y[:, :2])  # compiled before the clock starts
    began = time.perf_counter()
    fitted = procedure.fit_many(X, Y).fitted
    seconds = time.perf_counter() - began
    shape = (100, N_ESTIMATES, N_FITS)
    y, f = Y.reshape(shape), fitted.reshape(shape)
    df = np.sum(f * (y - y.mean(axis=2, keepdims=True)), axis=(0, 2)) / (N_FITS - 1)
    return df.mean(), df.std(ddof=1) / np.sqrt(N_ESTIMATES), seconds


def _large():
    print("\none smoothing spline, lambda = 1e-4, n = 100,000")
    rng = np.random.default_rng(1)
    x = rng.uniform(size=100_000)
    y = np.sin(6 * x) + rng.normal(size=x.size)
    for label, n_knots, argument in (
        ("R's knots", None, ""),
        ("all knots", "all", ", all.knots = TRUE"),
    ):
        model = SmoothingSpline(1e-4, n_knots=n_knots)
        model.fit(x[:1000], y[:1000])
        began = time.perf_counter()
        model.fit(x, y)
        seconds = time.perf_counter() - began
        theirs = _run_r(
            "x <- runif(1e5); y <- sin(6 * x) + rnorm(1e5)\n"
            f"s <- system.time(smooth.spline(x, y, lambda = 1e-4{argument}))"
        )
        print(f"{label:38s} {model.trace_:8.3f} {'':8s} {seconds:8.2f}s {_beside(seconds, theirs)}")


def _seconds_in_r(code):
    n_fits = N_ESTIMATES * N_FITS // R_SHARE
    seconds = _run_r(R_SETUP.format(n_fits=n_fits) + code)
    return None if seconds is None else seconds * R_SHARE


def _run_r(code):
    if shutil.which("Rscript") is None:
        return None
    code += '\ncat("\\n", s[["elapsed"]], "\\n")'
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", code], capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def _beside(ours, theirs):
    return "" if theirs is None else f"{theirs:8.2f}s {theirs / ours:7.1f}"


if __name__ == "__main__":
    main()
