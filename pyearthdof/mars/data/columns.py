"""Columns of a frame as numbers: factors, strings and booleans expand as R's earth expands them.

A number stays as it is. A factor with levels a, b, c named f becomes fb and fc, 1 where the level is met
(treatment contrasts, the first level has no column); a boolean b becomes bTRUE; an ordered factor becomes
orthogonal polynomials f.L, f.Q, f.C, f^4, ...
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from .contrasts import MAX_LEVELS, polynomial_contrasts
from .kinds import check_kind

__all__ = [
    "Column", "Columns", "Source", "check_levels", "check_ordered", "learn_column", "level_text",
    "polynomial_contrasts",
]  # fmt: skip

KINDS = ("number", "logical", "factor", "ordered")
RESERVED = {
    "if", "else", "repeat", "while", "function", "for", "next", "break", "TRUE", "FALSE", "NULL", "Inf",
    "NaN", "NA", "NA_integer_", "NA_real_", "NA_character_", "NA_complex_", "in",
}  # fmt: skip


class Source(NamedTuple):
    """Where an expanded column comes from.

    `kind` is "number"; "level", 1 where the raw value is `level`; or "contrast", the raw value's entry in
    the dictionary `level`.
    """

    raw: str
    kind: str
    level: Any


@dataclass(frozen=True)
class Column:
    """A raw column: its name, its kind (one of KINDS) and its levels, as text."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()

    def feature_names(self) -> list[str]:
        """Names of the expanded columns."""
        if self.kind == "number":
            return [quoted_name(self.name)]
        if self.kind == "ordered":
            return [quoted_name(self.name) + power_name(k) for k in range(len(self.levels) - 1)]
        return [quoted_name(self.name) + level for level in self.levels[1:]]

    def sources(self) -> list[Source]:
        """Where the expanded columns come from."""
        if self.kind == "number":
            return [Source(self.name, "number", None)]
        if self.kind == "ordered":
            contrasts = polynomial_contrasts(len(self.levels)).T.tolist()
            each = [dict(zip(self.levels, values, strict=True)) for values in contrasts]
            return [Source(self.name, "contrast", values) for values in each]
        return [Source(self.name, "level", level) for level in self.levels[1:]]


@dataclass(frozen=True)
class Columns:
    """The raw columns of a design with at least one that is not a number.

    Examples
    --------
    >>> import pandas as pd
    >>> from pyearthdof.mars.data.columns import Columns
    >>> frame = pd.DataFrame({"age": [1.0, 2.0], "sex": ["male", "female"]})
    >>> columns = Columns.learn(frame)
    >>> columns.feature_names
    ('age', 'sexmale')
    >>> columns.expand(frame)
    array([[1., 1.],
           [2., 0.]])
    """

    columns: tuple[Column, ...]

    @classmethod
    def learn(cls, frame: pd.DataFrame, called: str = "X") -> Columns:
        """Find the kind and the levels of every column; refuse what has no meaning for MARS."""
        columns = [learn_column(n, frame.iloc[:, j], called) for j, n in enumerate(frame.columns)]
        for column in columns:
            check_levels(column, called)
        return cls(tuple(columns))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the raw columns."""
        return tuple(column.name for column in self.columns)

    @property
    def is_numeric(self) -> bool:
        """Whether all columns are numbers, so that there is nothing to expand."""
        return all(column.kind == "number" for column in self.columns)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the expanded columns, R's names."""
        names = [name for column in self.columns for name in column.feature_names()]
        # earth takes the name of a single factor for its own "x" and cuts that letter off.
        cut = (
            len(self.columns) == 1
            and len(names[0]) > 1
            and all(name.startswith("x") for name in names)
            and not all(name.startswith("x.") for name in names)
        )
        return tuple(name[1:61] for name in names) if cut else tuple(names)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Where each expanded column comes from."""
        return tuple(source for column in self.columns for source in column.sources())

    def values(
        self, frame: pd.DataFrame, called: str = "X", gaps: Collection[str] = ()
    ) -> dict[str, np.ndarray]:
        """Numbers of number columns, and 0-based codes into the levels of the others.

        `called` is the frame's name in what is said of missing and unseen values; the number columns in
        `gaps` may have missing values.
        """
        return {
            column.name: _values(column, frame, called, column.name in gaps)
            for column in self.columns
        }

    def expand(self, frame: pd.DataFrame) -> np.ndarray:
        """Make the numeric design; an unseen level is an error that names the column and the level."""
        values = self.values(frame)
        blocks = [_expand(column, values[column.name]) for column in self.columns]
        return np.ascontiguousarray(np.column_stack(blocks))

    def to_dict(self) -> list[dict]:
        """Plain values for JSON."""
        return [{"name": c.name, "kind": c.kind, "levels": list(c.levels)} for c in self.columns]

    @classmethod
    def from_dict(cls, entries) -> Columns:
        """Read `to_dict`'s result; anything else is refused."""
        if not isinstance(entries, list) or not entries:
            raise InvalidInputError("columns should be a list with one entry for each raw column")
        columns = cls(tuple(_read_column(entry) for entry in entries))
        if len(set(columns.names)) < len(columns.names):
            raise InvalidInputError("columns should have different names")
        return columns


