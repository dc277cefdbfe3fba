"""The terms of a MARS model at rows of predictors."""

from __future__ import annotations

import numpy as np

__all__ = ["evaluate_term", "evaluate_terms"]


def evaluate_term(X: np.ndarray, dirs: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Evaluate one term at the rows of X: the product of its factors in column order."""
    values = np.ones(len(X))
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is infinite, as in R
        for j in np.flatnonzero(dirs):
            if dirs[j] == 2:
                values *= X[:, j]
            else:
                hinge = dirs[j] * (X[:, j] - cuts[j])
                values *= hinge  # before its sign is looked at, as in R: infinite times 0 is NaN
                values *= hinge > 0.0
    return values + 0.0  # no -0.0


def evaluate_terms(X: np.ndarray, dirs: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Evaluate the terms, one for each row of `dirs` and `cuts`, at the rows of X: an (n, terms) matrix."""
    terms = zip(dirs, cuts, strict=True)
    return np.column_stack([evaluate_term(X, *term) for term in terms])
