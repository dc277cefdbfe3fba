"""The degrees of freedom of every size at once: a table of measured curves, and what lies between them.

At each size the df are smooth in log n and log p, so a cubic spline through the curves of the table gives
the values between them, as in `penalty_table`; the length of a curve goes in straight lines. The table is for
earth's default options, nk included.
"""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from ...mars.earth import Earth
from ...mars.options import default_nk
from .grid_table import GridTable, line_weights, spline_weights
from .penalty import default_penalty, nominal
from .sizes import SizeCurve

__all__ = ["SizeTable", "quick_df_of_sizes", "refuse_options", "size_table"]


class SizeTable(GridTable):
    """Curves on a grid, and between its cells.

    Parameters
    ----------
    frame : DataFrame
        Columns degree, n, p, size, df and se. All combinations of the values that the first three have, and
        for each of them the sizes from 1 on.
    made : dict
        `settings` and `versions` behind the frame. The setting `curvature_error` is the interpolation
        error as a fraction of the difference between spline and straight lines.
    """

    _AXES = ("degree", "n", "p")
    _FILE = "sizes.csv"
    _EXACT = "df_of_sizes measures any case"

    def __init__(self, frame: pd.DataFrame, made: dict):
        super().__init__(frame.sort_values([*self._AXES, "size"], ignore_index=True), made)
        self._cells = {
            key: (of_one["df"].to_numpy(), of_one["se"].to_numpy())
            for key, of_one in self.frame.groupby(list(self._AXES))
        }

    def lookup(self, n, p, degree=1) -> SizeCurve:
        """The curve for n observations of p predictors and a degree."""
        n, p, degree = self._check_place(n=n, p=p, degree=degree)
        n_axis, p_axis = self._axes["n"], self._axes["p"]
        smooth = np.outer(spline_weights(n_axis, n), spline_weights(p_axis, p)).ravel()
        straight = np.outer(line_weights(n_axis, n), line_weights(p_axis, p)).ravel()
        cells = [self._cells[degree, a, b] for a in n_axis for b in p_axis]
        near = straight > 0
        lengths = np.array([len(df) for df, _ in cells])
        last = min(int(straight[near] @ lengths[near] + 0.5), default_nk(p))
        sizes = np.arange(1, last + 1)
        values = np.array([_extended(df, sizes) for df, _ in cells])
        errors = np.array([se[np.minimum(sizes, len(se)) - 1] for _, se in cells])
        df, lines = smooth @ values, straight @ values
        bend = self.made["settings"]["curvature_error"] * np.abs(df - lines)
        penalty = default_penalty(degree)
        return SizeCurve(
            sizes=sizes,
            df=np.maximum.accumulate(df),
            # cells share their random numbers, so a mean of neighbours is no better known than they are
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


def _extended(df: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """A curve at more sizes than it has, by its last slope."""
    slope = df[-1] - df[-2] if len(df) > 1 else 0.0
    return df[np.minimum(sizes, len(df)) - 1] + slope * np.maximum(sizes - len(df), 0)


@functools.cache
def shipped_sizes() -> SizeTable:
    """The table that comes with the package."""
    return SizeTable._shipped()


def size_table() -> pd.DataFrame:
    """Degrees of freedom of models of every size for a grid of n, p and degree, at earth's default nk.

    Returns
    -------
    DataFrame
        Columns degree, n, p and size; the actual degrees of freedom df and their standard error se, over
        Gaussian designs. `attrs` has the settings and versions behind it.

    See Also
    --------
    quick_df_of_sizes : the curve between the cells.
    df_of_sizes : the curve of any design.

    Examples
    --------
    >>> from pyearthdof import size_table
    >>> table = size_table()
    >>> table.query("degree == 1 and n == 100 and p == 10 and size == 3")["df"].round(2).tolist()
    [10.76]
    """
    return shipped_sizes().to_frame()


def quick_df_of_sizes(shape, *, degree=1) -> SizeCurve:
    """Look up the degrees of freedom of every size in the table that comes with the package.

    It is for Gaussian designs and for earth's default options. Outside of the table it refuses:
    `df_of_sizes` measures any case.

    Parameters
    ----------
    shape : tuple (n, p)
        Numbers of observations and of predictors.
    degree : int
        Largest degree of interaction.

    Returns
    -------
    SizeCurve

    Examples
    --------
    >>> from pyearthdof import quick_df_of_sizes
    >>> quick_df_of_sizes((264, 9))
    SizeCurve(1..17 terms, df=1..40.46 ± 0.88, nominal_df=1..33, n_rep=200, over 20 designs)
    """
    table = shipped_sizes()
    return table.lookup(*table._check_shape(shape), degree)


def refuse_options(estimator: Earth, p: int) -> None:
    """Refuse an estimator whose search is not the table's: earth's default one."""
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
