"""What the procedures of one predictor share: a single column x, checked and scaled to [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from pyearthdof.contract import Procedure
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures.linear import check_responses
from pyearthdof.procedures.splines.bspline import spline_values

__all__ = ["UnitInterval", "UnivariateProcedure"]


@dataclass(frozen=True)
class UnitInterval:
    """The map of the data's range to [0, 1]."""

    origin: float
    length: float

    @classmethod
    def of(cls, x):
        origin, end = float(x.min()), float(x.max())
        if not origin < end:
            raise InvalidInputError(
                f"X has the single value {origin!r} (n_samples = {len(x)}); "
                "a spline needs at least two different values."
            )
        return cls(origin, end - origin)

    def scale(self, x):
        return (x - self.origin) / self.length

    def unscale(self, u):
        return self.origin + self.length * u


class UnivariateProcedure(Procedure):
    """A spline of one predictor: X is one column, or a plain vector."""

    # Outside the data the spline goes on as a straight line; else as the cubic of its end interval.
    _linear_ends: ClassVar[bool] = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        return tags

    def predict(self, X):
        """Predict at new values of x.

        Parameters
        ----------
        X : (n, 1) or (n,) array

        Returns
        -------
        (n,) array
        """
        x = self._check_new(X)
        return spline_values(self._interval.scale(x), self._knots, self.coef_, self._linear_ends)

    def _check_xy(self, X, y):
        X, y = validate_data(self, _as_matrix(X), y, dtype=np.float64, y_numeric=True)
        return self._column(X), np.asarray(y, dtype=float)

    def _check_new(self, X):
        check_is_fitted(self)
        return self._column(validate_data(self, _as_matrix(X), reset=False, dtype=np.float64))

    def _check_many(self, X, Y):
        X = check_array(_as_matrix(X), dtype=np.float64, input_name="X", estimator=self)
        return self._column(X), check_responses(Y, len(X))

    def _keep_spline(self, interval, knots, coef):
        """Store the fitted spline; `knots` are on [0, 1]."""
        self._interval = interval
        self._knots = knots
        self.knots_ = interval.unscale(knots)
        self.coef_ = coef
        self.n_coef_ = len(coef)

    def _column(self, X):
        if X.shape[1] != 1:
            raise InvalidInputError(
                f"X has {X.shape[1]} columns; this procedure takes exactly one predictor."
            )
        return X[:, 0]


def check_n_basis(n_basis):
    """Number of cubic B-splines: an integer from 4 on."""
    if not isinstance(n_basis, Integral) or isinstance(n_basis, bool) or n_basis < 4:
        raise InvalidInputError(
            f"n_basis = {n_basis!r}; it must be an integer of at least 4 "
            "(a cubic has four coefficients)."
        )
    return int(n_basis)


def check_positive(name, value):
    """A finite number above zero."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise InvalidInputError(f"{name} = {value!r}; it must be a finite number above zero.")
    return float(value)


def _as_matrix(X):
    """A plain vector is a column."""
    if not hasattr(X, "ndim"):
        X = np.asarray(X)
    return np.asarray(X).reshape(-1, 1) if X.ndim == 1 else X
