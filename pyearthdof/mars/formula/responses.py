"""The left side of a formula: responses as numbers, with the names that earth gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..data.classes import (
    check_classes,
    class_names,
    indicator_columns,
    indicator_names,
    learn_classes,
)
from .deparse import label_of, quoted
from .expression import DateColumn
from .integers import is_integer
from .names import generated_names
from .syntax import Constant, FunctionCall, Name, Node, call
from .tokens import refuse
from .variables import LearnedVariable, Learner, check_contrasts

__all__ = ["ResponseSide", "factor_of_classes", "learn_responses"]


@dataclass(frozen=True, eq=False)
class ResponseSide:
    """Values, (n,) or (n, m), their names, and the levels where it is one factor."""

    values: np.ndarray
    names: tuple[str, ...]
    levels: tuple[str, ...] | None = None


def learn_responses(left: Node, sides: list[Node] | None, learner: Learner) -> ResponseSide:
    """The responses of y, cbind(y, z) or y + z; a factor of three levels or more becomes indicators."""
    if sides is not None and len(sides) > 1:
        return _summed([learner.variable(side) for side in sides])
    node = left if sides is None else sides[0]
    learned = learner.variable(node)
    variable, label = learned.variable, label_of(node, integers=True)
    _refuse_dates(learned)
    check_contrasts(f"the response {label}", variable)
    if variable.levels:
        return ResponseSide(
            indicator_columns(learned.values, len(variable.levels)),
            indicator_names(variable.levels),
            variable.levels,
        )
    values = np.asarray(learned.values, dtype=float)
    width = 1 if values.ndim == 1 else values.shape[1]
    given = learned.given_names if width > 1 else None  # R names a single one by the formula
    names = generated_names(given, label, "y", width)
    if is_integer(node, learner.kinds):
        names = [quoted(name) for name in names]
    if len(set(names)) < len(names):
        refuse(f"it has two responses named {next(n for n in names if names.count(n) > 1)[:60]!r}")
    levels = ("FALSE", "TRUE") if variable.kind == "logical" else None
    return ResponseSide(
        values[:, 0] if width == 1 and values.ndim == 2 else values, tuple(names), levels
    )


def factor_of_classes(
    left: Node, learner: Learner, columns: Mapping[str, pd.Series], order
) -> tuple[np.ndarray, Node]:
    """The classes of the left side in their order, and the left side as a factor with these levels."""
    learned = learner.variable(left)
    variable, values = learned.variable, np.asarray(learned.values)
    if isinstance(left, Name) and left.text in columns:
        y = columns[left.text]
    elif variable.levels:
        y = pd.Series(pd.Categorical.from_codes(values.astype(int), variable.levels))
    else:
        y = pd.Series(values != 0 if variable.kind == "logical" else values.ravel())
    if isinstance(variable.expression, DateColumn) or len(y) != learner.n_rows:
        refuse(f"the response {label_of(left)[:60]} should be one column of classes")
    classes, codes = learn_classes(y, learner.n_rows, order)
    check_classes(classes, codes)
    if variable.levels:
        levels = [Constant(name, name) for name in class_names(classes)]
    elif variable.kind == "logical":
        levels = [Constant(bool(value), str(bool(value)).upper()) for value in classes]
    else:
        levels = [Constant(float(value), repr(float(value))) for value in classes]
    arguments = ((None, left), ("levels", call("c", *levels)))
    return classes, FunctionCall(Name("factor"), arguments)


def _summed(learned: list[LearnedVariable]) -> ResponseSide:
    """earth makes a data frame of them, whose columns keep their names."""
    blocks, names = [], []
    for one in learned:
        _refuse_dates(one)
        check_contrasts(f"the response {one.variable.label}", one.variable)
        levels, name = one.variable.levels, quoted(one.variable.label)
        if len(levels) > 2:
            blocks.append(indicator_columns(one.values, len(levels)))
            names += [name + level for level in levels]
        else:
            blocks.append(one.values)
            names.append(name)
    return ResponseSide(np.column_stack(blocks), tuple(names))


def _refuse_dates(learned: LearnedVariable) -> None:
    if isinstance(learned.variable.expression, DateColumn):
        refuse(f"the response {learned.variable.label} is a date")
