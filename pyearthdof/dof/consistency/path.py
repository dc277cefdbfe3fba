"""Self-consistency of any procedure along any grid: Definition 2 of the paper.

A procedure with a parameter is self-consistent where its actual degrees of freedom are the nominal ones that
it, or the one who uses it, counts with. All points of a grid are fitted to the same responses, so that the
steps between them have much smaller errors than the points themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..._utils.checks import check_count, refusal
from ...exceptions import InvalidInputError
from ..degrees_of_freedom import degrees_of_freedom
from ..drawn import DrawnCurve
from ..montecarlo.designs import in_words
from ..montecarlo.noise import as_draws
from ..results import DegreesOfFreedom
from .grid import candidates
from .nominal_rule import (
    STATISTICS,
    GridPoint,
    NominalRule,
    difference,
    jackknife,
    nominal_at,
    solve_rule,
)

__all__ = ["ConsistencyPath", "GridPoint", "NominalRule", "consistency_path"]


@dataclass(frozen=True, eq=False)
class ConsistencyPath(DrawnCurve):
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
        What the rule counts, None without a rule; its errors are those of the means that it counts with.
    gap, gap_se : (k,) array or None
        df - nominal_df, from the same draws; 0 is self-consistency.
    n_rep : int
    n_designs : int or None
        Number of designs that were drawn; None where the design was given.
    se_covers : str
        What the standard errors and intervals cover.
    points : tuple of DegreesOfFreedom
        All quantities at each point.
    rule : function, str or None
        The nominal rule.
    n : int
        Number of observations.
    settings : dict

    Examples
    --------
    >>> from pyearthdof import self_consistency
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> path = self_consistency(
    ...     DecisionTreeRegressor(), {"max_leaf_nodes": [2, 4, 8]}, X=(60, 3), nominal="n_coef",
    ...     random_state=0,
    ... )
    >>> path
    ConsistencyPath(max_leaf_nodes=2..8, df=..., largest gap to nominal=..., n_rep=100, over 20 designs)
    >>> path.to_frame()["nominal_df"].tolist()
    [2.0, 4.0, 8.0]
    >>> path.plot().get_ylabel()
    'nominal df'
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
        """For each point, the df without one repetition (group of them, design)."""
        return [point.left_out["df"] for point in self.points]

    def step(self, first: int, second: int) -> tuple[float, float]:
        """The df at point `second` less those at `first` (counted from 0), and the standard error.

        Both come from the same responses, so the error is smaller than those of the points suggest.
        """
        one, two = (jackknife(self.points[k], "df") for k in (first, second))
        found = difference(two, one)
        return found.value, found.se

    def _columns(self) -> dict:
        columns: dict = {self.parameter: list(self.values)}
        known = [name for name in self._COLUMNS if getattr(self, name) is not None]
        return columns | {name: getattr(self, name) for name in known}

    def _draw(self, ax) -> None:
        style = {"fmt": "o-", "markersize": 4, "linewidth": 0.9, "capsize": 2}
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
        """Find the parameter c of the rule `nominal(at, c)` that makes it self-consistent.

        At each point of the grid the nominal degrees of freedom become the actual ones, as the paper's
        Algorithm 2 does for MARS with r + c (r - 1)/2; and one c is found that comes closest on all of them.

        Parameters
        ----------
        low, high : float
            Between which c is looked for, unless the rule is linear in c.
        """
        if not callable(self.rule):
            raise refusal("nominal", self.rule, "a function (at, c) with a parameter to solve for")
        return solve_rule(self.rule, self.n, self.points, self.values, low, high)


def consistency_path(
    procedure, grid, X, *, nominal, mu, n_rep, draws, random_state, **options
) -> ConsistencyPath:
    """`self_consistency` of a procedure; arguments as there, `options` go to `degrees_of_freedom`."""
    if X is None:
        raise InvalidInputError(
            "X=None but it should be a design, or a tuple (n, p), for a procedure"
        )
    if isinstance(mu, str):
        raise refusal("mu", mu, "None, a number or an array: one mean for the whole grid")
    if nominal is not None and not callable(nominal) and nominal not in STATISTICS:
        raise refusal(
            "nominal", nominal, "None, 'n_coef', 'trace', 'rank' or a function of the point"
        )
    n_rep = check_count("n_rep", n_rep, 2)
    parameter, values, procedures = candidates(procedure, grid)
    numbers = _numbers(draws, random_state)
    points = tuple(
        degrees_of_freedom(candidate, X, mu=mu, n_rep=n_rep, **numbers(), **options)
        for candidate in procedures
    )
    n = X[0] if isinstance(X, tuple) else len(X)
    rules: dict = dict.fromkeys(("nominal_df", "nominal_se", "gap", "gap_se"))
    if nominal is not None:
        known = [
            nominal_at(nominal, n, point, value)
            for point, value in zip(points, values, strict=True)
        ]
        gaps = [
            difference(jackknife(point, "df"), found)
            for point, found in zip(points, known, strict=True)
        ]
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


def _numbers(draws, random_state) -> Callable[[], dict]:
    """Each call gives the arguments for the same random numbers again."""
    if draws is not None:
        stream = as_draws(draws, random_state)
        return lambda: {"draws": stream.copy()}
    seed = as_draws(None, random_state).seed
    return lambda: {"random_state": seed}
