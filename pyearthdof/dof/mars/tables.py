"""Tabulated corrected penalties and degrees of freedom of every size.

Both are smooth in log n and log p and are interpolated by a cubic spline. Along nk and along the length of a
curve, the interpolation is linear: the penalty has a bend where the forward pass ends early, which a spline
would smooth out. The penalty is interpolated as 2 (df - r)/(r - 1), before negative values are set to 0.
"""

from __future__ import annotations

import functools
import io
import json
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline
from scipy.stats import t as student

from ..._utils.checks import check_count, check_level, check_shape, is_shape
from ...contract import Rows
from ...exceptions import InvalidInputError
from ...mars.earth import Earth
from ...mars.options import default_nk
from ..results import Estimate, draw_bars
from .correction import (
    PenaltyCorrection,
    correct_penalty,
    default_penalty,
    nominal,
    penalty_before_zero,
)
from .sizes import SizeCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class GridTable:
    """A data frame with the axes as columns, and its settings and versions."""

    _AXES: ClassVar[tuple[str, ...]]
    _FILE: ClassVar[str]
    _EXACT: ClassVar[str]  # the function for cases outside the table, and its description

    def __init__(self, frame: pd.DataFrame, made: dict) -> None:
        self.frame = frame
        self.made = made
        self._axes = {name: np.unique(frame[name].to_numpy()) for name in self._AXES}

    @classmethod
    def _shipped(cls) -> Self:
        """Return the table that comes with the package."""
        text = resources.files("pyearthdof").joinpath("data", cls._FILE).read_text("utf-8")
        first, rows = text.split("\n", 1)
        return cls(pd.read_csv(io.StringIO(rows)), json.loads(first.removeprefix("# ")))

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the frame; `attrs` has its settings and versions."""
        frame = self.frame.copy()
        frame.attrs = json.loads(json.dumps(self.made))
        return frame

    def _check_shape(self, X: Rows) -> tuple[int, int]:
        """Return the numbers of observations and predictors of a Gaussian design."""
        if not is_shape(X):
            raise InvalidInputError(
                f"X is a {type(X).__name__} but it should be a tuple (n, p) of integers: the table "
                f"is for Gaussian designs only, and {self._EXACT.split()[0]} accepts a matrix"
            )
        return check_shape(X)

    def _check_place(self, **place: Any) -> list[int]:
        """Validate integers inside the grid, in the given order."""
        found = {name: check_count(name, value, 1) for name, value in place.items()}
        for name in self._AXES:
            self._check_inside(name, found[name], self._axes[name])
        return list(found.values())

    def _check_inside(self, name: str, value: int, axis: np.ndarray, where: str = "") -> None:
        """Raise an error for a value beyond the ends of an axis."""
        low, high = axis[[0, -1]]
        if not low <= value <= high:
            raise InvalidInputError(
                f"{name}={value} but it should be from {low} to {high}{where}, which the table has; "
                f"{self._EXACT}"
            )


def spline_weights(grid: Any, x: float) -> np.ndarray:
    """Return the weights of the grid values in a cubic spline in log x."""
    return CubicSpline(np.log(grid), np.eye(len(grid)))(np.log(x))


def line_weights(grid: Any, x: float) -> np.ndarray:
    """Return the weights of the grid values in linear interpolation in log x."""
    return np.array([np.interp(np.log(x), np.log(grid), row) for row in np.eye(len(grid))])


@dataclass(frozen=True, eq=False)
class PenaltyEstimate(Estimate):
    """A corrected penalty from the table.

    Attributes
    ----------
    penalty, se : float
        Corrected penalty, a mean over Gaussian designs, and its standard error, printed after ±, which has
        two components. `interval()` accounts for its ten designs.
    monte_carlo_se : float
        Monte Carlo component of the standard error.
    interpolation_se : float
        Interpolation component; 0 at a cell.
    method : str
        "table" at a cell of the table, otherwise "interpolation".
    default_penalty : float
        Default penalty of MARS: 2 for degree 1, otherwise 3.
    n, p, nk, degree : int
    settings, versions : dict
        Settings and versions of the table.

    Examples
    --------
    >>> from pyearthdof import quick_penalty
    >>> found = quick_penalty((200, 8))
    >>> found.method, found.interpolation_se < 1e-9
    ('table', True)
    """

    penalty: float
    se: float
    monte_carlo_se: float
    interpolation_se: float
    method: str
    default_penalty: float
    n: int
    p: int
    nk: int
    degree: int
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"PenaltyEstimate({self.default_penalty:g} -> {self.penalty:.3g} ± {self.se:.2g}, "
            f"method={self.method!r})"
        )

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval for the penalty at level `level`.

        The error comes from ten designs, so the interval uses the t distribution with 9 degrees of freedom,
        ± 2.26 standard errors at 95 %.
        """
        multiple = student.ppf((1 + check_level(level)) / 2, self.settings["n_designs"] - 1)
        half = float(multiple) * self.se
        return max(self.penalty - half, 0.0), self.penalty + half

    def to_dict(self) -> dict:
        """Return plain Python values for JSON, with the 95 % interval."""
        return super().to_dict() | {"interval": list(self.interval())}

    def to_frame(self) -> pd.DataFrame:
        """Return one row with all numbers; `lower` and `upper` are the 95 % interval."""
        return self._one_row(self.interval())

    _INCHES = (6.0, 2.2)

    def _draw(self, ax: Axes) -> None:
        default = self.default_penalty
        ends = [self.interval(), (default, default)]
        draw_bars(ax, ["corrected", "default"], [self.penalty, default], ends, "penalty")

    def exact(self, **options: Any) -> PenaltyCorrection:
        """Run Algorithm 2 for the same n, p, nk and degree; `options` as in `correct_penalty`."""
        return correct_penalty((self.n, self.p), nk=self.nk, degree=self.degree, **options)


