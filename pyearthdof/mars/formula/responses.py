"""The left side of a formula: responses as numbers, with the names that earth gives them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..design.classes import indicator_columns, indicator_names
from .deparse import label_of, quoted
from .expression import DateColumn
from .names import generated_names
from .syntax import Node
from .tokens import refuse
from .variables import LearnedVariable, Learner

__all__ = ["ResponseSide", "learn_responses"]


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
    learned = learner.variable(left if sides is None else sides[0])
    variable, label = learned.variable, label_of(left if sides is None else sides[0])
    _refuse_dates(learned)
    if variable.levels:
        return ResponseSide(
            indicator_columns(learned.values, len(variable.levels)),
            indicator_names(variable.levels),
            variable.levels,
        )
    values = np.asarray(learned.values, dtype=float)
    width = 1 if values.ndim == 1 else values.shape[1]
    names = generated_names(learned.given_names, label, "y", width)
    if len(set(names)) < len(names):
        refuse(f"it has two responses named {next(n for n in names if names.count(n) > 1)[:60]!r}")
    levels = ("FALSE", "TRUE") if variable.kind == "logical" else None
    return ResponseSide(
        values[:, 0] if width == 1 and values.ndim == 2 else values, tuple(names), levels
    )


def _summed(learned: list[LearnedVariable]) -> ResponseSide:
    """earth makes a data frame of them, whose columns keep their names."""
    blocks, names = [], []
    for one in learned:
        _refuse_dates(one)
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
