"""Corrected penalties at once: a table made by Algorithm 2, and interpolation with an error bar.

The penalty is smooth in log n and log p, so a cubic spline through the cells gives the values between
them. Along nk it is a straight line in log nk: the penalty has a bend where the forward pass ends by
itself, which a spline would round off. What is interpolated is 2 (df - r)/(r - 1) before negative values
are set to 0, which is smooth where the penalty itself is not.
"""

from __future__ import annotations

import functools
import io
import json
from dataclasses import dataclass, field, fields
from importlib import resources

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline
from scipy.stats import t as student

from .._checks import check_count, check_level, check_shape, is_shape
from ..exceptions import InvalidInputError
from ..mars.options import default_nk
from .correction import PenaltyCorrection, correct_penalty
from .penalty import default_penalty, penalty_before_zero

__all__ = ["PenaltyEstimate", "PenaltyTable", "penalty_table", "quick_penalty"]

_AXES = ("degree", "n", "p", "nk")


@dataclass(frozen=True, eq=False)
class PenaltyEstimate:
    """A corrected penalty from the table.

    Attributes
    ----------
    penalty, se : float
        The corrected penalty, a mean over Gaussian designs, and its standard error, which is printed
        after ± and has two parts. `interval()` knows that it comes from ten designs.
    monte_carlo_se : float
        The part that comes from the finite number of repetitions behind the table.
    interpolation_se : float
        The part that comes from going between its cells; 0 at a cell.
    method : str
        "table" at a cell of the table, else "interpolation".
    default_penalty : float
        What MARS would have taken: 2 for degree 1, else 3.
    n, p, nk, degree : int
    settings, versions : dict
        What made the table.

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

    def __getattr__(self, name):
        if name in ("error", "monte_carlo_error", "interpolation_error"):
            new = name.replace("error", "se")
            raise AttributeError(
                f"{name} is now {new}, as in the other results", name=new, obj=self
            )
        raise AttributeError(name, name=name, obj=self)

    def __repr__(self) -> str:
        return (
            f"PenaltyEstimate({self.default_penalty:g} -> {self.penalty:.3g} ± {self.se:.2g}, "
            f"method={self.method!r})"
        )

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the penalty with probability `level`.

        The error comes from ten designs, so its multiple is that of the t distribution with 9 degrees
        of freedom, 2.26 for 95 %.

        Examples
        --------
        >>> from pyearthdof import quick_penalty
        >>> "{:.2f} to {:.2f}".format(*quick_penalty((264, 9)).interval())
        '2.95 to 3.08'
        """
        multiple = student.ppf((1 + check_level(level)) / 2, self.settings["n_designs"] - 1)
        half = float(multiple) * self.se
        return max(self.penalty - half, 0.0), self.penalty + half

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON, with the interval of 95 %."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {"interval": list(self.interval())}

    def to_frame(self) -> pd.DataFrame:
        """One row with every number; `lower` and `upper` are the interval of 95 %."""
        values = self.to_dict()
        lower, upper = values.pop("interval")
        frame = pd.DataFrame([{k: v for k, v in values.items() if not isinstance(v, dict)}])
        frame.insert(2, "lower", lower)
        frame.insert(3, "upper", upper)
        return frame

    def exact(self, **options) -> PenaltyCorrection:
        """Run Algorithm 2 for the same n, p, nk and degree; `options` as in `correct_penalty`."""
        return correct_penalty((self.n, self.p), nk=self.nk, degree=self.degree, **options)


class PenaltyTable:
    """Corrected penalties on a grid, and between its cells.

    Parameters
    ----------
    frame : DataFrame
        Columns degree, n, p, nk, penalty, se, df and n_terms. All combinations of the values that the
        first four have, except for small n with large nk.
    made : dict
        `settings` and `versions` behind the frame. The setting `curvature_error` is the
        interpolation error as a fraction of the difference between spline and straight lines.

    Examples
    --------
    >>> from pyearthdof.dof.penalty_table import shipped_table
    >>> shipped_table().lookup(200, 8, 21, 1).method
    'table'
    """

    def __init__(self, frame: pd.DataFrame, made: dict):
        self.frame = frame.sort_values(list(_AXES), ignore_index=True)
        self.made = made
        self._axes = {name: np.unique(self.frame[name].to_numpy()) for name in _AXES}
        r = self.frame["n_terms"]
        self._raw = self._on_grid(penalty_before_zero(self.frame["df"], r))
        self._se = self._on_grid(self.frame["se"])

    def _on_grid(self, values: pd.Series) -> np.ndarray:
        """A column as an array over degree, n, p and nk; nan where there is no cell."""
        grid = np.full([len(axis) for axis in self._axes.values()], np.nan)
        where = [np.searchsorted(axis, self.frame[name]) for name, axis in self._axes.items()]
        grid[tuple(where)] = values
        return grid

    def lookup(self, n, p, nk=None, degree=1) -> PenaltyEstimate:
        """The penalty for n observations of p predictors and a degree; `nk` by default as in earth."""
        n, p = check_count("n", n, 1), check_count("p", p, 1)
        degree = check_count("degree", degree, 1)
        nk = default_nk(p) if nk is None else check_count("nk", nk, 1)
        for name, value in (("degree", degree), ("n", n), ("p", p), ("nk", nk)):
            _check_inside(name, value, self._axes[name])
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

    def _interpolate(self, n, p, nk, degree) -> tuple[float, float, float]:
        """The value, how far straight lines between the cells are from it, and its noise."""
        on_nk = _line(self._axes["nk"], _odd(nk))
        near = on_nk > 0
        d = int(np.searchsorted(self._axes["degree"], degree))
        values, noises = (part[d][..., near] @ on_nk[near] for part in (self._raw, self._se))
        known = ~np.isnan(values).any(axis=1)
        n_axis, p_axis = self._axes["n"][known], self._axes["p"]
        _check_inside("n", n, n_axis, f" for nk={nk}")
        smooth = np.outer(_spline(n_axis, n), _spline(p_axis, p))
        straight = np.outer(_line(n_axis, n), _line(p_axis, p))
        value = float((smooth * values[known]).sum())
        bend = abs(value - float((straight * values[known]).sum()))
        # Cells share their random numbers, so a mean of neighbours is no better known than they are.
        noise = float((straight * noises[known]).sum())
        return value, bend, noise


