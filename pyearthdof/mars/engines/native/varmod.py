"""earth's variance models: repeated regression of the absolute residuals on the fit or the predictors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import _core
from ...._utils.warnings import warn_user
from ....exceptions import InvalidInputError, RWarning
from ....random import RDraws
from ...arithmetic import power, r_mean, r_sum, r_variance, r_weighted_mean
from ...components.terms import evaluate_terms, term_names
from ...components.variance import (
    SD_OF_ABSOLUTE,
    VarianceErrors,
    VarianceModel,
    basis_root,
    linear_terms,
    power_of_fit,
    sd_of,
)
from ...data.training import TrainingData
from ...model.fit import Fit
from ...options import EarthOptions
from .engine import effective_weights, fit
from .nl2sol import NoMinimum, minimise
from .regression import fit_robust, robust_errors, root_of_inverse, wls, wls_errors

MAX_ITERATIONS = 50
LARGEST_LEVERAGE = 0.9
LARGEST_RATIO = 5.0  # of a standard deviation to the median one, in the weights
MOST_NOT_POSITIVE = 0.2
POWER_ITERATIONS = 100  # as in earth
RANK_TOLERANCE = 1e-7
ROOT_EPS = np.sqrt(np.finfo(float).eps)
NEAR_ZERO = 1e-5  # earth sets an R-squared closer to zero to zero


@dataclass(frozen=True)
class Regression:
    """A regression of the absolute residuals; terms and coefficients as in `VarianceModel`.

    The iteration stops by the change of the coefficients `changing`, NaN for dependent terms. The last
    one is the exponent of a power model.
    """

    dirs: np.ndarray
    cuts: np.ndarray
    coef: np.ndarray
    predicted: np.ndarray
    changing: np.ndarray
    power: float = 1.0
    scale: float = np.nan  # of the residuals of a robust regression


def fit_variance(
    details: Fit, data: TrainingData, options: EarthOptions, cv: dict, draws: RDraws
) -> tuple[VarianceModel, VarianceErrors]:
    """Fit the variance model of a fit to `data`; `draws` is R's random stream after the folds."""
    model, method, exponent = details.model, options.varmod_method, options.varmod_exponent
    fitted, n = details.fitted, len(details.fitted)
    assert details.leverages is not None  # required by the option checks
    leverages = np.minimum(details.leverages, LARGEST_LEVERAGE)
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = n / ((n - model.n_terms) * (1 - leverages))
        squared = correction * (data.responses.values - fitted) ** 2
        # variance of a row's out-of-fold predictions over the repetitions of cross-validation
        spread = [r_variance(row) for row in cv["tables"]["cv.oof.fit.tab"]["values"]]
        residuals = power(squared + spread, 0.5)
    if not np.isfinite(residuals).all():
        raise InvalidInputError(
            f"the model has {model.n_terms} terms on {n} rows, which leaves nothing for a variance model"
        )
    values = _regressors(method, exponent, fitted, data.design.values)
    found, weights, min_sd, converged, iterations = _iterate(values, residuals, options, draws)
    names = model.feature_names if method.startswith("x.") else ("RHS",)
    errors = errors_of(method, names, values, residuals, weights, found)
    varmod = VarianceModel(
        method=method,
        exponent=exponent,
        dirs=found.dirs,
        cuts=found.cuts,
        coef=found.coef,
        power=found.power,
        min_sd=min_sd,
        converged=converged,
        iterations=iterations,
        root=basis_root(details.bx, effective_weights(data.all_weights, n, options)),
    )
    return varmod, errors


