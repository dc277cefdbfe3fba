"""The lasso and the relaxed lasso, solved exactly, and Theorem 1 along the lasso's path.

Scaling: the paper minimises ||y - X b||^2 + lam ||b||_1, with an unhalved sum of squares. So
lam = 2 n alpha of scikit-learn's `Lasso`, and lam = 2 n lambda of R's glmnet with
`standardize = FALSE`.

The solver is an active-set method in the manner of Lawson and Hanson's for nonnegative least
squares. The column that violates the optimality conditions most enters; on the active columns with
their signs the minimum is a linear system, solved with an orthogonal factorisation that is updated;
the coefficients move towards it until one crosses zero and leaves. It ends, after finitely many
steps, at the solution to rounding error, with exact zeros, as Theorem 1 needs.

Theorem 1: where the solution beta is known, the fit is S y with

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
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_X_y, validate_data

from .. import _core
from .._utils.checks import check_positive, check_sizes
from .._utils.warnings import warn_user
from ..exceptions import InvalidInputError
from .active_set import ActiveSetRegression, CompactDesign

# In units where columns and response have length one.
_DEPENDENT = 1e-10
# glmnet's rules for its own grid of penalties: the path ends early where it has nothing to gain.
_MIN_STEPS, _MIN_GAIN, _MAX_EXPLAINED = 5, 1e-5, 0.999


class _LassoSelection(ActiveSetRegression):
    """Base class of the procedures whose active set is that of the lasso."""

    def __init__(self, lam, fit_intercept=False):
        self.lam = lam
        self.fit_intercept = fit_intercept

    def _solved(self, design: CompactDesign) -> np.ndarray:
        """Return the lasso for every response, (p, m), in the units of the compact design."""
        gamma, converged = _core.solve_lassos(
            np.ascontiguousarray(design.R.T),
            np.ascontiguousarray(design.Z.T),
            _check_lam(self.lam) / 2 / design.x_norm / design.y_norm[:, None],
        )
        _warn_unless(converged)
        return gamma.T


class Lasso(_LassoSelection):
    """The lasso in the paper's scaling, ||y - X b||^2 + lam ||b||_1, for p < n and p > n.

    Parameters
    ----------
    lam : float
        Penalty, positive: 2 n times scikit-learn's alpha and glmnet's lambda.
    fit_intercept : bool
        Whether to fit an intercept, which is not penalised.

    Attributes
    ----------
    coef_, intercept_ : array and float
    active_ : array of the columns with nonzero coefficients
    fitted_values_ : array
    refitted_values_ : array
        Least squares on the active set, which is the relaxed lasso.
    trace_, delta_ : float
        tr S(y) and the search cost of Theorem 1; `trace_ + delta_` equals `n_coef_`.
    n_coef_, rank_ : int
        Number of nonzero coefficients including the intercept; its expectation is the df.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.lasso import Lasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = X[:, :3].sum(axis=1) + rng.standard_normal(100)
    >>> fit = Lasso(lam=40.0).fit(X, y)
    >>> fit.active_.tolist(), round(fit.trace_, 3), round(fit.delta_, 3)
    ([0, 1, 2, 15], 2.366, 1.634)
    """

    df_statistic = "n_coef"

    def fit(self, X, y):
        """Fit y on X; sets `coef_`, `intercept_`, `active_` and the quantities of the paper."""
        super().fit(X, y)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        centre = X.mean(axis=0) if self.fit_intercept else 0.0
        self.delta_ = theorem_one(X - centre, self.coef_, self.lam).delta
        return self

    def _select(self, design, *, single):
        gamma = self._solved(design)
        return gamma != 0, gamma

    def _trace(self, design, gamma, rank):
        return np.array([_trace(design, g, self.lam, j) for j, g in enumerate(gamma.T)])


class RelaxedLasso(_LassoSelection):
    """Least squares on the columns that the lasso selects.

    Parameters
    ----------
    lam, fit_intercept
        As in `Lasso`.

    Attributes
    ----------
    coef_, intercept_ : array and float
    active_ : array of the lasso's active columns
    fitted_values_, refitted_values_ : arrays
        The fit; it is its own least-squares refit.
    trace_, n_coef_, rank_ : float and ints
        Number of active columns including the intercept (Proposition 1: sdf = msdf).

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.lasso import RelaxedLasso
    >>> fit = RelaxedLasso(lam=1.0, fit_intercept=False).fit(np.eye(3), np.array([3.0, -2.0, 0.1]))
    >>> fit.active_.tolist(), fit.coef_.round(12).tolist(), fit.trace_
    ([0, 1], [3.0, -2.0, 0.0], 2.0)
    """

    def orthogonal_rule(self, X):
        """Return thresholds of the columns of X if they are orthogonal; see `Procedure`."""
        return self.lam / 2 / np.linalg.norm(X, axis=0)

    def _select(self, design, *, single):
        return self._solved(design) != 0, None


@dataclass(frozen=True)
class LassoPath:
    """Lasso solutions along a grid of penalties, with Theorem 1; row l belongs to lam[l].

    Attributes
    ----------
    lam : (L,) array
        Penalties, falling.
    coef : (L, p) array
    n_nonzero : (L,) array
    trace, delta : (L,) arrays
        tr S(y) and the search cost; `trace + delta` equals `n_nonzero`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures import lasso_path
    >>> path = lasso_path(np.eye(3), [3.0, 1.0, 0.2], lams=[4.0, 1.0])
    >>> path.lam.tolist(), path.coef.round(6).tolist(), path.n_nonzero.tolist()
    ([4.0, 1.0], [[1.0, 0.0, 0.0], [2.5, 0.5, 0.0]], [1, 2])
    """

    lam: np.ndarray
    coef: np.ndarray
    n_nonzero: np.ndarray
    trace: np.ndarray
    delta: np.ndarray


def lasso_path(X, y, lams=None) -> LassoPath:
    """Compute lasso solutions without intercept along a grid of penalties, with Theorem 1.

    Parameters
    ----------
    X, y : arrays
    lams : array or None
        Penalties in the paper's scaling, sorted in decreasing order. None selects glmnet's grid: 100
        penalties, evenly spaced on the log scale from the smallest that gives zero coefficients down to
        1e-4 of it (0.01 for p >= n), cut where the fit explains 0.999 of y or a step gains less than 1e-5
        of what is explained.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from pyearthdof.procedures.lasso import lasso_path
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = lasso_path(X, y - y.mean())
    >>> path.n_nonzero[[0, 10, 40]].tolist()
    [0, 3, 7]
    >>> bool(np.max(np.abs(path.trace + path.delta - path.n_nonzero)) < 1e-8)
    True
    """
    X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    design = CompactDesign.build(X, y[:, None], fit_intercept=False)
    grid = (
        _glmnet_grid(X, y)
        if lams is None
        else np.sort([_check_lam(v) for v in np.ravel(lams)])[::-1]
    )
    gammas = _solve_grid(design, grid)
    coef = design.original_units(gammas.T).T
    if lams is None:
        kept = _glmnet_stop(X, y, coef)
        grid, coef = grid[:kept], coef[:kept]
    found = [theorem_one(X, c, lam) for c, lam in zip(coef, grid, strict=True)]
    return LassoPath(
        lam=grid,
        coef=coef,
        n_nonzero=np.array([f.n_nonzero for f in found]),
        trace=np.array([f.trace for f in found]),
        delta=np.array([f.delta for f in found]),
    )


def _glmnet_grid(X, y):
    largest = 2 * np.max(np.abs(X.T @ y))
    if largest == 0:
        raise InvalidInputError(
            "lams=None but it should be given where y is orthogonal to all columns of X"
        )
    n, p = X.shape
    return largest * np.geomspace(1, 1e-4 if n > p else 0.01, 100)


def _glmnet_stop(X, y, coef) -> int:
    """Return the number of points of the path that glmnet keeps."""
    explained = 1 - np.sum((y - coef @ X.T) ** 2, axis=1) / np.sum(y**2)
    for last in range(_MIN_STEPS - 1, len(coef)):
        gain = explained[last] - explained[last - 1]
        if gain < _MIN_GAIN * explained[last] or explained[last] > _MAX_EXPLAINED:
            return last + 1
    return len(coef)


def _check_lam(lam) -> float:
    return check_positive("lam", lam, "; without a penalty it is LeastSquares")


def _trace(design: CompactDesign, gamma, lam, j) -> float:
    """tr S(y) of Theorem 1 for response j, from the eigenvalues on the active set."""
    active = np.flatnonzero(gamma)
    root = np.sqrt(np.abs(gamma[active]))
    # R D with D^2 = |gamma| equals X diag{|beta|^(1/2)} up to these two lengths.
    scaled = design.R[:, active] * root * np.sqrt(design.x_norm[active] * design.y_norm[j])
    d2 = np.linalg.eigvalsh(scaled.T @ scaled) if len(active) else np.zeros(0)
    return float(np.sum(d2 / (d2 + lam / 2)))


def _solve_grid(design: CompactDesign, grid: np.ndarray) -> np.ndarray:
    """Return the lasso for the only response at every penalty, (L, p), in the same units."""
    half = grid[:, None] / 2 / design.x_norm / design.y_norm[0]
    columns = np.ascontiguousarray(design.R.T)
    gammas, converged = _core.solve_lasso_path(columns, design.Z[:, 0].copy(), half)
    _warn_unless(converged)
    return gammas


def _warn_unless(converged):
    if not converged:
        warn_user(
            "The lasso's active-set iteration stopped at its limit of steps: X may be too close to "
            "collinear for it; scale the columns or use a larger lam.",
            ConvergenceWarning,
        )


@dataclass(frozen=True)
class TheoremOne:
    """Both sides of Theorem 1 at one solution.

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
    """Compute d beta / d y of a lasso solution, (p, n): least squares on the active set, zero elsewhere.

    Small changes of y do not change the signs and the active set, so d beta_A = (X_A'X_A)^-1 X_A' dy.

    Parameters
    ----------
    X : (n, p) array
    coef : (p,) array
        The solution.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.lasso import lasso_derivative
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
    """Compute tr S(y) and delta at a lasso solution.

    Parameters
    ----------
    X : (n, p) array
        Design of the coefficients: centred if there is an intercept.
    coef : (p,) array
        The lasso's coefficients.
    lam : float
        Penalty; the residual sum of squares is not halved.
    derivative : (p, n) array or None
        d beta / d y; None computes it exactly by `lasso_derivative`.
    floor : float or None
        None omits zero coefficients, which is exact. The paper replaces them by 1e-7.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.lasso import Lasso
    >>> from pyearthdof.procedures.lasso import theorem_one
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
    root = np.sqrt(size[kept])
    check_sizes(
        "X times the roots of coef", np.abs(X[:, kept]).max(axis=0, initial=0.0) * root, low=0.0
    )
    # With D = diag{|beta|^(1/2)} and U d V' = X D (singular values): (X'X + lam Psi)^-1 is
    # D V (d^2 + lam/2)^-1 V' D, which stays accurate when a coefficient is close to zero.
    U, d, Vt = np.linalg.svd(X[:, kept] * root, full_matrices=False)
    # X (X'X + lam Psi)^-1 Psi lam, one row for each y_i
    weight = (U * (d / (d**2 + lam / 2))) @ Vt * (lam / 2 / root)
    return TheoremOne(
        n_nonzero=int(np.count_nonzero(coef)),
        trace=float(np.sum(d**2 / (d**2 + lam / 2))),
        delta=float(np.sum(weight * derivative[kept].T)),
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
