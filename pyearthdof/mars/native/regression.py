"""Weighted least squares as R's lm() has it."""

from __future__ import annotations

import numpy as np

from ... import _core

__all__ = ["wls"]

LM_TOLERANCE = 1e-7


def wls(columns: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Coefficients; NaN for columns that depend on the ones before them."""
    root = np.sqrt(weights)
    rows = np.ascontiguousarray((columns * root[:, None]).T)
    chosen = np.sort(_core.find_independent(rows, LM_TOLERANCE))
    coef = np.full(len(rows), np.nan)
    found = _core.regress(
        np.ascontiguousarray(rows[chosen]), (y * root)[None, :], leverages=False, n_threads=1
    )
    coef[chosen] = found["coef"][:, 0]
    return coef
