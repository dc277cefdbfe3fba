"""Expression trees of formula variables, evaluated by numpy, and their reader for saved files.

Files may come from untrusted sources: anything unexpected is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...exceptions import InvalidInputError
from .. import reading as saved
from ..data.columns import KINDS, UNITS, check_ordered, polynomial_contrasts
from .functions import (
    FUNCTIONS,
    SUMMARIES,
    b_splines,
    cut_codes,
    natural_splines,
    polynomials,
    quantiles,
)
from .terms import CONTRASTS, DUMMIES


class _Named:
    """A column of the frame."""

    name: str
    n_columns = 1

    def raw_names(self) -> Iterator[str]:
        yield self.name

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        return values[self.name]


@dataclass(frozen=True)
class _Computed:
    """A function of expressions; further fields have the same names in JSON."""

    function: str
    args: tuple[Expression, ...]

    @property
    def n_columns(self) -> int:
        return 1

    def raw_names(self) -> Iterator[str]:
        for argument in self.args:
            yield from argument.raw_names()

    def values_of_args(self, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        return [np.asarray(argument.evaluate(values), dtype=float) for argument in self.args]

    @classmethod
    def own_fields(cls) -> list[str]:
        """Return the fields other than the function and its arguments."""
        return [f.name for f in fields(cls)][2:]

    def wrong(self) -> str:
        """Return the end of an error message about inconsistent fields, or an empty string."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        entries = {"call": self.function, "args": [argument.to_dict() for argument in self.args]}
        return entries | {name: _listed(getattr(self, name)) for name in self.own_fields()}


def _listed(value: Any) -> Any:
    return [_listed(part) for part in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class RawColumn(_Named):
    """A column of the frame."""

    name: str

    def to_dict(self) -> dict[str, Any]:
        return {"column": self.name}


@dataclass(frozen=True)
class DateColumn(_Named):
    """A column of dates, as days or seconds since 1970."""

    name: str
    unit: str

    def to_dict(self) -> dict[str, Any]:
        return {"date": self.name, "unit": self.unit}


@dataclass(frozen=True)
class Codes(_Named):
    """The 0-based codes of a column that is a factor."""

    name: str
    levels: tuple[str, ...]
    ordered: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"codes": self.name, "levels": list(self.levels), "ordered": self.ordered}


@dataclass(frozen=True)
class Number:
    """A number in the formula's text."""

    value: float
    n_columns = 1

    def raw_names(self) -> Iterator[str]:
        yield from ()

    def evaluate(self, values: Mapping[str, np.ndarray]) -> float:
        return self.value

    def to_dict(self) -> dict[str, Any]:
        return {"number": self.value}


@dataclass(frozen=True)
class Call(_Computed):
    """One of FUNCTIONS and its arguments."""

    @property
    def n_columns(self) -> int:
        return len(self.args) if self.function == "cbind" else 1

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        function, _ = FUNCTIONS[self.function]
        return function(*(argument.evaluate(values) for argument in self.args))


@dataclass(frozen=True)
class Summary(_Computed):
    """A summary of whole columns, such as a mean, computed from the current rows as in R.

    `dropped` states whether missing values are left out; `shares` are the probabilities of quantiles.
    """

    dropped: bool
    shares: tuple[float, ...] = ()

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray | float:
        sample = np.concatenate([np.ravel(argument) for argument in self.values_of_args(values)])
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

    def wrong(self) -> str:
        wanted = 1 if self.function == "quantile" else 0
        is_share = all(0 <= share <= 1 for share in self.shares)
        return "" if len(self.shares) == wanted and is_share else "has the wrong shares"


