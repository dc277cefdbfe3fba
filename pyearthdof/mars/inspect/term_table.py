"""A model as a tidy table: a row for each factor of each term, with its knot."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..._utils.checks import refusal
from ..export.inputs import TYPES
from .summary import coef_matrix

__all__ = ["term_table"]

COLUMNS: dict[str, type] = {
    "term": object, "number": int, "response": object, "coef": float, "degree": int, "predictor": object,
    "column": object, "level": object, "shape": object, "knot": float,
}  # fmt: skip
SHAPES = {2: "linear", 1: "above", -1: "below"}


def term_table(model, *, type: str = "response") -> pd.DataFrame:
    """Terms, knots and coefficients of a model, one row for each factor of each selected term.

    Parameters
    ----------
    model : MarsModel
    type : {"response", "link", "earth"}
        Coefficients of the generalised linear model where there is one ("response" and "link"), or of the
        least-squares fit ("earth").

    Returns
    -------
    DataFrame
        `term` is R's name of the term, `number` its position, from 0, `degree` its number of factors, and
        `coef` its coefficient for `response`. Of the factor: `predictor` is the expanded column, `column` the
        raw one, `level` the level of which it is the indicator, `shape` one of "linear", "above", which is
        max(0, x - knot), and "below", max(0, knot - x); the intercept has the shape "constant" and no
        predictor.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth
    >>> from pyearthdof.mars.inspect.term_table import term_table
    >>> x = np.linspace(0, 1, 101)[:, None]
    >>> model = Earth(engine="native", nk=3).fit(x, np.maximum(0, x[:, 0] - 0.5)).model_
    >>> term_table(model)[["term", "predictor", "shape", "knot"]]
              term predictor     shape  knot
    0  (Intercept)      None  constant   NaN
    1    h(x-0.52)         x     above  0.52
    2    h(0.52-x)         x     below  0.52
    """
    if type not in TYPES:
        raise refusal("type", type, f"one of {', '.join(TYPES)}")
    coef = coef_matrix(model.coef if model.glm is None or type == "earth" else model.glm.coef)
    levels = _levels(model)
    rows = [
        (name, number, response, column[number], *factor)
        for response, column in zip(model.response_names, coef.T.tolist(), strict=True)
        for number, name in enumerate(model.selected_names)
        for factor in _factors(model, model.selected[number], levels)
    ]
    values = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    return pd.DataFrame({n: pd.Series(v, dtype=COLUMNS[n]) for n, v in values.items()})


def _factors(model, term: int, levels) -> list[tuple]:
    row, cuts = model.dirs[term], model.cuts[term]
    used = np.flatnonzero(row)
    if not len(used):
        return [(0, None, None, None, "constant", np.nan)]
    return [
        (
            len(used),
            model.feature_names[j],
            ", ".join(name for name in model.raw_names if name in model.owners[j]),
            levels[j],
            SHAPES[int(row[j])],
            np.nan if row[j] == 2 else float(cuts[j]),
        )
        for j in used
    ]


def _levels(model) -> list[str | None]:
    """The level of which each predictor is the indicator, where it is one."""
    if model.columns is None:
        return [None] * len(model.feature_names)
    return [s.level if s.kind == "level" else None for s in model.columns.sources]
