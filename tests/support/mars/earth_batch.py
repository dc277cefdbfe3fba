"""Many fits by R's earth in one plain R process, for paired tests by the thousand."""

from __future__ import annotations

import platform
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from pyearthdof.mars.crosscheck import TIE, _first_difference, _gap
from pyearthdof.mars.options import EarthOptions

R_CODE = r"""
suppressMessages(library(earth))
folder <- commandArgs(TRUE)[1]
cases <- read.csv(file.path(folder, "cases.csv"), stringsAsFactors = FALSE)
data <- file(file.path(folder, "data.bin"), "rb")
result <- file(file.path(folder, "result.bin"), "wb")
for (i in seq_len(nrow(cases))) {
  o <- cases[i, ]
  x <- matrix(readBin(data, "double", o$n * o$p), o$n, o$p)
  y <- drop(matrix(readBin(data, "double", o$n * o$responses), o$n, o$responses))
  w <- if (o$weighted) readBin(data, "double", o$n)
  wp <- if (o$important) readBin(data, "double", o$responses)
  f <- tryCatch(suppressWarnings(earth(x, y, weights = w, wp = wp, degree = o$degree, nk = o$nk,
    thresh = o$thresh, penalty = o$penalty, minspan = o$minspan, endspan = o$endspan,
    newvar.penalty = o$newvar_penalty, fast.k = o$fast_k, fast.beta = o$fast_beta,
    Adjust.endspan = o$adjust_endspan, Auto.linpreds = as.logical(o$auto_linpreds),
    pmethod = o$pmethod, nprune = if (o$nprune > 0) o$nprune,
    Scale.y = if (o$scale_y >= 0) as.logical(o$scale_y),
    linpreds = if (o$linpred > 0) o$linpred else FALSE)), error = function(e) NULL)
  if (is.null(f)) writeBin(-1, result)
  else writeBin(as.double(c(nrow(f$dirs), f$dirs, f$cuts, length(f$selected.terms),
    f$selected.terms, f$coefficients, f$rss, f$gcv, f$rsq, f$grsq, f$termcond,
    length(f$rss.per.subset), f$rss.per.subset, f$gcv.per.subset, f$prune.terms, f$leverages)),
    result)
}
close(result)
"""
# Debian builds R, earth and BLAS for 64-bit ARM with fused products and sums, which decide ties otherwise.
# The engine's own numbers are those of x86-64 there, too: tests/core/test_x86_answers.py.
FUSED = platform.machine() in ("aarch64", "arm64")
COLUMNS = (
    "degree", "nk", "thresh", "penalty", "minspan", "endspan", "newvar_penalty", "fast_k", "fast_beta",
    "adjust_endspan", "auto_linpreds", "pmethod", "nprune",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A problem for both engines.

    `y` has one column per response where there are several.
    """

    X: np.ndarray
    y: np.ndarray
    options: EarthOptions
    weights: np.ndarray | None = None
    label: str = ""

    @classmethod
    def make(cls, X, y, weights=None, label="", **options) -> Case:
        full = EarthOptions(n_features=X.shape[1], **options)
        return cls(np.asarray(X, float), np.asarray(y, float), full, weights, label)

    @property
    def n_responses(self) -> int:
        return 1 if self.y.ndim == 1 else self.y.shape[1]


def fit_in_r(cases: list[Case], timeout: float = 3600) -> list[dict | None]:
    """Fit all cases; None where R stopped with an error."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, cases)
        (folder / "batch.R").write_text(R_CODE)
        subprocess.run(
            ["Rscript", "--vanilla", str(folder / "batch.R"), name], check=True, timeout=timeout
        )
        values = _Reader(np.fromfile(folder / "result.bin"))
        return [_read(values, case) for case in cases]


def value_of(found, name: str):
    """A number of a fit, or of its model."""
    return getattr(found if hasattr(found, name) else found.model, name)


def difference(found, wanted: dict, tolerance: float = 1e-8) -> str:
    """The first thing in which a native fit differs from R's, or an empty string.

    Numbers are compared relative to the largest of their kind; where all of them are zero but for
    rounding (the mean of a response that sums to 0), to 1e-8 of the residuals.
    """
    for name in ("dirs", "cuts", "selected"):
        if not np.array_equal(value_of(found, name), wanted[name]):
            return name
    if found.model.termcond != wanted["termcond"]:
        return "termcond"
    if not np.array_equal(found.model.prune_terms, wanted["prune_terms"]):
        return "prune_terms"
    for name in (
        "coef",
        "rss",
        "gcv",
        "rsq",
        "grsq",
        "rss_per_subset",
        "gcv_per_subset",
        "leverages",
    ):
        ours, theirs = np.ravel(value_of(found, name)), np.ravel(wanted[name])
        finite = np.isfinite(theirs)
        if not np.array_equal(finite, np.isfinite(ours)):
            return name
        size = np.abs(theirs[finite]).max(initial=1e-8 * np.sqrt(wanted["rss"]))
        if np.abs(ours[finite] - theirs[finite]).max(initial=0) > tolerance * size:
            return name
    return ""


def unexplained(case: Case, found, wanted: dict) -> str:
    """The first difference, but for ties that an R with fused operations decides otherwise."""
    what = difference(found, wanted)
    return "" if what and FUSED and is_tied(case, found.model, wanted) else what


def is_tied(case: Case, model, wanted: dict) -> bool:
    """Whether the forward passes part where the candidates explain the same, so that rounding decides."""
    r = SimpleNamespace(dirs=wanted["dirs"], cuts=wanted["cuts"])
    at = _first_difference(r, model)
    return at is not None and _gap(r, model, case.X, case.y, at) < TIE


def _write(folder: Path, cases: list[Case]) -> None:
    lines = ["n,p,responses,weighted,important,linpred,scale_y," + ",".join(COLUMNS)]
    with (folder / "data.bin").open("wb") as file:
        for case in cases:
            file.write(case.X.tobytes("F"))
            file.write(case.y.tobytes("F"))
            if case.weights is not None:
                file.write(np.asarray(case.weights, float).tobytes())
            lin, scale = case.options.linpreds, case.options.scale_y
            importance = case.options.response_weight
            if importance is not None:
                file.write(np.asarray(importance, float).tobytes())
            row = [*case.X.shape, case.n_responses, int(case.weights is not None)]
            row += [int(importance is not None)]
            row += [lin[0] + 1 if lin else 0, -1 if scale is None else int(scale)]
            row += [_text(getattr(case.options, name)) for name in COLUMNS]
            lines.append(",".join(map(str, row)))
    (folder / "cases.csv").write_text("\n".join(lines) + "\n")


def _text(value) -> str:
    if value is None:
        return "0"
    return str(int(value)) if isinstance(value, bool) else str(value)


class _Reader:
    def __init__(self, values: np.ndarray):
        self.values, self.at = values, 0

    def take(self, count: int) -> np.ndarray:
        self.at += count
        return self.values[self.at - count : self.at]

    def number(self) -> float:
        return float(self.take(1)[0])


def _read(values: _Reader, case: Case) -> dict | None:
    n, p = case.X.shape
    m = int(values.number())
    if m < 0:
        return None
    found = {"dirs": values.take(m * p).reshape(p, m).T, "cuts": values.take(m * p).reshape(p, m).T}
    size = int(values.number())
    found["selected"] = values.take(size).astype(int) - 1
    coef = values.take(size * case.n_responses).reshape(case.n_responses, size).T
    found["coef"] = coef[:, 0] if case.y.ndim == 1 else coef
    for name in ("rss", "gcv", "rsq", "grsq"):
        found[name] = values.number()
    found["termcond"] = int(values.number())
    k = int(values.number())
    found["rss_per_subset"], found["gcv_per_subset"] = values.take(k), values.take(k)
    found["prune_terms"] = values.take(k * k).reshape(k, k).T
    found["leverages"] = values.take(n)
    return found