def _regressors(method: str, exponent: float, fitted: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Regressors of the absolute residuals, as columns."""
    if method.startswith("x."):
        return X
    if method == "const":
        return np.empty((len(fitted), 0))
    if method.startswith("power"):
        _refuse_not_positive(fitted, f"varmod_method={method!r}")
        return np.maximum(fitted, 0.0)[:, None]
    if not exponent.is_integer():
        _refuse_not_positive(fitted, f"varmod_exponent={exponent:g}")
    return power_of_fit(fitted, exponent)[:, None]


def _refuse_not_positive(fitted: np.ndarray, what: str) -> None:
    share = np.mean(fitted <= 0)
    if share > MOST_NOT_POSITIVE:
        raise InvalidInputError(
            f"{what} but {100 * share:.2g}% of the fitted values are not above 0, and at most "
            f"{100 * MOST_NOT_POSITIVE:g}% may be: use varmod_method='lm' with varmod_exponent=1"
        )


def _iterate(
    values: np.ndarray, residuals: np.ndarray, options: EarthOptions, draws: RDraws
) -> tuple[Regression, np.ndarray, float, bool, int]:
    """Alternate regression and reweighting by the predicted variances until the coefficients converge.

    Returns the weights of the last regression.
    """
    method, conv = options.varmod_method, options.varmod_conv
    following, before = np.ones(len(residuals)), None
    found: Any = None
    for iteration in range(1, MAX_ITERATIONS + 1):
        weights = following
        found = _regress(values, residuals, weights, options, found, draws)
        before, change = _change(found.changing, before, iteration)
        min_sd = _smallest_sd(found.predicted, options.varmod_clamp)
        following = _next_weights(found.predicted, min_sd)
        converged = _is_still(method, conv, iteration, change)
        if converged:
            break
    if not converged:
        warn_user(
            f"varmod did not converge after {iteration} iterations, the coefficients still changed by "
            f"{change:.1f}%",
            RWarning,
        )
    return found, weights, min_sd, converged, iteration


def _is_still(method: str, conv: float, iteration: int, change: float) -> bool:
    if conv < 0:  # a number of iterations
        return iteration >= -conv
    return method in ("const", "earth", "x.earth") or (iteration > 1 and change < conv)


def _change(
    coef: np.ndarray, before: np.ndarray | None, iteration: int
) -> tuple[np.ndarray, float]:
    """Return the coefficients and their mean change in percent."""
    if np.isnan(coef).any():
        if iteration == 1:
            warn_user(
                "the variance model leaves out regressors that depend on others (singularities)",
                RWarning,
            )
        coef = np.nan_to_num(coef)
    if before is None:
        before = coef
    if len(before) != len(coef):
        return before, 9999.0  # earth's value; later changes are relative to the old coefficients
    size = np.abs(before)
    size = np.maximum(size, max(0.01 * size.max(), 1e-8))
    return coef, float(np.mean(100 * np.abs(coef - before) / size))


def _smallest_sd(predicted: np.ndarray, clamp: float) -> float:
    positive = predicted[predicted > 0]
    if len(positive) == 0:
        raise InvalidInputError("the variance model predicts no residual above 0")
    return clamp * r_mean(SD_OF_ABSOLUTE * positive)


def _next_weights(predicted: np.ndarray, min_sd: float) -> np.ndarray:
    sd = sd_of(predicted, min_sd)
    middle = np.median(sd)
    weights = 1 / np.clip(sd, middle / LARGEST_RATIO, LARGEST_RATIO * middle) ** 2
    return weights / r_mean(weights)


def _regress(
    values: np.ndarray, residuals: np.ndarray, weights: np.ndarray, options: EarthOptions,
    before: Regression | None, draws: RDraws,
) -> Regression:  # fmt: skip
    kind = options.varmod_method.removeprefix("x.")
    if kind == "earth":
        return _earth(values, residuals, weights, options.varmod_minspan)
    if kind in ("power", "power0"):
        return _power(kind == "power", values[:, 0], residuals, weights, before)
    dirs, cuts = linear_terms(values.shape[1]) if values.shape[1] else (np.zeros((1, 1)),) * 2
    columns = np.column_stack([np.ones(len(residuals)), values])
    if kind == "rlm":
        coef, scale = fit_robust(columns, residuals, weights, draws)
    else:
        coef, scale = wls(columns, residuals, weights), np.nan
    used = np.nan_to_num(coef)
    return Regression(dirs, cuts, used, columns @ used, coef, scale=scale)


def _earth(
    values: np.ndarray, residuals: np.ndarray, weights: np.ndarray, minspan: int
) -> Regression:
    """Fit a MARS model with earth's defaults except for minspan."""
    options = EarthOptions(n_features=values.shape[1], minspan=minspan, get_leverages=False)
    found = fit(values, residuals, options, weights)
    model = found.model
    dirs, cuts = model.dirs[model.selected], model.cuts[model.selected]
    return Regression(dirs, cuts, model.coef, found.fitted, model.coef)


def _power(
    intercept: bool, values: np.ndarray, residuals: np.ndarray, weights: np.ndarray,
    before: Regression | None,
) -> Regression:  # fmt: skip
    """Fit a + b fit^c, or b fit^c; the first regression starts at the straight line."""
    columns = np.column_stack([np.ones(len(values)), values])[:, 0 if intercept else 1 :]
    start = before.changing if before else np.append(wls(columns, residuals, weights), 1.0)
    found = fit_power(values, residuals, weights, start, intercept)
    dirs, cuts = linear_terms(1, intercept)
    predicted = power_line(values, found, intercept)
    return Regression(dirs, cuts, found[:-1], predicted, found, float(found[-1]))


def power_line(x: np.ndarray, coef: np.ndarray, intercept: bool) -> np.ndarray:
    """a + b x^c, or b x^c."""
    values = coef[-2] * power(x, coef[-1])
    return coef[0] + values if intercept else values


def power_slopes(x: np.ndarray, coef: np.ndarray, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    """a + b x^c and its derivatives by finite differences; their noise affects R's result."""

    def line(p: np.ndarray) -> np.ndarray:
        values = power_line(x, p, intercept)
        if not np.isfinite(values).all():
            raise NoMinimum("Missing value or an infinity produced when evaluating the model")
        return values

    values, slopes = line(coef), np.empty((len(x), len(coef)))
    for k, value in enumerate(coef):
        delta = abs(value) * ROOT_EPS if value else ROOT_EPS
        moved = coef.copy()
        moved[k] += delta
        slopes[:, k] = (line(moved) - values) / delta
    return values, slopes


def fit_power(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray, start: np.ndarray, intercept: bool
) -> np.ndarray:
    """Fit (a, b, c), or (b, c) without an intercept, of y on x >= 0; an error where R's nls fails."""
    root = np.sqrt(weights)

    def model(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = power_slopes(x, p, intercept)
        slopes = -(root[:, None] * slopes)
        if not np.isfinite(slopes).all():
            raise NoMinimum("NA/NaN/Inf in foreign function call (arg 1)")
        return root * (y - values), slopes

    try:
        with np.errstate(all="ignore"):
            slopes = model(start)[1]
        if len(_core.find_independent(slopes.T.copy(), RANK_TOLERANCE)) < min(slopes.shape):
            raise NoMinimum("singular gradient matrix at initial parameter estimates")
        return minimise(model, start, POWER_ITERATIONS)
    except NoMinimum as error:
        raise InvalidInputError(
            f"the power model of the variance has no minimum that can be found ({error}): use another "
            "varmod_method, such as 'lm'"
        ) from None


def errors_of(
    method: str, names: Sequence[str], values: np.ndarray, residuals: np.ndarray, weights: np.ndarray,
    found: Regression,
) -> VarianceErrors:  # fmt: skip
    """Return the errors of the last regression `found` of the absolute residuals on the columns `values`.

    `weights` are those of this regression, `names` the names of the columns.
    """
    kind = method.removeprefix("x.")
    rest = residuals - found.predicted
    if kind.startswith("power"):
        coefficients = ("(Intercept)", "coef", "exponent")[0 if kind == "power" else 1 :]
        stderr = _power_errors(values[:, 0], rest, weights, found)
    elif kind == "earth":  # as in earth: regression on the terms, without the weights
        basis = evaluate_terms(values, found.dirs, found.cuts)
        coefficients = term_names(found.dirs, found.cuts, names, values)
        stderr = wls_errors(basis, residuals, np.ones(len(residuals)))
    else:
        coefficients = ("(Intercept)", *names[: values.shape[1]])
        columns = np.column_stack([np.ones(len(residuals)), values])
        if kind == "rlm":
            root = np.sqrt(weights)
            stderr = robust_errors(columns * root[:, None], rest * root, found.scale)
        else:
            stderr = wls_errors(columns, residuals, weights)
    rsq = None if method == "const" else _rsq(residuals, rest, weights)
    return VarianceErrors(tuple(coefficients), stderr, rsq)


def _power_errors(
    x: np.ndarray, rest: np.ndarray, weights: np.ndarray, found: Regression
) -> np.ndarray:
    """Errors from the derivatives of a + b x^c at the minimum."""
    root = np.sqrt(weights)
    slopes = power_slopes(x, found.changing, len(found.coef) == 2)[1] * root[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.sum((rest * root) ** 2) / np.float64(len(x) - slopes.shape[1]))
        return root_of_inverse(slopes) * spread


def _rsq(residuals: np.ndarray, rest: np.ndarray, weights: np.ndarray) -> float:
    total = r_sum(weights * (residuals - r_weighted_mean(residuals, weights)) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rsq = float(1 - np.float64(r_sum(weights * rest**2)) / total)
    return 0.0 if abs(rsq) < NEAR_ZERO else rsq
