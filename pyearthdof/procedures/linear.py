"""Linear smoothers of several predictors, and the base classes that other procedures share.

The fit of least squares, ridge and k-nearest-neighbour averaging is S y with an S that does not depend on
y, so its degrees of freedom are tr(S) and its search cost is zero (section "Linear Smoothers" of the
paper).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .._utils.checks import (
    by_position,
    check_count,
    check_flag,
    check_number,
    check_responses,
    refuse_huge,
)
from ..contract import Bound, Fits, Procedure
from ..exceptions import InvalidInputError


class LinearPrediction:
    """Mixin with `predict` for procedures with `coef_` and `intercept_`."""

    coef_: np.ndarray
    intercept_: float

    def predict(self, X) -> np.ndarray:
        """Predict X @ coef_ + intercept_."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_ + self.intercept_


class BindingProcedure(Procedure):
    """Procedure whose `bind` validates X; subclasses do not override `fit_many`."""

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y, (n, m), on the same X, (n, p)."""
        by_position(X, Y=Y)
        bound = self.bind(X)
        return bound.fit_many(check_responses(Y, len(X)))


# Two distances closer than this, relatively, are a tie: rounding must not pick a neighbour.
TIE = 1e-10


# A quotient keeps its digits between these.
SMALLEST, LARGEST = 1e-300, 1e300


def _loses_digits(dividend: np.ndarray, quotient: np.ndarray, size: float) -> bool:
    """Whether quotients are no doubles of full accuracy where dividends are more than rounding of `size`."""
    quotient = np.abs(quotient)[np.abs(dividend) > np.finfo(float).eps * size]
    return not ((quotient >= SMALLEST) & (quotient <= LARGEST)).all()


@dataclass(frozen=True)
class _ColumnSpace:
    """Singular value decomposition of a design, centred when there is an intercept.

    Columns are divided by `scale` first, singular values of rounding size are dropped.
    """

    mean: np.ndarray
    scale: np.ndarray
    u: np.ndarray
    d: np.ndarray
    vt: np.ndarray
    fit_intercept: bool

    @classmethod
    def of(cls, X, fit_intercept=False, standardize=True):
        n, p = X.shape
        rounding = max(n, p) * np.finfo(float).eps
        size = np.abs(X).max(axis=0)
        mean = X.mean(axis=0) if fit_intercept else np.zeros(p)
        centred = X - mean
        # A constant column leaves only rounding noise behind, which must not count as a direction.
        centred[:, np.abs(centred).max(axis=0) <= rounding * size] = 0.0
        scale = np.ones(p)
        if standardize:
            # The maximum first: the norm alone could overflow.
            size = np.abs(centred).max(axis=0)
            size[size == 0] = 1.0
            norm = np.linalg.norm(centred / size, axis=0)
            scale = size * np.where(norm > 0, norm, 1.0)
        u, d, vt = np.linalg.svd(centred / scale, full_matrices=False)
        keep = d > rounding * d[0]
        return cls(mean, scale, u[:, keep], d[keep], vt[keep], fit_intercept)

    @property
    def rank(self) -> int:
        return self.d.size + int(self.fit_intercept)

    def smooth(self, Y, shrinkage=1.0):
        """Fitted values; `shrinkage` multiplies the component along each singular vector."""
        centre = Y.mean(axis=0) if self.fit_intercept else 0.0
        inner = (self.u.T @ (Y - centre)).T * shrinkage
        return self.u @ inner.T + centre

    def coefficients(self, y, shrinkage):
        """Coefficients and intercept of the fit to one response."""
        centre = y.mean() if self.fit_intercept else 0.0
        along = self.u.T @ (y - centre) * shrinkage
        with np.errstate(over="ignore", invalid="ignore"):
            turned = along / self.d
            scaled = self.vt.T @ turned
            coef = scaled / self.scale
        size = np.abs(y).max()
        if _loses_digits(along, turned, size) or _loses_digits(scaled, coef, size):
            raise InvalidInputError(
                f"y has values up to {size:g} and X directions of lengths from "
                f"{self.d.min() * self.scale.min():g} to {self.d.max() * self.scale.max():g}, so that a "
                "coefficient, their quotient, is too large or too small for a double: scale y or X"
            )
        return coef, float(centre - self.mean @ coef)


class _LinearRegression(LinearPrediction, BindingProcedure):
    """Base class of least squares and ridge.

    Subclasses define `_smoother(X)`: a decomposition of X and the shrinkage of each direction.
    """

    is_linear = True
    df_statistic = "trace"

    @property
    def is_equivariant(self) -> bool:  # type: ignore[override]
        """Whether the procedure has an intercept, without which a constant y is not fitted exactly."""
        return bool(self.fit_intercept)

    def _check_arguments(self):
        check_flag("fit_intercept", self.fit_intercept)

    def fit(self, X, y):
        """Fit y, (n,), on X, (n, p)."""
        self._check_arguments()
        X, y = self._checked(X, y)
        bound = self.bind(X)
        self.coef_, self.intercept_ = bound.space.coefficients(y, bound.shrinkage)
        self._keep(bound.fit_many(y[:, None]))
        return self

    def bind(self, X) -> _BoundLinear:
        """Prepare the design X for many fits by decomposing it once."""
        self._check_arguments()
        X = check_array(X, dtype=np.float64, input_name="X")
        refuse_huge("X", X)
        space, shrinkage = self._smoother(X)
        all_columns = _ColumnSpace.of(X, self.fit_intercept)
        return _BoundLinear(space, shrinkage, all_columns, X.shape[1])


class _BoundLinear(Bound):
    def __init__(self, space: _ColumnSpace, shrinkage, all_columns: _ColumnSpace, p: int):
        self.space, self.shrinkage, self.all_columns, self.p = space, shrinkage, all_columns, p

    def fit_many(self, Y, n_threads: int = 1) -> Fits:
        m, ones = Y.shape[1], int(self.space.fit_intercept)
        return Fits(
            fitted=self.space.smooth(Y, self.shrinkage),
            trace=np.full(m, self.shrinkage.sum() + ones),
            n_coef=np.full(m, self.p + ones),
            rank=np.full(m, self.all_columns.rank),
            refitted=self.all_columns.smooth(Y),
        )


class LeastSquares(_LinearRegression):
    """Ordinary least squares, for designs of any rank.

    tr(S) is the rank of the design. If the coefficients are not unique, those of minimum norm for columns of
    length one are used.

    Parameters
    ----------
    fit_intercept : bool, default False
        Whether to fit an intercept. The paper does not.

    Attributes
    ----------
    coef_, intercept_ : (p,) array, float
    fitted_values_, refitted_values_ : (n,) array
        Fit at the rows of X; both are equal, because all columns are active.
    trace_, rank_ : float, int
        tr(S), which is the rank of the design.
    n_coef_ : int
        Number of coefficients including the intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.linear import LeastSquares
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = LeastSquares().fit(X, [1.0, 2.0, 3.0])
    >>> model.coef_.round(6).tolist(), model.trace_
    ([1.0, 2.0], 2.0)
    """

    def __init__(self, fit_intercept=False):
        self.fit_intercept = fit_intercept

    def _smoother(self, X):
        space = _ColumnSpace.of(X, self.fit_intercept)
        return space, np.ones_like(space.d)


class Ridge(_LinearRegression):
    """Ridge regression, minimising ||y - X b||^2 + lam ||b||^2.

    tr(S) is the sum of d^2 / (d^2 + lam) over the singular values d of the design, plus 1 for an
    intercept, which is not penalised. `sklearn.linear_model.Ridge(alpha)` has the same scaling.

    Parameters
    ----------
    lam : float
        Penalty, nonnegative.
    fit_intercept : bool, default False
        Whether to fit an unpenalised intercept. The paper does not.

    Attributes
    ----------
    coef_, intercept_, fitted_values_, n_coef_
        As in `LeastSquares`.
    refitted_values_ : (n,) array
        Least-squares fit on the active set, which is all columns.
    trace_, rank_ : float, int
        tr(S), and the rank of the design.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.linear import Ridge
    >>> model = Ridge(lam=1.0).fit(np.eye(3)[:, :2], [2.0, 4.0, 1.0])
    >>> model.coef_.round(6).tolist(), round(model.trace_, 6)
    ([1.0, 2.0], 1.0)
    """

    def __init__(self, lam, fit_intercept=False):
        self.lam = lam
        self.fit_intercept = fit_intercept

    def _check_arguments(self):
        super()._check_arguments()
        check_number("lam", self.lam)

    def _smoother(self, X):
        space = _ColumnSpace.of(X, self.fit_intercept, standardize=False)
        # d^2 / (d^2 + lam), without squaring what may be huge or tiny.
        with np.errstate(over="ignore"):
            return space, 1.0 / (1.0 + float(self.lam) / space.d / space.d)


class NearestNeighbors(BindingProcedure):
    """Average of the responses of the k nearest observations (Euclidean distance).

    Observations tied for the last place share it equally, so the fit does not depend on the order of the
    rows. tr(S) is n/k unless a point occurs more than k times.

    Parameters
    ----------
    k : int
        Number of neighbours, from 1 to n; an observation is its own nearest neighbour.

    Attributes
    ----------
    fitted_values_ : (n,) array
    trace_ : float
        tr(S).
    n_coef_ : float
        n/k, the number of disjoint neighbourhoods.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.linear import NearestNeighbors
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> model = NearestNeighbors(k=2).fit(X, [1.0, 3.0, 10.0, 20.0])
    >>> model.fitted_values_.tolist(), model.trace_
    ([2.0, 2.0, 15.0, 15.0], 2.0)
    """

    is_linear = True
    is_equivariant = True
    df_statistic = "trace"

    def __init__(self, k):
        self.k = k

    def fit(self, X, y):
        """Fit y, (n,), on X, (n, p)."""
        X, y = self._checked(X, y)
        self.X_, self.y_ = X, np.asarray(y, dtype=float)
        self._keep(self.bind(X).fit_many(self.y_[:, None]))
        return self

    def bind(self, X) -> Bound:
        """Prepare the design X for many fits by finding neighbours once."""
        X = check_array(X, dtype=np.float64, input_name="X")
        k = _check_k(self.k, len(X))
        return _BoundNeighbors(_neighbour_weights(X, X, k), len(X) / k)

    def predict(self, X):
        """Average the responses of the k observations nearest to each row of X."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return _neighbour_weights(self.X_, X, _check_k(self.k, len(self.X_))) @ self.y_


