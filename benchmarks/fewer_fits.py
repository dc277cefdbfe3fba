"""What the default estimator gains over the paper's, and how often its intervals hold the truth.

python benchmarks/fewer_fits.py WORK, with one of

gains      the variance of one fit, by the paper's estimator and by the one that is taken by default: at 100
           fits, and where there are ten whole frames of orthogonal responses
coverage   intervals of 95 % of the default estimator: 100 fits, ten frames, and until an error is reached
penalties  the same for corrected penalties
sizes      the same for the degrees of freedom of some sizes of a MARS

Every gain is a ratio of mean squared standard errors. With 1,000 runs a share of 95 % is known to 1.4
percentage points (two errors).
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Iterator

import numpy as np
from interval_coverage import (
    FAR,
    LONG,
    Claim,
    claims,
    coverage,
    gaussian,
    known,
    pruned,
    short,
    unpruned,
)

from pyearthdof import correct_penalty, degrees_of_freedom, df_of_sizes
from pyearthdof.procedures import BestSubset, Lasso, NearestNeighbors, RegressionTree, Ridge

N_REP = 100


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=[*WORKS])
    parser.add_argument("--runs", type=int, default=1000, help="runs behind each line")
    parser.add_argument("--only", default="", help="lines with this text")
    arguments = parser.parse_args()
    for line in WORKS[arguments.work](arguments.runs, arguments.only):
        print(line, flush=True)


def _bend(X):
    return 3 * X[:, 0] ** 2


def _sparse(X):
    return X[:, :3].sum(axis=1)


def gains(runs: int, only: str) -> Iterator[str]:
    """One line for each procedure; `runs` is the number of runs behind each variance."""
    cases = [
        ("", unpruned(nk=21), (264, 9), None),
        ("", unpruned(nk=21, degree=2), (264, 9), None),
        ("", unpruned(nk=21, degree=2), (100, 10), None),
        ("", unpruned(nk=101, degree=2), (100, 50), None),
        ("", unpruned(nk=21), (100, 1), None),
        (", mean 3 x1^2", unpruned(nk=21, degree=2), (100, 10), _bend),
        ("", pruned(degree=2), (100, 5), None),
        ("", pruned(), (100, 5), None),
        ("", RegressionTree(depth=2), (100, 5), None),
        ("", RegressionTree(depth=4), (100, 10), None),
        ("", BestSubset(3), (100, 10), None),
        (", mean x1 + x2 + x3", Lasso(20.0), (100, 10), _sparse),
        ("", Ridge(10.0), (100, 10), None),
        ("", NearestNeighbors(5), (100, 5), None),
    ]
    heads = ("procedure", "plain", "gain at 100 fits", "gain in frames", "fits", "used")
    yield "{:74s} {:>6s} {:>17s} {:>15s} {:>6s}  {}".format(*heads)
    for note, procedure, shape, mean in cases:
        name = f"{short(procedure)}, {shape}{note}"
        if only in name:
            X = gaussian(*shape)
            yield _gain(name, procedure, X, None if mean is None else mean(X), runs)


def _gain(name, procedure, X, mu, runs) -> str:
    n = len(X)
    variance = functools.partial(_variance, procedure, X, mu)
    plain, _ = variance(1000, max(1, runs // 10), variance_reduction=None)
    few, at_100 = variance(N_REP, runs)
    many, used = variance(10 * n, runs)
    fits = used.n_rep
    return (
        f"{name:74s} {plain:6.1f} {_ratio(plain, few):>17s} {_ratio(plain, many):>15s} {fits:6d}  "
        f"{at_100.settings['variance_reduction']}; {used.settings['variance_reduction']}"
    )


def _variance(procedure, X, mu, n_rep, runs, **options):
    """The variance of an estimate times its number of fits, and a result."""
    squares = []
    for seed in range(runs):
        found = degrees_of_freedom(
            procedure, X, mu=mu, n_rep=n_rep, random_state=seed, method="monte-carlo", **options
        )
        squares.append(found.se**2 * found.n_rep)
    return float(np.mean(squares)), found


def _ratio(plain: float, reduced: float) -> str:
    return "exact" if reduced < 1e-9 * plain else f"{plain / reduced:.2f}"


# Procedure, shape of the design, mean, and an error to reach: by a few hundred fits.
COVERED = [
    (unpruned(nk=21, degree=2), (50, 5), None, 0.2),
    (pruned(degree=2), (50, 3), None, 0.6),
    (RegressionTree(depth=2), (50, 5), None, 0.2),
    (Lasso(20.0), (50, 10), _sparse, 0.1),
    (BestSubset(3), (50, 8), None, 0.1),
    (NearestNeighbors(5), (50, 3), _bend, 0.2),
]


def covered(runs: int, only: str) -> Iterator[str]:
    """Six procedures: few fits, with the stopping in it, and frames."""
    for procedure, shape, mean, target in COVERED:
        ways = [{"n_rep": N_REP}, {"target_se": target}, {"n_rep": 10 * shape[0]}]
        names = {f"{short(procedure)}, {shape}, {_words(way)}": way for way in ways}
        names = {name: way for name, way in names.items() if only in name}
        if not names:
            continue
        X = gaussian(*shape)
        mu = None if mean is None else mean(X)
        long = {"n_rep": LONG, "random_state": FAR, "mu": mu}
        truth = known(degrees_of_freedom(procedure, X, **long), "df")
        for name, way in names.items():
            what = {"procedure": procedure, "X": X, "mu": mu, "truth": truth} | way
            yield from _timed(name, runs, _of_df, **what)


def _of_df(seed, procedure, X, mu, truth, **way) -> list[Claim]:
    found = degrees_of_freedom(procedure, X, mu=mu, method="monte-carlo", random_state=seed, **way)
    return claims(found, truth)


# Shape of the design, degree, whether it is one design, and how far
PENALTIES = [
    ((50, 3), 2, True, {"n_rep": N_REP}),
    ((50, 3), 2, True, {"n_rep": 500}),
    ((50, 3), 2, True, {"target_se": 0.1}),
    ((50, 3), 2, False, {"n_rep": N_REP}),
    ((50, 3), 2, False, {"n_rep": 2000}),
    ((50, 3), 2, False, {"target_se": 0.15}),
    ((264, 9), 1, True, {"target_se": 0.05}),
    ((264, 9), 2, True, {"target_se": 0.05}),
]


def penalties(runs: int, only: str) -> Iterator[str]:
    """Corrected penalties of one design and over designs."""
    for shape, degree, is_one, way in PENALTIES:
        name = f"correct_penalty, {shape}, degree {degree}, {_which(is_one)}, {_words(way)}"
        if only in name:
            design = gaussian(*shape) if is_one else shape
            options = {"design": design, "degree": degree, "engine": "native"}
            options |= {"truth": _true_penalty(shape, degree, is_one)} | way
            yield from _timed(name, runs, _of_penalty, **options)


@functools.cache
def _true_penalty(shape, degree: int, is_one: bool) -> float:
    return correct_penalty(degree=degree, engine="native", **_long_run(shape, is_one)).penalty


def _of_penalty(seed, design, truth, **options) -> list[Claim]:
    found = correct_penalty(design, random_state=seed, **options)
    return [Claim("penalty", found.penalty, found.se, found.interval(), truth)]


# Shape of the design, degree, and whether it is one design
CURVES = [((100, 10), 1, True), ((50, 3), 2, True), ((200, 50), 1, True), ((100, 10), 1, False)]
SIZES = (2, 5, 10)


def sizes(runs: int, only: str) -> Iterator[str]:
    """The curves that a size is chosen by, of one design and over designs."""
    for shape, degree, is_one in CURVES:
        name = f"df_of_sizes, {shape}, degree {degree}, {_which(is_one)}"
        if only in name:
            estimator = pruned(degree=degree)
            truth = df_of_sizes(estimator=estimator, **_long_run(shape, is_one)).df_at(SIZES)
            what = {"design": gaussian(*shape) if is_one else shape, "estimator": estimator}
            yield from _timed(name, runs, _of_sizes, truth=truth, **what)


def _of_sizes(seed, design, estimator, truth) -> list[Claim]:
    found = df_of_sizes(design, estimator=estimator, random_state=seed)
    frame = found.to_frame().set_index("sizes")
    return [
        Claim(f"{size} terms", *row[["df", "se"]], tuple(row[["lower", "upper"]]), true)
        for (size, row), true in zip(frame.loc[[*SIZES]].iterrows(), truth, strict=True)
    ]


def _which(is_one: bool) -> str:
    return "one design" if is_one else "over designs"


def _long_run(shape, is_one: bool) -> dict:
    """The run behind a truth: its design, or many of them."""
    designs = {"design": gaussian(*shape)} if is_one else {"design": shape, "n_designs": LONG // 8}
    return designs | {"n_rep": LONG, "random_state": FAR}


def _words(way: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in way.items())


def _timed(name, runs, run, **what) -> Iterator[str]:
    began = time.perf_counter()
    for text in coverage(name, runs, run, **what):
        yield f"{text} [{time.perf_counter() - began:.0f} s]"


WORKS = {"gains": gains, "coverage": covered, "penalties": penalties, "sizes": sizes}

if __name__ == "__main__":
    main()
