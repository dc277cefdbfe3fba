"""Parts of a saved estimator as plain JSON values, and back: arguments, classes, tables."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from .. import reading as saved
from ..options import OPTIONS

__all__ = [
    "classes_from",
    "frame_from",
    "params_from",
    "plain_classes",
    "plain_frame",
    "plain_params",
]

_TIMES = r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns)\]"
_NUMBERS = r"u?int(8|16|32|64)|float(16|32|64)|bool"
_CHECKS = {option.name: option for option in OPTIONS}


def plain_params(params: Mapping) -> dict:
    """The arguments of an estimator; a function or a generator is left out, with a warning."""
    found = {}
    for name, value in params.items():
        if callable(value) or isinstance(value, (np.random.RandomState, np.random.Generator)):
            warnings.warn(
                f"{name} is a {type(value).__name__}, which a file does not hold: the loaded estimator has "
                f"{name}=None",
                stacklevel=4,
            )
            value = None
        found[name] = _plain(value)
    return found


def _plain(value):
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (pd.Series, pd.Index)):
        value = value.to_numpy()
    if isinstance(value, (set, frozenset, range)):
        value = list(value)
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return saved.plain(value)


def params_from(known, entries) -> dict:
    """The arguments again; what is no argument of the estimator, or no value for it, is refused."""
    if not isinstance(entries, Mapping):
        raise InvalidInputError("estimator.params should be a mapping")
    odd = sorted(set(entries) - set(known))
    if odd:
        raise InvalidInputError(f"estimator.params has {odd[0][:40]!r}, which is no argument")
    for name, value in entries.items():
        option = _CHECKS.get(name)
        if option is not None:
            option.check(value)
    return dict(entries)


def plain_classes(classes: np.ndarray | None) -> dict | None:
    """Classes with the name of their type; dates as whole numbers of its unit."""
    if classes is None:
        return None
    dtype = classes.dtype
    kind = "str" if dtype.kind == "U" else "object" if dtype.kind == "O" else dtype.name
    values = classes.astype("int64") if dtype.kind in "mM" else classes
    return {"type": kind, "values": saved.plain(values)}


def classes_from(name: str, entries) -> np.ndarray | None:
    """`plain_classes`' result read again; anything else is refused."""
    if entries is None:
        return None
    if not isinstance(entries, Mapping) or set(entries) != {"type", "values"}:
        raise InvalidInputError(f"{name} should have exactly type and values")
    kind, values = saved.read_text(name, entries["type"]), entries["values"]
    if not isinstance(values, list) or len(values) < 2:
        raise InvalidInputError(f"{name} should have two values or more")
    if kind in ("str", "object"):
        return np.array(saved.read_texts(name, values), dtype=kind)
    if kind == "bool":
        if values not in ([False, True], [True, False]):
            raise InvalidInputError(f"{name} should be false and true")
        return np.array(values)
    if re.fullmatch(_TIMES, kind):
        return _integers(name, values, "int64").astype(kind)
    if not re.fullmatch(_NUMBERS, kind):
        raise InvalidInputError(f"{name} has the type {kind[:40]!r}, which is none of a class")
    if kind.startswith("float"):
        with np.errstate(over="ignore"):
            return saved.read_vector(name, values).astype(kind)
    return _integers(name, values, kind)


def _integers(name: str, values: list, kind: str) -> np.ndarray:
    limits = np.iinfo(kind)
    for value in values:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or not limits.min <= value <= limits.max:
            raise InvalidInputError(f"{name} holds {str(value)[:40]!r}, which is no {kind}")
    return np.array(values, dtype=kind)


def plain_frame(frame: pd.DataFrame | None) -> dict | None:
    """A table of numbers with the names of its rows and columns."""
    if frame is None:
        return None
    return {
        "rows": [str(name) for name in frame.index],
        "columns": [str(name) for name in frame.columns],
        "values": saved.plain(frame.to_numpy(dtype=float)),
        "integers": [
            str(name) for name, kind in frame.dtypes.items() if pd.api.types.is_integer_dtype(kind)
        ],
    }


def frame_from(name: str, entries) -> pd.DataFrame | None:
    """`plain_frame`'s result read again; anything else is refused."""
    if entries is None:
        return None
    if not isinstance(entries, Mapping) or set(entries) != {
        "rows",
        "columns",
        "values",
        "integers",
    }:
        raise InvalidInputError(f"{name} should have exactly rows, columns, values and integers")
    rows, columns = (saved.read_texts(name, entries[key]) for key in ("rows", "columns"))
    values = saved.read_matrix(name, entries["values"])
    if values.shape != (len(rows), len(columns)) and values.size + len(rows) * len(columns):
        raise InvalidInputError(f"{name} should have {len(rows)} rows of {len(columns)} values")
    frame = pd.DataFrame(
        values.reshape(len(rows), len(columns)), index=list(rows), columns=list(columns)
    )
    for column in saved.read_texts(name, entries["integers"]):
        whole = columns.count(column) == 1 and np.abs(frame[column]).le(2**53).all()
        if not whole or not (frame[column] == np.floor(frame[column])).all():
            raise InvalidInputError(f"{name} has {column[:40]!r}, which is no column of integers")
        frame[column] = frame[column].astype(int)
    return frame
