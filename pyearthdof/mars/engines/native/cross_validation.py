"""Cross-validation as earth does it: folds under R's seed, a fit for each of them, and R's tables."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from ...._utils.checks import refusal
from ...._utils.warnings import CollectedWarnings, warn_once
from ....exceptions import InvalidInputError
from ....random import RDraws
from ...components.terms import evaluate_terms
from ...data.design import taken
from ...model.mars_model import MarsModel
from ...options import EarthOptions
from .earth_glm import fit_glms
from .fit import fit_one, subset_fits
from .fold_statistics import (
    class_levels,
    class_rates,
    glm_statistics,
    largest_error,
    weighted_rsq,
)

__all__ = ["Fold", "best_size", "cross_validate", "draw_folds", "in_threads"]

BINOMIAL = ("binomial", "quasibinomial")
POISSON = ("poisson", "quasipoisson")


@dataclass(frozen=True)
class Fold:
    """What one fold tells: rows of R's tables, and the predictions of the rows that were left out."""

    nterms: int
    nvars: int
    rsq: np.ndarray
    maxerr: np.ndarray
    class_rate: np.ndarray | None
    glm: dict[str, np.ndarray]
    left_out: np.ndarray
    predicted: np.ndarray
    oof_rsq: np.ndarray | None = None
    infold_rsq: np.ndarray | None = None


def draw_folds(Y: np.ndarray, nfold: int, ncross: int, stratify: bool, draws: RDraws) -> np.ndarray:
    """The fold of each row, from 0 on, a row of the result for each repetition.

    All are drawn before the first fit: over all rows, then, if stratified, again for the rows where a
    response is not zero, one response after the other.
    """
    n = len(Y)
    folds = np.empty((ncross, n), dtype=int)
    for groups in folds:
        groups[:] = draws.sample(np.resize(np.arange(nfold), n))
        for column in Y.T if stratify else ():
            there = column != 0
            if not there.any():
                raise InvalidInputError(
                    "stratify=True but a response is 0 everywhere: use stratify=False"
                )
            groups[there] = draws.sample(np.resize(np.arange(nfold), int(there.sum())))
        if len(np.unique(groups)) < nfold:
            raise InvalidInputError(
                f"nfold={nfold} but there are not enough data for it: one of the folds is empty"
            )
    return folds


def cross_validate(
    model: MarsModel,
    data,
    options: EarthOptions,
    draws: RDraws,
    n_jobs: int = 1,
    fit: Callable = fit_one,
) -> dict:
    """R's tables of the cross-validation of a fit, as describe.cv in r_scripts/earth.R names them.

    `model` is the fit to all of `data`, which has no subset. The folds are fitted by `fit`, in `n_jobs`
    threads; the tables do not depend on how many there are.
    """
    Y = data.responses.matrix
    n, ncross = len(Y), options.ncross
    nfold = min(options.nfold, n)
    groups = draw_folds(Y, nfold, ncross, options.stratify, draws)
    folds = [(cross, fold) for cross in range(ncross) for fold in range(nfold)]
    if options.allowed is not None:
        n_jobs = 1  # the user's function hears the questions in R's order

    def run(cross, fold):
        return _fit_fold(model, data, options, groups[cross] == fold, fit)

    found = in_threads(run, folds, n_jobs)
    return _tables(model, data, options, folds, found)


def in_threads(run, folds, n_jobs) -> list:
    """The folds in order; what they warn of is said once, by this thread."""
    with CollectedWarnings() as heard:
        tasks = [delayed(copy_context().run)(run, *fold) for fold in folds]
        found = Parallel(n_jobs, backend="threading")(tasks)
    warn_once(heard)
    return found