class PenaltyTable(GridTable):
    """Corrected penalties on a grid, with interpolation.

    Parameters
    ----------
    frame : DataFrame
        Columns degree, n, p, nk, penalty, se, df and n_terms, with all combinations of the values of the
        first four, except small n with large nk.
    made : dict
        `settings` and `versions` of the frame. The setting `curvature_error` is the interpolation error as a
        fraction of the difference between spline and linear interpolation.

    Examples
    --------
    >>> from pyearthdof.dof.mars.tables import shipped_table
    >>> shipped_table().lookup(200, 8, 21, 1).method
    'table'
    """

    _AXES = ("degree", "n", "p", "nk")
    _FILE = "penalties.csv"
    _EXACT = "correct_penalty computes the exact penalty"

    def __init__(self, frame: pd.DataFrame, made: dict) -> None:
        super().__init__(frame.sort_values(list(self._AXES), ignore_index=True), made)
        r = self.frame["n_terms"]
        self._raw = self._on_grid(penalty_before_zero(self.frame["df"], r))
        self._se = self._on_grid(self.frame["se"])

    def _on_grid(self, values: pd.Series) -> np.ndarray:
        """Return a column as an array over degree, n, p and nk; nan for missing cells."""
        grid = np.full([len(axis) for axis in self._axes.values()], np.nan)
        where = [np.searchsorted(axis, self.frame[name]) for name, axis in self._axes.items()]
        grid[tuple(where)] = values
        return grid

    def lookup(self, n: int, p: int, nk: int | None = None, degree: int = 1) -> PenaltyEstimate:
        """Return the penalty for n observations of p predictors and a degree; `nk` by default as in earth."""
        nk = default_nk(check_count("p", p, 1)) if nk is None else nk
        n, p, nk, degree = self._check_place(n=n, p=p, nk=nk, degree=degree)
        value, bend, noise = self._interpolate(n, p, nk, degree)
        bend *= self.made["settings"]["curvature_error"]
        on_grid = n in self._axes["n"] and p in self._axes["p"] and _odd(nk) in self._axes["nk"]
        return PenaltyEstimate(
            penalty=max(value, 0.0),
            se=float(np.hypot(noise, bend)),
            monte_carlo_se=noise,
            interpolation_se=bend,
            method="table" if on_grid else "interpolation",
            default_penalty=default_penalty(degree),
            n=n,
            p=p,
            nk=nk,
            degree=degree,
            **self.made,
        )

    def _interpolate(self, n: int, p: int, nk: int, degree: int) -> tuple[float, float, float]:
        """Return the value, its distance from linear interpolation, and its Monte Carlo error."""
        on_nk = line_weights(self._axes["nk"], _odd(nk))
        near = on_nk > 0
        d = int(np.searchsorted(self._axes["degree"], degree))
        values, noises = (part[d][..., near] @ on_nk[near] for part in (self._raw, self._se))
        known = ~np.isnan(values).any(axis=1)
        n_axis, p_axis = self._axes["n"][known], self._axes["p"]
        self._check_inside("n", n, n_axis, f" for nk={nk}")
        smooth = np.outer(spline_weights(n_axis, n), spline_weights(p_axis, p))
        straight = np.outer(line_weights(n_axis, n), line_weights(p_axis, p))
        value = float((smooth * values[known]).sum())
        bend = abs(value - float((straight * values[known]).sum()))
        # Cells share their random numbers, so averaging neighbours does not reduce the error.
        noise = float((straight * noises[known]).sum())
        return value, bend, noise


