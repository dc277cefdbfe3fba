"""The variables of a formula as trees that numpy evaluates: columns, numbers, and the known functions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .functions import FUNCTIONS, SUMMARIES, cut_codes, polynomials, quantiles
from .splines import b_splines, natural_splines

__all__ = [
    "Call",
    "Codes",
    "Cut",
    "DateColumn",
    "Expression",
    "Levels",
    "Number",
    "Poly",
    "RawColumn",
    "Scaled",
    "Spline",
    "Summary",
    "dates_in",
    "factors_in",
    "gaps_in",
    "has_summary",
]


class _Named:
    """What is a column of the frame."""

    name: str
    n_columns = 1

    def raw_names(self) -> Iterator[str]:
        yield self.name

    def evaluate(self, values: Mapping[str, np.ndarray]):
        return values[self.name]


class _OfOne:
    """What is computed from one expression."""

    arg: Expression

    def raw_names(self) -> Iterator[str]:
        yield from self.arg.raw_names()


class _OfSeveral:
    """What is computed from several expressions."""

    args: tuple[Expression, ...]

    def raw_names(self) -> Iterator[str]:
        for argument in self.args:
            yield from argument.raw_names()


@dataclass(frozen=True)
class RawColumn(_Named):
    """A column of the frame."""

    name: str

    def to_dict(self) -> dict:
        return {"column": self.name}


@dataclass(frozen=True)
class DateColumn(_Named):
    """A column of dates, as days or seconds since 1970."""

    name: str
    unit: str

    def to_dict(self) -> dict:
        return {"date": self.name, "unit": self.unit}


@dataclass(frozen=True)
class Codes(_Named):
    """The 0-based codes of a column that is a factor."""

    name: str
    levels: tuple[str, ...]
    ordered: bool = False

    def to_dict(self) -> dict:
        return {"codes": self.name, "levels": list(self.levels), "ordered": self.ordered}


@dataclass(frozen=True)
class Number:
    """A number of the formula's text."""

    value: float
    n_columns = 1

    def raw_names(self) -> Iterator[str]:
        yield from ()

    def evaluate(self, values: Mapping[str, np.ndarray]):
        return self.value

    def to_dict(self) -> dict:
        return {"number": self.value}


@dataclass(frozen=True)
class Call(_OfSeveral):
    """One of FUNCTIONS and its arguments."""

    function: str
    args: tuple[Expression, ...]

    @property
    def n_columns(self) -> int:
        return len(self.args) if self.function == "cbind" else 1

    def evaluate(self, values: Mapping[str, np.ndarray]):
        function, _ = FUNCTIONS[self.function]
        return function(*(argument.evaluate(values) for argument in self.args))

    def to_dict(self) -> dict:
        return {"call": self.function, "args": [a.to_dict() for a in self.args]}


@dataclass(frozen=True)
class Summary(_OfSeveral):
    """One number of whole columns, such as a mean: that of the rows at hand, as in R.

    `dropped` says whether missing values are left out; `shares` are those of quantiles.
    """

    function: str
    args: tuple[Expression, ...]
    dropped: bool
    shares: tuple[float, ...] = ()
    n_columns = 1

    def evaluate(self, values: Mapping[str, np.ndarray]):
        sample = np.concatenate([np.ravel(argument.evaluate(values)) for argument in self.args])
        is_missing = np.isnan(sample)
        if self.dropped:
            sample = sample[~is_missing]
        elif is_missing.any():
            return np.nan
        if len(sample) == 0:
            return np.nan
        if self.function == "quantile":
            found = quantiles(sample, np.array(self.shares))
            return found if len(found) > 1 else float(found[0])
        return float(SUMMARIES[self.function](sample))

    def to_dict(self) -> dict:
        return {
            "call": self.function, "args": [a.to_dict() for a in self.args], "dropped": self.dropped,
            "shares": list(self.shares),
        }  # fmt: skip


@dataclass(frozen=True)
class Poly(_OfSeveral):
    """Polynomials of one or several variables; without alpha and norm2 plain powers."""

    args: tuple[Expression, ...]
    degree: int
    alpha: tuple[tuple[float, ...], ...] | None
    norm2: tuple[tuple[float, ...], ...] | None

    @property
    def n_columns(self) -> int:
        return math.comb(len(self.args) + self.degree, self.degree) - 1

    def evaluate(self, values: Mapping[str, np.ndarray]):
        arguments = [np.asarray(argument.evaluate(values)) for argument in self.args]
        return polynomials(arguments, self.degree, self.alpha, self.norm2)

    def to_dict(self) -> dict:
        return {
            "call": "poly", "args": [a.to_dict() for a in self.args], "degree": self.degree,
            "alpha": _lists(self.alpha), "norm2": _lists(self.norm2),
        }  # fmt: skip


