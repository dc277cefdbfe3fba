"""The names that R's model.matrix gives its columns."""

from __future__ import annotations

from ..data.columns import power_name
from .terms import DUMMIES

__all__ = ["column_labels", "generated_names"]

LONG_PREFIX, LONGEST_NAME = 30, 60


def column_labels(factors) -> list[str]:
    """Names of a term's columns, from its variables with their codings; the first one's vary fastest."""
    names = [""]
    for k, (learned, coding) in enumerate(factors):
        own = _labels(learned, coding)
        names = own if k == 0 else [f"{first}:{second}" for second in own for first in names]
    return names


def _labels(learned, coding: int) -> list[str]:
    variable, label = learned.variable, learned.shown
    if variable.kind == "number":
        if variable.expression.n_columns == 1:
            return [label]
        return [label + suffix for suffix in learned.suffixes]
    levels = ("FALSE", "TRUE") if variable.kind == "logical" else variable.levels
    if coding == DUMMIES:
        return [label + level for level in levels]
    if variable.kind == "ordered":
        return [label + power_name(k) for k in range(len(levels) - 1)]
    return [label + level for level in levels[1:]]


def generated_names(
    given: list[str] | None, prefix: str, alternative: str, width: int
) -> list[str]:
    """earth's names of responses: those that are given, and for others a prefix with a number.

    >>> generated_names(["", "b"], "cbind(log(a), b)", "y", 2)
    ['cbind(log(a), b)1', 'b']
    """
    if len(prefix) > LONG_PREFIX and any(mark in prefix for mark in "([,"):
        prefix = alternative
    prefix = prefix[:LONGEST_NAME]
    made = [prefix] if width == 1 else [f"{prefix}{k + 1}" for k in range(width)]
    return made if given is None else [name or own for name, own in zip(given, made, strict=True)]
