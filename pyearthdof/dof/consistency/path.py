"""Self-consistency of any procedure along any grid: Definition 2 of the paper.

A procedure with a parameter is self-consistent if its actual and nominal degrees of freedom agree. All points
of a grid are fitted to the same responses, so differences between points have much smaller errors than the
points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from sklearn.base import clone

from ..._utils.checks import check_count, refusal
from ...contract import Rows
from ...exceptions import InvalidInputError
from ..degrees_of_freedom import degrees_of_freedom
from ..montecarlo.designs import in_words
from ..montecarlo.draws import Draws, RandomState, as_draws
from ..montecarlo.errors import Jackknife
from ..results import Curve, DegreesOfFreedom, jackknife

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_GRIDS = "{parameter: values}, or a list of {parameter: value, ...}"


def candidates(procedure: Any, grid: Any) -> tuple[str, list, list]:
    """Return the name of the parameter, its values, and the procedure at each value."""
    if isinstance(grid, Mapping):
        if len(grid) != 1:
            raise refusal("grid", dict(grid), _GRIDS)
        [(name, values)] = grid.items()
        if not isinstance(values, Iterable) or isinstance(values, str):
            raise refusal("grid", dict(grid), "{parameter: values}, with several values")
        values = list(values)
        settings = [{name: value} for value in values]
    elif isinstance(grid, Sequence | np.ndarray | range) and not isinstance(grid, str):
        values = list(grid)
        if values and all(isinstance(value, Mapping) for value in values):
            name, settings = "setting", [dict(value) for value in values]
        elif callable(procedure) and not hasattr(procedure, "fit"):
            return "value", _some(values), [procedure(value) for value in values]
        else:
            raise refusal(
                "grid",
                grid,
                "{parameter: values}; values alone are for a function value -> procedure",
            )
    else:
        raise refusal("grid", grid, _GRIDS)
    if not hasattr(procedure, "get_params"):
        raise refusal("procedure", procedure, "an estimator with the parameters of the grid")
    known = procedure.get_params(deep=True)
    for setting in settings:
        for key in setting:
            if key not in known:
                raise refusal("grid", key, f"one of the parameters {', '.join(sorted(known))}")
    return name, _some(values), [clone(procedure).set_params(**setting) for setting in settings]


def _some(values: list) -> list:
    if not values:
        raise InvalidInputError("grid is empty but it should have one value or more")
    return values


STATISTICS = ("n_coef", "trace", "rank")


@dataclass(frozen=True)
class GridPoint:
    """Quantities available to a nominal rule at one point of a grid.

    Attributes
    ----------
    value
        The parameter; a dict if there are several.
    n : int
        Number of observations.
    n_coef, trace, rank : float or None
        Means over the fits; None if unknown for the procedure.

    Examples
    --------
    >>> from pyearthdof.results import GridPoint
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
    """Parameter of a nominal rule for which it is self-consistent.

    Attributes
    ----------
    parameter, se : (k,) array
        Parameter at each point of the grid; nan if there is no solution.
    pooled, pooled_se : float
        One parameter for all points, with the smallest sum of squared gaps.

    Examples
    --------
    >>> from pyearthdof import consistency_path
    >>> from pyearthdof.procedures import RegressionTree
    >>> rule = lambda at, c=1.0: c * at.n_coef
    >>> path = consistency_path(
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


def solve_rule(
    rule: Any,
    n: int,
    points: Sequence[DegreesOfFreedom],
    values: Sequence[Any],
    low: float,
    high: float,
) -> NominalRule:
    """Solve for the parameter of a rule at each point, and for one common to all."""
    rules = [
        partial(_at, rule, n, point, value) for point, value in zip(points, values, strict=True)
    ]
    each = [
        _over_left_out(point, lambda k, rule=rule: _solve_one(rule(k), low, high))
        for point, rule in zip(points, rules, strict=True)
    ]
    sizes = {len(point.left_out["df"]) for point in points}

    def pooled(k: int | None) -> float:
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


def difference(a: Jackknife, b: Jackknife) -> Jackknife:
    """Return the difference of two estimates, which may have different numbers of leave-one-out values."""
    sizes = len(a.left_out), len(b.left_out)
    if sizes[0] != sizes[1]:
        longest = max(sizes)
        a, b = (
            j if len(j.left_out) == longest else Jackknife(j.value, np.full(longest, j.value))
            for j in (a, b)
        )
    return Jackknife(a.value - b.value, a.left_out - b.left_out)


def _at(rule: Any, n: int, point: DegreesOfFreedom, value: Any, k: int | None) -> Any:
    """Return the rule as a function of its parameter, and the df, of all draws or without the k-th."""
    at = GridPoint(value, n, *(_of(point, name, k) for name in STATISTICS))
    return partial(rule, at), _of(point, "df", k)


def _of(point: DegreesOfFreedom, name: str, k: int | None) -> float | None:
    value = getattr(point, name)
    if k is None or value is None:
        return value
    left_out = point.left_out[name]
    exact = getattr(point, "se" if name == "df" else f"{name}_se") == 0.0
    return value if exact or k >= len(left_out) else float(left_out[k])


def _over_left_out(point: DegreesOfFreedom, function: Callable[..., Any]) -> Jackknife:
    size = len(point.left_out["df"])
    return Jackknife(float(function(None)), np.array([function(k) for k in range(size)]))


def nominal_at(nominal: Any, n: int, point: DegreesOfFreedom, value: Any) -> Jackknife:
    """Return the nominal df at a point, from a rule or the name of a statistic."""
    if not callable(nominal):
        if getattr(point, nominal) is None:
            raise refusal("nominal", nominal, "a function: the fits do not provide it")
        return jackknife(point, nominal)
    return _over_left_out(point, lambda k: float(_at(nominal, n, point, value, k)[0]()))


def _is_linear(rule: Any) -> tuple[float, float] | None:
    """Return intercept and slope of a rule in its parameter; None if it is not linear."""
    zero, one, two = (float(rule(c)) for c in (0.0, 1.0, 2.0))
    straight = np.isclose(two - one, one - zero, rtol=1e-9, atol=1e-12)
    return (zero, one - zero) if straight else None


def _solve_one(pair: Any, low: float, high: float) -> float:
    rule, df = pair
    line = _is_linear(rule)
    if line is not None:
        return (df - line[0]) / line[1] if line[1] else np.nan

    def gap(c: float) -> float:
        return float(rule(c)) - df

    return float(brentq(gap, low, high)) if gap(low) * gap(high) <= 0 else np.nan


def _solve_all(pairs: Any, low: float, high: float) -> float:
    lines = [_is_linear(rule) for rule, _ in pairs]
    if all(line is not None for line in lines):
        a, b = np.array(lines).T
        df = np.array([found for _, found in pairs])
        return float(b @ (df - a) / (b @ b)) if b.any() else np.nan

    def squares(c: float) -> float:
        return sum((float(rule(c)) - df) ** 2 for rule, df in pairs)

    return float(minimize_scalar(squares, bounds=(low, high), method="bounded").x)


@dataclass(frozen=True, eq=False)
class ConsistencyPath(Curve):
    """Nominal and actual degrees of freedom of a procedure along a grid.

    `plot` draws one against the other; without a nominal rule, the df along the grid.

    Attributes
    ----------
    parameter : str
        Name of the parameter.
    values : tuple
        The grid.
    df, se : (k,) array
        Actual degrees of freedom, and their standard errors.
    nominal_df, nominal_se : (k,) array or None
        Nominal degrees of freedom, None without a rule; errors are those of the means used by the rule.
    gap, gap_se : (k,) array or None
        df - nominal_df, from the same draws; 0 means self-consistent.
    n_rep : int
    n_designs, se_covers
        As in `DegreesOfFreedom`.
    points : tuple of DegreesOfFreedom
        All quantities at each point.
    rule : function, str or None
        The nominal rule.
    n : int
        Number of observations.
    settings : dict

    Examples
    --------
    >>> from pyearthdof import consistency_path
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> path = consistency_path(
    ...     DecisionTreeRegressor(), {"max_leaf_nodes": [2, 4, 8]}, X=(60, 3), nominal="n_coef",
    ...     random_state=0,
    ... )
    >>> path
    ConsistencyPath(max_leaf_nodes=2..8, df=..., largest gap to nominal=..., n_rep=100, over 20 designs)
    """

    parameter: str
    values: tuple
    df: np.ndarray
    se: np.ndarray
    nominal_df: np.ndarray | None
    nominal_se: np.ndarray | None
    gap: np.ndarray | None
    gap_se: np.ndarray | None
    n_rep: int
    n_designs: int | None
    se_covers: str
    points: tuple[DegreesOfFreedom, ...]
    rule: Callable | str | None
    n: int
    settings: dict = field(default_factory=dict)

    _COLUMNS = ("df", "se", "nominal_df", "gap", "gap_se")
    _REST = ("n_rep", "n_designs", "se_covers", "settings")

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", largest gap to nominal={np.abs(self.gap).max():.4g}"
        return (
            f"ConsistencyPath({self.parameter}={self.values[0]}..{self.values[-1]}, df={self.df[0]:.4g}.."
            f"{self.df[-1]:.4g}{gap}, n_rep={self.n_rep}{in_words(self.n_designs)})"
        )

    @property
    def left_out(self) -> list[np.ndarray]:
        """Leave-one-out df of each point."""
        return [point.left_out["df"] for point in self.points]

    def step(self, first: int, second: int) -> tuple[float, float]:
        """Return the df at point `second` minus those at `first` (0-based), and the standard error.

        Both use the same responses, so the error is smaller than the errors of the points suggest.
        """
        one, two = (jackknife(self.points[k]) for k in (first, second))
        found = difference(two, one)
        return found.value, found.se

    def _columns(self) -> dict:
        columns: dict = {self.parameter: list(self.values)}
        known = [name for name in self._COLUMNS if getattr(self, name) is not None]
        return columns | {name: getattr(self, name) for name in known}

    def _draw(self, ax: Axes) -> None:
        style: dict[str, Any] = {"fmt": "o-", "markersize": 4, "linewidth": 0.9, "capsize": 2}
        if self.nominal_df is None:
            numbers = all(isinstance(value, (int, float, np.number)) for value in self.values)
            x = self.values if numbers else range(len(self.values))
            ax.errorbar(x, self.df, yerr=self._spread(), **style)
            if not numbers:
                ax.set_xticks(list(x), [str(value) for value in self.values])
            ax.set(xlabel=self.parameter, ylabel="actual df")
            return
        self._draw_nominal(ax, "nominal rule", **style)
        for x, y, value in zip(self.df, self.nominal_df, self.values, strict=True):
            ax.annotate(str(value), (x, y), textcoords="offset points", xytext=(5, -10), fontsize=8)
        ax.set_title(f"labels: {self.parameter}", fontsize=9)
        ax.legend()

    def solve(self, low: float = 0.0, high: float = 1e3) -> NominalRule:
        """Find the parameter c for which the rule `nominal(at, c)` is self-consistent.

        Solves for c at each point of the grid, as Algorithm 2 does for MARS with r + c (r - 1)/2, and for
        one c that fits all points best.

        Parameters
        ----------
        low, high : float
            Bounds of c, unless the rule is linear in c.
        """
        if not callable(self.rule):
            raise refusal("nominal", self.rule, "a function (at, c) with a parameter to solve for")
        return solve_rule(self.rule, self.n, self.points, self.values, low, high)


def consistency_path(
    procedure: Any,
    grid: Any,
    X: Rows | tuple[int, int],
    *,
    nominal: Any = None,
    mu: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    n_rep: int = 100,
    draws: Draws | None = None,
    random_state: RandomState = None,
    n_designs: int | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ConsistencyPath:
    """Compare nominal and actual degrees of freedom of a procedure along a grid of parameters.

    All points share the responses.

    Parameters
    ----------
    procedure : procedure, scikit-learn regressor, or function value -> procedure
    grid : {parameter: values}, or list of {parameter: value, ...}
        Points of the grid; plain values if `procedure` is a function of them.
    X : tuple (n, p), (n, p) array or DataFrame
    nominal : function, "n_coef", "trace", "rank" or None
        Nominal degrees of freedom at a point: a function of a `GridPoint` and optionally a parameter c for
        `ConsistencyPath.solve`, such as `lambda at, c=2.0: at.n_coef + c * (at.n_coef - 1) / 2`, or the mean
        of the named quantity over the fits. None computes only actual degrees of freedom.
    mu, sigma, n_rep, draws, random_state, n_designs, n_jobs, progress
        As in `degrees_of_freedom`.

    Examples
    --------
    >>> from pyearthdof import consistency_path
    >>> from pyearthdof.procedures import RegressionTree
    >>> path = consistency_path(
    ...     RegressionTree(0), {"depth": [0, 1]}, (60, 3), nominal="n_coef", random_state=0
    ... )
    >>> path.to_frame()["nominal_df"].tolist()
    [1.0, 2.0]
    """
    if isinstance(mu, str):
        raise refusal("mu", mu, "None, a number or an array: one mean for the whole grid")
    if nominal is not None and not callable(nominal) and nominal not in STATISTICS:
        raise refusal(
            "nominal", nominal, "None, 'n_coef', 'trace', 'rank' or a function of the point"
        )
    n_rep = check_count("n_rep", n_rep, 2)
    parameter, values, procedures = candidates(procedure, grid)
    stream = as_draws(draws, random_state)
    run: dict[str, Any] = {"n_rep": n_rep, "draws": stream, "n_jobs": n_jobs, "progress": progress}
    run |= {"mu": mu, "sigma": sigma, "n_designs": n_designs}
    points = tuple(degrees_of_freedom(candidate, X, **run) for candidate in procedures)
    n = X[0] if isinstance(X, tuple) else len(X)
    rules: dict = dict.fromkeys(("nominal_df", "nominal_se", "gap", "gap_se"))
    if nominal is not None:
        known = [
            nominal_at(nominal, n, point, value)
            for point, value in zip(points, values, strict=True)
        ]
        gaps = [difference(jackknife(p), found) for p, found in zip(points, known, strict=True)]
        rules = {
            "nominal_df": np.array([found.value for found in known]),
            "nominal_se": np.array([found.se for found in known]),
            "gap": np.array([found.value for found in gaps]),
            "gap_se": np.array([found.se for found in gaps]),
        }
    return ConsistencyPath(
        parameter=parameter,
        values=tuple(values),
        df=np.array([point.df for point in points]),
        se=np.array([point.se for point in points]),
        **rules,
        n_rep=n_rep,
        n_designs=points[0].n_designs,
        se_covers=points[0].se_covers,
        points=points,
        rule=nominal,
        n=n,
        settings={"procedure": repr(procedure), "draws": points[0].settings.get("draws")},
    )
