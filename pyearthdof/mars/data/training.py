"""Training data of a fit, and the column ranges stored in a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from .. import reading as saved
from .columns import Column
from .design import (
    Design,
    Responses,
    check_design,
    check_responses,
    check_subset,
    check_weights,
    taken,
)

if TYPE_CHECKING:
    from ..formula.model_matrix import Formula

ROWS_OF_MEDIAN = 1000  # the median of 10,000 rows would take a tenth of the time of a fit
_NUMBERS = ("low", "high", "median", "mean")


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Predictors, responses and case weights of all rows, and 0-based indices of the rows to fit on.

    The predictors are not copied: `is_unchanged` detects changes in place. Engines receive both all rows and
    the subset, because earth checks the weights of all rows before subsetting.
    """

    all_design: Design
    all_responses: Responses
    all_weights: np.ndarray | None = None
    subset: np.ndarray | None = None
    all_offset: np.ndarray | None = (
        None  # offset of a formula, subtracted before the terms are fitted
    )
    formula: Formula | None = field(default=None, init=False)  # converted the frame to the design
    warnings: tuple[str, ...] = field(
        default=(), init=False
    )  # R's warnings from building the design
    moments: np.ndarray = field(init=False, repr=False)
    # the rows to fit on
    design: Design = field(init=False, repr=False)
    responses: Responses = field(init=False, repr=False)
    training_weights: np.ndarray | None = field(init=False, repr=False)
    offset: np.ndarray | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        design, responses, subset = self.all_design, self.all_responses, self.subset
        vars(self).update(
            moments=_moments(design.values),
            design=design if subset is None else design.rows(subset),
            responses=responses if subset is None else responses.rows(subset),
            training_weights=taken(self.all_weights, subset),
            offset=taken(self.all_offset, subset),
        )

    def case_weights(self, n_responses: int) -> np.ndarray | None:
        """Weights of the rows to fit on, times the number of trials for successes and failures."""
        weights, responses = self.training_weights, self.responses.matrix
        if responses.shape[1] == n_responses:
            return weights
        numbers = responses.sum(axis=1)
        return numbers if weights is None else numbers * weights

    def ranges(self) -> Ranges:
        """Ranges of the raw columns in the rows to fit on."""
        design = self.design
        if design.columns is None or design.raw is None:
            return Ranges.of_matrix(design.names, design.values)
        return Ranges.learn(design.columns.columns, design.raw)

    def of_subset(self) -> TrainingData:
        """Return the data restricted to the rows to fit on."""
        if self.subset is None:
            return self
        return replace(
            self,
            all_design=self.design,
            all_responses=self.responses,
            all_weights=self.training_weights,
            subset=None,
            all_offset=self.offset,
        )

    def with_formula(self, text: str) -> TrainingData:
        """Return the same data with another formula."""
        raise InvalidInputError("formula is given but the model was fitted without a formula")

    def is_unchanged(self) -> bool:
        """Return True if the predictors have not changed since the fit."""
        now = _moments(self.all_design.values)
        return np.array_equal(now, self.moments)


def training_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, subset: Any = None
) -> TrainingData:
    """Return validated training data; sets `n_features_in_` and `feature_names_in_` of the estimator."""
    design = check_design(estimator, X)
    n = len(design.values)
    responses = check_responses(estimator, y, n, factors=True)
    return TrainingData(design, responses, check_weights(sample_weight, n), check_subset(subset, n))


def _moments(X: np.ndarray) -> np.ndarray:
    """Return a checksum of each column that depends on all values and their order."""
    # odd factors, so that the change of a single value is always detected
    odd = np.arange(1, 2 * len(X), 2, dtype=np.uint64)
    return np.einsum("i,ij->j", odd, X.view(np.uint64))


def response_levels(responses: Responses, y: Any = None) -> np.ndarray | None:
    """R's levels of the response: of a factor, of booleans, or of two numbers that differ by 1."""
    if responses.classes is not None:
        if responses.classes == ("FALSE", "TRUE"):
            return np.array([False, True])
        return np.array(responses.classes, dtype=object)
    if responses.values.ndim > 1:
        return None
    if y is not None and np.asarray(y).dtype == bool:
        return np.array([False, True])
    ends = np.array([responses.values.min(), responses.values.max()])
    return ends if ends[1] - ends[0] == 1 else None


