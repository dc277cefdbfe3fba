"""Columns, terms and coefficients of an exported model, independent of the language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...exceptions import InvalidInputError
from ..data.columns import Column, Columns

TYPES = ("response", "link", "earth")


@dataclass(frozen=True)
class Feature:
    """A column used by terms, derived from the predictor at a position.

    `kind` is "number", the predictor itself, or `level` if missing; "level", the indicator of `level`;
    "contrast", the entry in the dictionary `level`; or "missing", the indicator of missing values.
    """

    predictor: int
    kind: str
    level: str | float | dict[str, float] | None

    def entries(self, levels: Sequence[str]) -> list[float]:
        """Values of the column at each level of its predictor; the level `None` is a missing value."""
        if self.kind == "missing":
            return [float(level is None) for level in levels]
        if isinstance(self.level, dict):
            return [float(self.level.get(level, 0.0)) for level in levels]
        return [float(level == self.level) for level in levels]


@dataclass(frozen=True)
class Inputs:
    """Columns of the data, columns of the terms, and the position of an offset column."""

    predictors: tuple[Column, ...]
    features: tuple[Feature, ...]
    offset: int | None = None

    def levels(self, predictor: int) -> list:
        """Levels of a predictor, followed by `None` if values may be missing."""
        column = self.predictors[predictor]
        return [*column.levels, *([] if column.fill is None or not column.levels else [None])]

    def columns(self, raw: Sequence, factor: Callable[[Any, Feature, Column], Any]) -> list:
        """Return the columns of the terms: predictors from `raw`, others rendered by `factor`."""
        return [
            raw[f.predictor]
            if f.kind == "number" and f.level is None
            else factor(raw[f.predictor], f, self.predictors[f.predictor])
            for f in self.features
        ]


def model_inputs(model) -> Inputs:
    """Return the input columns of an exported model.

    These are the raw columns if the terms use them directly or by level. If the formula transforms
    columns, as in log(x) or a:b, they are the columns of R's model matrix.
    """
    if model.formula is not None:
        return _of_formula(model)
    return _of_columns(model.columns) if model.columns is not None else _of_numbers(model)


def _of_numbers(model) -> Inputs:
    predictors = tuple(Column(name, "number") for name in model.feature_names)
    return Inputs(predictors, tuple(Feature(j, "number", None) for j in range(len(predictors))))


def _of_columns(columns: Columns) -> Inputs:
    position = {name: k for k, name in enumerate(columns.names)}
    features = tuple(Feature(position[s.raw], s.kind, s.level) for s in columns.sources)
    return Inputs(columns.columns, features)


def _of_formula(model) -> Inputs:
    from ..formula.expression import RawColumn

    formula = model.formula
    used = [formula.variables[v] for term in formula.terms for v, _ in term]
    added = None if formula.offset_variable is None else formula.variables[formula.offset_variable]
    is_plain = all(len(term) == 1 and term[0][1] == 1 for term in formula.terms) and all(
        isinstance(variable.expression, RawColumn) for variable in used
    )
    if added is not None and not (is_plain and isinstance(added.expression, RawColumn)):
        raise InvalidInputError(
            f"the formula {formula.text!r} computes with its columns and has an offset, which an "
            "export cannot write; its terms and its offset should be columns of the data"
        )
    if not is_plain:
        return _of_numbers(model)
    raw = {column.name: column for column in formula.raw_columns.columns}
    inputs = _of_columns(Columns(tuple(raw[v.expression.name] for v in used)))
    if added is None:
        return inputs
    column, predictors = raw[added.expression.name], inputs.predictors
    if column not in predictors:
        predictors = (*predictors, column)
    return Inputs(predictors, inputs.features, predictors.index(column))


def link_of(model, type: str) -> str:
    """Return the link between the linear predictor and predictions of a type."""
    return model.glm.link if model.glm is not None and type == "response" else "identity"


def coefficients(model, type: str, inputs: Inputs) -> list[np.ndarray]:
    """Return the coefficients of each response; an offset is an extra term with coefficient 1."""
    coef = model.coef if model.glm is None or type == "earth" else model.glm.coef
    coef = coef.reshape(len(coef), -1)
    if inputs.offset is not None:
        coef = np.vstack([coef, np.ones(coef.shape[1])])
    return list(coef.T)


def products(dirs, cuts, columns: Sequence, hinge: Callable[[Any, int, float], Any]) -> list[list]:
    """Return the factors of each term; `hinge` renders those that are not a plain column."""
    return [
        [
            columns[j] if row[j] == 2 else hinge(columns[j], int(row[j]), float(cut[j]))
            for j in np.flatnonzero(row).tolist()
        ]
        for row, cut in zip(dirs, cuts, strict=True)
    ]


def model_terms(model, inputs: Inputs, raw: Sequence, columns: Sequence, hinge) -> list[list]:
    """Return the factors of the selected terms and of the offset; `raw` are the rendered predictors."""
    selected = model.selected
    terms = products(model.dirs[selected], model.cuts[selected], columns, hinge)
    return terms if inputs.offset is None else [*terms, [raw[inputs.offset]]]


def summands(coef, terms, number=repr) -> list[str]:
    """Signed coefficients times factors as text, the intercept first."""
    parts = [number(float(coef[0]))]
    for value, factors in zip(coef[1:].tolist(), terms[1:], strict=True):
        sign, size = ("-", -value) if value < 0 else ("+", value)
        parts.append(" * ".join([f"{sign} {number(size)}", *factors]))
    return parts


def distance(column: str, direction: int, cut: float) -> str:
    """Return the argument of a hinge without consecutive minus signs, which start a comment in SQL."""
    if direction == -1:
        return f"{cut!r} - {column}"
    return f"{column} + {-cut!r}" if repr(cut).startswith("-") else f"{column} - {cut!r}"
