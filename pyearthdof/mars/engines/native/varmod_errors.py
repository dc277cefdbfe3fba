"""Standard errors of a variance model's coefficients, as R's `iter.stderr`, and its R-squared."""

from __future__ import annotations

import numpy as np

from ...arithmetic import (
    r_sum,
    r_weighted_mean,
)
from ...components.terms import evaluate_terms, term_names
from ...components.variance import VarianceErrors
from .power import power_slopes
from .regression import root_of_inverse, wls_errors
from .robust import robust_errors

__all__ = ["errors_of"]

NEAR_ZERO = 1e-5  # an R-squared closer to zero is zero, earth says


def errors_of(method: str, names, values, residuals, weights, found) -> VarianceErrors:
    """Of the last regression `found` of the absolute residuals on the columns `values`, with its weights.

    `names` are those of the columns.
    """
    kind = method.removeprefix("x.")
    rest = residuals - found.predicted
    if kind.startswith("power"):
        coefficients = ("(Intercept)", "coef", "exponent")[0 if kind == "power" else 1 :]
        stderr = _power_errors(values[:, 0], rest, weights, found)
    elif kind == "earth":  # earth's own way: of the terms by themselves, without the weights
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


def _power_errors(x, rest, weights, found) -> np.ndarray:
    """From the slopes of a + b x^c at the minimum."""
    root = np.sqrt(weights)
    slopes = power_slopes(x, found.changing, len(found.coef) == 2)[1] * root[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.sum((rest * root) ** 2) / np.float64(len(x) - slopes.shape[1]))
        return root_of_inverse(slopes) * spread


def _rsq(residuals, rest, weights) -> float:
    total = r_sum(weights * (residuals - r_weighted_mean(residuals, weights)) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rsq = float(1 - np.float64(r_sum(weights * rest**2)) / total)
    return 0.0 if abs(rsq) < NEAR_ZERO else rsq
