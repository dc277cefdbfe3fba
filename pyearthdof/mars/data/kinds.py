"""Data that numpy would take for numbers in silence, and names that are none: refused at the door."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError

__all__ = ["check_kind", "check_masked", "column_names", "numbers_of_series"]

_CONVERTED = ("O", "U", "S", "T", "b", "i", "u", "f")  # kinds of dtypes that may hold numbers
_NO_NUMBERS = (
    complex, np.complexfloating, np.datetime64, np.timedelta64, datetime.date, datetime.time,
    datetime.timedelta, pd.Period, pd.Interval,
)  # fmt: skip


def check_masked(name: str, data) -> None:
    """Refuse masked values."""
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise InvalidInputError(
            f"{name} is a masked array with {np.ma.count_masked(data)} masked value(s), but it should hold "
            "a value everywhere: fill them, or leave their rows out"
        )


def check_kind(name: str, data) -> None:
    """Refuse masked values, dates, complex numbers and structures; the rest may still be no number.

    >>> check_kind("y", np.array(["2020-01-01"], dtype="M8[D]"))
    Traceback (most recent call last):
    pyearthdof.exceptions.InvalidInputError: y has the type datetime64[D] but it should hold numbers
    """
    check_masked(name, data)
    if not isinstance(data, pd.DataFrame):
        _check_values(name, data)
        return
    for j, dtype in enumerate(data.dtypes):
        if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
            _check_values(f"column {data.columns[j]!r} of {name}", data.iloc[:, j])


def _check_values(name: str, values) -> None:
    dtype: Any = getattr(values, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype):
        values, dtype = dtype.categories, dtype.categories.dtype
    if not hasattr(dtype, "kind"):  # a list, or an array of another library
        try:
            values = np.asarray(values)
        except (TypeError, ValueError):  # its conversion to numbers fails, too
            return
        dtype = values.dtype
    if dtype.kind not in _CONVERTED:
        complex_data = "Complex data not supported: " if dtype.kind == "c" else ""
        raise InvalidInputError(
            f"{complex_data}{name} has the type {dtype} but it should hold numbers"
        )
    if dtype.kind == "O":
        objects = np.ravel(np.asarray(values, dtype=object))
        odd = next((v for v in objects if isinstance(v, _NO_NUMBERS)), None)
        if odd is not None:
            found = f"holds {str(odd)[:40]!r} (a {type(odd).__name__})"
            found = found if isinstance(dtype, np.dtype) else f"has the type {dtype}"
            raise InvalidInputError(f"{name} {found} but it should hold numbers")


def numbers_of_series(name: str, values: pd.Series) -> pd.Series:
    """A series as numbers; one of texts or categories too, where all of them read as numbers."""
    if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        return values
    reads = isinstance(values.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(values)
    try:
        if reads or pd.api.types.is_object_dtype(values):
            return pd.to_numeric(values)
    except (TypeError, ValueError):
        pass
    raise InvalidInputError(f"{name} has the type {values.dtype} but it should be numeric")


def column_names(name: str, frame: pd.DataFrame) -> tuple[str, ...] | None:
    """The names of a frame's columns as scikit-learn sees them: None where no name is a text.

    >>> column_names("X", pd.DataFrame([[1, 2]], columns=["a", "b"]))
    ('a', 'b')
    >>> column_names("X", pd.DataFrame([[1, 2]])) is None
    True
    """
    if isinstance(frame.columns, pd.MultiIndex):
        raise InvalidInputError(
            f"{name} has column names of {frame.columns.nlevels} levels (a MultiIndex), but it should have "
            "one name for each column"
        )
    named = frame.columns[[label != "" for label in frame.columns]]  # earth names the others
    if not named.is_unique:
        twice = named[named.duplicated()].tolist()[0]
        raise InvalidInputError(
            f"{name} has two columns named {twice!r}, but names should be unique"
        )
    names = tuple(frame.columns.tolist())
    are_texts = [isinstance(label, str) for label in names]
    if all(are_texts):
        return names
    if any(are_texts):
        text, other = names[are_texts.index(True)], names[are_texts.index(False)]
        raise InvalidInputError(
            f"{name} has the column names {text!r} and {other!r}, but they should all be texts, or none of "
            "them, and then they do not count"
        )
    return None