def _odd(nk: int) -> int:
    """Round an even nk down to odd, because earth adds terms in pairs to the intercept."""
    return nk - 1 + nk % 2


@functools.cache
def shipped_table() -> PenaltyTable:
    """Return the table that comes with the package."""
    return PenaltyTable._shipped()


def penalty_table() -> pd.DataFrame:
    """Return the tabulated corrected penalties for a grid of n, p, nk and degree.

    Returns
    -------
    DataFrame
        Columns degree, n, p, nk; penalty and its standard error se; the actual degrees of freedom df and the
        number of terms n_terms; n_rep, the number of fits. Each row is a mean over Gaussian designs. `attrs`
        has settings and versions.

    See Also
    --------
    quick_penalty : interpolated penalty with its standard error.
    correct_penalty : exact computation for any design.

    Examples
    --------
    >>> from pyearthdof import penalty_table
    >>> table = penalty_table()
    >>> cell = table.query("degree == 1 and n == 200 and p == 8 and nk == 21")
    >>> cell[["penalty", "se", "df", "n_terms"]].round(3).to_numpy().tolist()
    [[2.78, 0.021, 38.543, 16.708]]
    """
    return shipped_table().to_frame()


def quick_penalty(X: Rows, *, degree: int = 1, nk: int | None = None) -> PenaltyEstimate:
    """Interpolate the corrected penalty of MARS in the table of the package, without Monte Carlo.

    Sizes outside the table raise an error; `correct_penalty` computes any case.

    Parameters
    ----------
    X : tuple (n, p)
        Numbers of observations and predictors; the table is for Gaussian designs.
    degree : int
        Maximum degree of interaction.
    nk : int, optional
        Maximum number of terms in the forward pass; by default earth's for p predictors.

    Returns
    -------
    PenaltyEstimate
        Penalty with its standard error, and `exact()` for the Monte Carlo run.

    Examples
    --------
    >>> from pyearthdof import quick_penalty
    >>> quick_penalty((264, 9))
    PenaltyEstimate(2 -> 3.01 ± 0.028, method='interpolation')
    """
    table = shipped_table()
    n, p = table._check_shape(X)
    return table.lookup(n, p, nk, degree)


class SizeTable(GridTable):
    """Curves on a grid, with interpolation, from a frame with columns degree, n, p, size, df and se.

    The frame has all combinations of the first three, with sizes from 1. `made` is as in `PenaltyTable`.
    """

    _AXES = ("degree", "n", "p")
    _FILE = "sizes.csv"
    _EXACT = "df_of_sizes measures any case"

    def __init__(self, frame: pd.DataFrame, made: dict) -> None:
        super().__init__(frame.sort_values([*self._AXES, "size"], ignore_index=True), made)
        self._cells = {
            key: (of_one["df"].to_numpy(), of_one["se"].to_numpy())
            for key, of_one in self.frame.groupby(list(self._AXES))
        }

    def lookup(self, n: int, p: int, degree: int = 1) -> SizeCurve:
        """Return the curve for n observations of p predictors and a degree."""
        n, p, degree = self._check_place(n=n, p=p, degree=degree)
        n_axis, p_axis = self._axes["n"], self._axes["p"]
        smooth = np.outer(spline_weights(n_axis, n), spline_weights(p_axis, p)).ravel()
        straight = np.outer(line_weights(n_axis, n), line_weights(p_axis, p)).ravel()
        cells = [self._cells[degree, a, b] for a in n_axis for b in p_axis]
        near = straight > 0
        lengths = np.array([len(df) for df, _ in cells])
        last = min(int(straight[near] @ lengths[near] + 0.5), default_nk(p))
        sizes = np.arange(1, last + 1)
        beyond = [np.minimum(sizes, len(df)) - 1 for df, _ in cells]
        slopes = [df[-1] - df[-2] if len(df) > 1 else 0.0 for df, _ in cells]
        values = np.array([df[at] for at, (df, _) in zip(beyond, cells, strict=True)])
        values += np.outer(slopes, np.ones(last)) * np.maximum(sizes - lengths[:, None], 0)
        errors = np.array([se[at] for at, (_, se) in zip(beyond, cells, strict=True)])
        df, lines = smooth @ values, straight @ values
        bend = self.made["settings"]["curvature_error"] * np.abs(df - lines)
        penalty = default_penalty(degree)
        return SizeCurve(
            sizes=sizes,
            df=np.maximum.accumulate(df),
            # Cells share their random numbers, so averaging neighbours does not reduce the error.
            se=np.hypot(straight @ errors, bend),
            nominal_df=nominal(sizes, penalty),
            n_reached=np.full(last, np.nan),
            default_penalty=penalty,
            n=n,
            p=p,
            nk=default_nk(p),
            degree=degree,
            n_rep=self.made["settings"]["n_rep"],
            n_designs=self.made["settings"]["n_designs"],
            se_covers="the draws of y and of the design, and the way between the cells of the table",
            left_out=np.empty((last, 0)),
            settings=self.made["settings"] | {"source": "table"},
            versions=self.made["versions"],
        )