def _fit_fold(model: MarsModel, data, options: EarthOptions, is_out: np.ndarray, fit) -> Fold:
    out, inside = np.flatnonzero(is_out), np.flatnonzero(~is_out)
    if options.minspan > len(inside):
        raise refusal(
            "minspan", options.minspan, f"at most the number of rows of a fold, {len(inside)}"
        )
    given = data.all_weights
    part = replace(
        data,
        all_design=data.design.rows(inside),
        all_responses=data.responses.rows(inside),
        all_weights=taken(given, inside),
        all_offset=None,  # earth's folds know no offset
    )
    plain = replace(
        options, nfold=0, ncross=1, varmod_method="none", nprune=None, get_leverages=False,
        pmethod="backward" if options.pmethod == "cv" else options.pmethod,
    )  # fmt: skip
    fitted, _ = fit(part, plain)
    X = data.design.values
    y = _observed(model, data)[out]
    weights = taken(given, out)
    basis = evaluate_terms(X[out], fitted.dirs, fitted.cuts)[:, fitted.selected]
    predicted = _product(basis, fitted.coef)
    response, statistics = predicted, {}
    family = options.glm_family
    if family in BINOMIAL + POISSON:
        response = fitted.glm.response(_product(basis, fitted.glm.coef))
        counts = data.responses.matrix[out] if y.shape[1] < data.responses.matrix.shape[1] else None
        statistics = glm_statistics(response, y, counts, is_binomial=family in BINOMIAL)
    levels = class_levels(data.responses)
    subsets = {}
    if options.keepxy or options.pmethod == "cv":
        subsets = _rsq_per_subset(model, fitted, data, part, plain, out, inside)
    return Fold(
        nterms=fitted.n_terms,
        nvars=len(fitted.used_features()),
        rsq=np.array([weighted_rsq(a, b, weights) for a, b in zip(y.T, predicted.T, strict=True)]),
        maxerr=np.array([largest_error(e) for e in (y - response).T]),
        class_rate=None if levels is None else class_rates(response, y, levels),
        glm=statistics,
        left_out=out,
        predicted=predicted[:, 0],
        **subsets,
    )


