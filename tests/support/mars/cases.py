"""Paired cases: the R expression beside our arguments. All R expressions run in one plain Rscript."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np

from tests.support.rscript import run_r

FIELDS = (
    "dirs", "cuts", "selected", "coef", "rss", "rsq", "gcv", "grsq", "rss.per.subset",
    "gcv.per.subset", "prune.terms", "terms", "fitted", "leverages", "nk", "penalty", "termcond",
    "predicted",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    data: str
    r: str
    py: dict = field(default_factory=dict)
    weighted: bool = False

    def __str__(self):
        return f"{self.data}: {self.r}"


def _case(data, r_args="", **py):
    weighted = "weights" in r_args
    call = f"earth(x, y, {r_args})" if r_args else "earth(x, y)"
    return Case(data, call, py, weighted)


CASES = [
    _case("ozone"),
    _case("ozone", "degree=2", degree=2),
    _case("ozone", "degree=3", degree=3),
    _case("ozone", "degree=2, penalty=0", degree=2, penalty=0),
    _case("ozone", "penalty=-1", penalty=-1),
    _case("ozone", "degree=2, penalty=4.5", degree=2, penalty=4.5),
    _case("ozone", "nk=7", nk=7),
    _case("ozone", "degree=2, nk=60", degree=2, nk=60),
    _case("ozone", "nk=1", nk=1),
    _case("ozone", "nk=2", nk=2),
    _case("ozone", "degree=2, nprune=5", degree=2, nprune=5),
    _case("ozone", "nprune=1", nprune=1),
    _case("ozone", "minspan=1", minspan=1),
    _case("ozone", "degree=2, minspan=-3", degree=2, minspan=-3),
    _case("ozone", "minspan=-1", minspan=-1),
    _case("ozone", "endspan=1", endspan=1),
    _case("ozone", "degree=2, minspan=10, endspan=30", degree=2, minspan=10, endspan=30),
    _case("ozone", "thresh=0", thresh=0),
    _case("ozone", "thresh=0.02", thresh=0.02),
    _case("ozone", "degree=2, fast.k=5", degree=2, fast_k=5),
    _case("ozone", "degree=2, fast.k=0", degree=2, fast_k=0),
    _case("ozone", "degree=2, fast.k=3, fast.beta=0", degree=2, fast_k=3, fast_beta=0),
    _case("ozone", "linpreds=TRUE", linpreds=True),
    _case("ozone", "linpreds=c(4, 6)", linpreds=["temp", "dpg"]),
    _case("ozone", "degree=2, linpreds=c(1, 4)", degree=2, linpreds=[0, 3]),
    _case("ozone", "newvar.penalty=0.1", newvar_penalty=0.1),
    _case("ozone", "degree=2, newvar.penalty=0.5", degree=2, newvar_penalty=0.5),
    _case("ozone", "degree=2, Adjust.endspan=1", degree=2, adjust_endspan=1),
    _case("ozone", "degree=2, Adjust.endspan=5", degree=2, adjust_endspan=5),
    _case("ozone", "degree=2, Auto.linpreds=FALSE", degree=2, auto_linpreds=False),
    _case("ozone", "Scale.y=FALSE", scale_y=False),
    _case("ozone", 'degree=2, pmethod="none"', degree=2, pmethod="none"),
    _case("ozone", 'degree=2, pmethod="forward"', degree=2, pmethod="forward"),
    _case("ozone", 'pmethod="exhaustive"', pmethod="exhaustive"),
    _case("ozone", 'degree=2, pmethod="seqrep"', degree=2, pmethod="seqrep"),
    _case("ozone", 'pmethod="exhaustive", nprune=6', pmethod="exhaustive", nprune=6),
    _case("ozone", "weights=w"),
    _case("ozone", "weights=w, degree=2", degree=2),
    _case("ozone", "weights=w, penalty=0, nk=9", penalty=0, nk=9),
    _case("trees"),
    _case("trees", "degree=2", degree=2),
    _case("trees", "degree=2, thresh=0, penalty=0", degree=2, thresh=0, penalty=0),
    _case("trees", "minspan=1, endspan=1", minspan=1, endspan=1),
    _case("trees", "weights=w"),
    _case("titanic"),
    _case("titanic", "degree=2", degree=2),
    _case("titanic", "degree=3, fast.k=0", degree=3, fast_k=0),
    _case("titanic", "degree=2, Auto.linpreds=FALSE", degree=2, auto_linpreds=False),
    _case("simulated"),
    _case("simulated", "degree=2", degree=2),
    _case("simulated", "degree=3, nk=80, thresh=0", degree=3, nk=80, thresh=0),
    _case("simulated", 'nk=21, pmethod="none", thresh=0, degree=1, penalty=2',
          nk=21, pmethod="none", thresh=0, degree=1, penalty=2),
    _case("simulated", 'nk=51, pmethod="none", thresh=0, degree=2, penalty=3',
          nk=51, pmethod="none", thresh=0, degree=2, penalty=3),
    _case("simulated", "degree=2, weights=w", degree=2),
    _case("one"),
    _case("one", "minspan=-5", minspan=-5),
    _case("one", "endspan=2, minspan=2, penalty=0", endspan=2, minspan=2, penalty=0),
    _case("noise", 'degree=2, thresh=0, nk=41, pmethod="none"',
          degree=2, thresh=0, nk=41, pmethod="none"),
    _case("noise", "degree=2", degree=2),
]  # fmt: skip

# x, y, w and new rows for each data set; R's own come from R, the others from us.
R_DATA = """
datasets <- list(
  ozone = list(x = as.matrix(ozone1[, -1]), y = ozone1$O3),
  trees = list(x = as.matrix(trees[, 1:2]), y = trees$Volume),
  titanic = list(x = as.matrix(etitanic[, c("survived", "sibsp", "parch")]), y = etitanic$age),
  simulated = list(x = simulated_x, y = simulated_y),
  one = list(x = one_x, y = one_y),
  noise = list(x = noise_x, y = noise_y))