@dataclass(frozen=True)
class Poly(_Computed):
    """Polynomials of one or several variables; plain powers without alpha and norm2."""

    degree: int
    alpha: tuple[tuple[float, ...], ...] | None
    norm2: tuple[tuple[float, ...], ...] | None

    @property
    def n_columns(self) -> int:
        return math.comb(len(self.args) + self.degree, self.degree) - 1

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        return polynomials(self.values_of_args(values), self.degree, self.alpha, self.norm2)

    def wrong(self) -> str:
        n = len(self.args)
        if not 1 <= self.degree <= MAX_DEGREE:
            return f"has degree {self.degree} but it should be 1 to {MAX_DEGREE}"
        if n > 1 and (self.degree + 1.0) ** min(n, 20) > MAX_EXPONENTS:
            return "has too many columns"
        if self.alpha is None or self.norm2 is None:
            return "" if self.alpha is self.norm2 else "has only one of alpha and norm2"
        alpha, norm2 = np.array(self.alpha), np.array(self.norm2)
        has_shape = alpha.shape == (n, self.degree) and norm2.shape == (n, self.degree + 2)
        small = (np.abs(alpha) <= LARGEST).all() and ((norm2 > 0) & (norm2 <= LARGEST)).all()
        if not (has_shape and small):
            return f"has the wrong alpha or norm2, or numbers larger than {LARGEST:g}"
        return ""


@dataclass(frozen=True)
class Spline(_Computed):
    """bs or ns of a variable, with the knots of the fit."""

    knots: tuple[float, ...]
    boundary: tuple[float, float]
    degree: int
    intercept: bool

    @property
    def n_columns(self) -> int:
        return len(self.knots) + (self.degree if self.function == "bs" else 1) + self.intercept

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        (x,) = self.values_of_args(values)
        if self.function == "bs":
            return b_splines(x, self.knots, self.boundary, self.degree, self.intercept)
        return natural_splines(x, self.knots, self.boundary, self.intercept)

    def wrong(self) -> str:
        if len(self.args) != 1 or len(self.boundary) != 2:
            return "should have one variable and two ends"
        if self.degree not in (range(3, 4) if self.function == "ns" else range(1, MAX_DEGREE + 1)):
            return f"has degree {self.degree}, which it does not take"
        if len(self.knots) > MAX_KNOTS:
            return f"has {len(self.knots)} knots but it should have at most {MAX_KNOTS}"
        ascend = (np.diff(self.knots) >= 0).all() and self.boundary[0] < self.boundary[1]
        if not ascend or not np.isfinite((*self.boundary, *self.knots)).all():
            return "should have finite, ascending knots and ends"
        return ""


@dataclass(frozen=True)
class Scaled(_Computed):
    """Columns minus their centres, divided by their scales; 0 and 1 if not centred or scaled."""

    center: tuple[float, ...]
    scale: tuple[float, ...]

    @property
    def n_columns(self) -> int:
        return len(self.args)

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        columns = np.stack(np.broadcast_arrays(*self.values_of_args(values)), axis=-1)
        scaled = (columns - np.array(self.center)) / np.array(self.scale)
        return scaled[..., 0] if len(self.args) == 1 else scaled

    def wrong(self) -> str:
        sizes = len(self.center) == len(self.scale) == len(self.args)
        is_fine = np.isfinite((*self.center, *self.scale)).all() and all(self.scale)
        return "" if sizes and is_fine else "has the wrong center or scale"


@dataclass(frozen=True)
class Levels(_Computed):
    """factor: the 0-based position of a value in `values`, its permitted values."""

    values: tuple[float, ...]

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        (found,) = self.values_of_args(values)
        order = np.argsort(self.values, kind="stable")
        known = np.array(self.values)[order]
        place = np.minimum(np.searchsorted(known, found), len(known) - 1)
        return np.where(known[place] == found, order[place].astype(float), np.nan)

    def wrong(self) -> str:
        values = self.values
        n_values = 1 <= len(values) <= MAX_LEVELS and len(set(values)) == len(values)
        if len(self.args) != 1 or not n_values or not np.isfinite(values).all():
            return "should have one variable and distinct, finite values"
        return ""


@dataclass(frozen=True)
class Cut(_Computed):
    """cut: the 0-based number of the interval of a value."""

    breaks: tuple[float, ...]
    right: bool
    lowest: bool

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        (x,) = self.values_of_args(values)
        return cut_codes(x, np.array(self.breaks), self.right, self.lowest)

    def wrong(self) -> str:
        is_fine = 2 <= len(self.breaks) <= MAX_LEVELS and (np.diff(self.breaks) > 0).all()
        wrong = len(self.args) != 1 or not is_fine
        return "should have one variable and ascending breaks" if wrong else ""


