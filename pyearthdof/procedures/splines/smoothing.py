"""Cubic and smoothing splines of one predictor, with the bases, knots and lambda of R's own.

What is kept after `SmoothingSystem.of` has one row for each coefficient, whatever n is; a new
lambda costs O(number of knots).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ... import _core
from ..._utils.checks import check_count, refusal
from ...contract import Fits
from ...exceptions import InvalidInputError
from ..linear import LeastSquares
from .bspline import (
    LamOrDf,
    Rows,
    UnitInterval,
    UnivariateProcedure,
    basis_rows,
    check_n_basis,
    clamped,
    combine,
    penalty_rows,
    quantile_knots,
)

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
    """The different values of x; values closer than 1e-6 interquartile ranges count as one."""

    values: np.ndarray  # increasing, scaled to [0, 1] by the interval
    group: np.ndarray  # which of them each observation has
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
    """R's `.nknots.smspl`: all values below 50, then ever fewer of them."""
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
    """min over c of sum_i w_i (y_i - b_i'c)^2 + lam c' Omega c, for the columns y of Y."""

    x: DistinctX
    knots: np.ndarray  # on [0, 1], the ends four times
    triangle: np.ndarray  # R and Q'Y of the design's QR decomposition
    rotated: np.ndarray
    outside: np.ndarray  # (m,) sums of squares that no coefficient can explain
    penalty: np.ndarray  # (q, 4), the rows of `penalty_rows`
    centre: (
        np.ndarray
    )  # (m,) weighted means, and largest deviations: (Y - centre) / size is rotated
    size: np.ndarray
    n_effective: float  # sum of the weights

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
        """Return the smallest and the largest lambda of a search.

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
        """Return the lambda whose tr(S) is df."""
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


class CubicSpline(UnivariateProcedure):
    """Least squares on the cubic B-splines of R's `splines::bs(x, df = n_basis, intercept = TRUE)`.

    Interior knots are at quantiles of x. Outside the data, the cubics of the end intervals are
    extrapolated, as in R. df = tr(S) is n_basis, or the rank of the basis if ties in x or a small n
    reduce it.

    Parameters
    ----------
    n_basis : int
        Number J of basis functions, at least 4.

    Attributes
    ----------
    coef_ : (J,) array
    knots_ : array
        Knots on the scale of x, the ends four times.
    fitted_values_ : (n,) array
    trace_ : float
        tr(S).
    n_coef_ : int
        J.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.splines.smoothing import CubicSpline
    >>> x = np.arange(1.0, 101.0)
    >>> model = CubicSpline(n_basis=5).fit(x, x**3)
    >>> model.trace_, model.predict([110.0]).round(3).tolist()
    (5.0, [1331000.0])
    """

    is_linear = True
    is_equivariant = True
    df_statistic = "trace"
    _linear_ends = False

    def __init__(self, n_basis):
        self.n_basis = n_basis

    def _check_arguments(self) -> None:
        check_n_basis(self.n_basis)

    def _fit(self, x, y) -> None:
        interval, knots = cubic_knots(x, self.n_basis)
        centre = y.mean()  # the B-splines add up to one: a constant passes through
        design = basis_rows(interval.scale(x), knots).dense()
        regression = LeastSquares().fit(design, y - centre)
        self._keep_spline(interval, knots, regression.coef_ + centre)
        self.fitted_values_ = regression.fitted_values_ + centre
        self.trace_ = regression.trace_

    def _fit_many(self, x, Y) -> Fits:
        interval, knots = cubic_knots(x, self.n_basis)
        centre = Y.mean(axis=0)
        fits = LeastSquares().fit_many(basis_rows(interval.scale(x), knots).dense(), Y - centre)
        return Fits(fitted=fits.fitted + centre, trace=fits.trace, n_coef=fits.n_coef)

    def basis(self, X):
        """Return the B-splines at values X of the predictor, (n, J), as `predict` of R's `bs` gives them."""
        return basis_rows(self._interval.scale(self._check_new(X)), self._knots).dense()


