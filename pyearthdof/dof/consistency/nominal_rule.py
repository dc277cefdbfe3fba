"""Nominal rules at the points of a grid, with their errors, and the parameter that makes one self-consistent.

A rule counts with the means of the fits. Its error is a jackknife's: it counts again without each repetition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from ..._utils.checks import refusal
from ..montecarlo.jackknife import Jackknife
from ..results import DegreesOfFreedom

__all__ = [
    "STATISTICS",
    "GridPoint",
    "NominalRule",
    "difference",
    "jackknife",
    "nominal_at",
    "solve_rule",
]

STATISTICS = ("n_coef", "trace", "rank")


@dataclass(frozen=True)
class GridPoint:
    """What a nominal rule may count with at one point of a grid.

    Attributes
    ----------
    value
        The parameter; a dict where there are several.
    n : int
        Number of observations.
    n_coef, trace, rank : float or None
        Means of the fits, None for what the procedure cannot tell.

    Examples
    --------
    >>> from pyearthdof import GridPoint
    >>> GridPoint(value=3, n=100, n_coef=4.0).n_coef
    4.0
    """

    value: object
    n: int
    n_coef: float | None = None
    trace: float | None = None
    rank: float | None = None


@dataclass(frozen=True)
class NominalRule:
    """The parameter of a nominal rule that makes it self-consistent.

    Attributes
    ----------
    parameter, se : (k,) array
        At each point of the grid; nan where no parameter does.
    pooled, pooled_se : float
        One for all points: that with the least sum of squared gaps.

    Examples
    --------
    >>> from pyearthdof import self_consistency
    >>> from pyearthdof.procedures import RegressionTree
    >>> rule = lambda at, c=1.0: c * at.n_coef
    >>> path = self_consistency(
    ...     RegressionTree(0), {"depth": [1, 2]}, X=(60, 3), nominal=rule, random_state=0
    ... )
    >>> solved = path.solve()
    >>> (path.df / path.nominal_df).round(6).tolist() == solved.parameter.round(6).tolist()
    True
    """

    parameter: np.ndarray
    se: np.ndarray
    pooled: float
    pooled_se: float


def solve_rule(rule, n, points, values, low: float, high: float) -> NominalRule:
    """The parameter of a rule at each point, and one for all."""
    rules = [
        partial(_at, rule, n, point, value) for point, value in zip(points, values, strict=True)
    ]
    each = [
        _over_left_out(point, lambda k, rule=rule: _solve_one(rule(k), low, high))
        for point, rule in zip(points, rules, strict=True)
    ]
    sizes = {len(point.left_out["df"]) for point in points}

    def pooled(k):
        return _solve_all([rule(k) for rule in rules], low, high)

    whole = (
        _over_left_out(points[0], pooled)
        if len(sizes) == 1
        else Jackknife(pooled(None), np.full(2, np.nan))
    )
    return NominalRule(
        parameter=np.array([found.value for found in each]),
        se=np.array([found.se for found in each]),
        pooled=whole.value,
        pooled_se=whole.se,
    )


def jackknife(point: DegreesOfFreedom, name: str) -> Jackknife:
    """One quantity at a point, with its values without one repetition."""
    return Jackknife(getattr(point, name), point.left_out[name])


def difference(a: Jackknife, b: Jackknife) -> Jackknife:
    """Of two estimates; one that is exact has fewer that leave something out, all the same."""
    sizes = len(a.left_out), len(b.left_out)
    if sizes[0] != sizes[1]:
        longest = max(sizes)
        a, b = (
            j if len(j.left_out) == longest else Jackknife(j.value, np.full(longest, j.value))
            for j in (a, b)
        )
    return Jackknife(a.value - b.value, a.left_out - b.left_out)


def _at(rule, n, point: DegreesOfFreedom, value, k):
    """The rule as a function of its parameter, and the df; of all draws, or without the k-th."""
    df = point.df if k is None else _left(point, "df", k)
    at = GridPoint(
        value,
        n,
        *(_of(point, name, k) for name in STATISTICS),
    )
    return partial(rule, at), df


def _of(point, name: str, k):
    value = getattr(point, name)
    return value if k is None or value is None else _left(point, name, k)


def _left(point, name: str, k: int) -> float:
    left_out = point.left_out[name]
    exact = getattr(point, "se" if name == "df" else f"{name}_se") == 0.0
    return getattr(point, name) if exact or k >= len(left_out) else float(left_out[k])


def _over_left_out(point: DegreesOfFreedom, function) -> Jackknife:
    size = len(point.left_out["df"])
    return Jackknife(float(function(None)), np.array([function(k) for k in range(size)]))


def nominal_at(nominal, n, point: DegreesOfFreedom, value) -> Jackknife:
    """What a rule, or a statistic of that name, counts at a point."""
    if not callable(nominal):
        if getattr(point, nominal) is None:
            raise refusal("nominal", nominal, "a function: the fits do not tell it")
        return jackknife(point, nominal)
    return _over_left_out(point, lambda k: float(_at(nominal, n, point, value, k)[0]()))


def _is_linear(rule) -> tuple[float, float] | None:
    """Intercept and slope of a rule in its parameter; None where it is not linear."""
    zero, one, two = (float(rule(c)) for c in (0.0, 1.0, 2.0))
    straight = np.isclose(two - one, one - zero, rtol=1e-9, atol=1e-12)
    return (zero, one - zero) if straight else None


def _solve_one(pair, low, high) -> float:
    rule, df = pair
    line = _is_linear(rule)
    if line is not None:
        return (df - line[0]) / line[1] if line[1] else np.nan

    def gap(c):
        return float(rule(c)) - df

    return float(brentq(gap, low, high)) if gap(low) * gap(high) <= 0 else np.nan


def _solve_all(pairs, low, high) -> float:
    lines = [_is_linear(rule) for rule, _ in pairs]
    if all(line is not None for line in lines):
        a, b = np.array(lines).T
        df = np.array([found for _, found in pairs])
        return float(b @ (df - a) / (b @ b)) if b.any() else np.nan

    def squares(c):
        return sum((float(rule(c)) - df) ** 2 for rule, df in pairs)

    return float(minimize_scalar(squares, bounds=(low, high), method="bounded").x)
