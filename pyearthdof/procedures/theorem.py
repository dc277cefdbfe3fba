"""Theorem 1 of the paper: the lasso's degrees of freedom as a trace and a search cost.

Where the lasso's solution beta is known, the fit is S y with

    S = X (X'X + lam Psi)^-1 X',    Psi = diag{1 / (2 |beta_j|)},

and the number of nonzero coefficients is tr S + delta. The search cost delta comes from the
dependence of Psi on y:

    delta = sum_ij (dS_ij / dy_i) y_j
          = lam sum_i x_i' (X'X + lam Psi)^-1 Psi (d beta / dy_i),

because (X'X + lam Psi)^-1 X'y is beta itself and C_beta D_beta beta = -Psi (d beta / dy_i).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._utils.checks import check_sizes
from ..exceptions import InvalidInputError

__all__ = ["TheoremOne", "lasso_derivative", "theorem_one"]


@dataclass(frozen=True)
class TheoremOne:
    """The two sides of Theorem 1 at one solution.

    Attributes
    ----------
    n_nonzero : int
        Number of nonzero coefficients.
    trace : float
        tr S(y).
    delta : float
        The search cost: `trace + delta` equals `n_nonzero`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures import theorem_one
    >>> found = theorem_one(np.eye(2), np.array([2.0, 0.0]), lam=2.0)
    >>> found.n_nonzero, round(found.trace, 6), round(found.delta, 6)
    (1, 0.666667, 0.333333)
    """

    n_nonzero: int
    trace: float
    delta: float


def lasso_derivative(X, coef) -> np.ndarray:
    """d beta / d y of a lasso solution, (p, n): least squares on the active set, zero elsewhere.

    The signs and the active set do not change with a small change of y, so beta_A moves as
    (X_A'X_A)^-1 X_A' dy.

    Parameters
    ----------
    X : (n, p) array
    coef : (p,) array
        The solution.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.theorem import lasso_derivative
    >>> lasso_derivative(np.eye(3), [0.0, 2.0, 0.0]).tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    X, coef = _checked(X, coef)
    active = np.flatnonzero(coef)
    derivative = np.zeros(X.shape[::-1])
    if len(active):
        derivative[active] = np.linalg.pinv(X[:, active])
    return derivative


def theorem_one(X, coef, lam, *, derivative=None, floor=None) -> TheoremOne:
    """tr S(y) and delta at a lasso solution.

    Parameters
    ----------
    X : (n, p) array
        As the coefficients belong to it: centred if there is an intercept.
    coef : (p,) array
        The lasso's coefficients.
    lam : float
        The penalty, beside the unhalved residual sum of squares.
    derivative : (p, n) array or None
        d beta / d y; None takes the exact one, `lasso_derivative`.
    floor : float or None
        None drops the zero coefficients, which is exact. The paper replaces them by 1e-7 instead.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.lasso import Lasso
    >>> from pyearthdof.procedures.theorem import theorem_one
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = X[:, :3].sum(axis=1) + rng.standard_normal(100)
    >>> found = theorem_one(X, Lasso(lam=40.0).fit(X, y).coef_, 40.0)
    >>> found.n_nonzero, round(found.trace, 3), round(found.delta, 3)
    (4, 2.366, 1.634)
    """
    X, coef = _checked(X, coef)
    if derivative is None:
        derivative = lasso_derivative(X, coef)
    size = np.abs(coef)
    if floor is not None:
        size = np.where(coef == 0, floor, size)
    kept = np.flatnonzero(size)
    reach = np.abs(X[:, kept]).max(axis=0, initial=0.0) * np.sqrt(size[kept])
    check_sizes("X times the roots of coef", reach, low=0.0)
    return TheoremOne(
        int(np.count_nonzero(coef)),
        *_trace_and_delta(X[:, kept], size[kept], lam, derivative[kept]),
    )


def _checked(X, coef):
    X, coef = np.asarray(X, dtype=float), np.asarray(coef, dtype=float)
    if X.ndim != 2 or coef.shape != X.shape[1:]:
        raise InvalidInputError(
            f"coef has shape {coef.shape} but it should have one entry per column of X {X.shape}"
        )
    if not (np.isfinite(X).all() and np.isfinite(coef).all()):
        raise InvalidInputError("X and coef should be finite")
    check_sizes("X", np.abs(X).max(axis=0, initial=0.0), low=0.0)
    return X, coef


def _trace_and_delta(X, size, lam, derivative):
    # With D = diag{|beta|^(1/2)} and U d V' = X D (singular values): (X'X + lam Psi)^-1 is
    # D V (d^2 + lam/2)^-1 V' D, which stays accurate when a coefficient is close to zero.
    root = np.sqrt(size)
    U, d, Vt = np.linalg.svd(X * root, full_matrices=False)
    trace = np.sum(d**2 / (d**2 + lam / 2))
    # X (X'X + lam Psi)^-1 Psi lam, one row for each y_i
    weight = (U * (d / (d**2 + lam / 2))) @ Vt * (lam / 2 / root)
    return float(trace), float(np.sum(weight * derivative.T))
