"""Elementary functions, sums and rounding with the bits of R.

numpy's own exp, log and the like differ from the C library's in the last bit. That bit decides between
terms that are almost equally good, and a generalised linear model multiplies it by a million where a mean
is 1 - 1e-6.
"""

from __future__ import annotations

import functools
import math

import numpy as np

__all__ = [
    "atan", "cos", "exp", "expm1", "log", "log1p", "log2", "log10", "logistic", "logistic_slope",
    "normal", "normal_density", "normal_quantile", "power", "product_in_order", "r_column_means", "r_format",
    "r_mean", "r_sum", "r_variance", "r_weighted_mean", "sin", "sum_in_order", "tan",
]  # fmt: skip


def _each(function, *values) -> np.ndarray:
    """A function of flat arrays for arrays of any shape."""
    arrays = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values))
    flat = function(*(np.ascontiguousarray(a).ravel() for a in arrays))
    return flat.reshape(arrays[0].shape)[()]


@functools.cache
def _core():
    """The compiled core, which is loaded when it computes something for the first time."""
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
    """The derivative of `logistic`."""
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
    totals = np.add.accumulate(matrix.astype(np.longdouble), axis=0)[-1]
    return (totals / len(matrix)).astype(float)


def r_variance(values: np.ndarray) -> float:
    """R's var(): differences and squares in extended precision, too."""
    differences = values.astype(np.longdouble) - r_mean(values)
    return float(np.add.accumulate(differences**2)[-1] / (len(values) - 1))


def r_weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """R's weighted.mean(), which is not a number where no row has a weight."""
    total = r_sum(weights)
    return r_sum(values * weights) / total if total else np.nan


def sum_in_order(values: np.ndarray) -> float:
    """The sum in double precision, which is how earth's own code adds; numpy's sum adds in pairs."""
    return float(np.add.accumulate(values)[-1])


def product_in_order(columns: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """The sum of columns[k] * coef[k], (n,) or (n, m), added up term by term as in R's matrix product.

    So equal rows have equal sums; in a block of a faster product they may differ in the last bit. Near the
    limits of a mean that bit shows in 1 - mu, and ties decide the ranks of an AUC.
    """
    total = np.zeros((columns.shape[1], *coef.shape[1:]))
    for column, value in zip(columns, coef, strict=True):
        total += np.multiply.outer(column, value)
    return total


def r_format(values, digits: int = 7) -> list[str]:
    """Format numbers together as R's `format` does: the fewest digits, at most `digits` significant.

    All get the same number of decimals; where that is longer than the scientific form, they get that.

    >>> r_format([13.3286113, -0.000103])
    ['13.328611', '-0.000103']
    >>> r_format([1e-10])
    ['1e-10']
    """
    values = [float(v) + 0.0 for v in values]  # R shows no negative zero
    finite = [v for v in values if math.isfinite(v)]
    parts = [_significant(v, digits) for v in finite]
    decimals = max((max(0, used - 1 - exponent) for used, exponent in parts), default=0)
    mantissa = max((used for used, _ in parts), default=1)
    fixed_width = max((len(f"{v:.{decimals}f}") for v in finite), default=0)
    exponent_width = max((max(2, len(str(abs(e)))) for _, e in parts), default=2)
    science_width = mantissa + (mantissa > 1) + 2 + exponent_width + any(v < 0 for v in finite)
    scientific = fixed_width > science_width
    return [_formatted(v, scientific, mantissa, decimals) for v in values]


def _formatted(value: float, scientific: bool, mantissa: int, decimals: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return f"{value:.{mantissa - 1}e}" if scientific else f"{value:.{decimals}f}"


def _significant(value: float, digits: int) -> tuple[int, int]:
    """How many significant digits show the value to `digits`, and its decimal exponent."""
    if value == 0:
        return 1, 0
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    return max(1, len(mantissa.replace(".", "").rstrip("0"))), int(exponent)
