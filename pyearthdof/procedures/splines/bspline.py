"""Cubic B-splines (knots, basis, penalty) and the base classes of splines of one predictor.

Only four cubic B-splines differ from zero at a point, so a design of n rows is kept as `Rows`: the
index of the first of the four and an (n, 4) array, not an n x J matrix unless one is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ... import _core
from ..._utils.checks import (
    as_numbers,
    by_position,
    check_count,
    check_positive,
    check_responses,
    check_vector,
    refuse_huge,
)
from ...contract import Fits, Procedure
from ...exceptions import InvalidInputError

ORDER = 4


@dataclass(frozen=True)
class Rows:
    """Rows of a matrix with four neighbouring entries each, the first of them in column `start`."""

    start: np.ndarray
    values: np.ndarray
    n_columns: int

    def dense(self):
        out = np.zeros((len(self.start), self.n_columns))
        np.put_along_axis(out, self.start[:, None] + np.arange(ORDER), self.values, axis=1)
        return out

    def scaled(self, factor):
        """Each row times its factor."""
        return Rows(self.start, self.values * factor[:, None], self.n_columns)

    def gram(self):
        """A'A as an upper band: entry [i, d] is element (i, i + d)."""
        out = np.zeros((self.n_columns, ORDER))
        for d in range(ORDER):
            for a in range(ORDER - d):
                product = self.values[:, a] * self.values[:, a + d]
                out[:, d] += np.bincount(self.start + a, product, self.n_columns)
        return out

    def transposed_times(self, Y):
        """A'Y, for the columns of a matrix."""
        out = np.zeros((self.n_columns, Y.shape[1]))
        for a in range(ORDER):
            np.add.at(out, self.start + a, self.values[:, a, None] * Y)
        return out


def clamped(breaks):
    """Knots of a cubic spline on the range of `breaks`: the ends four times, the rest once."""
    return np.concatenate([np.repeat(breaks[0], 3), breaks, np.repeat(breaks[-1], 3)])


def quantile_knots(x, n_basis):
    """The knots of R's `splines::bs(x, df = n_basis, intercept = TRUE)`.

    Interior knots are at equally spaced quantiles of all of x, ties included.
    """
    n_inner = n_basis - ORDER
    inner = np.quantile(x, np.linspace(0, 1, n_inner + 2)[1:-1]) if n_inner else np.empty(0)
    return clamped(np.concatenate([[x.min()], inner, [x.max()]]))


def basis_rows(x, knots):
    """The B-splines at x. Outside the range the polynomials of the end intervals go on."""
    interval = _find_interval(x, knots)
    values = _core.nonzero_basis(x, interval, knots)
    return Rows(interval - (ORDER - 1), values, len(knots) - ORDER)


def penalty_rows(knots, third=1 / 3):
    """Rows P such that |P c|^2 is the integral of f''^2, two for each knot interval.

    f'' is linear in an interval of length h, say a at its left end and a + b at its right one, and
    the integral is h (a^2 + a b + b^2/3) = h (a + b/2)^2 + h (1/3 - 1/4) b^2. R's Fortran has 0.333
    where 1/3 is meant: `third` says which.
    """
    first = np.arange(len(knots) - 2 * ORDER + 1)  # first B-spline of each interval
    left, right = _second_derivative(knots, first), _second_derivative(knots, first + 1)
    a = np.pad(left, ((0, 0), (0, 1)))
    b = np.pad(right, ((0, 0), (1, 0))) - a
    root = np.sqrt(np.diff(knots[ORDER - 1 : len(knots) - ORDER + 1]))[:, None]
    values = np.stack([root * (a + b / 2), root * np.sqrt(third - 0.25) * b], axis=1)
    return Rows(np.repeat(first, 2), values.reshape(-1, ORDER), len(knots) - ORDER)


def combine(rows, coef):
    """The splines at the points of a basis, for a vector of coefficients or columns of them.

    The B-splines add up to one. Summing by parts over the increments of the coefficients makes a
    constant come out exactly, and a monotone spline flat where its coefficients are equal.
    """
    tail = np.cumsum(rows.values[:, ::-1], axis=1)[:, ::-1]
    out = coef[rows.start]
    for a in range(1, ORDER):
        increment = coef[rows.start + a] - coef[rows.start + a - 1]
        out = out + (tail[:, a] * increment.T).T
    return out


def spline_values(x, knots, coef, linear_ends):
    """The spline at x; outside the range either straight lines or the end polynomials go on."""
    lower, upper = knots[0], knots[-1]
    inside = np.clip(x, lower, upper) if linear_ends else x
    values = combine(basis_rows(inside, knots), coef)
    if linear_ends:
        slope_left = 3 * (coef[1] - coef[0]) / (knots[4] - knots[1])
        slope_right = 3 * (coef[-1] - coef[-2]) / (knots[-2] - knots[-5])
        values += slope_left * np.minimum(x - lower, 0) + slope_right * np.maximum(x - upper, 0)
    return values


def _second_derivative(knots, first):
    """f'' at the left end of the interval as weights of coefficients first, first + 1, first + 2.

    Differentiating twice gives a linear spline, whose coefficients are its values at the knots.
    """
    t = knots
    outer = 6.0 / (t[first + 4] - t[first + 2])
    low = outer / (t[first + 4] - t[first + 1])
    high = outer / (t[first + 5] - t[first + 2])
    return np.column_stack([low, -(low + high), high])


def _find_interval(x, knots):
    """Index i of the interval knots[i] <= x < knots[i + 1] of positive length, ends included."""
    interval = np.searchsorted(knots, x, side="right") - 1
    last = np.searchsorted(knots, knots[-1], side="left") - 1
    first = np.searchsorted(knots, knots[0], side="right") - 1
    return np.clip(interval, first, last)


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
        tags.input_tags.two_d_array = False  # as IsotonicRegression, which takes (n, 1), too
        return tags

    def fit(self, X, y):
        """Fit y, (n,), on X, (n, 1) or (n,)."""
        by_position(X, y=y)
        self._check_arguments()
        self._fit(*self._check_xy(X, y))
        return self

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y, (n, m), on X, (n, 1) or (n,); the basis is computed once."""
        by_position(X, Y=Y)
        self._check_arguments()
        X = check_array(_as_matrix(X), dtype=np.float64, input_name="X", estimator=self)
        refuse_huge("X", X)
        return self._fit_many(self._column(X), check_responses(Y, len(X)))

    def predict(self, X):
        """Predict at new values X, (n, 1) or (n,)."""
        x = self._check_new(X)
        return spline_values(self._interval.scale(x), self._knots, self.coef_, self._linear_ends)

    def _check_xy(self, X, y):
        X, y = validate_data(self, _as_matrix(X), y, dtype=np.float64, y_numeric=True)
        y = as_numbers("y", y, "be a vector of numbers")
        refuse_huge("X", X)
        refuse_huge("y", y)
        return self._column(X), y

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
        """Fit y, (n,), on X, (n, 1) or (n,); `sample_weight`, (n,), may not be negative."""
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
