"""Cross-validation as in earth: folds drawn with R's seed, one fit per fold, and R's tables."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata

from ...._utils.warnings import CollectedWarnings, warn_once, warn_user
from ....exceptions import InvalidInputError, RWarning
from ....random import RDraws
from ...arithmetic import log, product_in_order, r_mean, r_sum, r_weighted_mean
from ...components.glm import OF_COUNTS, OF_SHARES
from ...components.terms import evaluate_terms
from ...data.design import Responses, taken
from ...data.training import TrainingData
from ...model.fit import Fit
from ...model.mars_model import MarsModel
from ...options import EarthOptions
from .engine import subset_fits
from .glm_fit import GlmStoppedError, as_shares, fit_glm, fit_glms


@dataclass(frozen=True)
class Fold:
    """Results of one fold: rows of R's tables, and predictions of the left-out rows."""

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
    """Return the 0-based fold of each row; one row of the result per repetition.

    All folds are drawn before the first fit: over all rows and, if stratified, again for the rows where a
    response is not zero, one response at a time.
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
    data: TrainingData,
    options: EarthOptions,
    draws: RDraws,
    n_jobs: int,
    fit: Callable[[TrainingData, EarthOptions], Fit],
) -> dict:
    """Return R's tables of the cross-validation of a fit, named as in describe.cv in r_scripts/earth.R.

    `model` is the fit to all of `data`, which has no subset. The folds are fitted by `fit` in `n_jobs`
    threads; the tables do not depend on their number.
    """
    Y = data.responses.matrix
    n, ncross = len(Y), options.ncross
    nfold = min(options.nfold, n)
    groups = draw_folds(Y, nfold, ncross, options.stratify, draws)
    folds = [(cross, fold) for cross in range(ncross) for fold in range(nfold)]
    if options.allowed is not None:
        n_jobs = 1  # the user's function is called in R's order

    def run(cross: int, fold: int) -> Fold:
        return _fit_fold(model, data, options, groups[cross] == fold, fit)

    found = in_threads(run, folds, n_jobs)
    return _tables(model, data, options, folds, found)


def in_threads(run: Callable[[int, int], Any], folds: list[tuple[int, int]], n_jobs: int) -> list:
    """Run the folds and return them in order; this thread issues each warning once."""
    with CollectedWarnings() as heard:
        tasks = [delayed(copy_context().run)(run, *fold) for fold in folds]
        found = Parallel(n_jobs, backend="threading")(tasks)
    warn_once(heard)
    return found


def _fit_fold(
    model: MarsModel,
    data: TrainingData,
    options: EarthOptions,
    is_out: np.ndarray,
    fit: Callable[[TrainingData, EarthOptions], Fit],
) -> Fold:
    out, inside = np.flatnonzero(is_out), np.flatnonzero(~is_out)
    given = data.all_weights
    part = replace(
        data,
        all_design=data.design.rows(inside),
        all_responses=data.responses.rows(inside),
        all_weights=taken(given, inside),
        all_offset=None,  # earth's folds ignore the offset
    )
    plain = replace(
        options, nfold=0, ncross=1, varmod_method="none", nprune=None, get_leverages=False,
        pmethod="backward" if options.pmethod == "cv" else options.pmethod,
    )  # fmt: skip
    fitted = fit(part, plain).model
    X = data.design.values
    y = _observed(model, data)[out]
    weights = taken(given, out)
    basis = evaluate_terms(X[out], fitted.dirs, fitted.cuts)[:, fitted.selected]
    predicted = product_in_order(basis.T, fitted.coef).reshape(len(out), -1)
    response, statistics = predicted, {}
    family = options.glm_family
    if family in OF_SHARES + OF_COUNTS:
        assert fitted.glm is not None
        response = fitted.glm.response(product_in_order(basis.T, fitted.glm.coef)).reshape(
            len(out), -1
        )
        counts = data.responses.matrix[out] if y.shape[1] < data.responses.matrix.shape[1] else None
        statistics = glm_statistics(response, y, counts, is_binomial=family in OF_SHARES)
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


def _observed(model: MarsModel, data: TrainingData) -> np.ndarray:
    """Return the responses; for pairs of successes and failures, the shares of successes."""
    Y = data.responses.matrix
    if Y.shape[1] == len(model.response_names):
        return Y
    return as_shares(data.responses, None)[0].matrix


def _rsq_per_subset(
    model: MarsModel,
    fitted: MarsModel,
    data: TrainingData,
    part: TrainingData,
    options: EarthOptions,
    out: np.ndarray,
    inside: np.ndarray,
) -> dict[str, np.ndarray]:
    """Out-of-fold and in-fold RSq of the best subset of each size; NaN for sizes not reached."""
    X, Y, given = data.design.values, _observed(model, data), data.all_weights
    # in the fold, R compares with the successes of pairs, not their shares
    parts = {"oof_rsq": (out, Y), "infold_rsq": (inside, data.responses.matrix)}
    table = {name: np.full(len(model.dirs), np.nan) for name in parts}
    share = _response_shares(options, Y.shape[1])
    basis = evaluate_terms(X, fitted.dirs, fitted.cuts)
    pairs = part if Y.shape[1] < part.responses.matrix.shape[1] else None
    if pairs is not None:
        shares, numbers = as_shares(part.responses, part.all_weights)
        part = replace(part, all_responses=shares, all_weights=numbers)
    for size, (selected, coef) in enumerate(subset_fits(fitted, part, options, len(model.dirs))):
        if pairs is not None:  # R refits these, too, and may warn about them
            fit_glms(basis[np.ix_(inside, selected)], pairs, options)
        predicted = basis[:, selected] @ coef
        for name, (rows, true) in parts.items():
            weights = taken(given, rows)
            each = [
                weighted_rsq(true[rows, j], predicted[rows, j], weights) for j in range(Y.shape[1])
            ]
            table[name][size] = _weighted_mean(each, share)
    return table


def _response_shares(options: EarthOptions, n_resp: int) -> np.ndarray:
    given = options.response_weight
    weights = np.ones(n_resp) if given is None else given
    return weights / weights.sum()


def _weighted_mean(values: np.ndarray | list[float], share: np.ndarray) -> float:
    """Weighted mean without values of weight 0, as in R: those of a constant response may be infinite."""
    used = share != 0
    return float(np.dot(share[used], np.asarray(values)[used]))


def _tables(
    model: MarsModel,
    data: TrainingData,
    options: EarthOptions,
    folds: list[tuple[int, int]],
    found: list[Fold],
) -> dict:
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
    """Column means without missing values; NaN if more than half of a column is missing."""
    there = ~np.isnan(rows)
    with np.errstate(invalid="ignore"):
        means = np.where(there, rows, 0.0).sum(axis=0) / there.sum(axis=0)
    return np.where((~there).sum(axis=0) > len(rows) / 2, np.nan, means)


def _out_of_fold(found: list[Fold], folds: list[tuple[int, int]], data: TrainingData) -> tuple:
    n, ncross = len(data.responses.matrix), 1 + folds[-1][0]
    values = np.zeros((n, ncross))
    for (cross, _), fold in zip(folds, found, strict=True):
        values[fold.left_out, cross] = fold.predicted
    return values, None, [f"icross{k + 1}" for k in range(ncross)]


def best_size(cv: dict, nprune: int | None) -> int:
    """Return the number of terms selected by cross-validation, at most nprune."""
    mean = cv["tables"]["cv.oof.rsq.tab"]["values"][-1]
    if len(mean) < 2:
        raise InvalidInputError(
            "pmethod='cv' but the forward pass found no term, so that there is nothing to choose from: "
            "use pmethod='backward'"
        )
    mean = mean if nprune is None else mean[:nprune]
    return int(np.nanargmax(mean)) + 1


def weighted_rsq(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """1 - RSS/TSS of one response; values near zero are set to zero, as in earth."""
    if weights is None:
        rss, total = r_sum((y - predicted) ** 2), r_sum((y - r_mean(y)) ** 2)
    else:
        rss = r_sum(weights * (y - predicted) ** 2)
        total = r_sum(weights * (y - r_weighted_mean(y, weights)) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rsq = 1 - np.float64(rss) / np.float64(total)
    return 0.0 if -1e-5 < rsq < 1e-5 else float(rsq)


def largest_error(errors: np.ndarray) -> float:
    """Return the error of largest absolute value, with its sign."""
    return float(errors[np.argmax(np.abs(errors))])


def class_levels(responses: Responses) -> tuple | None:
    """Levels of the response for earth: those of a factor, or the two values if the range is 1."""
    if responses.classes is not None:
        return tuple(responses.classes)
    low, high = responses.matrix.min(), responses.matrix.max()
    # R fails if such a response has more than two values; no rate is computed then.
    return (low, high) if high - low == 1 and responses.matrix.shape[1] <= 2 else None


def class_rates(predicted: np.ndarray, y: np.ndarray, levels: tuple) -> np.ndarray:
    """Share of rows classified correctly for each class, and overall."""
    if y.shape[1] == 1:
        rate = np.mean((predicted > 0.5) == (y > 0.5))
        return np.array([rate, rate])
    true, found = y.argmax(axis=1), predicted.argmax(axis=1)
    each = [np.mean((true == k) == (found == k)) for k in range(len(levels))]
    return np.array([*each, np.mean(true == found)])


def glm_statistics(
    predicted: np.ndarray, y: np.ndarray, counts: np.ndarray | None, *, is_binomial: bool
) -> dict[str, np.ndarray]:
    """Return rows of R's tables for the predicted means of a generalised linear model.

    `counts` contains the successes and failures whose shares are in y, or is None.
    """
    n = None if counts is None else counts.sum(axis=1)
    test, deviance = (
        (_auc, _binomial_deviance) if is_binomial else (_correlation, _poisson_deviance)
    )
    pairs = list(zip(predicted.T, y.T, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: dict[str, Any] = {
            "cv.auc.tab" if is_binomial else "cv.cor.tab": [test(*pair) for pair in pairs],
            "cv.deviance.tab": [deviance(*pair) for pair in pairs],
        }
    calibrated = np.array([calibrate(*pair, n, is_binomial=is_binomial) for pair in pairs])
    found |= {"cv.calib.int.tab": calibrated[:, 0], "cv.calib.slope.tab": calibrated[:, 1]}
    return {name: np.asarray(values, dtype=float) for name, values in found.items()}


def _auc(predicted: np.ndarray, y: np.ndarray) -> float:
    """Area under the ROC curve, from ranks; NaN if only one class is present."""
    high = y > 0.5
    low, n_low, n_high = ~high, np.sum(y <= 0.5), np.sum(high)
    ranks = rankdata(np.concatenate([predicted[low], predicted[high]]))
    area = n_low * n_high + n_low * (n_low + 1) / 2 - ranks[:n_low].sum()
    return float(np.float64(area) / np.float64(n_low * n_high))


def _correlation(predicted: np.ndarray, y: np.ndarray) -> float:
    """R's cor(); NaN if one argument is constant, that is, equal to R's mean to the bit."""
    a, b = predicted - r_mean(predicted), y - r_mean(y)
    return float(np.float64(r_sum(a * b)) / (np.sqrt(r_sum(a**2)) * np.sqrt(r_sum(b**2))))


def _binomial_deviance(predicted: np.ndarray, y: np.ndarray) -> float:
    parts = y * np.log(predicted) + (1 - y) * np.log(1 - predicted)
    return float(-2 * parts.sum() / len(y))


def _poisson_deviance(predicted: np.ndarray, y: np.ndarray) -> float:
    parts = np.where(y == 0, 0.0, y * np.log(y / predicted)) - (y - predicted)
    return float(2 * parts.sum() / len(y))


def calibrate(
    predicted: np.ndarray, y: np.ndarray, n: np.ndarray | None, *, is_binomial: bool
) -> tuple[float, float]:
    """Intercept and slope of y on the link of the predicted means; 0 and 1 would be calibrated.

    For a binomial family, `y` contains shares of `n` trials (None: one trial each), otherwise counts. The
    slope is NaN if all predictions are equal.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if is_binomial:
            shifted = predicted + 1e-5
            shifted = np.where(shifted >= 1, 0.99999, shifted)
            x = log(shifted / (1 - shifted))
        else:
            x = log(predicted)
    if not np.isfinite(x).all():
        return np.nan, np.nan
    columns = np.array([np.ones(len(x)), x])
    try:
        found = fit_glm(columns, y, "binomial" if is_binomial else "poisson", weights=n)
    except GlmStoppedError:
        return np.nan, np.nan
    for text in found.warnings:
        warn_user(text, RWarning)
    return float(found.coef[0]), float(found.coef[1]) if found.rank > 1 else np.nan
