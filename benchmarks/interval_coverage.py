"""How often the intervals of 95 % hold the truth, which comes from a long run.

python benchmarks/interval_coverage.py WORK, with one of

intervals     one given design, many procedures
reductions    the same with variance reduction, at means that are not zero
designs       a drawn design: the error over designs, and that for one design
penalties     corrected penalties, and self-consistency along nk
table         penalties from ten designs, as the cells of the shipped table have them
between       the shipped table between its cells

Every line has the share of the runs whose interval holds the truth, the shares of the intervals that lie
below and above it, and the share for the estimate plus or minus 1.96 standard errors. With 1,000 runs a
share of 95 % is known to 1.4 percentage points (two errors).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from penalty_table import inside, rows_of
from penalty_table import points as points_between
from scipy.stats import t as student

from pyearthdof import (
    Earth,
    RDraws,
    correct_penalty,
    degrees_of_freedom,
    quick_penalty,
    self_consistency,
)
from pyearthdof.dof.mars.correction import corrected_penalty
from pyearthdof.dof.montecarlo.draws import drawn_design
from pyearthdof.procedures import (
    BestSubset,
    Lasso,
    LeastSquares,
    NearestNeighbors,
    RegressionTree,
    Ridge,
)

N_REP = 100
LONG = 40_000  # repetitions behind a truth
FAR = 10**6  # seeds of the truths
POINTS = 12  # between the cells of the table
SIZES = (5, 21)  # nk on the path


class Claim(NamedTuple):
    """What a run says about a quantity, and the truth."""

    quantity: str
    estimate: float
    se: float
    interval: tuple[float, float]
    truth: float


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=[*WORKS])
    parser.add_argument("--runs", type=int, default=1000, help="runs behind each line")
    arguments = parser.parse_args()
    for line in WORKS[arguments.work](arguments.runs):
        print(line, flush=True)


def coverage(name: str, runs: int, run: Callable[..., list[Claim]], **what) -> Iterator[str]:
    """One line for each quantity that `run(seed, **what)` makes claims about."""
    judged: dict[str, list] = {}
    for seed in range(runs):
        for claim in run(seed, **what):
            judged.setdefault(claim.quantity, []).append(_judge(claim))
    for quantity, shares in judged.items():
        yield line(f"{name}, {quantity}", shares)


def _judge(claim: Claim) -> tuple[bool, ...]:
    lower, upper = claim.interval
    distance = abs(claim.estimate - claim.truth)
    below, above = upper < claim.truth, lower > claim.truth
    return not (below or above), below, above, distance <= 1.96 * claim.se


def line(name: str, judged) -> str:
    """The shares as text."""
    held, below, above, plain = np.mean(judged, axis=0)
    return (
        f"{name:64s} {held:6.1%} (below {below:.1%}, above {above:.1%}); ± 1.96 errors {plain:.1%}"
    )


def claims(found, truth: dict[str, float]) -> list[Claim]:
    """What a result says about the quantities whose truth is known."""
    frame = found.to_frame().set_index("quantity")
    return [
        Claim(q, *frame.loc[q, ["estimate", "se"]], tuple(frame.loc[q, ["lower", "upper"]]), t)
        for q, t in truth.items()
    ]


def known(found, *quantities) -> dict[str, float]:
    """The truths that a long run knows."""
    return {q: getattr(found, q) for q in quantities if getattr(found, q) is not None}


def pruned(**options) -> Earth:
    """MARS as it is used."""
    return Earth(engine="native", **options)


def unpruned(**options) -> Earth:
    """MARS as Algorithm 2 measures it."""
    return Earth(engine="native", thresh=0, pmethod="none", **options)


def short(procedure) -> str:
    """A procedure as text, without the engine."""
    return re.sub(r"engine='native'(, )?", "", " ".join(repr(procedure).split())).replace(
        ", )", ")"
    )


def gaussian(n: int, p: int) -> np.ndarray:
    """A design that stays."""
    return np.random.default_rng(7).normal(size=(n, p))


def intervals(runs: int) -> Iterator[str]:
    """Procedures on a given design with mean zero; MARS also with few repetitions."""
    cases = [
        (pruned(degree=2), (100, 1), (20, N_REP)),
        (pruned(degree=2), (50, 3), (20, N_REP)),
        (pruned(degree=2), (100, 5), (20, N_REP)),
        (pruned(degree=2), (200, 10), (N_REP,)),
        (pruned(degree=2, penalty=6), (100, 5), (N_REP,)),
        (pruned(), (100, 5), (N_REP,)),
        (unpruned(degree=2, nk=21), (100, 5), (20, N_REP)),
        (RegressionTree(depth=2), (100, 5), (20, N_REP)),
        (Lasso(20.0), (100, 10), (N_REP,)),
        (Lasso(40.0), (100, 10), (N_REP,)),
        (BestSubset(3), (60, 8), (N_REP,)),
        (Ridge(10.0), (100, 10), (N_REP,)),
        (NearestNeighbors(5), (60, 3), (N_REP,)),
    ]
    for procedure, shape, sizes in cases:
        X = gaussian(*shape)
        long = degrees_of_freedom(procedure, X, n_rep=LONG, random_state=FAR)
        truth = known(long, *(("df",) if procedure.is_linear else ("df", "msdf", "sdf")))
        for n_rep in sizes:
            name = f"{short(procedure)}, {shape}, n_rep={n_rep}"
            options = {"procedure": procedure, "X": X, "truth": truth, "n_rep": n_rep}
            yield from coverage(name, runs, _of_df, **options)


def _measure(procedure, X, **options):
    """By the paper's estimator, unless another one is asked for; `fewer_fits.py` has the default one."""
    plain = {"method": "monte-carlo", "variance_reduction": None}
    return degrees_of_freedom(procedure, X, **plain | options)


