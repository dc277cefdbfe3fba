"""Conversion of data frame columns to numbers: factors, strings, booleans and dates as in R.

Numbers are unchanged. A factor f with levels a, b, c becomes the indicators fb and fc (treatment contrasts,
the first level has no column); a boolean b becomes bTRUE; an ordered factor becomes orthogonal polynomials
f.L, f.Q, f.C, f^4, ...
"""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from ..._utils.checks import as_pandas
from ...exceptions import InvalidInputError
from .. import reading as saved
from ..arithmetic import r_sum

KINDS = ("number", "logical", "factor", "ordered")
RESERVED = {
    "if", "else", "repeat", "while", "function", "for", "next", "break", "TRUE", "FALSE", "NULL", "Inf",
    "NaN", "NA", "NA_integer_", "NA_real_", "NA_character_", "NA_complex_", "in",
}  # fmt: skip


class Source(NamedTuple):
    """Source of an expanded column.

    `kind` is "number"; "level", the indicator of the raw value `level`; "contrast", the entry of the raw
    value in the dictionary `level`; or "missing", the indicator of missing values. A missing value is 0 in
    columns of levels and contrasts, and `level` in a column of numbers, unless `level` is None.
    """

    raw: str
    kind: str
    level: Any


@dataclass(frozen=True)
class Column:
    """A raw column: its name, its kind (one of KINDS) and its levels as strings.

    If `fill` is set, the column may have missing values, which get their own indicator column. They enter as
    `fill`, the smallest value in the training rows, in a numeric column, and as 0 in a factor.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    fill: float | None = None

    def feature_names(self) -> list[str]:
        """Names of the expanded columns."""
        quoted = quoted_name(self.name)
        if self.kind == "number":
            names = [quoted]
        elif self.kind == "ordered":
            names = [quoted + power_name(k) for k in range(len(self.levels) - 1)]
        else:
            names = [quoted + level for level in self.levels[1:]]
        return names if self.fill is None else [*names, f"missing({quoted})"]

    def sources(self) -> list[Source]:
        """Sources of the expanded columns."""
        if self.kind == "number":
            found = [Source(self.name, "number", self.fill)]
        elif self.kind == "ordered":
            contrasts = polynomial_contrasts(len(self.levels)).T.tolist()
            each = [dict(zip(self.levels, values, strict=True)) for values in contrasts]
            found = [Source(self.name, "contrast", values) for values in each]
        else:
            found = [Source(self.name, "level", level) for level in self.levels[1:]]
        return found if self.fill is None else [*found, Source(self.name, "missing", None)]


@dataclass(frozen=True)
class Columns:
    """Raw columns of a design with at least one non-numeric column."""

    columns: tuple[Column, ...]

    @classmethod
    def learn(cls, frame: pd.DataFrame, called: str = "X", *, indicators: bool = False) -> Columns:
        """Find the kind and the levels of every column; reject types unsuitable for MARS.

        With `indicators`, columns may have missing values, which get an indicator column.
        """
        columns = []
        for j, name in enumerate(frame.columns):
            values = frame.iloc[:, j]
            gaps = values.isna().to_numpy() if indicators else np.zeros(0, dtype=bool)
            present = values[~gaps] if gaps.any() else values
            if gaps.all() and len(gaps):
                raise InvalidInputError(
                    f"column {str(name)!r} of {called} has no value but it should have at least one"
                )
            column = learn_column(name, present, called)
            check_levels(column, called)
            if gaps.any():
                fill = 0.0
                if column.kind == "number":
                    fill = float(_numbers(column.name, present, called, gaps=False).min())
                column = replace(column, fill=fill)
            columns.append(column)
        return cls(tuple(columns))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the raw columns."""
        return tuple(column.name for column in self.columns)

    @property
    def is_numeric(self) -> bool:
        """True if all columns are numeric without missing values, so no expansion is needed."""
        return all(column.kind == "number" and column.fill is None for column in self.columns)

    @property
    def has_numbers_only(self) -> bool:
        """True if all columns are numeric, so predictors can be passed as a matrix."""
        return all(column.kind == "number" for column in self.columns)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """R's names of the expanded columns."""
        names = [name for column in self.columns for name in column.feature_names()]
        # earth mistakes the name of a single factor for its own "x" and removes that letter.
        cut = (
            len(self.columns) == 1
            and len(names[0]) > 1
            and all(name.startswith("x") for name in names)
            and not all(name.startswith("x.") for name in names)
        )
        return tuple(name[1:61] for name in names) if cut else tuple(names)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Source of each expanded column."""
        return tuple(source for column in self.columns for source in column.sources())

    def values(
        self, frame: pd.DataFrame, called: str = "X", gaps: Collection[str] = ()
    ) -> dict[str, np.ndarray]:
        """Values of numeric columns, and 0-based level codes of the others.

        `called` is the name of the frame in messages about missing and unseen values; the numeric columns in
        `gaps` may have missing values.
        """
        return {
            column.name: _values(column, frame, called, column.name in gaps)
            for column in self.columns
        }

    def expand(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the numeric design; raise an error that names the column and level if it is unseen."""
        values = self.values(frame)
        blocks = [_expand(column, values[column.name]) for column in self.columns]
        return np.ascontiguousarray(np.column_stack(blocks))

    @cached_property
    def gaps(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Indicator columns of missing values, each with the other expanded columns of its raw column."""
        found = []
        for j, source in enumerate(self.sources):
            if source.kind == "missing":
                own = range(j - sum(s.raw == source.raw for s in self.sources[:j]), j)
                found.append((j, tuple(own)))
        return tuple(found)

    def to_dict(self) -> list[dict]:
        """Plain values for JSON."""
        return [
            {"name": c.name, "kind": c.kind, "levels": list(c.levels)}
            | ({} if c.fill is None else {"fill": c.fill})
            for c in self.columns
        ]

    @classmethod
    def from_dict(cls, entries: Any) -> Columns:
        """Read the result of `to_dict`; reject anything else."""
        if not isinstance(entries, list) or not entries:
            raise InvalidInputError("columns should be a list with one entry for each raw column")
        columns = cls(tuple(_read_column(entry) for entry in entries))
        if len(set(columns.names)) < len(columns.names):
            raise InvalidInputError("columns should have different names")
        return columns


def learn_column(name: Any, values: pd.Series, called: str) -> Column:
    """Return the kind and the levels of a column, even with fewer than two levels."""
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
        f"column {name!r} of {called} has the type {dtype} but it should contain numbers, booleans, strings "
        "or categories"
    )


def _learn_objects(name: str, values: pd.Series, called: str) -> Column:
    present = [v for v in values if not is_missing(v)]
    if present and all(isinstance(v, str) for v in present):
        if len(present) < len(values):
            _refuse_missing(name, [is_missing(v) for v in values], called)
        return _factor(name, "factor", sorted(set(present)), called)
    if present and all(isinstance(v, (bool, np.bool_)) for v in present):
        return Column(name, "logical", ("FALSE", "TRUE"))
    if all(isinstance(v, numbers.Real) for v in present):
        return Column(name, "number")
    odd = next(v for v in present if not isinstance(v, numbers.Real))
    raise InvalidInputError(
        f"column {name!r} of {called} holds {str(odd)[:40]!r} besides other values but it should contain "
        "numbers, booleans, strings or categories only"
    )


def _factor(name: str, kind: str, levels: list[str], called: str) -> Column:
    check_ordered(f"column {name!r} of {called}", kind, levels)
    if len(set(levels)) < len(levels):
        raise InvalidInputError(f"column {name!r} of {called} has two levels that read the same")
    if any("\0" in level for level in levels):
        raise InvalidInputError(f"column {name!r} of {called} has a level with a NUL character")
    return Column(name, kind, tuple(levels))


def check_levels(column: Column, called: str) -> None:
    """Reject a factor with fewer than two levels, which has no contrasts."""
    if column.kind in ("factor", "ordered") and len(column.levels) < 2:
        raise InvalidInputError(
            f"column {column.name!r} of {called} has {len(column.levels)} level(s) but a factor should have "
            "2 or more"
        )


def check_ordered(what: str, kind: str, levels: Sequence[str]) -> None:
    """Reject an ordered factor with more levels than R supports."""
    if kind == "ordered" and len(levels) > MAX_LEVELS:
        raise InvalidInputError(
            f"{what} has {len(levels)} levels but an ordered factor should have at most {MAX_LEVELS}"
        )


def _refuse_missing(name: str, missing: Any, called: str) -> NoReturn:
    row = int(np.flatnonzero(missing)[0])
    raise InvalidInputError(f"column {name!r} of {called} has a missing value in row {row}")


def is_missing(value: Any) -> bool:
    """Return True if an object represents a missing value."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def level_text(level: Any) -> str:
    """Return a level in the format of R's as.character."""
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
        return _numbers(column.name, series, called, gaps or column.fill is not None)
    return _codes(column, series, called)


def _codes(column: Column, series: pd.Series, called: str) -> np.ndarray:
    if isinstance(series.dtype, pd.CategoricalDtype):
        found, distinct = series.cat.codes.to_numpy(), series.cat.categories
    else:
        found, distinct = pd.factorize(series)
    gaps = found < 0
    if gaps.any() and column.fill is None:
        _refuse_missing(column.name, gaps, called)
    known = {level: code for code, level in enumerate(column.levels)}
    codes = np.array([known.get(level_text(v), -1) for v in distinct] + [-1], dtype=int)[found]
    if ((codes < 0) & ~gaps).any():
        row = int(np.flatnonzero((codes < 0) & ~gaps)[0])
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
    check_finite(values[:, None], (name,), called, gaps)
    return values


def check_finite(
    X: np.ndarray, names: Sequence[str], called: str = "X", gaps: bool = False
) -> None:
    """Reject infinities and, without `gaps`, NaN; the error names the first column and row."""
    is_fine = np.isfinite(X)
    if gaps:
        is_fine |= np.isnan(X)
    if is_fine.all():
        return
    row, column = np.argwhere(~is_fine)[0]
    what = "NaN" if np.isnan(X[row, column]) else "infinity"
    raise InvalidInputError(
        f"Input {called} contains {what}: column {names[column]!r}, row {row}; MARS needs finite numbers"
    )


def _expand(column: Column, values: np.ndarray) -> np.ndarray:
    gaps = np.isnan(values) if column.kind == "number" else values < 0
    if column.kind == "number":
        found = (values if column.fill is None else np.where(gaps, column.fill, values))[:, None]
    elif column.kind == "ordered":
        found = polynomial_contrasts(len(column.levels))[values]
        if column.fill is not None:
            found = np.where(gaps[:, None], 0.0, found)
    else:
        found = (values[:, None] == np.arange(1, len(column.levels))).astype(float)
    return found if column.fill is None else np.column_stack([found, gaps])


def quoted_name(name: str) -> str:
    """Quote a name that is not an identifier with backticks, as R does when expanding a frame."""
    identifier = re.fullmatch(r"(?:[^\W\d_]|\.(?!\d))[\w.]*", name)
    if identifier and name not in RESERVED:
        return name
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def power_name(k: int) -> str:
    """R's name of an ordered factor's polynomial of degree k + 1."""
    return (".L", ".Q", ".C")[k] if k < 3 else f"^{k + 1}"


def _read_column(entry: Any) -> Column:
    if not isinstance(entry, Mapping) or set(entry) - {"fill"} != {"name", "kind", "levels"}:
        raise InvalidInputError("columns contains an entry without exactly name, kind and levels")
    fill = saved.read_number("columns", entry["fill"]) if "fill" in entry else None
    name, kind, levels = entry["name"], entry["kind"], entry["levels"]
    if not isinstance(name, str) or kind not in KINDS or not isinstance(levels, list):
        raise InvalidInputError(
            f"columns contains a wrong name, kind or list of levels: {str(name)[:40]!r}"
        )
    if not all(isinstance(level, str) for level in levels) or len(set(levels)) < len(levels):
        raise InvalidInputError(f"the levels of column {name[:40]!r} should be different texts")
    wrong = (kind == "number") != (not levels) or (levels and len(levels) < 2)
    if wrong or (kind == "logical" and levels != ["FALSE", "TRUE"]):
        raise InvalidInputError(f"column {name[:40]!r} has the wrong levels")
    check_ordered(f"column {name[:40]!r}", kind, levels)
    if fill is not None and not (np.isfinite(fill) and (kind == "number" or fill == 0)):
        raise InvalidInputError(f"column {name[:40]!r} has fill={fill:g}, but a factor has 0")
    return Column(name, kind, tuple(levels), fill)


_CONVERTED = ("O", "U", "S", "T", "b", "i", "u", "f")  # kinds of dtypes that may contain numbers
_MOST_BITS = 1023  # bits of an integer that always fits into a double
_NO_NUMBERS = (
    complex, np.complexfloating, np.datetime64, np.timedelta64, datetime.date, datetime.time,
    datetime.timedelta, pd.Period, pd.Interval,
)  # fmt: skip


def check_masked(name: str, data: Any) -> None:
    """Reject masked values."""
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise InvalidInputError(
            f"{name} is a masked array with {np.ma.count_masked(data)} masked value(s), but it should "
            "contain a value everywhere: fill them, or drop their rows"
        )


def check_kind(name: str, data: Any) -> None:
    """Reject masked values, dates, complex numbers and structures; other types may still fail later.

    >>> check_kind("y", np.array(["2020-01-01"], dtype="M8[D]"))
    Traceback (most recent call last):
    pyearthdof.exceptions.InvalidInputError: y has the type datetime64[D] but it should contain numbers
    """
    check_masked(name, data)
    if not isinstance(data, pd.DataFrame):
        _check_values(name, data)
        return
    for j, dtype in enumerate(data.dtypes):
        if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
            _check_values(f"column {data.columns[j]!r} of {name}", data.iloc[:, j])


def _check_values(name: str, values: Any) -> None:
    dtype: Any = getattr(values, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype):
        values, dtype = dtype.categories, dtype.categories.dtype
    if not hasattr(dtype, "kind"):  # a list or an array of another library
        try:
            values = np.asarray(values)
        except (TypeError, ValueError):  # conversion to numbers fails as well
            return
        dtype = values.dtype
    if dtype.kind not in _CONVERTED:
        complex_data = "Complex data not supported: " if dtype.kind == "c" else ""
        raise InvalidInputError(
            f"{complex_data}{name} has the type {dtype} but it should contain numbers"
        )
    if dtype.kind == "O":
        objects = np.ravel(np.asarray(values, dtype=object))
        odd = next((v for v in objects if isinstance(v, _NO_NUMBERS)), None)
        if odd is not None:
            found = f"holds {str(odd)[:40]!r} (a {type(odd).__name__})"
            found = found if isinstance(dtype, np.dtype) else f"has the type {dtype}"
            raise InvalidInputError(f"{name} {found} but it should contain numbers")
        huge = next(
            (v for v in objects if isinstance(v, int) and v.bit_length() > _MOST_BITS), None
        )
        if huge is not None:
            raise InvalidInputError(
                f"{name} holds an integer of {huge.bit_length()} bits but it should contain numbers that a "
                "double can hold, up to 1.8e308"
            )


def without_na(X: Any) -> Any:
    """Replace pandas' NA by NaN in object columns; everything else is unchanged."""
    if isinstance(X, pd.DataFrame):
        objects = [j for j, dtype in enumerate(X.dtypes) if pd.api.types.is_object_dtype(dtype)]
        holds = [j for j in objects if X.iloc[:, j].hasnans]
        X = X.copy() if holds else X
        for j in holds:
            X.isetitem(j, X.iloc[:, j].where(X.iloc[:, j].notna(), np.nan))
        return X
    if isinstance(X, np.ndarray) and X.dtype == object:
        return np.where(pd.isna(X), np.nan, X)
    return X


def numbers_of_series(name: str, values: pd.Series) -> pd.Series:
    """Return a series as numbers, including strings or categories that are all numeric."""
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
    """Return the column names of a frame like scikit-learn: None if no name is a string."""
    if isinstance(frame.columns, pd.MultiIndex):
        raise InvalidInputError(
            f"{name} has column names of {frame.columns.nlevels} levels (a MultiIndex), but it should have "
            "one name for each column"
        )
    named = frame.columns[
        [label != "" for label in frame.columns]
    ]  # empty names are replaced by earth
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
            f"{name} has the column names {text!r} and {other!r}, but either all of them or none should be "
            "strings; names that are not strings are ignored"
        )
    return None


