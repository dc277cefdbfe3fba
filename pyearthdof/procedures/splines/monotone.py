"""Monotone splines: ordered B-spline coefficients make a monotone curve.

The fit is S(y) y with S(y) = B G'(G H G')^-1 G B', where H = B'B + lam Omega and the matrix G of
the paper adds up the coefficients that are equal at the solution. Its search cost msdf is 0.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from ... import _core
from ..._utils.checks import check_flag, check_positive
from ...contract import Fits
from ...exceptions import FittingError
from .bspline import (
    Rows,
    UnitInterval,
    UnivariateProcedure,
    basis_rows,
    check_n_basis,
    combine,
    penalty_rows,
)
from .smoothing import DistinctX, cubic_knots, default_n_knots, knots_among

# The ridge that the paper's computations add to the diagonal of Omega.
RIDGE = np.finfo(float).eps ** (1 / 3)


@dataclass(frozen=True)
class _Problem:
    """Design, knots and quadratic form of a monotone spline on the scaled x."""

    interval: UnitInterval
    knots: np.ndarray
    rows: Rows
    gram: np.ndarray
    form: np.ndarray
    ridge: float = 0.0

    def solve(self, Y, increasing):
        """Coefficients and tr S(y) for each column of Y."""
        sign = 1.0 if increasing else -1.0
        centre = Y.mean(axis=0)
        residual = Y - centre
        # What centring leaves of a constant response is rounding, and must not be fitted.
        residual[:, np.ptp(Y, axis=0) == 0] = 0.0
        size = np.abs(residual).max(axis=0)
        size[size == 0] = 1.0
        right = self.rows.transposed_times(residual / size) - self.ridge * (centre / size)
        coef, n_unique, trace = solve_ordered(self.form, self.gram, sign * right)
        if self.form is self.gram:
            trace = n_unique.astype(float)  # without a penalty S(y) is a projection
        return sign * coef * size + centre, trace


class _MonotoneSpline(UnivariateProcedure):
    """Base class of the two monotone splines."""

    df_statistic = "trace"
    increasing: bool

    @abstractmethod
    def _problem(self, x) -> _Problem:
        """Return the problem for these x."""

    def _fit(self, x, y) -> None:
        problem = self._problem(x)
        coef, trace = problem.solve(y[:, None], self.increasing)
        self._keep_spline(problem.interval, problem.knots, coef[:, 0])
        self.unique_coef_ = np.unique(self.coef_)
        self.fitted_values_ = combine(problem.rows, self.coef_)
        self.trace_ = float(trace[0])

    def _fit_many(self, x, Y) -> Fits:
        problem = self._problem(x)
        coef, trace = problem.solve(Y, self.increasing)
        return Fits(
            fitted=combine(problem.rows, coef),
            trace=trace,
            n_coef=np.full(Y.shape[1], len(coef)),
        )


class MonotoneCubicSpline(_MonotoneSpline):
    """`CubicSpline` with ordered coefficients.

    Its df is the expected number of distinct coefficients (Proposition 2 of the paper), tr S(y). Outside
    the data the spline is linear and monotone.

    Parameters
    ----------
    n_basis : int
        Number J of basis functions, at least 4.
    increasing : bool, default True
        Whether the spline is increasing instead of decreasing.

    Attributes
    ----------
    coef_, knots_, fitted_values_, n_coef_
        As in `CubicSpline`.
    unique_coef_ : array
        Distinct values of the coefficients, increasing.
    trace_ : float
        tr S(y), the number of distinct coefficients.

    Notes
    -----
    The fit is equivariant to shifts and positive multiples of y, but not to -y.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.splines.monotone import MonotoneCubicSpline
    >>> x = np.arange(1.0, 101.0)
    >>> model = MonotoneCubicSpline(n_basis=10).fit(x, np.minimum(x, 50.0))
    >>> bool(np.all(np.diff(model.predict(x)) > -1e-12)), model.trace_ == len(model.unique_coef_)
    (True, True)
    """

    is_equivariant = True

    def __init__(self, n_basis, increasing=True):
        self.n_basis = n_basis
        self.increasing = increasing

    def _check_arguments(self):
        check_n_basis(self.n_basis)
        check_flag("increasing", self.increasing)

    def _problem(self, x):
        interval, knots = cubic_knots(x, self.n_basis)
        rows = basis_rows(interval.scale(x), knots)
        gram = rows.gram()
        return _Problem(interval, knots, rows, gram, gram)


class MonotoneSmoothingSpline(_MonotoneSpline):
    """Smoothing spline with ordered coefficients.

    Minimises ``|y - B g|^2 + lam g' Omega g`` with x scaled to [0, 1], knots as R's `smooth.spline`
    chooses them, and the paper's small ridge eps^(1/3) on the diagonal of Omega. Outside the data
    the spline is linear and monotone.

    Parameters
    ----------
    lam : float
        Penalty, above zero.
    increasing : bool, default True
        As in `MonotoneCubicSpline`.

    Attributes
    ----------
    coef_, unique_coef_, knots_, fitted_values_
        As in `MonotoneCubicSpline`.
    trace_ : float
        tr S(y) on the active set, tr[B Z (Z'(B'B + lam Omega) Z)^-1 Z'B'] with Z = G'.
    n_coef_ : int
        Number of knots + 2.

    Notes
    -----
    The ridge pulls the level towards zero by a factor of about 1 - 6e-6 J lam / n.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.splines.monotone import MonotoneSmoothingSpline
    >>> x = np.arange(1.0, 101.0)
    >>> MonotoneSmoothingSpline(lam=0.01).fit(x, np.minimum(x, 50.0)).n_coef_
    64
    """

    def __init__(self, lam, increasing=True):
        self.lam = lam
        self.increasing = increasing

    def _check_arguments(self):
        check_positive("lam", self.lam)
        check_flag("increasing", self.increasing)

    def _problem(self, x):
        distinct = DistinctX.of(x)
        knots = knots_among(distinct.values, default_n_knots(len(distinct.values)))
        rows = basis_rows(distinct.values[distinct.group], knots)
        gram = rows.gram()
        form = gram + self.lam * penalty_rows(knots).gram()
        form[:, 0] += self.lam * RIDGE
        return _Problem(distinct.interval, knots, rows, gram, form, ridge=self.lam * RIDGE)


def solve_ordered(H, gram, B):
    """Minimise g'Hg/2 - b'g under g_1 <= ... <= g_J with a banded H, for each column b of B.

    Where neighbours are equal they form a block, and g is piecewise constant on blocks: g = G'v. The
    solver is the active-set method of Lawson and Hanson for the increments of g: it starts from a single
    block, splits where the gradient asks for it, solves for the values of the blocks (a banded system
    again), and joins blocks whose order would be violated. It ends at the exact solution after finitely
    many steps, also where H is singular. `H` and `gram`, its part without the penalty, are upper bands
    (J, 4). Returned are g, the number of blocks, and tr[(G H G')^-1 G gram G'], which is tr(S(y)).
    """
    coef, n_unique, trace, solved = _core.solve_ordered(H, gram, np.ascontiguousarray(B.T))
    if not solved.all():
        raise FittingError(
            f"the monotone spline of response {int(np.argmin(solved))} did not settle on an active "
            "set: the basis is singular for these x, so take fewer basis functions"
        )
    return coef.T, n_unique, trace