def _of_df(seed, procedure, X, truth, **options) -> list[Claim]:
    return claims(_measure(procedure, X, random_state=seed, **options), truth)


def _of_penalty(seed, design, truth, **options) -> list[Claim]:
    found = correct_penalty(design, random_state=seed, engine="native", **options)
    return [Claim("penalty", found.penalty, found.se, found.interval(), truth)]


def reductions(runs: int) -> Iterator[str]:
    """Variance reduction where the mean is not zero; "direction" needs a constant one."""
    x, Z, W = np.linspace(-1, 1, 60)[:, None], gaussian(100, 5), gaussian(60, 3)
    curve, bend = 20 * x[:, 0] ** 2, 3 * Z[:, 0] ** 2
    cases = [
        (NearestNeighbors(5), x, curve, (None, "control")),
        (NearestNeighbors(5), x, 5.0, ("direction",)),
        (LeastSquares(), W, 5 * W[:, 0] ** 2, (None, "control")),
        (Ridge(10.0), Z, bend, (None, "control")),
        (RegressionTree(depth=2), Z, bend, (None, "control")),
        (RegressionTree(depth=2), Z, 5.0, ("direction",)),
        (pruned(degree=2), Z, bend, (None, "control")),
        (pruned(degree=2), Z, 5.0, ("direction",)),
    ]
    for procedure, X, mu, names in cases:
        if getattr(procedure, "is_linear", False):
            truth = known(degrees_of_freedom(procedure, X), "df")
        else:
            truth = known(_measure(procedure, X, mu=mu, n_rep=LONG, random_state=FAR), "df")
        for name in names:
            mean = f"mean {mu:g}" if isinstance(mu, float) else "curved mean"
            options = {"mu": mu, "variance_reduction": name}
            title = f"{short(procedure)}, {mean}, {name or 'plain'}"
            yield from coverage(
                title, runs, _of_df, procedure=procedure, X=X, truth=truth, **options
            )


