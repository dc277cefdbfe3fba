"""What the training rows of a model were like, column by column: ranges of numbers, counts of levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from .. import reading as saved
from .columns import Column

if TYPE_CHECKING:
    from ..model.mars_model import MarsModel

__all__ = ["Ranges"]

ROWS_OF_MEDIAN = 1000  # of 10,000 rows it would take a tenth of a fit
_NUMBERS = ("low", "high", "median", "mean")


@dataclass(frozen=True)
class ColumnRange:
    """One raw column at the training rows.

    Attributes
    ----------
    name : of the raw column.
    low, high, median, mean : of a column of numbers; of a date, days or seconds since 1970. The median is
        that of 1,000 to 2,000 rows where there are more of them.
    counts : rows of each level, in the order of the levels, of a column that is no number.
    """

    name: str
    low: float | None = None
    high: float | None = None
    median: float | None = None
    mean: float | None = None
    counts: tuple[int, ...] = ()

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        if self.low is None:
            return {"name": self.name, "counts": list(self.counts)}
        return {"name": self.name} | {name: getattr(self, name) for name in _NUMBERS}


@dataclass(frozen=True)
class Ranges:
    """The raw columns of a model's training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth
    >>> x = np.linspace(0, 1, 101)[:, None]
    >>> Earth(engine="native").fit(x, np.abs(x[:, 0] - 0.5)).model_.ranges["x"].high
    1.0
    """

    columns: tuple[ColumnRange, ...]

    def __getitem__(self, name: str) -> ColumnRange:
        return next(column for column in self.columns if column.name == name)

    @classmethod
    def learn(cls, columns: Sequence[Column], raw: Mapping[str, np.ndarray]) -> Ranges:
        """Of raw columns with their kinds and levels, and their values as `Columns.values` has them."""
        numbers = [c.name for c in columns if c.kind == "number"]
        found = {}
        if numbers:
            matrix = np.column_stack([raw[name] for name in numbers])
            for column, values in zip(
                cls.of_matrix(numbers, matrix).columns, matrix.T, strict=True
            ):
                if column.low != column.low:  # what is missing has no part in it
                    present = values[~np.isnan(values), None]
                    column = cls.of_matrix([column.name], present).columns[0]
                found[column.name] = column
        return cls(
            tuple(
                found.get(c.name) or ColumnRange(c.name, counts=_counts(raw[c.name], len(c.levels)))
                for c in columns
            )
        )

    @classmethod
    def of_matrix(cls, names: Sequence[str], values: np.ndarray) -> Ranges:
        """Of a matrix of numbers."""
        low, high = values.min(axis=0), values.max(axis=0)
        some = np.sort(values[:: max(1, len(values) // ROWS_OF_MEDIAN)], axis=0)
        n = len(some)
        with np.errstate(over="ignore"):  # the sum of numbers near 1e308 is infinite
            median = some[(n - 1) // 2] / 2 + some[n // 2] / 2
            mean = np.minimum(np.maximum(values.mean(axis=0), low), high)
        numbers = zip(*(v.tolist() for v in (low, high, median, mean)), strict=True)
        return cls(tuple(ColumnRange(n, *found) for n, found in zip(names, numbers, strict=True)))

    @classmethod
    def of_training(cls, model: MarsModel, data: Any) -> Ranges:
        """Of the rows that a model was fitted on, `data` being its `TrainingData`."""
        if model.formula is not None:
            frame = data.frame if data.subset is None else data.frame.iloc[data.subset]
            frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
            return cls.learn(model.formula.raw_columns.columns, model.formula.raw_values(frame))
        design = data.design
        if design.columns is not None:
            return cls.learn(design.columns.columns, design.raw)
        return cls.of_matrix(design.names, design.values)

    def outside(self, X: np.ndarray | pd.DataFrame) -> dict[str, np.ndarray]:
        """Rows of X, by the name of the column, in which a number is outside of its range.

        X is a frame, whose other columns do not count, or a matrix of these columns.
        """
        found = {}
        for position, column in enumerate(self.columns):
            values = _numbers_of(X, column, position)
            if values is not None:
                rows = np.flatnonzero((values < column.low) | (values > column.high))
                if len(rows):
                    found[column.name] = rows
        return found

    def clipped(self, X: np.ndarray | pd.DataFrame) -> np.ndarray | pd.DataFrame:
        """X with numbers outside of their ranges moved to the nearest end."""
        X = X.copy()
        for position, column in enumerate(self.columns):
            values = _numbers_of(X, column, position)
            if values is None:
                continue
            moved = np.clip(values, column.low, column.high)
            if isinstance(X, pd.DataFrame):
                X[column.name] = moved
            else:
                X[:, position] = moved
        return X

    def to_dict(self) -> list[dict]:
        """Plain values for JSON."""
        return [column.to_dict() for column in self.columns]

    @classmethod
    def from_dict(cls, entries: Any) -> Ranges:
        """Read `to_dict`'s result; anything else is refused."""
        if not isinstance(entries, list):
            raise InvalidInputError("ranges should be a list with one entry for each raw column")
        return cls(tuple(_read(entry) for entry in entries))

    def check(self, names: Sequence[str], kinds: Iterable[tuple[str, int]]) -> None:
        """Refuse what does not belong to raw columns of these names and kinds."""
        if tuple(column.name for column in self.columns) != tuple(names):
            raise InvalidInputError(
                "ranges should have an entry for each raw column, in their order"
            )
        for column, (kind, n_levels) in zip(self.columns, kinds, strict=True):
            wrong = (kind == "number") != (column.low is not None)
            if wrong or len(column.counts) != n_levels:
                raise InvalidInputError(f"ranges of column {column.name[:40]!r} has the wrong kind")


def _counts(codes: np.ndarray, n_levels: int) -> tuple[int, ...]:
    return tuple(np.bincount(codes.astype(int), minlength=n_levels).tolist())


def _numbers_of(
    X: np.ndarray | pd.DataFrame, column: ColumnRange, position: int
) -> np.ndarray | None:
    """A column as numbers where it is one; dates are left alone."""
    if column.low is None:
        return None
    if not isinstance(X, pd.DataFrame):
        return X[:, position]
    values = X[column.name] if column.name in X.columns else None
    if values is None or not pd.api.types.is_numeric_dtype(values.dtype):
        return None
    return values.to_numpy(dtype=float, na_value=np.nan)


def _read(entry: Any) -> ColumnRange:
    if not isinstance(entry, Mapping) or "name" not in entry:
        raise InvalidInputError("ranges holds an entry without a name")
    name = saved.read_text("ranges", entry["name"])
    if set(entry) == {"name", "counts"}:
        counts = saved.read_indices(f"ranges of {name[:40]!r}", entry["counts"]).tolist()
        if min(counts, default=0) < 0 or not counts:
            raise InvalidInputError(f"ranges of column {name[:40]!r} should hold counts")
        return ColumnRange(name, counts=tuple(counts))
    if set(entry) != {"name", *_NUMBERS}:
        raise InvalidInputError(
            f"ranges of column {name[:40]!r} should have either counts or low, high, median and mean"
        )
    low, high, median, mean = (saved.read_number("ranges", entry[key]) for key in _NUMBERS)
    if not (np.isfinite([low, high]).all() and low <= median <= high and low <= mean <= high):
        raise InvalidInputError(f"ranges of column {name[:40]!r} should be finite and in order")
    return ColumnRange(name, low, high, median, mean)
