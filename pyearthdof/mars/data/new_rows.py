"""Handling of new rows outside the training range or with missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._utils.checks import as_pandas, check_choice, refusal
from ..._utils.warnings import warn_user
from ...exceptions import ExtrapolationWarning, InvalidInputError
from .columns import check_kind
from .design import numbers_of_array
from .training import Ranges

if TYPE_CHECKING:
    from ..model.mars_model import MarsModel

EXTRAPOLATE = ("allow", "warn", "clip", "refuse")
NAMED = 3  # columns named in the message


def within_range(model: MarsModel, X: Any, extrapolate: str) -> Any:
    """Return X, or X clipped to the training range; only columns used by the model are checked.

    A model from a file of an earlier release has no ranges, so no warning is issued.
    """
    if not isinstance(extrapolate, str) or extrapolate not in EXTRAPOLATE:
        raise refusal("extrapolate", extrapolate, f"one of {', '.join(EXTRAPOLATE)}")
    if extrapolate == "allow" or (model.ranges is None and extrapolate == "warn"):
        return X
    if model.ranges is None:
        raise InvalidInputError(
            f"extrapolate={extrapolate!r} but the model does not keep the ranges of its training rows: it "
            "is from a file of an earlier release, or from R"
        )
    if extrapolate == "clip":
        return model.ranges.clipped(X)
    used = _used_columns(model)
    outside = {name: rows for name, rows in model.ranges.outside(X).items() if name in used}
    if outside:
        said = _said(model.ranges, X, outside)
        if extrapolate == "refuse":
            raise InvalidInputError(f"{said}, and extrapolate='refuse'")
        warn_user(
            f"{said}: hinges extrapolate linearly there; extrapolate='clip' moves values to the limits",
            ExtrapolationWarning,
        )
    return X


def _said(ranges: Ranges, X: Any, outside: dict[str, np.ndarray]) -> str:
    rows = np.unique(np.concatenate(list(outside.values())))
    each = [
        f"{name!r} (from {ranges[name].low:g} to {ranges[name].high:g})"
        for name in list(outside)[:NAMED]
    ]
    more = ", ..." if len(outside) > NAMED else ""
    return (
        f"{len(rows)} of {len(X)} rows of X, the first one row {rows[0]}, are outside of the training range "
        f"of {', '.join(each)}{more}"
    )


MISSING = ("refuse", "propagate")


def check_missing(missing: Any) -> bool:
    """Return True if rows with missing values give NaN."""
    return check_choice("missing", missing, MISSING) == "propagate"


def predict_complete_rows(
    model: MarsModel, X: Any, predict: Callable[[Any], np.ndarray]
) -> np.ndarray:
    """Predict the rows without missing values in columns used by the model; NaN for the others.

    Missing values in columns that no selected term uses are ignored.
    """
    X = as_pandas(X)
    if isinstance(X, pd.DataFrame):
        frame = X
    else:
        check_kind("X", X)
        frame = pd.DataFrame(numbers_of_array(X))
    names = [str(name) for name in frame.columns]
    by_name = isinstance(X, pd.DataFrame) and set(model.raw_names) <= set(names)
    used, kept = _needed_columns(model), _columns_with_gaps(model)
    if not by_name:
        at = dict(zip(model.raw_names, names, strict=False))
        used, kept = ({at[name] for name in found if name in at} for found in (used, kept))
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
        is_filled = gaps[complete].any(axis=0) & [name not in kept for name in names]
        rows = _filled(frame[complete], is_filled)
        found[complete] = predict(rows if isinstance(X, pd.DataFrame) else rows.to_numpy())
    return found


def _used_columns(model: MarsModel) -> set[str]:
    """Raw columns used by the selected terms."""
    used = np.flatnonzero(np.any(model.dirs[model.selected] != 0, axis=0))
    return set().union(*(model.owners[j] for j in used))


def _needed_columns(model: MarsModel) -> set[str]:
    """Raw columns required for a prediction."""
    used, formula = _used_columns(model), model.formula
    if formula is not None and formula.offset_variable is not None:
        used |= set(formula.variables[formula.offset_variable].expression.raw_names())
    return used - _columns_with_gaps(model)


def _columns_with_gaps(model: MarsModel) -> set[str]:
    """Raw columns whose missing values the model handles."""
    if model.formula is not None:
        return set(model.formula.gaps)
    columns = () if model.columns is None else model.columns.columns
    return {column.name for column in columns if column.fill is not None}


def _filled(frame: pd.DataFrame, has_gaps: np.ndarray) -> pd.DataFrame:
    """Fill unused columns with a value that the model accepts."""
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
