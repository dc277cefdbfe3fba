"""Exact degrees of freedom of best subset and relaxed lasso on orthogonal columns (Tibshirani 2015).

In coordinates z_j = u_j'y along the columns of length one, both keep some z_j and set the others to zero.
With a penalty (`BestSubset(lam=)`, `RelaxedLasso`), z_j is kept if |z_j| > t_j, so that with z_j ~ N(m_j,
sigma^2)

    df = sum_j P(|z_j| > t_j) + t_j/sigma (phi((t_j - m_j)/sigma) + phi((t_j + m_j)/sigma)) ,

the mean size of the active set and the search cost. For a given size k the largest |z_j| are kept, and

    df = sum_j E[(z_j - m_j) z_j/sigma^2 P(fewer than k others exceed |z_j|)] ,

an integral in one dimension for each column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.base import clone

from .._utils.checks import refusal
from ..contract import Rows, declares
from .montecarlo.draws import Responses, has_one_sigma
from .montecarlo.errors import known
from .montecarlo.measurement import Measurement

_TOLERANCE = 1e-10
_N_NODES = 400  # nodes of a Gauss-Legendre rule over 12 standard deviations on each side
_REACH = 12.0


def has_orthogonal_formula(procedure: Any, X: Rows) -> bool:
    """Return True if one of the formulas above applies to this procedure and design."""
    if not isinstance(X, np.ndarray) or not declares(procedure, "orthogonal_rule"):
        return False
    U = _columns(procedure, X)
    gram = U.T @ U
    return bool(np.abs(gram - np.eye(len(gram))).max() < _TOLERANCE)


def orthogonal_measurement(procedure: Any, X: Rows, responses: Responses) -> Measurement:
    """Return the df, and the mean size of the active set, which is trace, rank and parameter count."""
    if not has_one_sigma(responses):
        raise refusal("sigma", "an array", "a number with method='exact' for this procedure")
    clone(procedure).fit(X, X[:, 0])  # raises the procedure's own errors
    sigma, ones = float(responses.sigma[0]), int(procedure.fit_intercept)
    m = _columns(procedure, X).T @ responses.mu / sigma
    rule = procedure.orthogonal_rule(_centred(procedure, X))
    if np.ndim(rule):
        t = rule / sigma
        kept = norm.sf(t - m) + norm.cdf(-t - m)
        cost = t * (norm.pdf(t - m) + norm.pdf(t + m))
        df, size = float((kept + cost).sum()), float(kept.sum())
    else:
        df, size = _largest(m, rule), float(rule)
    total, active = known(df + ones), known(size + ones)
    return Measurement(total, None, trace=active, n_coef=active, rank=active, df_refitted=total)


def _columns(procedure: Any, X: Rows) -> np.ndarray:
    X = _centred(procedure, X)
    norm_ = np.linalg.norm(X, axis=0)
    return X / np.where(norm_ > 0, norm_, 1.0)


def _centred(procedure: Any, X: Rows) -> np.ndarray:
    return X - X.mean(axis=0) if procedure.fit_intercept else X


def _largest(m: np.ndarray, size: int) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(_N_NODES)
    total = 0.0
    for j in range(len(m)):
        # The integrand has a kink at 0, from |z|.
        for low, high in ((-_REACH + m[j], 0.0), (0.0, _REACH + m[j])):
            if low >= high:
                continue
            z = (low + high) / 2 + (high - low) / 2 * nodes
            others = np.delete(m, j)[:, None]
            exceeds = norm.sf(np.abs(z) - others) + norm.cdf(-np.abs(z) - others)
            inside = _fewer_than(exceeds, size)
            value = (z - m[j]) * z * norm.pdf(z - m[j]) * inside
            total += (high - low) / 2 * float(weights @ value)
    return total


def _fewer_than(probabilities: np.ndarray, size: int) -> np.ndarray:
    """Return P(fewer than `size` independent events occur), for each column of probabilities."""
    count = np.zeros((size, probabilities.shape[1]))
    count[:1] = 1.0
    for p in probabilities:
        count[1:] = count[1:] * (1 - p) + count[:-1] * p
        count[:1] = count[:1] * (1 - p)
    return count.sum(axis=0)