class SmoothingSpline(LamOrDf):
    """Smoothing spline as in R's `smooth.spline`: sum w (y - f)^2 + lam * integral of f''^2.

    x is scaled to [0, 1], so lam has no unit. tr(S) agrees with R's df to the last digits, including R's
    integration constant 0.333 (for 1/3). All matrices are banded: fit and trace are O(n). Outside the
    data the spline is linear.

    Specify `lam` or `df`; otherwise lam minimises generalised cross-validation (GCV). R stops these searches
    early, at a tolerance or at the end of its range; this class continues to the optimum.

    Parameters
    ----------
    lam : float, optional
        R's `lambda`, above zero.
    df : float, optional
        Target for tr(S).
    n_knots : int or "all", optional
        Number of knots, at least 2 and at most the number of different x. By default R's rule: all
        different x up to 49, fewer above (62 for 100).

    Attributes
    ----------
    coef_ : (n_coef_,) array
        Coefficients of the B-splines.
    knots_ : array
        Knots on the scale of x, the ends four times.
    lam_ : float
        The lambda used.
    fitted_values_ : (n,) array
    trace_ : float
        tr(S).
    n_coef_ : int
        Number of knots + 2.

    Notes
    -----
    Values of x closer than 1e-6 interquartile ranges are merged, and weights are rescaled to sum to the
    number of nonzero ones, both as in R. R requires four different values of x; here two are sufficient.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.splines.smoothing import SmoothingSpline
    >>> x = np.arange(1.0, 101.0)
    >>> model = SmoothingSpline(lam=0.01, n_knots="all").fit(x, np.sin(x / 10))
    >>> round(model.trace_, 6), model.n_coef_
    (4.561451, 102)
    """

    @property
    def df_statistic(self):  # type: ignore[override]
        """tr(S) is the df where S does not depend on y; with GCV it leaves out the search."""
        return "trace" if self.is_linear else None

    def _fit(self, x, y, sample_weight=None) -> None:
        system = self._system(x, y[:, None], _normalised_weights(sample_weight, x))
        self.lam_ = float(self._lams(system)[0])
        coef, trace = system.solve(self.lam_)
        self._keep_spline(system.x.interval, system.knots, coef[:, 0])
        self.fitted_values_ = system.fitted(coef)[:, 0]
        self.trace_ = float(trace)

    def _fit_many(self, x, Y) -> Fits:
        system = self._system(x, Y, np.ones(len(x)))
        m = Y.shape[1]
        lams = self._lams(system)
        if self.is_linear:
            coef, trace = system.solve(lams[0])
            trace = np.full(m, trace)
        else:
            coef, trace = system.solve_each(lams)
        return Fits(fitted=system.fitted(coef), trace=trace, n_coef=np.full(m, len(coef)))

    def _system(self, x, Y, weights):
        distinct = DistinctX.of(x)
        if np.ptp(distinct.group[weights > 0]) == 0:
            raise InvalidInputError(
                "sample_weight is above 0 at a single value of x but it should be at two or more"
            )
        n_knots = _count_knots(self.n_knots, len(distinct.values))
        return SmoothingSystem.of(distinct, knots_among(distinct.values, n_knots), weights, Y)

    def _lams(self, system):
        if self.lam is not None:
            return np.array([float(self.lam)])
        if self.df is not None:
            return np.array([system.lam_of_df(float(self.df))])
        return system.lam_of_gcv()


def cubic_knots(x, n_basis):
    """Return the scaling of x to [0, 1], and the knots there."""
    interval = UnitInterval.of(x)
    return interval, quantile_knots(interval.scale(x), n_basis)


def _count_knots(n_knots, n_distinct):
    if n_knots is None:
        return default_n_knots(n_distinct)
    if isinstance(n_knots, str) and n_knots == "all":
        return n_distinct
    because = ", the number of different x; or 'all', or None"
    return check_count("n_knots", n_knots, 2, n_distinct, because)


def _normalised_weights(sample_weight, x):
    """Weights that add up to the number of those above zero, as in `smooth.spline`."""
    if sample_weight is None:
        return np.ones(len(x))
    if sample_weight.min() < 0 or sample_weight.max() == 0:
        raise InvalidInputError(
            f"sample_weight is from {sample_weight.min():g} to {sample_weight.max():g} but no weight "
            "should be negative and some should be above zero"
        )
    weights = sample_weight / sample_weight.max()
    return weights * (np.count_nonzero(weights) / weights.sum())