def learn_column(name, values: pd.Series, called: str) -> Column:
    """The kind and the levels of a column, of which there may be only one or none."""
    name = str(name)
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        kind = "ordered" if dtype.ordered else "factor"
        return _factor(name, kind, [level_text(level) for level in dtype.categories], called)
    if pd.api.types.is_bool_dtype(dtype):
        return Column(name, "logical", ("FALSE", "TRUE"))
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return Column(name, "number")
    if pd.api.types.is_object_dtype(dtype) or pd.api.types.is_string_dtype(dtype):
        return _learn_objects(name, values, called)
    raise InvalidInputError(
        f"column {name!r} of {called} has the type {dtype} but it should hold numbers, booleans, strings or "
        "categories"
    )


def _learn_objects(name: str, values: pd.Series, called: str) -> Column:
    present = [v for v in values if not _is_missing(v)]
    if present and all(isinstance(v, str) for v in present):
        if len(present) < len(values):
            _refuse_missing(name, [_is_missing(v) for v in values], called)
        return _factor(name, "factor", sorted(set(present)), called)
    if present and all(isinstance(v, (bool, np.bool_)) for v in present):
        return Column(name, "logical", ("FALSE", "TRUE"))
    if all(isinstance(v, numbers.Real) for v in present):
        return Column(name, "number")
    odd = next(v for v in present if not isinstance(v, numbers.Real))
    raise InvalidInputError(
        f"column {name!r} of {called} holds {str(odd)[:40]!r} among other things but it should hold numbers, "
        "booleans, strings or categories only"
    )


def _factor(name: str, kind: str, levels: list[str], called: str) -> Column:
    check_ordered(f"column {name!r} of {called}", kind, levels)
    if len(set(levels)) < len(levels):
        raise InvalidInputError(f"column {name!r} of {called} has two levels that read the same")
    if any("\0" in level for level in levels):
        raise InvalidInputError(f"column {name!r} of {called} has a level with a NUL character")
    return Column(name, kind, tuple(levels))


def check_levels(column: Column, called: str) -> None:
    """Refuse a factor that has no contrasts."""
    if column.kind in ("factor", "ordered") and len(column.levels) < 2:
        raise InvalidInputError(
            f"column {column.name!r} of {called} has {len(column.levels)} level(s) but a factor should have "
            "2 or more"
        )


def check_ordered(what: str, kind: str, levels) -> None:
    """Refuse an ordered factor of more levels than R has polynomials for."""
    if kind == "ordered" and len(levels) > MAX_LEVELS:
        raise InvalidInputError(
            f"{what} has {len(levels)} levels but an ordered factor should have at most {MAX_LEVELS}"
        )


def _refuse_missing(name: str, missing, called: str) -> NoReturn:
    row = int(np.flatnonzero(missing)[0])
    raise InvalidInputError(f"column {name!r} of {called} has a missing value in row {row}")


