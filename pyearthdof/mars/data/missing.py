"""Predictions where values are missing: NaN for the rows that a model cannot compute, as in R."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..._utils.checks import as_pandas, check_choice
from ...exceptions import InvalidInputError
from .kinds import check_kind

__all__ = ["MISSING", "check_missing", "predict_complete_rows"]

MISSING = ("refuse", "propagate")


def check_missing(missing) -> bool:
    """Whether rows with missing values give NaN."""
    return check_choice("missing", missing, MISSING) == "propagate"


def predict_complete_rows(model, X, predict) -> np.ndarray:
    """`predict` of the rows that have all the columns that the model uses; NaN for the others.

    A missing value in a column that no selected term uses does not matter.
    """
    X = as_pandas(X)
    if isinstance(X, pd.DataFrame):
        frame = X
    else:
        check_kind("X", X)
        frame = pd.DataFrame(np.asarray(X, dtype=float))
    names = [str(name) for name in frame.columns]
    by_name = isinstance(X, pd.DataFrame) and set(model.raw_names) <= set(names)
    used = _used_columns(model)
    if not by_name:
        used = {
            names[k] for k, name in enumerate(model.raw_names) if name in used and k < len(names)
        }
    gaps = frame.isna().to_numpy()
    is_used = np.array([name in used for name in names], dtype=bool)
    complete = ~gaps[:, is_used].any(axis=1)
    n_resp = () if model.coef.ndim == 1 else (len(model.response_names),)
    found = np.full((len(frame), *n_resp), np.nan)
    formula = model.formula
    if formula is not None and formula.summarised is not None and not complete.all():
        raise InvalidInputError(
            f"missing='propagate' leaves rows out, but {formula.summarised} of the formula depends on all "
            "rows; impute the missing values, or predict the complete rows alone"
        )
    if complete.any():
        kept = () if formula is None else formula.gaps
        is_filled = gaps[complete].any(axis=0) & [name not in kept for name in names]
        rows = _filled(frame[complete], is_filled)
        found[complete] = predict(rows if isinstance(X, pd.DataFrame) else rows.to_numpy())
    return found


def _used_columns(model) -> set[str]:
    dirs = model.dirs[model.selected]
    used = set()
    for j in np.flatnonzero(np.any(dirs != 0, axis=0)):
        used |= model.owners[j]
    if model.formula is not None and model.formula.has_offset:
        used |= set(model.formula.variables[model.formula.offset_variable].expression.raw_names())
    return used if model.formula is None else used - model.formula.gaps


def _filled(frame: pd.DataFrame, has_gaps: np.ndarray) -> pd.DataFrame:
    """Columns that are not used need some value that the model knows."""
    frame = frame.copy()
    for position in np.flatnonzero(has_gaps):
        values = frame.iloc[:, position]
        present = values[values.notna()]
        if len(present):
            filler = present.iloc[0]
        elif isinstance(values.dtype, pd.CategoricalDtype):
            filler = values.dtype.categories[0]
        else:
            filler = 1.0
        frame.isetitem(position, values.fillna(filler))
    return frame
