"""Cubic and smoothing splines of one predictor, with the bases, knots and lambda of R's own."""

from __future__ import annotations

import numpy as np

from ..._utils.checks import check_count
from ...contract import Fits
from ...exceptions import InvalidInputError
from ..linear import LeastSquares
from .bspline import basis_rows, quantile_knots
from .smoothing import DistinctX, SmoothingSystem, default_n_knots, knots_among
from .univariate import LamOrDf, UnitInterval, UnivariateProcedure, check_n_basis

__all__ = ["CubicSpline", "SmoothingSpline"]


class CubicSpline(UnivariateProcedure):
    """Least squares on the cubic B-splines of R's `splines::bs(x, df = n_basis, intercept = TRUE)`.

    Interior knots are at quantiles of x. Outside the data the cubics of the end intervals go on, as
    in R. df = tr(S) is n_basis, or the rank of the basis where ties in x or a small n make it less.

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
    >>> from pyearthdof.procedures.splines.linear import CubicSpline
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
        interval, knots = _cubic_knots(x, self.n_basis)
        centre = y.mean()  # the B-splines add up to one: a constant passes through
        design = basis_rows(interval.scale(x), knots).dense()
        regression = LeastSquares().fit(design, y - centre)
        self._keep_spline(interval, knots, regression.coef_ + centre)
        self.fitted_values_ = regression.fitted_values_ + centre
        self.trace_ = regression.trace_

    def _fit_many(self, x, Y) -> Fits:
        interval, knots = _cubic_knots(x, self.n_basis)
        centre = Y.mean(axis=0)
        fits = LeastSquares().fit_many(basis_rows(interval.scale(x), knots).dense(), Y - centre)
        return Fits(fitted=fits.fitted + centre, trace=fits.trace, n_coef=fits.n_coef)

    def basis(self, X):
        """The B-splines at values of x, as `predict` of R's `bs` gives them.

        Parameters
        ----------
        X : (n, 1) or (n,) array

        Returns
        -------
        (n, J) array
        """
        return basis_rows(self._interval.scale(self._check_new(X)), self._knots).dense()


class SmoothingSpline(LamOrDf):
    """The smoothing spline of R's `smooth.spline`: sum w (y - f)^2 + lam * integral of f''^2.

    x is scaled to [0, 1] first, so lam has no unit. tr(S) is R's df to the last digits, R's
    integration constant 0.333 (for 1/3) included. Everything is banded: fit and trace are O(n).
    Outside the data the spline goes on as a straight line.

    Give `lam`, or `df`, or neither: then lam minimises generalised cross-validation (GCV). R stops
    these searches early, at a tolerance or at the end of its range; ours go on to the optimum.

    Parameters
    ----------
    lam : float, optional
        R's `lambda`, above zero.
    df : float, optional
        The wanted tr(S).
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
        The lambda that was used.
    fitted_values_ : (n,) array
    trace_ : float
        tr(S).
    n_coef_ : int
        Number of knots + 2.

    Notes
    -----
    Values of x closer than 1e-6 interquartile ranges are one value, and weights are rescaled to add
    up to the number of those that are not zero, both as in R. R refuses fewer than four different
    values of x; here two are enough.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.splines.linear import SmoothingSpline
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


def _cubic_knots(x, n_basis):
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
