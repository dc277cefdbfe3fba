"""The lasso and the relaxed lasso, solved exactly, and Theorem 1 along the lasso's path.

Scaling: the paper minimises ||y - X b||^2 + lam ||b||_1, with an unhalved sum of squares. So
lam = 2 n alpha of scikit-learn's `Lasso`, and lam = 2 n lambda of R's glmnet with
`standardize = FALSE`.

The solver is an active-set method in the manner of Lawson and Hanson's for nonnegative least
squares. The column that violates the optimality conditions most enters; on the active columns with
their signs the minimum is a linear system, solved with an orthogonal factorisation that is updated;
the coefficients move towards it until one crosses zero and leaves. It ends, after finitely many
steps, at the solution to rounding error, with exact zeros: that is what Theorem 1 needs.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_X_y, validate_data

from pyearthdof._numba import kernel
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures.active_set import ActiveSetRegression, CompactDesign
from pyearthdof.procedures.theorem import theorem_one

__all__ = ["Lasso", "LassoPath", "RelaxedLasso", "lasso_path"]

# In units where columns and response have length one.
_VIOLATION = 1e-13
_DEPENDENT = 1e-10
# glmnet's rules for its own grid of penalties: the path ends early where it has nothing to gain.
_MIN_STEPS, _MIN_GAIN, _MAX_EXPLAINED = 5, 1e-5, 0.999


class Lasso(ActiveSetRegression):
    """The lasso in the paper's scaling, ||y - X b||^2 + lam ||b||_1, for p < n and p > n.

    Parameters
    ----------
    lam : float
        The penalty, positive. It is 2 n times scikit-learn's alpha and glmnet's lambda.
    fit_intercept : bool
        Whether to add an intercept, which is not penalised.

    Attributes
    ----------
    coef_, intercept_ : array and float
    active_ : array of the columns with nonzero coefficients
    fitted_values_ : array
    refitted_values_ : array
        Least squares on the active set, which is the relaxed lasso.
    trace_, delta_ : float
        tr S(y), and the search cost of Theorem 1: `trace_ + delta_` equals `n_coef_`.
    n_coef_, rank_ : int
        Number of nonzero coefficients, with the intercept; its mean over y is the df.

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

    def __init__(self, lam, fit_intercept=False):
        self.lam = lam
        self.fit_intercept = fit_intercept

    def fit(self, X, y):
        """Fit; sets `coef_`, `intercept_`, `active_` and the quantities of the paper."""
        super().fit(X, y)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        centre = X.mean(axis=0) if self.fit_intercept else 0.0
        self.delta_ = theorem_one(X - centre, self.coef_, self.lam).delta
        return self

    def _select(self, design, *, single):
        gamma = _solve(design, _check_lam(self.lam))
        return gamma != 0, gamma

    def _trace(self, design, gamma, rank):
        return np.array([_trace(design, g, self.lam, j) for j, g in enumerate(gamma.T)])


class RelaxedLasso(ActiveSetRegression):
    """Least squares on the columns that the lasso selects.

    Parameters
    ----------
    lam : float
        The lasso's penalty, as in `Lasso`.
    fit_intercept : bool
        Whether to add an intercept, which is not penalised.

    Attributes
    ----------
    coef_, intercept_ : array and float
    active_ : array of the lasso's active columns
    fitted_values_, refitted_values_ : arrays
        The fit; it is its own least-squares refit.
    trace_, n_coef_, rank_ : float and ints
        The number of active columns, with the intercept (Proposition 1: sdf = msdf).

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.lasso import RelaxedLasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> fit = RelaxedLasso(lam=40.0).fit(X, X[:, :3].sum(axis=1))
    >>> fit.active_.tolist(), fit.coef_[:3].round(12).tolist(), fit.trace_
    ([0, 1, 2], [1.0, 1.0, 1.0], 3.0)
    """

    def __init__(self, lam, fit_intercept=False):
        self.lam = lam
        self.fit_intercept = fit_intercept

    def _select(self, design, *, single):
        return _solve(design, _check_lam(self.lam)) != 0, None


