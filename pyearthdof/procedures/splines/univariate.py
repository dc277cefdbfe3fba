"""What the procedures of one predictor share: a single column x, checked and scaled to [0, 1]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ..._utils.checks import by_position, check_count, check_positive, check_responses, check_vector
from ...contract import Fits, Procedure
from ...exceptions import InvalidInputError
from .bspline import spline_values

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
                f"X has the single value {origin!r} (n_samples={len(x)}) but it should have two different "
                "ones or more"
            )
        return cls(origin, end - origin)

    def scale(self, x):
        return (x - self.origin) / self.length

    def unscale(self, u):
        return self.origin + self.length * u


class UnivariateProcedure(Procedure, ABC):
    """A spline of one predictor: X is one column, or a plain vector."""

    # Outside the data the spline goes on as a straight line; else as the cubic of its end interval.
    _linear_ends: ClassVar[bool] = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        return tags

    def fit(self, X, y):
        """Fit one response.

        Parameters
        ----------
        X : (n, 1) or (n,) array
        y : (n,) array

        Returns
        -------
        self
        """
        by_position(X, y=y)
        self._check_arguments()
        self._fit(*self._check_xy(X, y))
        return self

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y; what depends on X alone is computed once.

        Parameters
        ----------
        X : (n, 1) or (n,) array
        Y : (n, m) array

        Returns
        -------
        Fits
        """
        self._check_arguments()
        X = check_array(_as_matrix(X), dtype=np.float64, input_name="X", estimator=self)
        return self._fit_many(self._column(X), check_responses(Y, len(X)))

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

    def _check_arguments(self) -> None:
        """Refuse wrong arguments of the constructor."""

    @abstractmethod
    def _fit(self, x, y) -> None:
        """Fit one response to checked data."""

    @abstractmethod
    def _fit_many(self, x, Y) -> Fits:
        """Fit every column of a checked Y."""

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
                f"X has {X.shape[1]} columns but it should have one, the predictor of this procedure"
            )
        return X[:, 0]


class LamOrDf(UnivariateProcedure):
    """A smoothing spline: given `lam`, or `df`, or neither, and then chosen from y."""

    is_equivariant = True

    def __init__(self, lam=None, df=None, n_knots=None):
        self.lam = lam
        self.df = df
        self.n_knots = n_knots

    def fit(self, X, y, sample_weight=None):
        """Fit one response.

        Parameters
        ----------
        X : (n, 1) or (n,) array
        y : (n,) array
        sample_weight : (n,) array, optional
            Weights, not negative.

        Returns
        -------
        self
        """
        by_position(X, y=y, sample_weight=sample_weight)
        self._check_arguments()
        x, y = self._check_xy(X, y)
        if sample_weight is not None:
            sample_weight = check_vector("sample_weight", sample_weight, len(x))
        self._fit(x, y, sample_weight)
        return self

    @abstractmethod
    def _fit(self, x, y, sample_weight=None) -> None:
        """Fit one response to checked data."""

    @property
    def is_linear(self) -> bool:  # type: ignore[override]
        """S does not depend on y unless lambda is chosen from it."""
        return self.lam is not None or self.df is not None

    def _check_arguments(self) -> None:
        if self.lam is not None and self.df is not None:
            raise InvalidInputError(
                f"lam={self.lam!r} and df={self.df!r} but at most one of them should be given"
            )
        for name, value in (("lam", self.lam), ("df", self.df)):
            if value is not None:
                check_positive(name, value)


def check_n_basis(n_basis) -> int:
    """Number of cubic B-splines: an integer from 4 on."""
    return check_count("n_basis", n_basis, 4, because="; a cubic has four coefficients")


def _as_matrix(X):
    """A plain vector is a column."""
    if not hasattr(X, "ndim"):
        X = np.asarray(X)
    return np.asarray(X).reshape(-1, 1) if X.ndim == 1 else X