out <- list()
for (name in names(datasets)) {
  d <- datasets[[name]]
  storage.mode(d$x) <- "double"
  if (!(name %in% c("ozone", "trees", "titanic"))) colnames(d$x) <- NULL
  d$w <- weights_all[seq_along(d$y)]
  d$new <- d$x[rev(seq_len(nrow(d$x))), , drop = FALSE] * 1.01 + 0.1
  datasets[[name]] <- d
  for (part in c("x", "y", "w", "new")) out[[paste("data", name, part, sep = "|")]] <- d[[part]]
  out[[paste("data", name, "names", sep = "|")]] <- colnames(d$x)
}
"""

R_RUN = """
for (i in seq_along(calls)) tryCatch({
  d <- datasets[[data[i]]]
  x <- d$x; y <- d$y; w <- d$w
  fit <- suppressWarnings(eval(parse(text = calls[i])))
  predicted <- predict(fit, d$new)
  found <- list(
    dirs = fit$dirs, cuts = fit$cuts, selected = fit$selected.terms, coef = as.vector(fit$coefficients),
    rss = fit$rss, rsq = fit$rsq, gcv = fit$gcv, grsq = fit$grsq,
    rss.per.subset = fit$rss.per.subset, gcv.per.subset = fit$gcv.per.subset,
    prune.terms = as.matrix(fit$prune.terms), terms = rownames(fit$dirs),
    fitted = as.vector(fit$fitted.values), leverages = fit$leverages, nk = fit$nk,
    penalty = fit$penalty, termcond = fit$termcond, predicted = as.vector(predicted))
  for (name in names(found)) out[[paste("case", i, name, sep = "|")]] <- found[[name]]
}, error = refused)
"""


@functools.cache
def r_results():
    """Run everything in one plain R; return (data by name, results by case)."""
    rng = np.random.default_rng(20)
    simulated = rng.normal(size=(200, 6))
    signal = np.maximum(0, simulated[:, 0] - 0.3) + simulated[:, 1] * simulated[:, 2]
    one = rng.uniform(size=(60, 1))
    found = run_r(
        R_DATA + R_RUN,
        packages=("earth",),
        simulated_x=simulated,
        simulated_y=signal + 0.2 * rng.normal(size=200),
        one_x=one,
        one_y=np.sin(6 * one[:, 0]) + 0.1 * rng.normal(size=60),
        noise_x=rng.normal(size=(100, 10)),
        noise_y=rng.normal(size=100),
        weights_all=rng.uniform(0.5, 2.0, size=2000),
        calls=[case.r for case in CASES],
        data=[case.data for case in CASES],
    )
    data, results = {}, {}
    for key, value in found.items():
        kind, name, part = key.split("|")
        store = (
            data.setdefault(name, {}) if kind == "data" else results.setdefault(int(name) - 1, {})
        )
        store[part] = value
    return data, {CASES[i]: found for i, found in results.items()}
