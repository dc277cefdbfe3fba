"""How fast the degrees of freedom of MARS are, as ratios measured in one run.

1. `correct_penalty((3065, 57), degree=2, nk=115, n_rep=40, engine="r", n_jobs=2)` against the
   authors' plain loop over the same fits in one R process. The workers are started before; what
   their start costs is printed beside.
2. `self_consistency((100, 10), degree=2, nk=range(1, 101), n_rep=20)` against refitting at every nk
   through R's earth, a loop inside R, for the engine that "auto" takes and for R.

`--quick` takes smaller sizes, to see that the script works.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time

import numpy as np

from pyearthdof.dof import correct_penalty, self_consistency
from pyearthdof.dof.adapters import engine_of
from pyearthdof.dof.consistency import unpruned_mars
from pyearthdof.dof.noise import Responses, drawn_design
from pyearthdof.random import RDraws

AUTHORS_LOOP = """
suppressMessages(library(earth))
seconds <- system.time({{
  set.seed(1234)
  y <- matrix(rnorm({n} * {m}), {n}); x <- matrix(rnorm({n} * {p}), {n})
  fitted <- matrix(0, {n}, {m})
  for (j in 1:{m}) {{
    fit <- earth(x, y[, j], nk = {nk}, pmethod = "none", thresh = 0, degree = {d},
                 penalty = {d} + 1)
    fitted[, j] <- predict(fit)
  }}
  df <- sum(sapply(1:{n}, function(i) cov(fitted[i, ], y[i, ])))
}})[["elapsed"]]
cat(seconds, format(df, digits = 15))
"""


def seconds(function) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def authors_loop(n, p, nk, d, m) -> tuple[float, float]:
    code = AUTHORS_LOOP.format(n=n, p=p, nk=nk, d=d, m=m)
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", code], capture_output=True, text=True, check=True
    )
    elapsed, df = done.stdout.split()
    return float(elapsed), float(df)


def correction(n, p, nk, d, m, runs, n_jobs=2) -> None:
    def ours():
        return correct_penalty((n, p), degree=d, nk=nk, n_rep=m, engine="r", n_jobs=n_jobs)

    start = seconds(lambda: correct_penalty((20, 2), n_rep=16, engine="r", n_jobs=n_jobs))
    ours_seconds, theirs_seconds = [], []
    for _ in range(runs):
        elapsed, df = authors_loop(n, p, nk, d, m)
        theirs_seconds.append(elapsed)
        began = time.perf_counter()
        found = ours()
        ours_seconds.append(time.perf_counter() - began)
        assert abs(found.df - df) < 1e-8, (found.df, df)
    print(f"correct_penalty(({n}, {p}), degree={d}, nk={nk}, n_rep={m}, n_jobs={n_jobs})")
    print(f"  start of {n_jobs} workers with R: {start:.1f} s")
    print(f"  plain R loop {_text(theirs_seconds)}; ours {_text(ours_seconds)}")
    print(f"  ratio {statistics.median(theirs_seconds) / statistics.median(ours_seconds):.2f}")


def path(n, p, d, top, m, runs) -> None:
    nks = range(1, top + 1)
    refits = seconds(lambda: refit_everywhere(n, p, d, nks, m))
    print(f"self_consistency(({n}, {p}), degree={d}, nk=range(1, {top + 1}), n_rep={m})")
    print(f"  refitting in R at every nk: {refits:.2f} s")
    for engine in ("auto", "r"):
        name = engine_of(unpruned_mars("earth", d, top, engine))
        self_consistency((n, p), degree=d, nk=[top], n_rep=2, engine=engine)  # compile, start R
        whole = [
            seconds(lambda e=engine: self_consistency((n, p), degree=d, nk=nks, n_rep=m, engine=e))
            for _ in range(runs)
        ]
        ratio = refits / statistics.median(whole)
        print(f"  engine={engine!r} ({name}): {_text(whole)}; ratio {ratio:.1f}")


def refit_everywhere(n, p, d, nks, m) -> None:
    draws = RDraws(1234)
    X = drawn_design((n, p), draws, m)
    [Y] = Responses(n, np.zeros(n), np.ones(n), draws).blocks([0, m])
    for nk in nks:
        unpruned_mars("earth", d, nk, "r").fit_many(X, Y)


def _text(values) -> str:
    return f"{statistics.median(values):.2f} s (of {', '.join(f'{v:.2f}' for v in values)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    quick = parser.parse_args().quick
    if quick:
        correction(300, 10, 21, 2, 40, runs=2)
        path(100, 10, 2, 30, 5, runs=2)
    else:
        correction(3065, 57, 115, 2, 40, runs=3)
        path(100, 10, 2, 100, 20, runs=3)


if __name__ == "__main__":
    main()
