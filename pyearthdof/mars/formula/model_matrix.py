"""Columns of R's model.matrix for a data frame, computed in numpy.

R reads and fits a formula (see formula.R). This module stores the result: its variables, such as log(x) or
a factor, each with R's values from the training data (levels, knots, coefficients of polynomials), and
its terms, which are products of variables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from .. import reading as saved
from ..data.columns import Column, Columns, named_frame, numbers_of_dates
from .expression import (
    Codes,
    RawColumn,
    Variable,
    dates_in,
    evaluate,
    factors_in,
    gaps_in,
    has_summary,
    read_list,
    read_offset,
    read_term,
    read_variable,
    variable_from_r,
)

MAX_COLUMNS = 100_000


@dataclass(frozen=True)
class Formula:
    """A formula as read by R.

    Each term consists of the positions of its variables and their coding. 1: a factor has no column for its
    first level, or polynomials if it is ordered; 2: it has one column for each level.
    """

    text: str
    variables: tuple[Variable, ...]  # variables of the terms and the offset
    terms: tuple[tuple[tuple[int, int], ...], ...]
    offset_variable: int | None = None  # position of the offset variable

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that a frame must have."""
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
        """The date columns with their units."""
        return {date.name: date.unit for v in self.variables for date in dates_in(v.expression)}

    @cached_property
    def gaps(self) -> frozenset[str]:
        """The columns whose missing values is.na or na.rm handles."""
        found = {name for v in self.variables for name in gaps_in(v.expression)}
        alone = {v.expression.name for v in self.variables if isinstance(v.expression, RawColumn)}
        return frozenset(found - alone)

    @property
    def summarised(self) -> str | None:
        """Return a variable that uses a summary of a column, such as its mean, or None."""
        return next((v.label for v in self.variables if has_summary(v.expression)), None)

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
        """Return the raw columns of each column of `design`."""
        owners = []
        for term in self.terms:
            variables = [(self.variables[v], coding) for v, coding in term]
            names = frozenset(name for v, _ in variables for name in v.expression.raw_names())
            owners += [names] * math.prod(v.width(coding) for v, coding in variables)
        return tuple(owners)

    def plain_columns(self) -> list[str]:
        """Return the numeric columns that are separate terms and appear nowhere else."""
        counts = Counter(name for v in self.variables for name in v.expression.raw_names())
        alone = {term[0][0] for term in self.terms if len(term) == 1}
        others = {v for term in self.terms if len(term) > 1 for v, _ in term}
        return [
            v.expression.name
            for k, v in enumerate(self.variables)
            if isinstance(v.expression, RawColumn)
            and v.kind == "number"
            and counts[v.expression.name] == 1
            and k in alone - others - {self.offset_variable}
        ]

    @property
    def has_offset(self) -> bool:
        """True if the formula has an offset."""
        return self.offset_variable is not None

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the predictors of a frame: R's model.matrix without the intercept.

        A missing column, an unseen level and a non-finite value are refused by name.
        """
        needed = sorted({v for term in self.terms for v, _ in term})
        return self.design_of(self._values(frame, needed))

    def design_of(self, values: Mapping[int, np.ndarray]) -> np.ndarray:
        """Return the predictors from the values of the variables."""
        blocks = {
            (v, coding): self.variables[v].columns(values[v], coding)
            for term in self.terms
            for v, coding in term
        }
        return np.column_stack([_product([blocks[key] for key in term]) for term in self.terms])

    def offset(self, frame: pd.DataFrame) -> np.ndarray | None:
        """Return the offset of the model at the rows of a frame, or None."""
        if self.offset_variable is None:
            return None
        return self._values(frame, [self.offset_variable])[self.offset_variable]

    def raw_values(self, frame: pd.DataFrame, names=None) -> dict[str, np.ndarray]:
        """Return values of all or the named raw columns: numbers, dates unchanged, codes of factors."""
        names = set(self.names) if names is None else names
        raw = Columns(tuple(c for c in self.raw_columns.columns if c.name in names))
        frame = _with_numbers_for_dates(_checked_frame(frame, names), self.dates)
        return raw.values(frame, gaps=self.gaps)

    def _values(self, frame: pd.DataFrame, needed) -> dict[int, np.ndarray]:
        """Return values of variables; codes of factors."""
        names = {name for v in needed for name in self.variables[v].expression.raw_names()}
        found = self.raw_values(frame, names)
        found = {name: values.astype(float) for name, values in found.items()}
        n_rows = len(next(iter(found.values()))) if found else len(frame)
        return {v: evaluate(self.variables[v], found, n_rows) for v in needed}

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "variables": [variable.to_dict() for variable in self.variables],
            "terms": [[list(pair) for pair in term] for term in self.terms],
            "offset": self.offset_variable,
        }

    @classmethod
    def from_dict(cls, entries) -> Formula:
        """Read the result of `to_dict`. Safe for untrusted files: anything unexpected is refused."""
        if not isinstance(entries, Mapping) or set(entries) != {
            "text",
            "variables",
            "terms",
            "offset",
        }:
            raise InvalidInputError("formula should have exactly text, variables, terms and offset")
        text = saved.read_text("text of the formula", entries["text"])
        variables = tuple(read_variable(v) for v in read_list("variables", entries["variables"]))
        terms = tuple(read_term(t, variables) for t in read_list("terms", entries["terms"]))
        formula = cls(text, variables, terms, read_offset(entries["offset"], variables))
        formula._check()
        return formula

    @classmethod
    def from_r(cls, found: Mapping[str, Any]) -> Formula:
        """Read the result of R's describe.formula; reject formulas with unsupported functions."""
        terms = [
            [[int(v), int(column[v])] for v in np.flatnonzero(column)]
            for column in found["terms"].T
        ]
        offset = found["offset"]
        return cls.from_dict(
            {
                "text": found["text"][0],
                "variables": [variable_from_r(v) for v in found["variables"]],
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
    """Check that a plain column has the variable's kind; inside a function it is a number or its codes."""
    if variable is None and codes is not None:
        return Column(name, "ordered" if codes.ordered else "factor", codes.levels)
    if variable is None or variable.kind == "number":
        return Column(name, "number")
    if variable.kind == "logical":
        return Column(name, "logical", ("FALSE", "TRUE"))
    return Column(name, variable.kind, variable.levels)


def _checked_frame(frame, names) -> pd.DataFrame:
    frame, texts, _ = named_frame(frame, "X", "a pandas DataFrame with the formula's columns")
    labels = pd.Index(texts)
    twice = sorted(names & set(labels[labels.duplicated()]))
    if twice:
        raise InvalidInputError(f"X has two columns named {twice[0]!r}, but names should be unique")
    return frame.set_axis(labels, axis=1)


def _with_numbers_for_dates(frame: pd.DataFrame, dates: Mapping[str, str]) -> pd.DataFrame:
    found = {
        name: numbers_of_dates(frame[name], unit) for name, unit in dates.items() if name in frame
    }
    return frame.assign(**found) if found else frame


def _product(blocks: list[np.ndarray]) -> np.ndarray:
    """Return all products of a column of each block; the first block's columns vary fastest."""
    product = blocks[0]
    for block in blocks[1:]:
        product = (block[:, :, None] * product[:, None, :]).reshape(
            len(block), block.shape[1] * product.shape[1]
        )
    return product