def _check_inside(name: str, value: int, axis: np.ndarray, where: str = "") -> None:
    low, high = axis[[0, -1]]
    if not low <= value <= high:
        raise InvalidInputError(
            f"{name}={value} but it should be from {low} to {high}{where}, which the table has; "
            "correct_penalty computes the exact penalty"
        )


def _odd(nk: int) -> int:
    """earth adds terms in pairs to the intercept: an even nk is used as the odd one below."""
    return nk - 1 + nk % 2


def _spline(grid, x) -> np.ndarray:
    """Weights of the values at the grid in a cubic spline in log x."""
    return CubicSpline(np.log(grid), np.eye(len(grid)))(np.log(x))


def _line(grid, x) -> np.ndarray:
    """Weights of the values at the grid in straight lines in log x."""
    return np.array([np.interp(np.log(x), np.log(grid), row) for row in np.eye(len(grid))])


@functools.cache
def shipped_table() -> PenaltyTable:
    """The table that comes with the package."""
    text = resources.files("pyearthdof").joinpath("data", "penalties.csv").read_text("utf-8")
    first, rows = text.split("\n", 1)
    return PenaltyTable(pd.read_csv(io.StringIO(rows)), json.loads(first.removeprefix("# ")))


def penalty_table() -> pd.DataFrame:
    """Corrected penalties for a grid of n, p, nk and degree, as they come with the package.

    Returns
    -------
    DataFrame
        Columns degree, n, p, nk; penalty and its standard error se; the actual degrees of freedom df
        and the number of terms n_terms that it is computed from; n_rep, the number of fits.
        Each row is a mean over Gaussian designs. `attrs` has the settings and the versions of all
        that had a part in the numbers.

    See Also
    --------
    quick_penalty : the value between the cells, with its error.
    correct_penalty : the exact penalty of any design.

    Examples
    --------
    >>> from pyearthdof import penalty_table
    >>> table = penalty_table()
    >>> cell = table.query("degree == 1 and n == 200 and p == 8 and nk == 21")
    >>> cell[["penalty", "se", "df", "n_terms"]].round(3).to_numpy().tolist()
    [[2.78, 0.021, 38.543, 16.708]]
    """
    table = shipped_table()
    frame = table.frame.copy()
    frame.attrs = json.loads(json.dumps(table.made))
    return frame


def quick_penalty(shape, *, degree=1, nk=None) -> PenaltyEstimate:
    """Look up the corrected penalty of MARS in the table that comes with the package.

    It is there at once and has no Monte Carlo run of its own. Outside of the table it refuses:
    `correct_penalty` computes any case.

    Parameters
    ----------
    shape : tuple (n, p)
        Numbers of observations and of predictors; the table is for Gaussian designs.
    degree : int
        Largest degree of interaction.
    nk : int, optional
        Most terms in the forward pass; by default earth's own for p predictors.

    Returns
    -------
    PenaltyEstimate
        With its standard error, and `exact()` for the Monte Carlo run.

    Examples
    --------
    >>> from pyearthdof import quick_penalty
    >>> quick_penalty((264, 9))
    PenaltyEstimate(2 -> 3.01 ± 0.028, method='interpolation')
    """
    if not is_shape(shape):
        raise InvalidInputError(
            f"shape is a {type(shape).__name__} but it should be a tuple (n, p) of integers: the table knows "
            "Gaussian designs only, and correct_penalty takes a matrix"
        )
    n, p = check_shape(shape)
    return shipped_table().lookup(n, p, nk, degree)