@dataclass(frozen=True)
class MatrixColumn:
    """Columns of a frame that represent a matrix, and the matrix's own column names, if any."""

    parts: tuple[str, ...]
    names: tuple[str, ...] | None


def named_frame(
    data: Any, called: str, needed: str
) -> tuple[pd.DataFrame, list[str], dict[str, MatrixColumn]]:
    """Return a frame or mapping as a frame, its column names as strings, and its matrix columns."""
    matrices: dict[str, MatrixColumn] = {}
    data = as_pandas(data, called)
    if isinstance(data, Mapping):
        data, matrices = frame_of_mapping(data)
    if not isinstance(data, pd.DataFrame):
        raise InvalidInputError(f"{called} is a {type(data).__name__} but it should be {needed}")
    if isinstance(data.columns, pd.MultiIndex):
        column_names(called, data)
    return data, [str(label) for label in data.columns], matrices


def frame_of_mapping(data: Mapping) -> tuple[pd.DataFrame, dict[str, MatrixColumn]]:
    """Convert a mapping to a frame; a matrix named m becomes the columns m[,1], m[,2], ...

    >>> frame, matrices = frame_of_mapping({"y": [1, 2], "m": np.eye(2)})
    >>> list(frame.columns), matrices["m"].parts
    (['y', 'm[,1]', 'm[,2]'], ('m[,1]', 'm[,2]'))
    """
    columns: dict[str, np.ndarray] = {}
    matrices: dict[str, MatrixColumn] = {}
    for name, values in data.items():
        name = str(name)
        own = values if isinstance(values, pd.DataFrame) else None
        values = values if isinstance(values, pd.Series) else np.asarray(values)
        if values.ndim == 2 and values.shape[1] > 0:
            parts = tuple(f"{name}[,{j + 1}]" for j in range(values.shape[1]))
            names = None if own is None else tuple(str(label) for label in own.columns)
            matrices[name] = MatrixColumn(parts, names)
            columns |= dict(zip(parts, values.T, strict=True))
        elif values.ndim == 1:
            columns[name] = values.array if isinstance(values, pd.Series) else values
        else:
            raise InvalidInputError(
                f"data[{name!r}] has the shape {values.shape} but it should be a vector or a matrix"
            )
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise InvalidInputError("data contains no columns, or columns of different lengths")
    return pd.DataFrame(columns), matrices


