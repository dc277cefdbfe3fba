"""One variable of a formula: an expression with its kind and levels, and its columns in a term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...exceptions import InvalidInputError
from ..data.columns import polynomial_contrasts
from .expression import Expression
from .terms import CONTRASTS, DUMMIES

__all__ = ["Variable", "evaluate"]


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
