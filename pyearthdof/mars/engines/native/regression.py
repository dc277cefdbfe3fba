"""Weighted least squares as R's lm() has it."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from .... import _core
from ....exceptions import InvalidInputError

__all__ = ["nothing_left", "root_of_inverse", "wls", "wls_errors"]

LM_TOLERANCE = 1e-7


def wls(columns: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Coefficients; NaN for columns that depend on the ones before them."""
    root = np.sqrt(weights)
    rows = np.ascontiguousarray((columns * root[:, None]).T)
    chosen = sorted(_core.find_independent(rows, LM_TOLERANCE))
    if not chosen:
        raise nothing_left()
    coef = np.full(len(rows), np.nan)
    found = _core.regress(
        np.ascontiguousarray(rows[chosen]), (y * root)[None, :], leverages=False, n_threads=1
    )
    coef[chosen] = found["coef"][:, 0]
    return coef


def nothing_left() -> InvalidInputError:
    """The error for residuals that a variance model cannot be fitted to."""
    return InvalidInputError(
        "the residuals are next to nothing, which leaves nothing for a variance model: use "
        "varmod_method='const'"
    )


def wls_errors(columns: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Standard errors of the coefficients; NaN for columns that depend on the ones before them."""
    coef, root = wls(columns, y, weights), np.sqrt(weights)
    known = ~np.isnan(coef)
    rest = root * (y - columns[:, known] @ coef[known])
    errors = np.full(len(coef), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.sum(rest**2) / np.float64(len(y) - known.sum()))
    errors[known] = root_of_inverse(columns[:, known] * root[:, None]) * spread
    return errors


def root_of_inverse(X: np.ndarray) -> np.ndarray:
    """Square roots of the diagonal of (X'X)^-1; NaN where there is no inverse."""
    if not np.isfinite(X).all() or len(X) < X.shape[1]:
        return np.full(X.shape[1], np.nan)
    triangle = qr(X, mode="r")[0][: X.shape[1]]
    if not np.diag(triangle).all():
        return np.full(X.shape[1], np.nan)
    inverse = solve_triangular(triangle, np.eye(len(triangle)))
    return np.sqrt(np.sum(inverse**2, axis=1))