@functools.cache
def shipped_sizes() -> SizeTable:
    """Return the table that comes with the package."""
    return SizeTable._shipped()


def size_table() -> pd.DataFrame:
    """Degrees of freedom of models of every size for a grid of n, p and degree, at earth's default nk.

    A frame as that of `penalty_table`, with the columns degree, n, p and size; the actual degrees of
    freedom df and their standard error se, over Gaussian designs. `quick_df_of_sizes` is the curve between
    the cells.

    Examples
    --------
    >>> from pyearthdof import size_table
    >>> table = size_table()
    >>> table.query("degree == 1 and n == 100 and p == 10 and size == 3")["df"].round(2).tolist()
    [10.76]
    """
    return shipped_sizes().to_frame()


def quick_df_of_sizes(X: Rows, *, degree: int = 1) -> SizeCurve:
    """Interpolate the degrees of freedom of every size in the table of the package, without Monte Carlo.

    The table is for Gaussian designs and earth's default options. Binary columns, counts and other columns
    with few values use fewer degrees of freedom, down to half. Sizes outside the table raise an error;
    `df_of_sizes` measures any case.

    Parameters
    ----------
    X : tuple (n, p)
        Numbers of observations and predictors.
    degree : int
        Maximum degree of interaction.

    Examples
    --------
    >>> from pyearthdof import quick_df_of_sizes
    >>> quick_df_of_sizes((264, 9))
    SizeCurve(1..17 terms, df=1..40.46 ± 0.88, nominal_df=1..33, n_rep=200, over 20 designs)
    """
    table = shipped_sizes()
    return table.lookup(*table._check_shape(X), degree)


_LEAST_VALUES = 10  # distinct values of a continuous column
_MOST_EQUAL = 0.25  # largest share of rows with the same value, and of duplicate rows


def is_continuous(X: np.ndarray) -> bool:
    """Return True if the columns are sufficiently continuous for the table of curves.

    The table was computed for Gaussian columns. Columns with few values, or with one value in many rows,
    have fewer knots and use fewer degrees of freedom: for 200 x 30 binary columns, 8 terms use 21 instead
    of the 38 in the table. Every column needs ten values, none of them in more than a quarter of the
    rows, and at most a quarter of the rows may be duplicates.

    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> is_continuous(X), is_continuous(np.sign(X)), is_continuous(np.vstack([X, X]))
    (True, False, False)
    """
    if len(np.unique(X, axis=0)) < (1 - _MOST_EQUAL) * len(X):
        return False
    counts = (np.unique(column, return_counts=True)[1] for column in X.T)
    return all(len(of) >= _LEAST_VALUES and of.max() <= _MOST_EQUAL * len(X) for of in counts)


def refuse_options(estimator: Earth, p: int) -> None:
    """Raise an error for an estimator without earth's default search options."""
    default = Earth().get_params()
    free = (
        "degree",
        "penalty",
        "nprune",
        "engine",
        "n_jobs",
        "keepxy",
        "get_leverages",
        "random_state",
    )
    for name, value in estimator.get_params().items():
        same = value is default[name] or (
            type(value) is type(default[name]) and value == default[name]
        )
        if name in free or same or (name == "nk" and value == default_nk(p)):
            continue
        raise InvalidInputError(
            f"{name}={value!r} but it should be {default[name]!r} with design='table', which is for earth's "
            "default search; design='data' measures any other"
        )
