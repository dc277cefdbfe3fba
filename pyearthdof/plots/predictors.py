"""The predictors as the effect pictures see them: their grids, and where the others are held."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from .._utils.checks import as_numbers, refusal
from ..exceptions import InvalidInputError

__all__ = ["Predictors", "interacting_pairs", "is_levels", "used_columns"]

CENTRES = {"median": np.median, "mean": np.mean}


@dataclass(frozen=True)
class Predictors:
    """The columns of X, and a background: one value for each, held where it is not drawn.

    A column is either numbers or levels (categories, strings, booleans).

    Attributes
    ----------
    frame : the columns as a frame.
    is_array : whether the model knows no names, and wants arrays.
    background : the held value of each column.
    """

    frame: pd.DataFrame
    is_array: bool
    background: Mapping[str, object] = field(repr=False)

    @classmethod
    def from_data(cls, model, X, at) -> Predictors:
        """Take X as the model was fitted on it; `at` is "median", "mean" or values by column."""
        is_array = not hasattr(model, "feature_names_in_")
        if isinstance(X, pd.DataFrame) and not is_array:
            frame = _named_frame(model, X)
        else:
            frame = _array_frame(model, X)
        if len(frame) == 0:
            raise InvalidInputError("X has no rows but it should have the training rows")
        return cls(frame, is_array, _background(frame, at))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.frame.columns)

    @property
    def rows(self) -> pd.DataFrame | np.ndarray:
        """The training rows as the model takes them."""
        return self._as_fitted(self.frame)

    def grid(self, name: str, n: int):
        """Where a column is drawn: n even steps over its range, or its levels."""
        values = self.frame[name]
        if is_levels(values):
            return levels_of(values)
        return np.linspace(float(values.min()), float(values.max()), n)

    def has_levels(self, name: str) -> bool:
        """Whether a column has levels instead of numbers."""
        return is_levels(self.frame[name])

    def design(self, columns: Mapping) -> pd.DataFrame | np.ndarray:
        """Rows in which the named columns take the given values and all others are held."""
        n = len(next(iter(columns.values())))
        rows = {
            name: pd.Series(
                columns.get(name, [self.background[name]] * n),
                dtype=self.frame[name].dtype if is_levels(self.frame[name]) else None,
            )
            for name in self.names
        }
        return self._as_fitted(pd.DataFrame(rows))

    def _as_fitted(self, frame: pd.DataFrame) -> pd.DataFrame | np.ndarray:
        return frame.to_numpy(dtype=float) if self.is_array else frame


def is_levels(values: pd.Series) -> bool:
    """Whether a column has levels instead of numbers."""
    return bool(
        isinstance(values.dtype, pd.CategoricalDtype)
        or pd.api.types.is_bool_dtype(values.dtype)
        or not pd.api.types.is_numeric_dtype(values.dtype)
    )


def levels_of(values: pd.Series) -> list:
    """The levels of a column: all categories in their order, else what occurs, sorted."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return list(values.cat.categories)
    return sorted(values.dropna().unique().tolist(), key=str)


def used_columns(model, predictors: Predictors) -> list[str]:
    """Columns that a term of the model uses, in the order of X."""
    used = set().union(*_columns_of_terms(model))
    return [name for name in predictors.names if name in used]


def interacting_pairs(model, predictors: Predictors) -> list[tuple[str, str]]:
    """Pairs of columns that meet in a term of the model, in the order of X."""
    met = {
        pair
        for columns in _columns_of_terms(model)
        for pair in combinations([name for name in predictors.names if name in columns], 2)
    }
    return [pair for pair in combinations(predictors.names, 2) if pair in met]


def _columns_of_terms(model) -> list[set[str]]:
    """For each selected term the columns of X that it uses; a factor is one column."""
    owners = model.model_.owners
    dirs = np.asarray(model.dirs_)[np.asarray(model.selected_terms_)]
    return [set().union(*(owners[j] for j in np.flatnonzero(row))) for row in dirs]


def _named_frame(model, X: pd.DataFrame) -> pd.DataFrame:
    names = [str(name) for name in X.columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInputError(f"X has two columns named {twice[0]!r}, but names should be unique")
    frame = X.set_axis(names, axis=1).reset_index(drop=True).infer_objects()
    if model.model_.formula is None:
        return frame
    # The response and whatever else the formula does not use may stand beside its columns.
    return frame[[name for name in names if name in model.model_.formula.names]]


def _array_frame(model, X) -> pd.DataFrame:
    names = [str(n) for n in getattr(model, "feature_names_in_", model.model_.feature_names)]
    values = as_numbers("X", X, "hold numbers, or be a DataFrame as in fit")
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InvalidInputError(
            f"X has shape {values.shape} but the model needs {len(names)} columns"
        )
    return pd.DataFrame(values, columns=names)


def _background(frame: pd.DataFrame, at) -> dict[str, object]:
    given = dict(at) if isinstance(at, Mapping) else {}
    if not isinstance(at, Mapping) and (not isinstance(at, str) or at not in CENTRES):
        raise refusal("at", at, "'median', 'mean', or a dictionary of values by column")
    for name, value in given.items():
        _check_held(frame, name, value)
    centre = CENTRES["median" if isinstance(at, Mapping) else at]
    return {name: given.get(name, _typical(frame[name], centre)) for name in frame.columns}


def _check_held(frame: pd.DataFrame, name, value) -> None:
    """Refuse a value to hold a column at that the column could not have."""
    if name not in frame.columns:
        raise InvalidInputError(f"at names {name!r} but X has no such column")
    if is_levels(frame[name]):
        levels = levels_of(frame[name])
        if value not in levels:
            known = ", ".join(map(repr, levels[:8]))
            raise InvalidInputError(f"at holds {name!r} at {value!r} but its levels are {known}")
    elif not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise InvalidInputError(f"at holds {name!r} at {value!r} but it should be a finite number")


def _typical(values: pd.Series, centre) -> object:
    """The centre of numbers; of levels the most frequent, the first one where several are."""
    present = values.dropna()
    if len(present) == 0:
        return values.iloc[0]
    if not is_levels(values):
        return float(centre(present.to_numpy(dtype=float)))
    levels = levels_of(present)
    counts = [int((present == level).sum()) for level in levels]
    return levels[int(np.argmax(counts))]
