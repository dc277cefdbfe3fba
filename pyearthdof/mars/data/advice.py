"""Columns that are taken as R takes them, but perhaps not as they were meant: said once, at the fit."""

from __future__ import annotations

import pandas as pd

from ..._utils.warnings import warn_user
from ...exceptions import ColumnWarning

__all__ = ["warn_of_columns"]

MANY_LEVELS = 100


def warn_of_columns(X: pd.DataFrame, columns) -> None:
    """Warn of a factor with more than a hundred levels, and of intervals that pandas has put in order.

    Parameters
    ----------
    X : DataFrame
        With the names of `columns`.
    columns : the raw columns with their kinds and levels.
    """
    for column in columns:
        if len(column.levels) > MANY_LEVELS:
            warn_user(
                f"column {column.name!r} of X has {len(column.levels)} levels, each of which becomes a "
                "predictor: leave it out if it names the rows, join rare levels, or make it a number",
                ColumnWarning,
            )
        if column.kind == "ordered" and _has_intervals(X, column.name):
            warn_user(
                f"column {column.name!r} of X is ordered, as pd.cut makes it, so that it enters by the "
                f"polynomials {column.name}.L, {column.name}.Q, ... as in R: X[{column.name!r}]"
                ".cat.as_unordered() gives an indicator for each interval",
                ColumnWarning,
            )


def _has_intervals(X: pd.DataFrame, name: str) -> bool:
    dtype = X[name].dtype if name in X.columns else None
    return isinstance(dtype, pd.CategoricalDtype) and isinstance(
        dtype.categories.dtype, pd.IntervalDtype
    )
