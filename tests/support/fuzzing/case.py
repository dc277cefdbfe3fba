"""A problem for all engines: data, weights, rows, options, and a second pruning pass."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pyearthdof.mars.formula.learning import frame_of_formula, learn_formula

__all__ = ["Case"]

WORDS = ("options", "reprune", "classes", "formula")
FACTORS = re.compile(r"\b(cut|factor|as\.factor|ordered|as\.ordered|interaction)\(")


@dataclass(frozen=True, eq=False)
class Case:
    """Data and arguments by our names; what has earth's default is left out.

    Attributes
    ----------
    X : matrix, or a frame of numbers and categories
    y : (n,) or (n, m) numbers, or codes where there are `classes`
    weights, subset : None, or case weights and 0-based rows
    options : arguments of `Earth`
    reprune : arguments of `reprune`, which follows the fit unless it is empty
    classes : levels of y for `EarthClassifier`, empty for `Earth`
    formula : of the columns of X, the response is one of them; then y has nothing but its length
    """

    X: np.ndarray | pd.DataFrame
    y: np.ndarray
    weights: np.ndarray | None = None
    options: dict = field(default_factory=dict)
    subset: np.ndarray | None = None
    reprune: dict = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    formula: str = ""

    @property
    def X_new(self) -> np.ndarray | pd.DataFrame:
        """Rows to predict at: between the training rows, some of them outside."""
        if isinstance(self.X, np.ndarray):
            return _moved(self.X)
        if self.formula:
            return _shuffled(self.X, moves=not FACTORS.search(self.formula))
        new = self.X.iloc[::-1].reset_index(drop=True)
        for name in new.columns:
            if not isinstance(new[name].dtype, pd.CategoricalDtype):
                new[name] = _moved(self.X[name].to_numpy())
        return new

    @property
    def rows(self) -> np.ndarray:
        """The rows that are fitted."""
        return np.arange(len(self.y)) if self.subset is None else self.subset

    @property
    def r_options(self) -> dict:
        """The options, with the family that classes imply."""
        return self.options | ({"glm_family": "binomial"} if self.classes else {})

    @property
    def is_pairs(self) -> bool:
        """Whether y is successes and failures for earth: counts, some of them above one in a row."""
        if self.y.ndim != 2 or self.y.shape[1] != 2:
            return False
        counts = bool((self.y == self.y.round()).all() and self.y.min() >= 0)
        family = self.options.get("glm_family", "")
        return family.endswith("binomial") and counts and self.y.sum(axis=1).max() > 1

    @property
    def earth_y(self) -> np.ndarray:
        """The (n, m) responses that the terms are for: indicators of classes, shares of successes."""
        if self.formula:
            # knots concern the predictors alone
            learned = learn_formula(self.formula, frame_of_formula(self.X), lambda: False)
            Y = learned.responses.values.reshape(len(self.y), -1)
            return Y if learned.offset is None else Y - learned.offset[:, None]
        if self.is_pairs:
            return (self.y[:, 0] / np.maximum(self.y.sum(axis=1), 1))[:, None]
        if len(self.classes) > 2:
            return (self.y[:, None] == np.arange(len(self.classes))).astype(float)
        return self.y.reshape(len(self.y), -1)

    @property
    def earth_weights(self) -> np.ndarray | None:
        """The weights that they are found with: those of pairs count their trials."""
        if not self.is_pairs:
            return self.weights
        total = self.y.sum(axis=1)
        return total if self.weights is None else total * self.weights

    @property
    def needs_glm(self) -> bool:
        """Whether a generalised linear model is part of it."""
        return bool(self.classes) or "glm_family" in self.options

    def __repr__(self) -> str:
        """Python code that makes the case again, bit for bit."""
        parts = [_code(self.X), _code(self.y)]
        parts += [f"{n}={_code(getattr(self, n))}" for n in ("weights", "subset") if self.has(n)]
        parts += [f"{n}={getattr(self, n)!r}" for n in WORDS if self.has(n)]
        return f"Case({', '.join(parts)})"

    def has(self, name: str) -> bool:
        """Whether a part is there: given, and not empty."""
        value = getattr(self, name)
        return value is not None and len(value) > 0


def _moved(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        moved = values + 0.25 * (values - values[::-1])
    return np.where(np.isfinite(moved), moved, 0.0)


def _shuffled(frame: pd.DataFrame, moves: bool) -> pd.DataFrame:
    """Each column in an order of its own; with `moves` numbers lie between those there are, some outside."""
    rng = np.random.default_rng(len(frame))
    found = {}
    for name in frame.columns:
        column = frame[name].iloc[rng.permutation(len(frame))].reset_index(drop=True)
        if moves and column.dtype == np.float64:
            between = (column + column.iloc[::-1].to_numpy()) / 2
            column = between.where(rng.random(len(column)) > 0.1, 1.1 * column)
        found[name] = column
    return pd.DataFrame(found)


def _code(data) -> str:
    if isinstance(data, pd.DataFrame):
        columns = ", ".join(f"{name!r}: {_column_code(data[name])}" for name in data.columns)
        return f"pd.DataFrame({{{columns}}})"
    text = repr(data.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    return f"np.array({text})"


def _column_code(column: pd.Series) -> str:
    if column.dtype.kind == "M":
        return f"pd.to_datetime({[str(time) for time in column]!r})"
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return _code(column.to_numpy()) if column.dtype.kind == "f" else repr(column.tolist())
    codes, levels = column.cat.codes.tolist(), column.cat.categories.tolist()
    return f"pd.Categorical.from_codes({codes}, {levels!r}, ordered={column.cat.ordered})"
