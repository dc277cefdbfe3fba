"""A model formula without R: the columns that R's model.matrix makes of a frame, computed in numpy.

R reads a formula and fits it (see formula.R). What is kept of it is here: its variables, such as log(x) or
a factor, each with what R learned from the training data (levels, knots, coefficients of polynomials), and
its terms, which are products of variables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from .. import saved
from ..design.columns import KINDS, Column, Columns, check_ordered, polynomial_contrasts
from ..design.kinds import column_names
from ..design.matrices import frame_of_mapping
from .dates import numbers_of_dates
from .expression import (
    Codes,
    Cut,
    Expression,
    Levels,
    RawColumn,
    dates_in,
    factors_in,
    read_expression,
)
from .terms import CONTRASTS, DUMMIES

__all__ = ["Formula", "Variable", "evaluate"]

MAX_COLUMNS = 100_000


@dataclass(frozen=True)
class Variable:
    """One variable of a formula.

    Attributes
    ----------
    label : R's text of it.
    kind : one of "number", "logical", "factor", "ordered".
    levels : of a factor, as text.
    expression : how it is computed.
    """

    label: str
    kind: str
    levels: tuple[str, ...]
    expression: Expression

    def width(self, coding: int) -> int:
        """Number of columns that it makes in a term."""
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
        """Plain values for JSON."""
        return {
            "label": self.label, "kind": self.kind, "levels": list(self.levels),
            "expression": self.expression.to_dict(),
        }  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """A formula as R understood it.

    Attributes
    ----------
    text : the formula.
    variables : what its terms, and its offset, are made of.
    terms : for each term the positions of its variables, each with its coding (1: a factor has no column
        for its first level, or polynomials if it is ordered; 2: it has one for each level).
    offset_variable : position of the variable that is added to the model, or None.

    Examples
    --------
    >>> import pandas as pd
    >>> from pyearthdof.mars.formula.model_matrix import Formula
    >>> log = {"call": "log", "args": [{"column": "x"}]}
    >>> formula = Formula.from_dict({
    ...     "text": "y ~ log(x)", "offset": None, "terms": [[[0, 1]]],
    ...     "variables": [{"label": "log(x)", "kind": "number", "levels": [], "expression": log}],
    ... })
    >>> formula.design(pd.DataFrame({"x": [1.0, 10.0]}))
    array([[0.        ],
           [2.30258509]])
    """

    text: str
    variables: tuple[Variable, ...]
    terms: tuple[tuple[tuple[int, int], ...], ...]
    offset_variable: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that a frame must have."""
        return self.raw_columns.names

    @cached_property
    def raw_columns(self) -> Columns:
        """These columns with their kinds and levels."""
        alone = {
            v.expression.name: v for v in self.variables if isinstance(v.expression, RawColumn)
        }
        names = dict.fromkeys(name for v in self.variables for name in v.expression.raw_names())
        inside = {codes.name: codes for v in self.variables for codes in factors_in(v.expression)}
        return Columns(
            tuple(_raw_column(name, alone.get(name), inside.get(name)) for name in names)
        )

    @cached_property
    def dates(self) -> dict[str, str]:
        """The columns that are dates, and what they are counted in."""
        return {date.name: date.unit for v in self.variables for date in dates_in(v.expression)}

    @property
    def n_columns(self) -> int:
        """Number of columns of `design`."""
        return sum(self.widths)

    @property
    def widths(self) -> list[int]:
        """Number of columns of each term."""
        return [
            math.prod(self.variables[v].width(coding) for v, coding in term) for term in self.terms
        ]

    @property
    def owners(self) -> tuple[frozenset[str], ...]:
        """The raw columns from which each column of `design` is made."""
        owners = []
        for term in self.terms:
            variables = [(self.variables[v], coding) for v, coding in term]
            names = frozenset(name for v, _ in variables for name in v.expression.raw_names())
            owners += [names] * math.prod(v.width(coding) for v, coding in variables)
        return tuple(owners)

    @property
    def has_offset(self) -> bool:
        """Whether something is added to the model."""
        return self.offset_variable is not None

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """The predictors of a frame: R's model.matrix without the intercept.

        A missing column, an unseen level and a value that is not finite are refused by name.
        """
        needed = sorted({v for term in self.terms for v, _ in term})
        return self.design_of(self._values(frame, needed))

    def design_of(self, values: Mapping[int, np.ndarray]) -> np.ndarray:
        """The predictors from the values of the variables."""
        blocks = {
            (v, coding): self.variables[v].columns(values[v], coding)
            for term in self.terms
            for v, coding in term
        }
        return np.column_stack([_product([blocks[key] for key in term]) for term in self.terms])

    def offset(self, frame: pd.DataFrame) -> np.ndarray | None:
        """What is added to the model at the rows of a frame, or None."""
        if self.offset_variable is None:
            return None
        return self._values(frame, [self.offset_variable])[self.offset_variable]

    def raw_values(self, frame: pd.DataFrame, names=None) -> dict[str, np.ndarray]:
        """Values of the raw columns, of all or those named: numbers, dates as such, codes of factors."""
        names = set(self.names) if names is None else names
        raw = Columns(tuple(c for c in self.raw_columns.columns if c.name in names))
        return raw.values(_with_numbers_for_dates(_checked_frame(frame, names), self.dates))

    def _values(self, frame: pd.DataFrame, needed) -> dict[int, np.ndarray]:
        """Values of variables; codes of factors."""
        names = {name for v in needed for name in self.variables[v].expression.raw_names()}
        found = self.raw_values(frame, names)
        found = {name: values.astype(float) for name, values in found.items()}
        n_rows = len(next(iter(found.values()))) if found else len(frame)
        return {v: evaluate(self.variables[v], found, n_rows) for v in needed}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "text": self.text,
            "variables": [variable.to_dict() for variable in self.variables],
            "terms": [[list(pair) for pair in term] for term in self.terms],
            "offset": self.offset_variable,
        }

    @classmethod
    def from_dict(cls, entries) -> Formula:
        """Read `to_dict`'s result. Safe for files from strangers: anything unexpected is refused."""
        if not isinstance(entries, Mapping) or set(entries) != {
            "text",
            "variables",
            "terms",
            "offset",
        }:
            raise InvalidInputError("formula should have exactly text, variables, terms and offset")
        text = saved.read_text("text of the formula", entries["text"])
        variables = tuple(_read_variable(v) for v in _read_list("variables", entries["variables"]))
        terms = tuple(_read_term(t, variables) for t in _read_list("terms", entries["terms"]))
        formula = cls(text, variables, terms, _read_offset(entries["offset"], variables))
        formula._check()
        return formula

    @classmethod
    def from_r(cls, found: Mapping[str, Any]) -> Formula:
        """Read what R's describe.formula tells; refused where the formula uses what is not known here."""
        terms = [
            [[int(v), int(column[v])] for v in np.flatnonzero(column)]
            for column in found["terms"].T
        ]
        offset = found["offset"]
        return cls.from_dict(
            {
                "text": found["text"][0],
                "variables": [_variable_from_r(v) for v in found["variables"]],
                "terms": terms,
                "offset": None if offset is None else int(offset[0]) - 1,
            }
        )

    def _check(self) -> None:
        if not self.terms or not 1 <= self.n_columns <= MAX_COLUMNS:
            raise InvalidInputError(
                f"the formula makes {self.n_columns} columns but it should make 1 to {MAX_COLUMNS}"
            )
        kinds = {column.name: column.kind for column in self.raw_columns.columns}
        for variable in self.variables:
            if isinstance(variable.expression, RawColumn):
                if kinds[variable.expression.name] != variable.kind:
                    raise InvalidInputError(f"the formula has {variable.label[:40]!r} as two kinds")
                continue
            coded = {codes.name: codes for codes in factors_in(variable.expression)}
            for name in variable.expression.raw_names():
                column = next(c for c in self.raw_columns.columns if c.name == name)
                if name in coded and coded[name].levels != column.levels:
                    raise InvalidInputError(f"the formula has {name[:40]!r} with different levels")
                if name not in coded and kinds[name] in ("factor", "ordered"):
                    raise InvalidInputError(
                        f"the formula computes {variable.label[:40]!r} from a factor"
                    )