@dataclass(frozen=True)
class Spline(_OfOne):
    """bs or ns of a variable, with the knots of the fit."""

    function: str
    arg: Expression
    knots: tuple[float, ...]
    boundary: tuple[float, float]
    degree: int
    intercept: bool

    @property
    def n_columns(self) -> int:
        return len(self.knots) + (self.degree if self.function == "bs" else 1) + self.intercept

    def evaluate(self, values: Mapping[str, np.ndarray]):
        x = np.asarray(self.arg.evaluate(values))
        if self.function == "bs":
            return b_splines(x, self.knots, self.boundary, self.degree, self.intercept)
        return natural_splines(x, self.knots, self.boundary, self.intercept)

    def to_dict(self) -> dict:
        return {
            "call": self.function, "args": [self.arg.to_dict()], "knots": list(self.knots),
            "boundary": list(self.boundary), "degree": self.degree, "intercept": self.intercept,
        }  # fmt: skip


@dataclass(frozen=True)
class Scaled(_OfSeveral):
    """Columns less their centres, divided by their scales; 0 and 1 where they are not."""

    args: tuple[Expression, ...]
    center: tuple[float, ...]
    scale: tuple[float, ...]

    @property
    def n_columns(self) -> int:
        return len(self.args)

    def evaluate(self, values: Mapping[str, np.ndarray]):
        parts = [np.asarray(argument.evaluate(values)) for argument in self.args]
        columns = np.stack(np.broadcast_arrays(*parts), axis=-1)
        scaled = (columns - np.array(self.center)) / np.array(self.scale)
        return scaled[..., 0] if len(self.args) == 1 else scaled

    def to_dict(self) -> dict:
        return {
            "call": "scale", "args": [a.to_dict() for a in self.args], "center": list(self.center),
            "scale": list(self.scale),
        }  # fmt: skip


@dataclass(frozen=True)
class Levels(_OfOne):
    """factor: the 0-based position of a value in `values`, all of which it knows."""

    arg: Expression
    values: tuple[float, ...]
    n_columns = 1

    def evaluate(self, values: Mapping[str, np.ndarray]):
        found = np.asarray(self.arg.evaluate(values), dtype=float)
        order = np.argsort(self.values, kind="stable")
        known = np.array(self.values)[order]
        place = np.minimum(np.searchsorted(known, found), len(known) - 1)
        return np.where(known[place] == found, order[place].astype(float), np.nan)

    def to_dict(self) -> dict:
        return {"call": "factor", "args": [self.arg.to_dict()], "values": list(self.values)}


@dataclass(frozen=True)
class Cut(_OfOne):
    """cut: the 0-based number of the interval that holds a value."""

    arg: Expression
    breaks: tuple[float, ...]
    right: bool
    lowest: bool
    n_columns = 1

    def evaluate(self, values: Mapping[str, np.ndarray]):
        x = np.asarray(self.arg.evaluate(values), dtype=float)
        return cut_codes(x, np.array(self.breaks), self.right, self.lowest)

    def to_dict(self) -> dict:
        return {
            "call": "cut", "args": [self.arg.to_dict()], "breaks": list(self.breaks),
            "right": self.right, "lowest": self.lowest,
        }  # fmt: skip


Expression = (
    RawColumn | DateColumn | Codes | Number | Call | Summary | Poly | Spline | Scaled | Levels | Cut
)


def factors_in(expression: Expression) -> Iterator[Codes]:
    """The columns inside of an expression that are factors."""
    return _pieces(expression, Codes)


def dates_in(expression: Expression) -> Iterator[DateColumn]:
    """The columns of an expression that are dates."""
    return _pieces(expression, DateColumn)


def gaps_in(expression: Expression) -> Iterator[str]:
    """The columns of an expression whose missing values it deals with."""
    for call in _pieces(expression, Call):
        if call.function == "is.na":
            yield from call.raw_names()
    for summary in _pieces(expression, Summary):
        if summary.dropped:
            yield from summary.raw_names()


def has_summary(expression: Expression) -> bool:
    """Whether its values depend on other rows than their own."""
    return any(True for _ in _pieces(expression, Summary))


def _pieces(expression: Expression, kind: type) -> Iterator:
    if isinstance(expression, kind):
        yield expression
    if isinstance(expression, _OfSeveral):
        for argument in expression.args:
            yield from _pieces(argument, kind)
    if isinstance(expression, _OfOne):
        yield from _pieces(expression.arg, kind)


def _lists(rows):
    return None if rows is None else [list(row) for row in rows]