class _BoundNeighbors(Bound):
    def __init__(self, weights: csr_matrix, n_coef: float):
        self.weights, self.n_coef = weights, n_coef

    def fit_many(self, Y, n_threads: int = 1) -> Fits:
        m = Y.shape[1]
        trace = np.full(m, self.weights.diagonal().sum())
        return Fits(self.weights @ Y, trace, np.full(m, self.n_coef))


def _check_k(k, n: int) -> int:
    return check_count("k", k, 1, n, f", the number of observations (n_samples={n})")


def _neighbour_weights(points, queries, k):
    """Return the rows of S: 1/k for each of the k nearest points, where ties share the rest."""
    unit = np.abs(points).max() or 1.0  # squared distances must neither overflow nor vanish
    points, queries = points / unit, queries / unit
    tree = cKDTree(points)
    radius = tree.query(queries, k=[k])[0][:, 0]
    near = tree.query_ball_point(queries, radius * (1 + TIE))
    counts = np.fromiter(map(len, near), dtype=np.intp, count=len(queries))
    rows = np.repeat(np.arange(len(queries)), counts)
    columns = np.concatenate([np.asarray(c, dtype=np.intp) for c in near])
    distance = np.linalg.norm(points[columns] - queries[rows], axis=1)
    closer = distance < (radius * (1 - TIE))[rows]
    n_closer = np.bincount(rows[closer], minlength=len(queries))
    share = (k - n_closer) / (k * (counts - n_closer))
    values = np.where(closer, 1.0 / k, share[rows])
    return csr_matrix((values, (rows, columns)), shape=(len(queries), len(points)))
