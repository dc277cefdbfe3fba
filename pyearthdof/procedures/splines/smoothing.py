"""The smoothing spline as R's `smooth.spline` sets it up: distinct x, knots, weights, lambda.

What is kept after `SmoothingSystem.of` has one row for each coefficient, whatever n is; a new
lambda costs O(number of knots).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ... import _core
from ..._utils.checks import refusal
from .bspline import Rows, basis_rows, clamped, combine, penalty_rows
from .univariate import UnitInterval

__all__ = ["DistinctX", "SmoothingSystem", "default_n_knots", "knots_among"]

EPS = np.finfo(float).eps

# The constant in R's integration of f''^2 (1/3 is meant); the digits of its df depend on it.
R_THIRD = 0.333

# R searches lambda = ratio * 256^(3 spar - 1) over this range of spar.
SPAR_RANGE = (-1.5, 1.5)

# At this lambda, for each unit of weight, tr(S) has come within about 1e-5 of a straight line's.
STRAIGHT_LINE = 1e2

# A search goes down only to where the rounding error of tr(S) stays below about:
TRACE_ROUNDING = 1e-7

# Residuals of this size, relative to y, are rounding errors to the choice of lambda.
PERFECT = 1e-11

GRID_SIZE = 61


@dataclass(frozen=True)
class DistinctX:
    """The different values of x; values closer than 1e-6 interquartile ranges count as one.

    Attributes
    ----------
    values : (k,) array
        Increasing, scaled to [0, 1].
    group : (n,) int array
        Which of them each observation has.
    interval : UnitInterval
        The scaling.
    """

    values: np.ndarray
    group: np.ndarray
    interval: UnitInterval

    @classmethod
    def of(cls, x):
        span = UnitInterval.of(x)
        quarter, three_quarters = np.quantile(x, [0.25, 0.75])
        # R refuses an x whose quartiles coincide; then the range is the measure.
        tolerance = 1e-6 * ((three_quarters - quarter) or span.length)
        rounded = np.round((x - math.fsum(x) / len(x)) / tolerance)
        order = np.argsort(x, kind="stable")
        new = np.concatenate([[True], np.diff(rounded[order]) > 0])
        group = np.empty(len(x), dtype=np.intp)
        group[order] = np.cumsum(new) - 1
        distinct = x[order][new]
        span = UnitInterval.of(distinct)
        return cls(span.scale(distinct), group, span)

    def total(self, values):
        """Sums over the observations of each value, for the columns of a matrix."""
        out = np.zeros((len(self.values), values.shape[1]))
        np.add.at(out, self.group, values)
        return out


def default_n_knots(n):
    """R's `.nknots.smspl`: all values below 50, then ever fewer of them.

    Examples
    --------
    >>> from pyearthdof.procedures.splines.smoothing import default_n_knots
    >>> [default_n_knots(n) for n in (49, 100, 1000, 100_000)]
    [49, 62, 144, 209]
    """
    if n < 50:
        return n
    a1, a2, a3, a4 = np.log2([50, 100, 140, 200])
    if n < 200:
        return int(2 ** (a1 + (a2 - a1) * (n - 50) / 150))
    if n < 800:
        return int(2 ** (a2 + (a3 - a2) * (n - 200) / 600))
    if n < 3200:
        return int(2 ** (a3 + (a4 - a3) * (n - 800) / 2400))
    return int(200 + (n - 3200) ** 0.2)


def knots_among(values, n_knots):
    """Knots at `n_knots` of the values, equally spaced by rank and cut to integers as in R."""
    step = (len(values) - 1) / (n_knots - 1)
    index = (1 + np.arange(n_knots) * step).astype(np.intp) - 1
    index[-1] = len(values) - 1
    return clamped(values[index])


@dataclass(frozen=True)
class SmoothingSystem:
    """min over c of sum_i w_i (y_i - b_i'c)^2 + lam c' Omega c, for the columns y of Y.

    Attributes
    ----------
    x : DistinctX
    knots : array
        On [0, 1], the ends four times.
    triangle, rotated : arrays
        R and Q'Y of the design's QR decomposition.
    outside : (m,) array
        Sum of squares that no coefficient can explain.
    penalty : (q, 4) array
        The rows of `penalty_rows`.
    centre, size : (m,) arrays
        Weighted means and largest deviations: what is rotated is (Y - centre) / size.
    n_effective : float
        Sum of the weights.
    """

    x: DistinctX
    knots: np.ndarray
    triangle: np.ndarray
    rotated: np.ndarray
    outside: np.ndarray
    penalty: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    n_effective: float

    @classmethod
    def of(cls, distinct, knots, weights, Y):
        n_effective = weights.sum()
        centre = weights @ Y / n_effective
        Y = Y - centre
        size = np.abs(Y).max(axis=0)
        flat = size <= 8 * EPS * np.abs(centre)  # what centring leaves of a constant is rounding
        Y[:, flat] = 0.0
        size[flat] = 1.0
        Y /= size
        w = distinct.total(weights[:, None])[:, 0]
        mean = distinct.total(weights[:, None] * Y) / np.where(w > 0, w, 1)[:, None]
        within = weights @ np.square(Y - mean[distinct.group])
        root = np.sqrt(w)
        rows = basis_rows(distinct.values, knots).scaled(root)
        R, Z, outside = _core.reduce_data(
            rows.start, rows.values, rows.n_columns, np.ascontiguousarray(root[:, None] * mean)
        )
        penalty = penalty_rows(knots, R_THIRD).values
        return cls(distinct, knots, R, Z, outside + within, penalty, centre, size, n_effective)

    def lam_range(self):
        """The smallest and the largest lambda of a search.

        R's range, where R's is good enough. With very uneven knots it is too narrow above, where
        nothing but a straight line should be left, and too wide below, where tr(S) is lost to
        rounding.
        """
        k = len(self.triangle)
        inner = slice(2, k - 3) if k > 5 else slice(k)
        gram = Rows(np.arange(k), self.triangle, k + 3).gram()
        omega = Rows(np.arange(len(self.penalty)) // 2, self.penalty, k).gram()
        ratio = gram[inner, 0].sum() / omega[inner, 0].sum()
        low, high = (ratio * 256.0 ** (3 * spar - 1) for spar in SPAR_RANGE)
        high = max(high, STRAIGHT_LINE * self.n_effective)
        while low < high and self._trace_and_size(low)[1] * EPS > TRACE_ROUNDING:
            low *= 4.0
        return low, high

    def solve(self, lam):
        """Coefficients for each response, a (J, m) array, and tr(S)."""
        R, Z = _core.reduce_penalised(self.triangle, self.rotated, self.penalty, lam)
        return self._unscaled(_core.back_substitute(R, Z)), _core.trace_of_smoother(
            self.triangle, R
        )[0]

    def solve_each(self, lams):
        """The same with a lambda of its own for each response; tr(S) is then an (m,) array."""
        coef, trace = _core.solve_smoothers(self.triangle, self.rotated, self.penalty, lams)
        return self._unscaled(coef), trace

    def _unscaled(self, coef):
        return coef * self.size + self.centre

    def fitted(self, coef):
        """Fitted values at every observation."""
        return combine(basis_rows(self.x.values, self.knots), coef)[self.x.group]

    def trace(self, lam):
        """tr(S) for a lambda."""
        return self._trace_and_size(lam)[0]

    def _trace_and_size(self, lam):
        nothing = np.empty((len(self.triangle), 0))
        R, _ = _core.reduce_penalised(self.triangle, nothing, self.penalty, lam)
        return _core.trace_of_smoother(self.triangle, R)

    def lam_of_df(self, df):
        """The lambda whose tr(S) is df."""
        low, high = self.lam_range()
        most, least = self.trace(low), self.trace(high)
        if not least <= df <= most:
            right = f"between {least:.6g} and {most:.6g} with these x and knots"
            raise refusal("df", df, right)
        return math.exp(
            brentq(
                lambda v: self.trace(math.exp(v)) - df, math.log(low), math.log(high), xtol=1e-12
            )
        )

    def lam_of_gcv(self):
        """For each response the lambda that minimises GCV over `lam_range`."""
        low, high = self.lam_range()
        grid = np.log(np.geomspace(low, high, GRID_SIZE))
        # A perfect fit has no best lambda: a residual above rounding lets the smallest df win.
        noise = PERFECT * (1 + np.minimum(np.abs(self.centre) / self.size, 1 / EPS))
        outside = self.outside + self.n_effective * noise**2
        return np.exp(
            _core.minimise_gcv(
                self.triangle, self.rotated, outside, self.penalty, self.n_effective, grid
            )
        )