def designs(runs: int) -> Iterator[str]:
    """Drawn designs: the error over designs, the error for one, and one taken for all."""
    for procedure, shape, one in (
        (unpruned(nk=21), (100, 1), True),
        (pruned(degree=2), (100, 5), True),
        (RegressionTree(depth=2), (100, 5), False),
        (Ridge(10.0), (60, 5), False),
    ):
        name = f"{short(procedure)}, {shape}"
        long = {"n_rep": LONG, "n_designs": LONG // 4, "random_state": FAR}
        truth = known(degrees_of_freedom(procedure, shape, **long), "df")
        options = {"procedure": procedure, "X": shape, "truth": truth}
        yield from coverage(f"{name}, over designs", runs, _of_df, **options)
        if getattr(procedure, "is_linear", False):
            exact = f"{name}, over designs, exact for each"
            yield from coverage(exact, runs, _of_df, method="exact", **options)
        if one:
            yield from _one_design(name, procedure, shape, runs, truth)


def _one_design(name, procedure, shape, runs, truth) -> Iterator[str]:
    """The error for one design covers the truth of that design, and not that of all."""
    judged, taken_for_all = [], []
    for seed in range(runs):
        found = _measure(procedure, shape, draws=RDraws(seed))
        own = _measure(
            procedure, drawn_design(shape, RDraws(seed), N_REP), n_rep=LONG // 13,
            variance_reduction="control", random_state=FAR + seed,
        )  # fmt: skip
        judged.append(_judge(claims(found, known(own, "df"))[0]))
        taken_for_all.append(_judge(claims(found, truth)[0]))
    yield line(f"{name}, one design, df", judged)
    yield line(f"{name}, one design, taken for all, df", taken_for_all)


def penalties(runs: int) -> Iterator[str]:
    """Algorithm 2 over designs and for one, and the path of self-consistency."""
    long = {"n_rep": LONG // 2, "n_designs": LONG // 8, "random_state": FAR}
    for shape, degree in (((100, 1), 1), ((100, 5), 2)):
        options = {"degree": degree, "engine": "native"}
        name = f"correct_penalty, {shape}, degree {degree}"
        truth = correct_penalty(shape, **options, **long).penalty
        what = {"design": shape, "truth": truth, "degree": degree}
        yield from coverage(f"{name}, over designs", runs, _of_penalty, **what)
        X = gaussian(*shape)
        truth = correct_penalty(X, n_rep=LONG // 2, random_state=FAR, **options).penalty
        what |= {"design": X, "truth": truth}
        yield from coverage(f"{name}, one design", runs, _of_penalty, **what)
    truths = self_consistency((100, 1), nk=SIZES, engine="native", **long).df
    yield from coverage("self_consistency, (100, 1), over designs", runs, _of_path, truths=truths)


def _of_path(seed, truths) -> list[Claim]:
    found = self_consistency((100, 1), nk=SIZES, random_state=seed, engine="native")
    lower, upper = found.interval()
    return [
        Claim(f"nk={nk}", found.df[k], found.se[k], (lower[k], upper[k]), truths[k])
        for k, nk in enumerate(SIZES)
    ]


def table(runs: int) -> Iterator[str]:
    """The multiple of the table's error: ten designs at some cells."""
    for n, p, nk, degree in ((100, 1, 21, 1), (100, 4, 21, 2), (200, 15, 31, 1), (71, 2, 11, 2)):
        yield line(
            f"ten designs, ({n}, {p}), nk={nk}, degree {degree}", _as_cells(n, p, nk, degree, runs)
        )


def between(runs: int) -> Iterator[str]:
    """The shipped table between its cells, at sizes of a few points; `runs` does not matter."""
    judged = []
    for n, p, nk, degree in points_between(POINTS, seed=2):
        sizes = sorted(k for k in {nk, 5, 11, 21, 41} if inside(n, p, k, degree))
        judged += _between(n, p, sizes, degree)
    yield line(f"quick_penalty at {len(judged)} points between the cells", judged)


def _as_cells(n, p, nk, degree, runs) -> list:
    """Sets of ten designs out of 2,000, of 100 repetitions each, as a cell has them."""
    many = 2000
    found = degrees_of_freedom(
        unpruned(degree=degree, nk=nk), (n, p), n_rep=many * N_REP, n_designs=many,
        random_state=FAR,
    )  # fmt: skip
    df, r = (
        many * getattr(found, name) - (many - 1) * found.left_out[name] for name in ("df", "n_coef")
    )
    truth = corrected_penalty(found.df, found.n_coef)
    random, judged = np.random.default_rng(1), []
    for _ in range(runs):
        chosen = random.choice(many, 10, replace=False)
        cell = {
            "n": n, "p": p, "nk": [nk], "degree": degree, "n_rep": N_REP, "df": df[chosen, None],
            "n_terms": r[chosen, None],
        }  # fmt: skip
        (row,) = rows_of(cell).itertuples()
        half = student.ppf(0.975, 9) * row.se
        interval = (max(row.penalty - half, 0), row.penalty + half)
        judged.append(_judge(Claim("penalty", row.penalty, row.se, interval, truth)))
    return judged


def _between(n, p, sizes, degree) -> list:
    """The table against a run of 400 designs, 15 repetitions each."""
    long = self_consistency(
        (n, p),
        degree=degree,
        nk=sizes,
        n_rep=6000,
        n_designs=400,
        random_state=FAR,
        engine="native",
    )
    judged = []
    for nk, truth in zip(sizes, long.penalty, strict=True):
        found = quick_penalty((n, p), nk=nk, degree=degree)
        claim = Claim("penalty", found.penalty, found.se, found.interval(), truth)
        judged.append(_judge(claim))
    return judged


WORKS = {
    "intervals": intervals,
    "reductions": reductions,
    "designs": designs,
    "penalties": penalties,
    "table": table,
    "between": between,
}


if __name__ == "__main__":
    sys.exit(main())