@dataclass(frozen=True)
class LevelNumbers(_Computed):
    """as.numeric(as.character(x)): the number that is the text of a code's level."""

    values: tuple[float, ...]

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        (codes,) = self.values_of_args(values)
        known = (codes >= 0) & (codes < len(self.values))
        return np.where(known, np.array(self.values)[np.where(known, codes, 0).astype(int)], np.nan)

    def wrong(self) -> str:
        is_fine = 1 <= len(self.values) <= MAX_LEVELS and np.isfinite(self.values).all()
        return "" if len(self.args) == 1 and is_fine else "should have one factor and finite values"


Expression = (
    RawColumn | DateColumn | Codes | Number | Call | Summary | Poly | Spline | Scaled | Levels | Cut
    | LevelNumbers
)  # fmt: skip


def factors_in(expression: Expression) -> Iterator[Codes]:
    """Return the factor columns inside an expression."""
    return _pieces(expression, Codes)


def dates_in(expression: Expression) -> Iterator[DateColumn]:
    """Return the date columns of an expression."""
    return _pieces(expression, DateColumn)


def gaps_in(expression: Expression) -> Iterator[str]:
    """Yield the columns whose missing values the expression handles."""
    for call in _pieces(expression, Call):
        if call.function == "is.na":
            yield from call.raw_names()
    for summary in _pieces(expression, Summary):
        if summary.dropped:
            yield from summary.raw_names()


def has_summary(expression: Expression) -> bool:
    """Return True if its values depend on other rows."""
    return any(True for _ in _pieces(expression, Summary))


def _pieces(expression: Expression, kind: type) -> Iterator:
    if isinstance(expression, kind):
        yield expression
    if isinstance(expression, _Computed):
        for argument in expression.args:
            yield from _pieces(argument, kind)


@dataclass(frozen=True)
class Variable:
    """One variable of a formula."""

    label: str  # R's text of the variable
    kind: str
    levels: tuple[str, ...]  # of a factor, as text
    expression: Expression

    def width(self, coding: int) -> int:
        """Number of its columns in a term."""
        if self.kind == "number":
            return self.expression.n_columns
        n_levels = 2 if self.kind == "logical" else len(self.levels)
        return n_levels if coding == DUMMIES else n_levels - 1

    def columns(self, values: np.ndarray, coding: int) -> np.ndarray:
        """Its columns in a term: (n, width)."""
        if self.kind == "number":
            return values.reshape(len(values), self.expression.n_columns)
        codes = (values != 0).astype(int) if self.kind == "logical" else values.astype(int)
        n_levels = 2 if self.kind == "logical" else len(self.levels)
        if self.kind == "ordered" and coding == CONTRASTS:
            return polynomial_contrasts(n_levels)[codes]
        first = 0 if coding == DUMMIES else 1
        return (codes[:, None] == np.arange(first, n_levels)).astype(float)

    def to_dict(self) -> dict:
        return {
            "label": self.label, "kind": self.kind, "levels": list(self.levels),
            "expression": self.expression.to_dict(),
        }  # fmt: skip


def evaluate(
    variable: Variable, raw: Mapping[str, np.ndarray], n_rows: int, called: str = "X"
) -> np.ndarray:
    """Return the finite values of a variable, or codes of a factor, from the raw columns."""
    with np.errstate(all="ignore"):
        values = np.asarray(variable.expression.evaluate(raw), dtype=float)
    width = variable.expression.n_columns
    values = np.broadcast_to(
        values, (n_rows,) if width == 1 and values.ndim < 2 else (n_rows, width)
    )
    finite = np.isfinite(values) if values.ndim == 1 else np.isfinite(values).all(axis=1)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        used = ", ".join(
            f"{name}={raw[name][row]:g}" for name in dict.fromkeys(variable.expression.raw_names())
        )
        what = "not one of its levels" if variable.levels else "not a finite number"
        label = variable.label if len(variable.label) <= 60 else variable.label[:57] + "..."
        raise InvalidInputError(f"{label} is {what} in row {row} of {called}, where {used}")
    return values


# R's guard has lower limits: nested calls, degrees, exponents of poly of several variables.
MAX_DEPTH, MAX_DEGREE, MAX_EXPONENTS = 120, 50, 1e5
MAX_KNOTS = MAX_ARGUMENTS = 1000
MAX_LEVELS = 100_000  # levels of factor and cut
LARGEST = 1e150  # larger coefficients of polynomials overflow