def _raw_column(name: str, variable: Variable | None, codes: Codes | None) -> Column:
    """A column by itself has the kind of that variable; inside a function it is a number or its codes."""
    if variable is None and codes is not None:
        return Column(name, "ordered" if codes.ordered else "factor", codes.levels)
    if variable is None or variable.kind == "number":
        return Column(name, "number")
    if variable.kind == "logical":
        return Column(name, "logical", ("FALSE", "TRUE"))
    return Column(name, variable.kind, variable.levels)


def _checked_frame(frame, names) -> pd.DataFrame:
    if isinstance(frame, Mapping):
        frame, _ = frame_of_mapping(frame)
    if not isinstance(frame, pd.DataFrame):
        raise InvalidInputError(
            f"X is a {type(frame).__name__} but it should be a DataFrame with the formula's columns"
        )
    if isinstance(frame.columns, pd.MultiIndex):
        column_names("X", frame)
    labels = pd.Index([str(label) for label in frame.columns])
    twice = sorted(names & set(labels[labels.duplicated()]))
    if twice:
        raise InvalidInputError(f"X has two columns named {twice[0]!r}, but names should be unique")
    return frame.set_axis(labels, axis=1)


def _with_numbers_for_dates(frame: pd.DataFrame, dates: Mapping[str, str]) -> pd.DataFrame:
    found = {
        name: numbers_of_dates(frame[name], unit) for name, unit in dates.items() if name in frame
    }
    return frame.assign(**found) if found else frame