def _product(basis: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """A column for each response, added up term by term as R's matrix product does.

    So rows that are equal have equal predictions, which the ranks of an AUC count as ties; in a block of a
    faster product they may differ in the last bit.
    """
    coef = coef.reshape(len(coef), -1)
    total = np.zeros((len(basis), coef.shape[1]))
    for column, values in zip(basis.T, coef, strict=True):
        total += np.outer(column, values)
    return total


def _observed(model: MarsModel, data) -> np.ndarray:
    """The responses; the shares of successes where there are pairs of successes and failures."""
    Y = data.responses.matrix
    if Y.shape[1] == len(model.response_names):
        return Y
    total = Y.sum(axis=1)
    return (Y[:, 0] / np.where(total == 0, 1.0, total))[:, None]


def _rsq_per_subset(
    model, fitted, data, part, options: EarthOptions, out, inside
) -> dict[str, np.ndarray]:
    """RSq of the best subset of each size, outside of the fold and in it; NaN where there is none."""
    X, Y, given = data.design.values, _observed(model, data), data.all_weights
    # in the fold R compares with the successes of pairs, not with their shares
    parts = {"oof_rsq": (out, Y), "infold_rsq": (inside, data.responses.matrix)}
    table = {name: np.full(len(model.dirs), np.nan) for name in parts}
    share = _response_shares(options, Y.shape[1])
    basis = evaluate_terms(X, fitted.dirs, fitted.cuts)
    pairs = part if Y.shape[1] < part.responses.matrix.shape[1] else None
    if pairs is not None:
        part = _as_shares(part, Y[inside])
    for size, (selected, coef) in enumerate(subset_fits(fitted, part, options, len(model.dirs))):
        if pairs is not None:  # R fits these again, too: it may warn of them
            fit_glms(basis[np.ix_(inside, selected)], pairs, options)
        predicted = basis[:, selected] @ coef
        for name, (rows, true) in parts.items():
            weights = taken(given, rows)
            each = [
                weighted_rsq(true[rows, j], predicted[rows, j], weights) for j in range(Y.shape[1])
            ]
            table[name][size] = _weighted_mean(each, share)
    return table


def _as_shares(part, shares: np.ndarray):
    """Pairs of successes and failures as earth's own regression takes them: shares and their weights."""
    numbers = part.responses.matrix.sum(axis=1)
    weights = numbers if part.all_weights is None else numbers * part.all_weights
    names = part.responses.names[:1]
    return replace(
        part,
        all_responses=replace(part.responses, values=shares[:, 0], names=names),
        all_weights=weights,
    )


def _response_shares(options: EarthOptions, n_resp: int) -> np.ndarray:
    given = options.response_weight
    weights = np.ones(n_resp) if given is None else given
    return weights / weights.sum()


def _weighted_mean(values, share: np.ndarray) -> float:
    """As R, without the values of weight 0: those of a constant response may be infinite."""
    used = share != 0
    return float(np.dot(share[used], np.asarray(values)[used]))


def _tables(model: MarsModel, data, options: EarthOptions, folds, found: list[Fold]) -> dict:
    several = options.ncross > 1
    names = [
        f"fold{cross + 1}.{fold + 1}" if several else f"fold{fold + 1}" for cross, fold in folds
    ]
    share = _response_shares(options, len(model.response_names))
    responses = list(model.response_names)
    rated = found[0].class_rate is not None
    means, last = [*names, "mean"], "all" if rated else "max"
    tables: dict[str, tuple] = {}
    if options.pmethod != "cv":
        rsq = np.array([np.append(f.rsq, _weighted_mean(f.rsq, share)) for f in found])
        tables["cv.rsq.tab"] = (_with_mean(rsq), means, [*responses, "mean"])
        errors = np.array([np.append(f.maxerr, largest_error(f.maxerr)) for f in found])
        worst = [largest_error(column) for column in errors.T]
        tables["cv.maxerr.tab"] = (np.vstack([errors, worst]), [*names, last], [*responses, "max"])
        if rated:
            rates = _with_mean(np.array([f.class_rate for f in found]))
            tables["cv.class.rate.tab"] = (rates, None, [*responses, "mean"])
        for name in found[0].glm:
            rows = np.array(
                [np.append(f.glm[name], _weighted_mean(f.glm[name], share)) for f in found]
            )
            tables[name] = (_with_mean(rows), means, [*responses, "mean"])
    if found[0].oof_rsq is not None:
        sizes = [f"nterms{k + 1}" for k in range(len(model.dirs))]
        for name in ("oof_rsq", "infold_rsq"):
            rows = np.array([getattr(f, name) for f in found])
            rows = np.vstack([rows, _mean_of_most(rows)])
            tables[f"cv.{name.replace('_', '.')}.tab"] = (rows, [*names, "all"], sizes)
    if options.varmod_method != "none":
        tables["cv.oof.fit.tab"] = _out_of_fold(found, folds, data)
    if options.pmethod == "cv":
        tables = dict(reversed(tables.items()))  # R's order
    else:
        for name in ("nterms", "nvars"):
            counts = np.array([[float(getattr(f, name))] for f in found])
            tables[f"cv.{name}.selected.by.gcv"] = (_with_mean(counts), means, None)
    keys = ("values", "rows", "columns")
    return {
        "folds": names,
        "terms": np.array([float(f.nterms) for f in found]),
        "tables": {name: dict(zip(keys, table, strict=True)) for name, table in tables.items()},
    }


def _with_mean(rows: np.ndarray) -> np.ndarray:
    return np.vstack([rows, rows.mean(axis=0)])


def _mean_of_most(rows: np.ndarray) -> np.ndarray:
    """Means of what is there; NaN where more than half of a column is not."""
    there = ~np.isnan(rows)
    with np.errstate(invalid="ignore"):
        means = np.where(there, rows, 0.0).sum(axis=0) / there.sum(axis=0)
    return np.where((~there).sum(axis=0) > len(rows) / 2, np.nan, means)


def _out_of_fold(found: list[Fold], folds, data) -> tuple:
    n, ncross = len(data.responses.matrix), 1 + folds[-1][0]
    values = np.zeros((n, ncross))
    for (cross, _), fold in zip(folds, found, strict=True):
        values[fold.left_out, cross] = fold.predicted
    return values, None, [f"icross{k + 1}" for k in range(ncross)]


def best_size(cv: dict, nprune: int | None) -> int:
    """The number of terms that cross-validation prefers, at most nprune."""
    mean = cv["tables"]["cv.oof.rsq.tab"]["values"][-1]
    if len(mean) < 2:
        raise InvalidInputError(
            "pmethod='cv' but the forward pass found no term, so that there is nothing to choose from: "
            "use pmethod='backward'"
        )
    mean = mean if nprune is None else mean[:nprune]
    return int(np.nanargmax(mean)) + 1