@dataclass(frozen=True)
class ColumnRange:
    """Range of a raw column in the training rows; dates are in days or seconds since 1970."""

    name: str
    low: float | None = None
    high: float | None = None
    median: float | None = None  # from 1,000 to 2,000 rows if there are more
    mean: float | None = None
    counts: tuple[int, ...] = ()  # number of rows of each level, for non-numeric columns

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        if self.low is None:
            return {"name": self.name, "counts": list(self.counts)}
        return {"name": self.name} | {name: getattr(self, name) for name in _NUMBERS}


@dataclass(frozen=True)
class Ranges:
    """Ranges of the raw columns in the training rows of a model."""

    columns: tuple[ColumnRange, ...]

    def __getitem__(self, name: str) -> ColumnRange:
        return next(column for column in self.columns if column.name == name)

    @classmethod
    def learn(cls, columns: Sequence[Column], raw: Mapping[str, np.ndarray]) -> Ranges:
        """Compute the ranges of raw columns from their values, in the form of `Columns.values`."""
        numbers = [c.name for c in columns if c.kind == "number"]
        found = {}
        if numbers:
            matrix = np.column_stack([raw[name] for name in numbers])
            for column, values in zip(
                cls.of_matrix(numbers, matrix).columns, matrix.T, strict=True
            ):
                if column.low != column.low:  # missing values are ignored
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
        """Compute the ranges of a numeric matrix."""
        low, high = np.minimum.reduce(values), np.maximum.reduce(values)
        some = np.sort(values[:: max(1, len(values) // ROWS_OF_MEDIAN)], axis=0)
        n = len(some)
        with np.errstate(over="ignore"):  # sums of numbers near 1e308 overflow
            median = some[(n - 1) // 2] / 2 + some[n // 2] / 2
            mean = np.minimum(np.maximum(np.add.reduce(values) / len(values), low), high)
        numbers = zip(*(v.tolist() for v in (low, high, median, mean)), strict=True)
        return cls(tuple(ColumnRange(n, *found) for n, found in zip(names, numbers, strict=True)))

    def outside(self, X: np.ndarray | pd.DataFrame) -> dict[str, np.ndarray]:
        """Rows of X with a number outside its range, by column name.

        X is a frame, whose other columns are ignored, or a matrix of these columns.
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
        """X with numbers outside their ranges moved to the nearest limit."""
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
        """Read the result of `to_dict`; reject anything else."""
        if not isinstance(entries, list):
            raise InvalidInputError("ranges should be a list with one entry for each raw column")
        return cls(tuple(_read(entry) for entry in entries))

    def check(self, names: Sequence[str], kinds: Iterable[tuple[str, int]]) -> None:
        """Reject ranges that do not match raw columns of these names and kinds."""
        if tuple(column.name for column in self.columns) != tuple(names):
            raise InvalidInputError(
                "ranges should have an entry for each raw column, in their order"
            )
        for column, (kind, n_levels) in zip(self.columns, kinds, strict=True):
            wrong = (kind == "number") != (column.low is not None)
            if wrong or len(column.counts) != n_levels:
                raise InvalidInputError(f"ranges of column {column.name[:40]!r} has the wrong kind")


def _counts(codes: np.ndarray, n_levels: int) -> tuple[int, ...]:
    return tuple(np.bincount(codes[codes >= 0].astype(int), minlength=n_levels).tolist())


def _numbers_of(
    X: np.ndarray | pd.DataFrame, column: ColumnRange, position: int
) -> np.ndarray | None:
    """Return a numeric column as numbers; None for others, such as dates."""
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
        raise InvalidInputError("ranges contains an entry without a name")
    name = saved.read_text("ranges", entry["name"])
    if set(entry) == {"name", "counts"}:
        counts = saved.read_indices(f"ranges of {name[:40]!r}", entry["counts"]).tolist()
        if min(counts, default=0) < 0 or not counts:
            raise InvalidInputError(f"ranges of column {name[:40]!r} should contain counts")
        return ColumnRange(name, counts=tuple(counts))
    if set(entry) != {"name", *_NUMBERS}:
        raise InvalidInputError(
            f"ranges of column {name[:40]!r} should have either counts or low, high, median and mean"
        )
    low, high, median, mean = (saved.read_number("ranges", entry[key]) for key in _NUMBERS)
    if not (np.isfinite([low, high]).all() and low <= median <= high and low <= mean <= high):
        raise InvalidInputError(f"ranges of column {name[:40]!r} should be finite and in order")
    return ColumnRange(name, low, high, median, mean)