def read_list(name: str, value) -> list:
    """Return a list, or raise an error with its name."""
    if not isinstance(value, list):
        raise InvalidInputError(f"{name} of the formula should be a list")
    return value


def read_variable(entry) -> Variable:
    """Read the dictionary of `Variable.to_dict`."""
    if not isinstance(entry, Mapping) or set(entry) != {"label", "kind", "levels", "expression"}:
        raise InvalidInputError(
            "a variable of the formula should have label, kind, levels, expression"
        )
    label = saved.read_text("a label of the formula", entry["label"])
    levels = saved.read_texts("levels of the formula", entry["levels"])
    expression, kind = read_expression(entry["expression"]), entry["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInputError(f"{label[:40]!r} in the formula has an unknown kind")
    is_factor = kind in ("factor", "ordered")
    if (len(levels) >= 2) != is_factor or (levels and not is_factor):
        raise InvalidInputError(f"{label[:40]!r} in the formula has the wrong number of levels")
    check_ordered(f"{label[:40]!r} in the formula", kind, levels)
    if len(set(levels)) < len(levels):
        raise InvalidInputError(f"the levels of {label[:40]!r} in the formula should be different")
    known = (
        isinstance(expression, RawColumn)
        or (isinstance(expression, Levels) and len(expression.values) == len(levels))
        or (isinstance(expression, Cut) and len(expression.breaks) - 1 == len(levels))
    )
    if (is_factor and not known) or (kind == "logical" and expression.n_columns != 1):
        raise InvalidInputError(f"{label[:40]!r} in the formula should be a single column")
    return Variable(label, kind, levels, expression)


def read_term(entry, variables) -> tuple[tuple[int, int], ...]:
    """Return a term: pairs of the position of a variable and its coding."""
    pairs = []
    for pair in read_list("a term", entry):
        values = saved.read_indices("a term of the formula", pair).tolist()
        if len(values) != 2 or not 0 <= values[0] < len(variables) or values[1] not in (1, 2):
            raise InvalidInputError(
                "a term of the formula should contain pairs of variable and coding"
            )
        pairs.append((values[0], values[1]))
    if not pairs or len({v for v, _ in pairs}) < len(pairs):
        raise InvalidInputError(
            "a term of the formula should contain one variable or more, each once"
        )
    return tuple(pairs)


def read_offset(value, variables) -> int | None:
    """Return the position of the variable that is the offset, or None."""
    if value is None:
        return None
    index = saved.read_integer("offset of the formula", value)
    if not 0 <= index < len(variables) or variables[index].kind != "number":
        raise InvalidInputError("offset of the formula should be the position of a number")
    if variables[index].expression.n_columns != 1:
        raise InvalidInputError("offset of the formula should be one column")
    return index


def variable_from_r(found) -> dict:
    """Convert R's entries, in which every value is a vector, to those of `read_variable`."""
    return {
        "label": found["label"][0],
        "kind": found["kind"][0],
        "levels": list(found["levels"] or ()),
        "expression": _expression_from_r(found["expression"]),
    }


def _expression_from_r(found) -> dict:
    if "column" in found:
        return {"column": found["column"][0]}
    if "number" in found:
        return {"number": float(found["number"][0])}
    entry = {"call": found["call"][0], "args": [_expression_from_r(a) for a in found["args"]]}
    if entry["call"] == "poly":
        coefficients = {k: found[k].tolist() if k in found else None for k in ("alpha", "norm2")}
        return entry | {"degree": int(found["degree"][0])} | coefficients
    if entry["call"] in ("bs", "ns"):
        entry |= {k: found[k].tolist() for k in ("knots", "boundary")}
        entry |= {"degree": int(found["degree"][0]), "intercept": found["intercept"]}
    if "dropped" in found:
        entry |= {"dropped": found["dropped"], "shares": found["shares"].tolist()}
    return entry


def read_expression(entry, depth: int = 1) -> Expression:
    """Read an expression from the result of `to_dict`; refuse anything else."""
    if not isinstance(entry, Mapping):
        raise InvalidInputError("an expression of the formula should be a mapping")
    if depth > MAX_DEPTH:
        raise InvalidInputError("an expression of the formula is nested too deeply")
    if set(entry) == {"column"}:
        return RawColumn(saved.read_text("a column of the formula", entry["column"]))
    if set(entry) == {"number"}:
        return Number(saved.read_number("a number of the formula", entry["number"]))
    if set(entry) == {"date", "unit"}:
        return _read_date(entry)
    if set(entry) == {"codes", "levels", "ordered"}:
        return _read_codes(entry)
    function = entry.get("call")
    kind = COMPUTED.get(function) if isinstance(function, str) else None
    if kind is not None and (depth == 1 or kind in (Levels, Cut, LevelNumbers, Summary)):
        return _read_computed(kind, entry, depth)
    if not isinstance(function, str) or function not in FUNCTIONS or set(entry) != {"call", "args"}:
        raise InvalidInputError(f"the formula uses {str(function)[:40]!r}, which is not supported")
    if function == "cbind" and depth > 1:
        raise InvalidInputError("the formula uses cbind inside another function")
    args = _read_arguments(entry, depth)
    if len(args) not in FUNCTIONS[function][1]:
        raise InvalidInputError(f"the formula gives {function} {len(args)} argument(s)")
    if function == "round" and not all(isinstance(digits, Number) for digits in args[1:]):
        raise InvalidInputError("the formula rounds to digits that are not a number")
    return Call(function, args)


def _read_date(entry) -> DateColumn:
    unit = entry["unit"]
    if not isinstance(unit, str) or unit not in UNITS:
        raise InvalidInputError(f"a date of the formula is counted in {str(unit)[:40]!r}")
    return DateColumn(saved.read_text("a column of the formula", entry["date"]), unit)


def _read_codes(entry) -> Codes:
    name = saved.read_text("a column of the formula", entry["codes"])
    levels = saved.read_texts("levels of the formula", entry["levels"])
    if not levels or len(set(levels)) < len(levels) or not isinstance(entry["ordered"], bool):
        raise InvalidInputError(f"the factor {name[:40]!r} in the formula has the wrong levels")
    return Codes(name, levels, entry["ordered"])


def _read_arguments(entry, depth: int) -> tuple[Expression, ...]:
    args = entry["args"]
    if not isinstance(args, list) or not 1 <= len(args) <= MAX_ARGUMENTS:
        raise InvalidInputError(
            f"a function in the formula should have a list of 1 to {MAX_ARGUMENTS} arguments"
        )
    return tuple(read_expression(argument, depth + 1) for argument in args)


def _read_computed(kind: Any, entry, depth: int):
    """Return an expression of one of COMPUTED, with a value for each field of its class."""
    function, names = entry["call"], kind.own_fields()
    if set(entry) != {"call", "args", *names}:
        raise InvalidInputError(
            f"{function} in the formula should have {', '.join(sorted(('call', 'args', *names)))}"
        )
    args = _read_arguments(entry, depth)
    if kind is not Summary and not all(any(True for _ in arg.raw_names()) for arg in args):
        raise InvalidInputError(f"{function} in the formula has an argument without a column")
    where = f"of {function} in the formula"
    values = {name: READERS[name](f"{name} {where}", entry[name]) for name in names}
    found = kind(function, args, **values)
    if wrong := found.wrong():
        raise InvalidInputError(f"{function} in the formula {wrong}")
    return found


def _numbers(name: str, value) -> tuple[float, ...]:
    return tuple(saved.read_vector(name, value).tolist())


def _rows(name: str, value) -> tuple[tuple[float, ...], ...] | None:
    return None if value is None else tuple(map(tuple, saved.read_matrix(name, value).tolist()))


COMPUTED: dict[str, Any] = {
    "factor": Levels, "cut": Cut, "level.numbers": LevelNumbers, "scale": Scaled, "poly": Poly,
    "bs": Spline, "ns": Spline,
} | dict.fromkeys((*SUMMARIES, "quantile"), Summary)  # fmt: skip
READERS: dict[str, Callable[[str, Any], Any]] = (
    dict.fromkeys(("dropped", "right", "lowest", "intercept"), saved.read_flag)
    | dict.fromkeys(
        ("shares", "values", "breaks", "center", "scale", "knots", "boundary"), _numbers
    )
    | {"degree": saved.read_integer, "alpha": _rows, "norm2": _rows}
)
