"""The lasso as the limit of ridge regressions with adaptive penalties.

|u| <= u^2 / (2|v|) + |v| / 2, with equality at u = v. So with the last iterate in place of v, every
generalised ridge regression

    beta <- (X'X + lam Psi)^-1 X'y,    Psi = diag{1 / (2 |beta_j|)},

lowers the lasso's criterion ||y - X b||^2 + lam ||b||_1. The first iterate is the ridge regression
with Psi = I. No coefficient is ever removed: |beta_j| is taken as no smaller than `tol` in Psi.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from .._utils.checks import by_position, check_count, check_positive, check_responses, check_sizes
from .._utils.warnings import warn_user
from ..contract import Fits, Procedure
from ..exceptions import InvalidInputError
from .linear import LinearPrediction

# Numbers in the stack of matrices of one batch of responses: it should stay in the cache.
_BATCH = 100_000


class IterativeRidge(LinearPrediction, Procedure):
    """Iterated generalised ridge regression, which approaches the lasso with the same `lam`.

    Parameters
    ----------
    lam : float
        Lasso penalty, positive; the residual sum of squares is not halved.
    tol : float or None
        Smallest ``|beta_j|`` in the weights, and the change of the coefficients at which the iteration
        ends, in the units of the coefficients. None is eps^(1/3), about 6e-6, which comes within
        about 5e-3 of the lasso on data of unit scale; 1e-8 comes within 1e-4.
    max_iter : int
        Maximum number of iterations after the first ridge regression.
    fit_intercept : bool
        Whether to fit an intercept, which is not penalised.

    Attributes
    ----------
    coef_, intercept_ : array and float
    path_ : (n_iter_ + 1, p) array
        Coefficients at every iteration, the ridge regression first.
    n_iter_ : int
    trace_ : float
        tr S(y) of the last ridge regression, so that the fit is S(y) y.
    n_coef_ : int
        Number of coefficients with absolute value above `tol`. Both include the intercept.
    fitted_values_ : array

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.iterative_ridge import IterativeRidge
    >>> fit = IterativeRidge(lam=0.5, fit_intercept=False).fit(np.eye(3), np.array([3.0, 2.0, 0.1]))
    >>> fit.coef_.round(3).tolist(), fit.n_coef_, round(fit.trace_, 3), fit.n_iter_
    ([2.75, 1.75, 0.0], 2, 1.792, 11)
    """

    def __init__(self, lam, tol=None, max_iter=10_000, fit_intercept=False):
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept

    def fit(self, X, y):
        """Fit y on X to convergence; sets `coef_`, `path_` and the quantities of the paper."""
        X, y = self._checked(X, y)
        tol = self._check_parameters()
        path: list[np.ndarray] = []
        fits, coef, intercept = self._fit_columns(X, y[:, None], tol, path)
        self.coef_ = coef[:, 0]
        self.intercept_ = float(intercept[0])
        self.path_ = np.array(path)
        self.n_iter_ = len(path) - 1
        self._keep(fits)
        return self

    def fit_many(self, X, Y) -> Fits:
        """Fit all columns of Y on X together; each stops at its own convergence."""
        by_position(X, Y=Y)
        X = check_array(X, dtype=np.float64, input_name="X")
        Y = check_responses(Y, len(X))
        return self._fit_columns(X, Y, self._check_parameters(), None)[0]

    def _fit_columns(self, X, Y, tol, path):
        check_sizes("X", np.abs(X).max(axis=0))
        check_sizes("y", np.abs(Y).max(axis=0), low=0.0)
        x_mean = X.mean(axis=0) if self.fit_intercept else np.zeros(X.shape[1])
        y_mean = Y.mean(axis=0) if self.fit_intercept else np.zeros(Y.shape[1])
        Q, R = qr(X - x_mean, mode="economic")
        Z = (Q.T @ (Y - y_mean)).T
        per_batch = max(1, _BATCH // R.size)
        batches = [
            _iterate(R, Z[start : start + per_batch], self.lam, tol, self.max_iter, path)
            for start in range(0, len(Z), per_batch)
        ]
        if not all(converged for _, _, converged in batches):
            warn_user(
                f"IterativeRidge stopped at max_iter = {self.max_iter} before the coefficients "
                f"changed by less than tol = {tol:g}; raise one of them.",
                ConvergenceWarning,
            )
        coef = np.concatenate([beta for beta, _, _ in batches]).T
        trace = np.concatenate([trace for _, trace, _ in batches])
        intercept = y_mean - x_mean @ coef
        ones = int(self.fit_intercept)
        fits = Fits(
            fitted=X @ coef + intercept,
            trace=trace + ones,
            n_coef=np.sum(np.abs(coef) > tol, axis=0) + ones,
        )
        return fits, coef, intercept

    def _check_parameters(self) -> float:
        check_positive("lam", self.lam)
        check_count("max_iter", self.max_iter, 1)
        if self.tol is None:
            return float(np.cbrt(np.finfo(float).eps))
        return check_positive("tol", self.tol, ", or None")


def _iterate(R, Z, lam, tol, max_iter, path):
    """Coefficients (m, p) and traces (m,) for the rows of Z, and whether all of them converged.

    `path`, if a list, collects the iterates of the first response.
    """
    inverse_weight = np.ones((len(Z), R.shape[1]))
    beta = _ridge(R, Z, lam, inverse_weight)
    moving = np.arange(len(Z))
    for _ in range(max_iter):
        if path is not None:
            path.append(beta[0].copy())
        old = beta[moving]
        inverse_weight[moving] = 2 * np.maximum(np.abs(old), tol)
        beta[moving] = _ridge(R, Z[moving], lam, inverse_weight[moving])
        moving = moving[np.max(np.abs(beta[moving] - old), axis=1) >= tol]
        if len(moving) == 0:
            break
    if path is not None:
        path.append(beta[0].copy())
    return beta, _traces(R, lam, inverse_weight), len(moving) == 0


def _ridge(R, Z, lam, inverse_weight):
    """Generalised ridge regressions with Psi^-1 = diag(inverse_weight), one a row of Z.

    beta = Psi^-1 R'(R Psi^-1 R' + lam I)^-1 z: unlike (R'R + lam Psi)^-1 R'z this stays well
    conditioned as coefficients go to zero, and it is no larger than min(n, p).
    """
    system = _grams(R, inverse_weight) + lam * np.eye(len(R))
    try:
        dual = np.linalg.solve(system, Z[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        raise InvalidInputError(
            f"lam={lam:g} but it should be larger: beside columns of X that depend on each other, and "
            "coefficients of this size, it is lost to rounding"
        ) from None
    return inverse_weight * (dual @ R)


def _traces(R, lam, inverse_weight):
    """tr S, S = G (G + lam I)^-1 with G = R Psi^-1 R'."""
    eigenvalues = np.linalg.eigvalsh(_grams(R, inverse_weight)).clip(min=0.0)
    return np.sum(eigenvalues / (eigenvalues + lam), axis=1)


def _grams(R, inverse_weight):
    """R Psi^-1 R' for every row of inverse_weight, (m, r, r), as one product."""
    r, p = R.shape
    weighted = R * inverse_weight[:, None, :]
    return (weighted.reshape(-1, p) @ R.T).reshape(-1, r, r)
