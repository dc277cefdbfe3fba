"""Monte Carlo over MARS: the authors' loop in R, our R engine and the native one, with one worker and two."""

from __future__ import annotations

import itertools
import statistics
import time

import numpy as np
from compare import Comparison, Rival, timed
from stopwatch import r_stopwatch

from pyearthdof import Earth, RDraws, correct_penalty, self_consistency
from pyearthdof.dof.consistency.mars import unpruned_mars

__all__ = ["comparisons"]

# n, p, nk, degree: responses for the loop, how many times as many for us, a time to be measured, and the
# repetitions of `correct_penalty`
SIZES = {
    (100, 10, 21, 1): (100, 40, 2000),
    (100, 50, 100, 2): (20, 10, 400),
    (3065, 57, 115, 1): (8, 8, 100),
    (3065, 57, 115, 2): (4, 5, 50),
}
# n, p, nk, degree: responses that the loop is timed on
PENALTIES = {(264, 9, 21, 1): 30, (264, 9, 21, 2): 30, (3065, 57, 115, 1): 8}
TARGET = 0.05
CALLS = 10  # each takes a few milliseconds, and as many fits as its seed needs
PAUSE = 0.1  # seconds before each: a user's call does not follow another
AUTHORS = """
for (j in seq_len(ncol(Y))) {{
  fit <- earth(X, Y[, j], nk = {nk}, pmethod = "none", thresh = 0, degree = {degree},
               penalty = {degree} + 1)
  fitted <- predict(fit)
}}
"""


def comparisons():
    """Fits alone, the whole estimate of df with workers, and the nk path."""
    for size, (responses, times, _) in SIZES.items():
        yield from _fits(*size, responses, times)
    for size, (responses, _, n_rep) in SIZES.items():
        yield from _estimates(*size, responses, n_rep)
    yield from _estimates(1000, 20, 41, 2, 64, 64, with_r=True)
    for size, responses in PENALTIES.items():
        yield from _to_an_error(*size, responses)
    yield from _path(100, 10, 2, 60, 10)


def _fits(n, p, nk, degree, responses, times):
    rng = np.random.default_rng(1)
    X, many = rng.normal(size=(n, p)), rng.normal(size=(n, responses * times))
    loop = r_stopwatch(
        "suppressMessages(library(earth))",
        AUTHORS.format(nk=nk, degree=degree),
        X=X,
        Y=many[:, :responses],
    )

    def native(n_threads):
        earth = Earth(
            nk=nk, degree=degree, penalty=degree + 1.0, thresh=0.0, pmethod="none", engine="native"
        )
        run = timed(lambda: earth.fit_many(X, many, n_jobs=n_threads))
        return lambda: run() / times

    rivals = (
        Rival("authors' loop in R", loop.seconds),
        Rival("native engine, 1 thread", native(1)),
        Rival("native engine, 2 threads", native(2)),
    )
    yield Comparison(
        "Many MARS fits", f"n = {n}, p = {p}, nk = {nk}, degree {degree}", rivals, responses
    )
    loop.close()


def _estimates(n, p, nk, degree, responses, n_rep, with_r=False):
    """`correct_penalty` as a whole, drawing, fitting and covariances, beside the fits of the loop alone."""
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, responses))
    loop = r_stopwatch(
        "suppressMessages(library(earth))", AUTHORS.format(nk=nk, degree=degree), X=X, Y=Y
    )

    def ours(engine, n_jobs):
        settings = {"degree": degree, "nk": nk, "n_rep": n_rep, "engine": engine, "n_jobs": n_jobs}
        run = timed(lambda: correct_penalty((n, p), **settings))
        return lambda: run() * responses / n_rep

    rivals = [Rival("authors' loop in R", loop.seconds)]
    if with_r:
        rivals += [Rival(f"R engine, {k} worker{'s' * (k > 1)}", ours("r", k)) for k in (1, 2)]
    rivals += [
        Rival(f"native engine, {k} thread{'s' * (k > 1)}", ours("native", k)) for k in (1, 2)
    ]
    work = f"correct_penalty(({n}, {p}), nk={nk}, degree={degree}, n_rep={n_rep})"
    yield Comparison("Corrected penalty", work, tuple(rivals), responses)
    loop.close()


def _to_an_error(n, p, nk, degree, responses):
    """A penalty with a standard error of 0.05 for one design, by as many fits as each estimator needs."""
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, responses))
    options = {"degree": degree, "nk": nk, "engine": "native", "n_jobs": 2}
    plain = correct_penalty(X, draws=RDraws(1234), n_rep=2000, **options)
    needed = round(plain.n_rep * (plain.se / TARGET) ** 2)
    loop = r_stopwatch(
        "suppressMessages(library(earth))", AUTHORS.format(nk=nk, degree=degree), X=X, Y=Y
    )
    seeds = itertools.count()

    def ours():
        return correct_penalty(X, target_se=TARGET, random_state=next(seeds), **options)

    def mean_call():
        return statistics.fmean(_after_a_pause(timed(ours)) for _ in range(CALLS))

    rivals = (
        Rival(
            "authors' loop in R",
            lambda: loop.seconds() * needed / responses,
            f"{needed} fits, timed on {responses}",
        ),
        Rival(
            "correct_penalty, 2 threads",
            mean_call,
            f"{ours().n_rep} fits, mean of {CALLS} calls with pauses between them",
        ),
    )
    work = f"standard error {TARGET} of the penalty: n = {n}, p = {p}, nk = {nk}, degree {degree}"
    yield Comparison("Time to an error", work, rivals)
    loop.close()


def _after_a_pause(seconds):
    """What one run of a Rival takes after the machine had nothing to do."""
    time.sleep(PAUSE)
    return seconds()


def _path(n, p, degree, top, n_rep):
    """All nk from one forward pass, beside a fit at every nk."""
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, n_rep))

    def refits():
        for nk in range(1, top + 1):
            unpruned_mars("earth", degree, nk, "r").fit_many(X, Y)

    def path(engine):
        settings = {"degree": degree, "n_rep": n_rep, "engine": engine}
        return timed(lambda: self_consistency((n, p), nk=range(1, top + 1), **settings))

    rivals = (
        Rival("R engine, a fit at every nk", timed(refits)),
        Rival("self_consistency, R engine", path("r")),
        Rival("self_consistency, native engine", path("native")),
    )
    work = f"n = {n}, p = {p}, degree {degree}, nk = 1..{top}, {n_rep} responses"
    yield Comparison("The nk path", work, rivals, top * n_rep)
