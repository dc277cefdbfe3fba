"""Elementary functions, sums and rounding with the bits of R.

numpy's own exp, log and the like differ from the C library's in the last bit. That bit decides between
terms that are almost equally good, and a generalised linear model multiplies it by a million where a mean
is 1 - 1e-6.
"""

from __future__ import annotations

import functools

import numpy as np


def _each(function, *values) -> np.ndarray:
    """Return a function of flat arrays for arrays of any shape."""
    arrays = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values))
    flat = function(*(np.ascontiguousarray(a).ravel() for a in arrays))
    return flat.reshape(arrays[0].shape)[()]


@functools.cache
def _core():
    """Return the compiled core, which is loaded when it computes something for the first time."""
    from .. import _core

    return _core


def _by_name(name: str):
    return lambda values: _each(functools.partial(_core().elementary, name), values)


exp, expm1 = _by_name("exp"), _by_name("expm1")
log, log1p, log2, log10 = map(_by_name, ("log", "log1p", "log2", "log10"))
sin, cos, tan, atan = map(_by_name, ("sin", "cos", "tan", "atan"))
normal = _by_name("normal")
normal_quantile, normal_density = _by_name("normal_quantile"), _by_name("normal_density")


def logistic(values) -> np.ndarray:
    """1 / (1 + exp(-x)), within the limits of R's logit link."""
    return _each(_core().logistic, values)


def logistic_slope(values) -> np.ndarray:
    """Return the derivative of `logistic`."""
    return _each(_core().logistic_slope, values)


def power(base, exponent) -> np.ndarray:
    """R's ^."""
    return _each(_core().power, base, exponent)


def r_sum(values: np.ndarray) -> float:
    """R's sum(): in extended precision."""
    return _core().extended_sum(np.ascontiguousarray(values, dtype=float))


def r_mean(values: np.ndarray) -> float:
    """R's mean(): in extended precision, with a second round for what the first one lost."""
    return _core().extended_mean(np.ascontiguousarray(values, dtype=float))


def r_column_means(matrix: np.ndarray) -> np.ndarray:
    """R's colMeans(): sums in extended precision, rounded once, after the division."""
    return _core().extended_column_means(np.ascontiguousarray(matrix, dtype=float))


def r_variance(values: np.ndarray) -> float:
    """R's var(): differences and squares in extended precision, too."""
    return _core().extended_variance(np.ascontiguousarray(values, dtype=float))


def r_division(a, b) -> tuple[np.ndarray, np.ndarray]:
    """The rest of a after whole steps of b, and their number; the rest is of extended precision."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    rest, steps = _core().extended_division(
        np.ascontiguousarray(a).ravel(), np.ascontiguousarray(b).ravel()
    )
    return rest.reshape(a.shape), steps.reshape(a.shape)


def r_weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """R's weighted.mean(), which is not a number where no row has a weight."""
    total = r_sum(weights)
    return r_sum(values * weights) / total if total else np.nan


def sum_in_order(values: np.ndarray) -> float:
    """Return the sum in double precision, which is how earth's own code adds; numpy's sum adds in pairs."""
    return float(np.add.accumulate(values)[-1])


def product_in_order(columns: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return the sum of columns[k] * coef[k], (n,) or (n, m), added up term by term as in R's matrix product.

    So equal rows have equal sums; in a block of a faster product they may differ in the last bit. Near the
    limits of a mean that bit shows in 1 - mu, and ties decide the ranks of an AUC.
    """
    columns, coef = (np.ascontiguousarray(values, dtype=float) for values in (columns, coef.T))
    if coef.ndim == 1:
        return _core().product_in_order(columns, coef)
    return np.column_stack([_core().product_in_order(columns, each) for each in coef])


def power_of_ten(exponent: int) -> float:
    """By repeated squares, as in R's round()."""
    found, base, left = 1.0, 10.0, abs(exponent)
    while left:
        found *= base if left & 1 else 1.0
        base, left = base * base, left >> 1
    return found if exponent >= 0 else 1.0 / found