def _is_missing(value) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def level_text(level) -> str:
    """A level as R's as.character gives it."""
    if isinstance(level, (bool, np.bool_)):
        return "TRUE" if level else "FALSE"
    if isinstance(level, numbers.Real) and not isinstance(level, numbers.Integral):
        return f"{float(level):.15g}"
    return str(level)


def _values(column: Column, frame: pd.DataFrame, called: str, gaps: bool) -> np.ndarray:
    if column.name not in frame.columns:
        raise InvalidInputError(f"{called} lacks the column {column.name!r}")
    series = frame[column.name]
    if column.kind == "number":
        return _numbers(column.name, series, called, gaps)
    return _codes(column, series, called)


def _codes(column: Column, series: pd.Series, called: str) -> np.ndarray:
    if isinstance(series.dtype, pd.CategoricalDtype):
        found, distinct = series.cat.codes.to_numpy(), series.cat.categories
    else:
        found, distinct = pd.factorize(series)
    if (found < 0).any():
        _refuse_missing(column.name, found < 0, called)
    known = {level: code for code, level in enumerate(column.levels)}
    codes = np.array([known.get(level_text(value), -1) for value in distinct], dtype=int)[found]
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise InvalidInputError(
            f"column {column.name!r} of {called} has the level {level_text(distinct[found[row]])!r} in row "
            f"{row}, which the model does not know; it knows {', '.join(map(repr, column.levels))}"
        )
    return codes


def _numbers(name: str, series: pd.Series, called: str, gaps: bool) -> np.ndarray:
    check_kind(f"column {name!r} of {called}", series)
    try:
        values = series.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"column {name!r} of {called} has the type {series.dtype} but the model knows it as numbers"
        ) from None
    is_fine = np.isfinite(values) | np.isnan(values) if gaps else np.isfinite(values)
    if not is_fine.all():
        row = int(np.flatnonzero(~is_fine)[0])
        what = "NaN" if np.isnan(values[row]) else "infinity"
        raise InvalidInputError(
            f"Input {called} contains {what}: column {name!r}, row {row}; MARS needs finite numbers"
        )
    return values


def _expand(column: Column, values: np.ndarray) -> np.ndarray:
    if column.kind == "number":
        return values[:, None]
    if column.kind == "ordered":
        return polynomial_contrasts(len(column.levels))[values]
    return (values[:, None] == np.arange(1, len(column.levels))).astype(float)


def quoted_name(name: str) -> str:
    """R writes a name that is not an identifier between backticks when it expands a frame."""
    identifier = re.fullmatch(r"(?:[^\W\d_]|\.(?!\d))[\w.]*", name)
    if identifier and name not in RESERVED:
        return name
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _is_kind(kind) -> bool:
    return isinstance(kind, str) and kind in KINDS


def power_name(k: int) -> str:
    """R's name of an ordered factor's polynomial of degree k + 1."""
    return (".L", ".Q", ".C")[k] if k < 3 else f"^{k + 1}"


def _read_column(entry) -> Column:
    if not isinstance(entry, Mapping) or set(entry) != {"name", "kind", "levels"}:
        raise InvalidInputError("columns holds an entry without exactly name, kind and levels")
    name, kind, levels = entry["name"], entry["kind"], entry["levels"]
    if not isinstance(name, str) or not _is_kind(kind) or not isinstance(levels, list):
        raise InvalidInputError(
            f"columns holds a wrong name, kind or list of levels: {str(name)[:40]!r}"
        )
    if not all(isinstance(level, str) for level in levels) or len(set(levels)) < len(levels):
        raise InvalidInputError(f"the levels of column {name[:40]!r} should be different texts")
    wrong = (kind == "number") != (not levels) or (levels and len(levels) < 2)
    if wrong or (kind == "logical" and levels != ["FALSE", "TRUE"]):
        raise InvalidInputError(f"column {name[:40]!r} has the wrong levels")
    check_ordered(f"column {name[:40]!r}", kind, levels)
    return Column(name, kind, tuple(levels))
