"""Checks of the data that enter MARS: refused before any work starts, with the column named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.utils.validation import _check_y, check_consistent_length, validate_data

from ..exceptions import InvalidInputError

__all__ = ["check_names", "check_new_data", "check_training_data", "check_weights", "default_names"]


def check_training_data(estimator, X, y) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y as float64 arrays, `n_features_in_` and `feature_names_in_` being set."""
    refuse_bad_frame(X)
    if y is None:
        raise InvalidInputError(
            "requires y to be passed, but the target y is None: pass one number for each row of X"
        )
    X = validate_data(estimator, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2)
    y = _check_y(_numbers(y), multi_output=False, y_numeric=True, estimator=estimator)
    check_consistent_length(X, y)
    names = getattr(estimator, "feature_names_in_", default_names(X.shape[1]))
    check_finite(X, names)
    return X, y.astype(np.float64, copy=False)


def check_new_data(estimator, X) -> np.ndarray:
    """Return X for prediction as float64, with the columns that the model was fitted on."""
    refuse_bad_frame(X)
    X = validate_data(estimator, X, reset=False, dtype=np.float64, ensure_all_finite=False)
    check_finite(X, getattr(estimator, "feature_names_in_", default_names(X.shape[1])))
    return X


def default_names(n_features: int) -> tuple[str, ...]:
    """R's names for a matrix without names: x for one column, else x1, x2, ..."""
    return ("x",) if n_features == 1 else tuple(f"x{j + 1}" for j in range(n_features))


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the column names, or refuse them: earth needs unique ones that are not empty."""
    names = tuple(str(name) for name in names)
    seen = set()
    for name in names:
        if name in seen:
            raise InvalidInputError(f"X has two columns named {name!r}, but names should be unique")
        if not name:
            raise InvalidInputError("X has a column with an empty name")
        if "\0" in name:
            raise InvalidInputError(f"X has a column name with a NUL character: {name!r}")
        seen.add(name)
    return names


def check_weights(weights, n_samples: int) -> np.ndarray | None:
    """Return the case weights as a float64 vector, or None where there are none."""
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise InvalidInputError(
            f"sample_weight has shape {weights.shape} but it should be ({n_samples},)"
        )
    if not np.isfinite(weights).all():
        raise InvalidInputError("sample_weight contains NaN or infinity")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise InvalidInputError(
            f"sample_weight[{row}]={weights[row]:g} but weights should be 0 or more"
        )
    if not weights.any():
        raise InvalidInputError(
            "sample_weight is zero everywhere, but one weight at least should be above 0"
        )
    return weights


def check_finite(X: np.ndarray, names: Sequence[str]) -> None:
    """Refuse NaN and infinities, naming the first column and row that has one."""
    if np.isfinite(X).all():
        return
    row, column = np.argwhere(~np.isfinite(X))[0]
    what = "NaN" if np.isnan(X[row, column]) else "infinity"
    raise InvalidInputError(
        f"Input X contains {what}: column {names[column]!r}, row {row}; MARS needs finite numbers"
    )


def refuse_bad_frame(X) -> None:
    """Name the column of a frame that does not hold numbers, or whose name stands twice."""
    if not isinstance(X, pd.DataFrame):
        return
    check_names(X.columns)
    for position, name in enumerate(X.columns):
        column = X.iloc[:, position]
        if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_object_dtype(column)):
            raise InvalidInputError(
                f"column {name!r} of X has the type {column.dtype} but it should be numeric"
            )


def _numbers(y):
    if isinstance(y, pd.Series) and not pd.api.types.is_numeric_dtype(y):
        try:
            return pd.to_numeric(y)
        except (TypeError, ValueError):
            raise InvalidInputError(f"y has the type {y.dtype} but it should be numeric") from None
    return y