@dataclass(frozen=True)
class LassoPath:
    """The lasso along a grid of penalties, and Theorem 1 at each; row l belongs to lam[l].

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
    """Lasso solutions without intercept along a grid of penalties, each with its Theorem 1.

    Parameters
    ----------
    X, y : arrays
    lams : array or None
        Penalties in the paper's scaling, in any order; the path has them falling. None takes
        glmnet's grid: 100 penalties, evenly spaced on the log scale from the smallest that gives
        zero coefficients down to 1e-4 of it (0.01 for p >= n), cut where the fit explains 0.999
        of y or a step gains less than 1e-5 of what is explained.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.lasso import lasso_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> path = lasso_path(X, X[:, :3].sum(axis=1) + rng.standard_normal(100))
    >>> path.n_nonzero[[0, 10, 40]].tolist()
    [0, 3, 16]
    >>> bool(np.max(np.abs(path.trace + path.delta - path.n_nonzero)) < 1e-8)
    True
    """
    X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    design = CompactDesign.build(X, y[:, None], fit_intercept=False)
    grid = _glmnet_grid(X, y) if lams is None else _falling(lams)
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


def _falling(lams):
    return np.sort([_check_lam(lam) for lam in np.ravel(lams)])[::-1]


def _glmnet_grid(X, y):
    largest = 2 * np.max(np.abs(X.T @ y))
    if largest == 0:
        raise InvalidInputError("y is orthogonal to all columns of X: give lams yourself.")
    n, p = X.shape
    return largest * np.geomspace(1, 1e-4 if n > p else 0.01, 100)


def _glmnet_stop(X, y, coef) -> int:
    """How many points of the path glmnet would keep."""
    explained = 1 - np.sum((y - coef @ X.T) ** 2, axis=1) / np.sum(y**2)
    for last in range(_MIN_STEPS - 1, len(coef)):
        gain = explained[last] - explained[last - 1]
        if gain < _MIN_GAIN * explained[last] or explained[last] > _MAX_EXPLAINED:
            return last + 1
    return len(coef)


def _check_lam(lam) -> float:
    if not (isinstance(lam, Real) and 0 < lam < np.inf):
        raise InvalidInputError(
            f"lam = {lam!r} must be a positive finite number (least squares is LeastSquares)."
        )
    return float(lam)


def _trace(design: CompactDesign, gamma, lam, j) -> float:
    """tr S(y) of Theorem 1 for response j, from the eigenvalues on the active set."""
    active = np.flatnonzero(gamma)
    root = np.sqrt(np.abs(gamma[active]))
    # R D with D^2 = |gamma| equals X diag{|beta|^(1/2)} up to these two lengths.
    scaled = design.R[:, active] * root * np.sqrt(design.x_norm[active] * design.y_norm[j])
    d2 = np.linalg.eigvalsh(scaled.T @ scaled) if len(active) else np.zeros(0)
    return float(np.sum(d2 / (d2 + lam / 2)))


def _solve(design: CompactDesign, lam: float) -> np.ndarray:
    """The lasso for every response, (p, m), in the units of the compact design."""
    half = lam / 2 / design.x_norm
    gamma, converged = _solve_columns(
        np.ascontiguousarray(design.R.T),
        np.ascontiguousarray(design.Z.T),
        half / design.y_norm[:, None],
    )
    _warn_unless(converged)
    return gamma.T


def _solve_grid(design: CompactDesign, grid: np.ndarray) -> np.ndarray:
    """The lasso for the only response at every penalty, (L, p), in the same units."""
    half = grid[:, None] / 2 / design.x_norm / design.y_norm[0]
    gammas, converged = _solve_path(np.ascontiguousarray(design.R.T), design.Z[:, 0].copy(), half)
    _warn_unless(converged)
    return gammas


def _warn_unless(converged):
    if not converged:
        warnings.warn(
            "The lasso's active-set iteration stopped at its limit of steps: X may be too close to "
            "collinear for it; scale the columns or use a larger lam.",
            ConvergenceWarning,
            stacklevel=4,
        )


@kernel
def _solve_columns(columns, responses, half):
    """One solution for every response; row j of half holds lam/2 of each coefficient."""
    solutions = np.zeros((len(responses), len(columns)))
    converged = True
    for j in range(len(responses)):
        path, ok = _solve_path(columns, responses[j], half[j : j + 1])
        solutions[j] = path[0]
        converged &= ok
    return solutions, converged


@kernel
def _solve_path(columns, z, half):
    """Solutions for falling penalties, each started from the one before."""
    p, r = columns.shape
    solutions = np.zeros((len(half), p))
    beta, sign = np.zeros(p), np.zeros(p)
    # One row more than can be needed: a dependent column is found out only after its last step.
    active = np.empty(r + 1, np.int64)
    Q, T = np.zeros((r + 1, r)), np.zeros((r + 1, r + 1))
    k = 0
    converged = True
    for step in range(len(half)):
        k, ok = _minimise(columns, z, half[step], beta, sign, active, Q, T, k)
        solutions[step] = beta
        converged &= ok
    return solutions, converged


@kernel
def _minimise(columns, z, half, beta, sign, active, Q, T, k):
    """Minimise ||z - sum_j beta_j column_j||^2 / 2 + sum_j half_j |beta_j| from where beta is.

    active[:k] are the columns in the model; the rows of Q[:k] are orthonormal directions, and
    column active[i] is the sum over l of T[l, i] Q[l], with T upper triangular.
    """
    p = len(columns)
    blocked = np.zeros(p, np.bool_)
    for _ in range(50 * (p + 10)):
        k = _settle(z, half, beta, sign, active, Q, T, k, blocked)
        residual = z.copy()
        for i in range(k):
            _add(-beta[active[i]], columns[active[i]], residual)
        gradient = np.dot(columns, residual)
        entering, worst = -1, _VIOLATION
        for j in range(p):
            excess = abs(gradient[j]) - half[j]
            if sign[j] == 0 and not blocked[j] and excess > worst:
                entering, worst = j, excess
        if entering < 0:
            return k, True
        sign[entering] = np.sign(gradient[entering])
        k = _enter(columns, beta, sign, active, Q, T, k, entering, blocked)
    return k, False


@kernel
def _settle(z, half, beta, sign, active, Q, T, k, blocked):
    """Move to the minimum on the active set; what crosses zero on the way leaves. The new k."""
    while k > 0:
        # T'T target = T'Q z - half * sign: forward, then backward substitution
        target = np.empty(k)
        shift = np.empty(k)
        for i in range(k):
            total = half[active[i]] * sign[active[i]]
            for before in range(i):
                total -= T[before, i] * shift[before]
            shift[i] = total / T[i, i]
            target[i] = np.dot(Q[i], z) - shift[i]
        _back_substitute(T, target, k)
        share, leaving = 1.0, -1
        for i in range(k):
            j = active[i]
            if target[i] * sign[j] <= 0:
                crossing = beta[j] / (beta[j] - target[i]) if beta[j] != target[i] else 0.0
                if leaving < 0 or crossing < share:
                    share, leaving = crossing, i
        if leaving < 0:
            for i in range(k):
                beta[active[i]] = target[i]
            return k
        for i in range(k):
            beta[active[i]] += share * (target[i] - beta[active[i]])
        # A column that leaves as it enters violated nothing but rounding: do not try it again.
        blocked[active[leaving]] = share == 0.0
        k = _leave(beta, sign, active, Q, T, k, leaving)
    return k


@kernel
def _enter(columns, beta, sign, active, Q, T, k, j, blocked):
    """Add column j to the active set, in exchange for another if it depends on them. The new k."""
    if not _factorise(columns[j], Q, T, k):
        # column_j = sum_i w_i column_i. Along beta_j += t sign_j, beta_i -= t sign_j w_i the fit
        # does not change and the penalty falls, until some coefficient is zero.
        w = T[:k, k].copy()
        _back_substitute(T, w, k)
        way, leaving = np.inf, -1
        for i in range(k):
            drift = sign[j] * w[i] * sign[active[i]]
            if drift > 0 and abs(beta[active[i]]) < way * drift:
                way, leaving = abs(beta[active[i]]) / drift, i
        if leaving < 0:
            blocked[j] = True
            sign[j] = 0.0
            return k
        for i in range(k):
            beta[active[i]] -= way * sign[j] * w[i]
        beta[j] = way * sign[j]
        k = _leave(beta, sign, active, Q, T, k, leaving)
        _factorise(columns[j], Q, T, k)
    active[k] = j
    return k + 1


@kernel
def _factorise(column, Q, T, k):
    """Append a column to Q and T; False where it depends on the columns before it."""
    direction = column.copy()
    for i in range(k + 1):
        T[i, k] = 0.0
    for _ in range(2):  # Gram-Schmidt, twice for orthogonality to rounding error
        for i in range(k):
            part = np.dot(Q[i], direction)
            T[i, k] += part
            _add(-part, Q[i], direction)
    length = np.sqrt(np.dot(direction, direction))
    if length <= _DEPENDENT:
        return False
    T[k, k] = length
    for row in range(len(direction)):
        Q[k, row] = direction[row] / length
    return True


@kernel
def _leave(beta, sign, active, Q, T, k, position):
    """Take the column at a position out of the model by Givens rotations. The new k."""
    beta[active[position]] = 0.0
    sign[active[position]] = 0.0
    for i in range(position, k - 1):
        active[i] = active[i + 1]
        for row in range(i + 2):
            T[row, i] = T[row, i + 1]
    for i in range(position, k - 1):
        length = np.hypot(T[i, i], T[i + 1, i])
        cos, sin = T[i, i] / length, T[i + 1, i] / length
        for col in range(i, k - 1):
            a, b = T[i, col], T[i + 1, col]
            T[i, col] = cos * a + sin * b
            T[i + 1, col] = cos * b - sin * a
        for col in range(Q.shape[1]):
            a, b = Q[i, col], Q[i + 1, col]
            Q[i, col] = cos * a + sin * b
            Q[i + 1, col] = cos * b - sin * a
    return k - 1


@kernel
def _back_substitute(T, b, k):
    for i in range(k - 1, -1, -1):
        for after in range(i + 1, k):
            b[i] -= T[i, after] * b[after]
        b[i] /= T[i, i]


@kernel
def _add(factor, a, b):
    for i in range(len(a)):
        b[i] += factor * a[i]
