"""What an exported model is computed from: the columns of the data, and how they enter the terms."""

from __future__ import annotations

from dataclasses import dataclass

from ...exceptions import InvalidInputError
from ..data.columns import Column, Columns

__all__ = ["Feature", "Inputs", "model_inputs"]


@dataclass(frozen=True)
class Feature:
    """A column that terms use, made of the predictor at a position.

    `kind` is "number", the predictor itself; "level", 1 where it is `level`; or "contrast", its entry in
    the dictionary `level`.
    """

    predictor: int
    kind: str
    level: str | dict[str, float] | None


@dataclass(frozen=True)
class Inputs:
    """The columns of the data, the columns of the terms, and the position of a column that is added."""

    predictors: tuple[Column, ...]
    features: tuple[Feature, ...]
    offset: int | None = None

    def predictor(self, feature: Feature) -> Column:
        """The column of the data that a feature is made of."""
        return self.predictors[feature.predictor]


def model_inputs(model) -> Inputs:
    """Find the columns that an export of a model takes.

    These are the raw columns wherever the terms use them as they are, or by level. A formula that
    computes with them, as log(x) or a:b do, leaves the columns of R's model matrix.
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
    return inputs if added is None else _with_offset(inputs, raw[added.expression.name])


def _with_offset(inputs: Inputs, column: Column) -> Inputs:
    predictors = inputs.predictors
    if column not in predictors:
        predictors = (*predictors, column)
    return Inputs(predictors, inputs.features, predictors.index(column))
