"""Terms of a MARS model: evaluation, names as in R, nominal degrees of freedom, GCV."""

from __future__ import annotations

import functools

import numpy as np


@functools.cache
def _core():
    """Return the compiled core, loaded at the first evaluation of a term."""
    from ... import _core

    return _core


def evaluate_terms(X: np.ndarray, dirs: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Evaluate the terms, one per row of `dirs` and `cuts`, at the rows of X: an (n, terms) matrix.

    Factors are multiplied in column order, with R's operations: overflows give infinity or NaN, as in R.
    """
    return _core().evaluate_terms(*(_numbers(values) for values in (X, dirs, cuts)))


def term_slopes(X: np.ndarray, dirs: np.ndarray, cuts: np.ndarray, column: int) -> np.ndarray:
    """Return the derivatives of the terms with respect to a column of X: an (n, terms) matrix.

    The derivative at a knot is the slope to its right.
    """
    direction, cut = dirs[:, column], cuts[:, column]
    rest = dirs.copy()
    rest[:, column] = 0
    is_above = X[:, column, None] >= cut
    slope = np.select([direction == 2, direction == 1], [1.0, is_above], is_above - 1.0)
    return slope * evaluate_terms(X, rest, cuts)


def _numbers(values: np.ndarray) -> np.ndarray:
    plain = values.dtype == np.float64 and values.flags.aligned
    return values if plain else np.array(values, dtype=np.float64)


def term_names(dirs, cuts, feature_names, X) -> tuple[str, ...]:
    """Name every term, the intercept first.

    A hinge at 0 on counts (integers from 0 to below 100) equals the predictor and is named after it, as in
    earth; this requires X.
    """
    # required only for hinges at 0
    counts = _counts(X) if ((dirs == 1) & (cuts == 0)).any() else np.zeros(X.shape[1], dtype=bool)
    factors: list[list[str]] = [[] for _ in dirs]
    terms, predictors = np.nonzero(dirs)
    found = (terms, predictors, dirs[terms, predictors], cuts[terms, predictors])
    for i, j, direction, cut in zip(*(values.tolist() for values in found), strict=True):
        factors[i].append(_factor(direction, cut, feature_names[j], counts[j]))
    return ("(Intercept)", *("*".join(names) for names in factors[1:]))


def _counts(X) -> np.ndarray:
    low, high = X.min(axis=0), X.max(axis=0)
    return (low == 0) & (high < 100) & (np.floor(X) == X).all(axis=0)


def _factor(direction, cut, name, is_count) -> str:
    if direction == 2 or (direction == 1 and cut == 0 and is_count):
        return name
    return f"h({name}-{cut:g})" if direction == 1 else f"h({cut:g}-{name})"


def nominal_df(n_terms, penalty):
    """Nominal degrees of freedom of r terms at penalty c, r + c (r - 1)/2 (equation "mars_cmr").

    A negative penalty means that terms and knots are free: 0 as in earth.

    >>> nominal_df(12, 2.0)
    23.0
    """
    return (n_terms + penalty * (n_terms - 1) / 2) * (penalty >= 0)


def gcv_of(rss, n_terms, n: int, penalty: float) -> np.ndarray:
    """GCV of models with these residual sums of squares and numbers of terms on n rows."""
    rss = np.asarray(rss, dtype=float)  # division by zero gives infinity
    cost = nominal_df(n_terms, penalty)
    if np.max(cost, initial=0) < n:
        return rss / (n * (1 - cost / n) ** 2)
    # 0/0 if the cost is n and the fit is exact
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cost >= n, np.inf, rss / (n * (1 - cost / n) ** 2))


def gcv_of_sizes(rss: np.ndarray, n: int, penalty: float) -> np.ndarray:
    """GCV of the subsets of 1, 2, ... terms."""
    return gcv_of(rss, np.arange(1, len(rss) + 1), n, penalty)