def evaluate(
    variable: Variable, raw: Mapping[str, np.ndarray], n_rows: int, called: str = "X"
) -> np.ndarray:
    """The values of a variable, codes of a factor, from those of the raw columns; all should be finite."""
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
        what = "no level that it knows" if variable.levels else "not a finite number"
        label = variable.label if len(variable.label) <= 60 else variable.label[:57] + "..."
        raise InvalidInputError(f"{label} is {what} in row {row} of {called}, where {used}")
    return values


def _product(blocks: list[np.ndarray]) -> np.ndarray:
    """All products of a column of each block; the first block's columns vary fastest."""
    product = blocks[0]
    for block in blocks[1:]:
        product = (block[:, :, None] * product[:, None, :]).reshape(
            len(block), block.shape[1] * product.shape[1]
        )
    return product


def _read_list(name: str, value) -> list:
    if not isinstance(value, list):
        raise InvalidInputError(f"{name} of the formula should be a list")
    return value


def _read_variable(entry) -> Variable:
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
    known = isinstance(expression, RawColumn) or _gives_codes(expression, len(levels))
    if (is_factor and not known) or (kind == "logical" and expression.n_columns != 1):
        raise InvalidInputError(f"{label[:40]!r} in the formula should be a single column")
    return Variable(label, kind, levels, expression)


def _gives_codes(expression: Expression, n_levels: int) -> bool:
    """Whether an expression computes codes of so many levels."""
    if isinstance(expression, Levels):
        return len(expression.values) == n_levels
    return isinstance(expression, Cut) and len(expression.breaks) - 1 == n_levels


def _read_term(entry, variables) -> tuple[tuple[int, int], ...]:
    pairs = []
    for pair in _read_list("a term", entry):
        values = saved.read_indices("a term of the formula", pair).tolist()
        if len(values) != 2 or not 0 <= values[0] < len(variables) or values[1] not in (1, 2):
            raise InvalidInputError(
                "a term of the formula should hold pairs of variable and coding"
            )
        pairs.append((values[0], values[1]))
    if not pairs or len({v for v, _ in pairs}) < len(pairs):
        raise InvalidInputError("a term of the formula should hold one variable or more, each once")
    return tuple(pairs)


def _read_offset(value, variables) -> int | None:
    if value is None:
        return None
    index = saved.read_integer("offset of the formula", value)
    if not 0 <= index < len(variables) or variables[index].kind != "number":
        raise InvalidInputError("offset of the formula should be the position of a number")
    if variables[index].expression.n_columns != 1:
        raise InvalidInputError("offset of the formula should be one column")
    return index


def _variable_from_r(found) -> dict:
    return {
        "label": found["label"][0],
        "kind": found["kind"][0],
        "levels": list(found["levels"] or ()),
        "expression": _expression_from_r(found["expression"]),
    }


def _expression_from_r(found) -> dict:
    """The entries of `read_expression` from R's, in which every value is a vector."""
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
    return entry