MAX_LEVELS = 95  # R's limit
TOLERANCE = 1e-7  # of R's qr()
LARGE, SMALLER = 2.0**486, 2.0**-538  # BLAS scales larger values before squaring


@lru_cache(maxsize=64)
def polynomial_contrasts(n_levels: int) -> np.ndarray:
    """Orthonormal polynomials on equally spaced levels, (n_levels, n_levels - 1).

    >>> polynomial_contrasts(3).round(6).tolist()
    [[-0.707107, 0.408248], [-0.0, -0.816497], [0.707107, 0.408248]]
    """
    scores = [level - (n_levels + 1) / 2 for level in range(1, n_levels + 1)]
    powers = np.array([[float(s) ** k for k in range(n_levels)] for s in scores])
    columns, heads, rank = householder(powers)
    raw = np.column_stack([multiplied_by_q(columns, heads, rank, j) for j in range(n_levels)])
    lengths = np.sqrt([r_sum(column) for column in (raw**2).T])
    contrasts = (raw / lengths)[:, 1:]
    contrasts.flags.writeable = False
    return contrasts


def householder(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Reflect the columns of x in place; return them, the heads of the reflections and the rank."""
    n, width = x.shape
    norms = np.array([_length(x[:, j]) for j in range(width)])
    original = np.where(norms == 0, 1.0, norms)
    rank = width
    for k in range(min(n, width)):
        while k < rank and norms[k] < original[k] * TOLERANCE:
            order = [*range(k), *range(k + 1, width), k]
            x[:], norms, original = x[:, order], norms[order], original[order]
            rank -= 1
        if k == n - 1:
            break
        head = x[k:, k]
        length = np.copysign(_length(head), x[k, k])
        if length == 0:
            continue
        head *= 1.0 / length
        head[0] += 1.0
        for j in range(k + 1, width):
            _reflect(head, x[k:, j])
            norms[j] = _remaining(norms[j], x[k:, j])
        norms[k] = head[0]
        x[k, k] = -length
    return x, norms, rank


def _remaining(norm: float, column: np.ndarray) -> float:
    """Downdate the length of a column for the removal of its first entry."""
    if norm == 0:
        return norm
    share = max(1.0 - (abs(column[0]) / norm) ** 2, 0.0)
    return _length(column[1:]) if share < 1e-6 else norm * np.sqrt(share)


def multiplied_by_q(columns: np.ndarray, heads: np.ndarray, rank: int, j: int) -> np.ndarray:
    """Q times the j-th diagonal entry of R."""
    n = len(columns)
    vector = np.zeros(n)
    vector[j] = columns[j, j]
    for k in range(min(rank, n - 1) - 1, -1, -1):
        if heads[k] != 0:
            head = columns[k:, k].copy()
            head[0] = heads[k]
            _reflect(head, vector[k:])
    return vector


def _reflect(head: np.ndarray, vector: np.ndarray) -> None:
    vector += -_sum(head * vector) / head[0] * head


def _length(vector: np.ndarray) -> float:
    is_large = np.abs(vector) > LARGE
    rest = _sum(vector[~is_large] ** 2)
    if not is_large.any():
        return float(np.sqrt(rest))
    return float(np.sqrt(_sum((vector[is_large] * SMALLER) ** 2) + rest * SMALLER**2) / SMALLER)


def _sum(values: np.ndarray) -> float:
    """Sum from first to last like LINPACK's loops; numpy sums in blocks."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


UNITS = {"days": 86_400, "seconds": 1, "days UTC": 86_400, "seconds UTC": 1}  # in seconds
TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # units of pandas' dates per second


def is_date(values: pd.Series) -> bool:
    """Return True for a column of pandas dates."""
    return pd.api.types.is_datetime64_any_dtype(values.dtype)


def unit_of(values: pd.Series) -> str:
    """Return days, as in R's Date, or seconds, as in R's POSIXct, if some value has a time of day.

    Dates with a time zone are converted to UTC.

    >>> unit_of(pd.Series(pd.to_datetime(["2020-01-01 00:00", "2020-01-02 12:00"])))
    'seconds'
    """
    seconds = _seconds(values)
    unit = "days" if not np.nanmax(np.mod(seconds, UNITS["days"]), initial=0.0) else "seconds"
    return f"{unit} UTC" if _zone(values) is not None else unit


def numbers_of_dates(values: pd.Series, unit: str) -> np.ndarray:
    """Convert dates to numbers, missing ones to NaN.

    >>> numbers_of_dates(pd.Series(pd.to_datetime(["1970-01-01", "1971-01-01"])), "days").tolist()
    [0.0, 365.0]
    """
    if not is_date(values):
        raise InvalidInputError(
            f"column {values.name!r} of X has the type {values.dtype} but the model knows it as dates"
        )
    if unit.endswith("UTC") and _zone(values) is None:
        raise InvalidInputError(
            f"column {values.name!r} of X has dates without a time zone but the model knows them with one: "
            f"X[{values.name!r}].dt.tz_localize('UTC'), or another zone, says which they have"
        )
    if not unit.endswith("UTC") and _zone(values) is not None:
        raise InvalidInputError(
            f"column {values.name!r} of X has dates with the time zone {_zone(values)} but the model knows "
            f"them without one: X[{values.name!r}].dt.tz_localize(None) gives the local times"
        )
    return _seconds(values) / UNITS[unit]


def dates_of_numbers(values: Any, unit: str) -> pd.DatetimeIndex:
    """Return the inverse of `numbers_of_dates`."""
    return pd.to_datetime(np.asarray(values) * UNITS[unit], unit="s", utc=unit.endswith("UTC"))


def _zone(values: pd.Series) -> Any:
    return values.dt.tz


def _seconds(values: pd.Series) -> np.ndarray:
    if _zone(values) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    found = np.asarray(values)  # not in nanoseconds, which end in 2262
    seconds = found.astype("int64") / TICKS[np.datetime_data(found.dtype)[0]]
    return np.where(values.isna(), np.nan, seconds)
