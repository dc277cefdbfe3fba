"""Cubic B-splines: knots, basis, penalty. A row of a design is its first column and four values.

Only four cubic B-splines differ from zero at a point, so a design of n rows is kept as `Rows`: the
index of the first of the four and an (n, 4) array, not an n x J matrix unless one is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import _core

__all__ = [
    "Rows",
    "basis_rows",
    "clamped",
    "combine",
    "penalty_rows",
    "quantile_knots",
    "spline_values",
]

ORDER = 4


@dataclass(frozen=True)
class Rows:
    """Rows of a matrix with four neighbouring entries each.

    Attributes
    ----------
    start : (n,) int array
        Column of the first entry.
    values : (n, 4) array
    n_columns : int
    """

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
