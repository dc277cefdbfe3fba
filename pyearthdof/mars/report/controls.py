"""What a page is explored with: a control for each column of the data, and how terms are made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from ..components.variance import ON_PREDICTORS
from ..data.columns import Columns, dates_of_numbers
from ..export.inputs import Inputs, model_inputs
from ..export.series import NORMAL_SCALE, normal_series

__all__ = ["Control", "Controls"]

ROWS = 500  # at which a formula is looked at to learn the range of its columns


@dataclass(frozen=True)
class Control:
    """One column of the data.

    Attributes
    ----------
    name, levels : of the column; no levels where it is a number.
    low, high : of a number at the training rows.
    start : a number, or the position of a level.
    is_used : whether a prediction depends on it.
    is_known : whether the range is that of the training rows.
    """

    name: str
    levels: tuple[str, ...]
    low: float
    high: float
    start: float
    is_used: bool
    is_known: bool = True

    def grid(self, n: int) -> np.ndarray:
        """Where an effect is drawn."""
        if self.levels:
            return np.arange(len(self.levels), dtype=float)
        return np.linspace(self.low, self.high, n)

    def shown(self, value: float) -> str:
        """A value as text."""
        return self.levels[int(value)] if self.levels else f"{value:.4g}"


@dataclass(frozen=True)
class Controls:
    """The controls of a model. A row is an array with a number for each: a value, or a level's position."""

    model: object
    inputs: Inputs
    controls: tuple[Control, ...]

    @classmethod
    def of(cls, model) -> Controls:
        """Made of a `MarsModel` alone; InvalidInputError where its formula cannot be taken apart."""
        inputs = model_inputs(model)
        used = _used_predictors(model, inputs)
        computed = _ranges_of_formula(model, inputs)
        each = [
            _control(model, inputs, k, k in used, computed) for k in range(len(inputs.predictors))
        ]
        return cls(model, inputs, tuple(each))

    @property
    def start(self) -> np.ndarray:
        """The row at which a page starts."""
        return np.array([control.start for control in self.controls])

    @property
    def used(self) -> list[int]:
        """Positions of the controls that matter."""
        return [k for k, control in enumerate(self.controls) if control.is_used]

    def with_data(self, X: pd.DataFrame) -> Controls:
        """Ranges of these rows where those of the training rows are not known."""
        found = []
        for control in self.controls:
            if not control.is_known and control.name in X.columns:
                values = np.asarray(X[control.name], dtype=float)
                control = replace(
                    control,
                    low=float(values.min()),
                    high=float(values.max()),
                    start=_round(
                        float(np.median(values)), float(values.min()), float(values.max())
                    ),
                )
            found.append(control)
        return replace(self, controls=tuple(found))

    def design(self, rows: np.ndarray) -> np.ndarray:
        """The columns of the terms at rows."""
        columns = []
        for entries, predictor in zip(self._entries(), self._positions(), strict=True):
            values = rows[:, predictor]
            columns.append(
                values if entries is None else np.asarray(entries)[values.round().astype(int)]
            )
        return np.column_stack(columns)

    def offset(self, rows: np.ndarray) -> np.ndarray | None:
        """What a formula adds."""
        return None if self.inputs.offset is None else rows[:, self.inputs.offset]

    def rows(self, X: pd.DataFrame) -> np.ndarray:
        """Rows of a frame; what the model refuses is refused."""
        values = Columns(self.inputs.predictors).values(X)
        return np.column_stack([values[c.name].astype(float) for c in self.controls])

    def to_dict(self) -> dict:
        """What the page's script is told."""
        top = (6 - NORMAL_SCALE) / (6 + NORMAL_SCALE)
        glm = self.model.glm  # type: ignore[attr-defined]
        is_probit = glm is not None and glm.link == "probit"
        return {
            "predictors": [
                {
                    "name": c.name,
                    "levels": list(c.levels),
                    "low": c.low,
                    "high": c.high,
                    "start": c.start,
                    "used": c.is_used,
                    "known": c.is_known,
                }
                for c in self.controls
            ],
            "features": [
                {"predictor": predictor, "entries": entries}
                for predictor, entries in zip(self._positions(), self._entries(), strict=True)
            ],
            "offset": self.inputs.offset,
            "normal": {
                "series": list(normal_series()),
                "scale": NORMAL_SCALE,
                "stretch": 2 / (top + 1),
            }
            if is_probit
            else None,
        }

    def _positions(self) -> list[int]:
        return [feature.predictor for feature in self.inputs.features]

    def _entries(self) -> list[list[float] | None]:
        """For each column of the terms its value at each level; None for a number."""
        found: list[list[float] | None] = []
        for feature in self.inputs.features:
            levels = self.controls[feature.predictor].levels
            if feature.kind == "number":
                found.append(None)
            elif isinstance(feature.level, dict):
                found.append([float(feature.level[level]) for level in levels])
            else:
                found.append([float(level == feature.level) for level in levels])
        return found


def _used_predictors(model, inputs: Inputs) -> set[int]:
    used = np.any(model.dirs[model.selected] != 0, axis=0)
    if model.varmod is not None and model.varmod.method in ON_PREDICTORS:
        used = used | np.any(model.varmod.dirs != 0, axis=0)
    found = {inputs.features[j].predictor for j in np.flatnonzero(used)}
    return found if inputs.offset is None else found | {inputs.offset}


def _control(model, inputs: Inputs, k: int, is_used: bool, computed) -> Control:
    predictor = inputs.predictors[k]
    known = None
    if model.ranges is not None and predictor.name in model.raw_names:
        known = model.ranges[predictor.name]
    levels = predictor.levels
    if levels:
        most = int(np.argmax(known.counts)) if known is not None and known.counts else 0
        return Control(predictor.name, levels, 0.0, len(levels) - 1.0, float(most), is_used)
    if predictor.name in computed:
        low, start, high = computed[predictor.name]
        start = _round(start, low, high)
        return Control(predictor.name, (), low, high, start, is_used, is_known=False)
    if known is not None and known.low is not None:
        start = _round(known.median, known.low, known.high)
        return Control(predictor.name, (), known.low, known.high, start, is_used)
    low, high = _around_knots(model, inputs, k)
    start = _round((low + high) / 2, low, high)
    return Control(predictor.name, (), low, high, start, is_used, is_known=False)


def _round(value: float, low: float, high: float) -> float:
    """As many digits as tell a thousandth of the range, so that the page shows no others."""
    if not high > low or not math.isfinite(high - low):
        return value
    return min(max(round(value, 3 - math.floor(math.log10(high - low))), low), high)


def _around_knots(model, inputs: Inputs, k: int) -> tuple[float, float]:
    """For files without ranges: the knots, and as much again."""
    cuts = [
        float(model.cuts[t, j])
        for j, feature in enumerate(inputs.features)
        if feature.predictor == k
        for t in range(len(model.dirs))
        if model.dirs[t, j] in (-1, 1)
    ] or [0.0]
    room = (max(cuts) - min(cuts)) / 2 or max(1.0, abs(cuts[0]))
    return min(cuts) - room, max(cuts) + room


def _ranges_of_formula(model, inputs: Inputs) -> dict[str, tuple[float, float, float]]:
    """Low, middle and high of the columns that a formula computes, at rows all over the raw ranges."""
    names = [p.name for p in inputs.predictors]
    is_computed = model.formula is not None and names == list(model.feature_names)
    if not is_computed or model.ranges is None or set(names) <= set(model.raw_names):
        return {}
    try:
        with np.errstate(all="ignore"):
            design = model.design(_rows_of_ranges(model))
    except InvalidInputError:  # somewhere in the ranges the formula is not defined
        return {}
    found = {}
    for name, values in zip(names, design.T, strict=True):
        finite = values[np.isfinite(values)]
        if len(finite):
            start = values[0] if np.isfinite(values[0]) else np.median(finite)
            found[name] = (float(finite.min()), float(start), float(finite.max()))
    return found


def _rows_of_ranges(model) -> pd.DataFrame:
    """The typical row, and rows that are drawn from the ranges of the raw columns."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    for column in model.raw_columns:
        known = model.ranges[column.name]
        if known.low is not None:
            ends = [known.median, known.low, known.high]
            numbers = np.append(ends, rng.uniform(known.low, known.high, ROWS - 3))
            unit = None if model.formula is None else model.formula.dates.get(column.name)
            columns[column.name] = numbers if unit is None else dates_of_numbers(numbers, unit)
            continue
        values = [False, True] if column.kind == "logical" else list(column.levels)
        first = [int(np.argmax(known.counts)), *range(len(values))][:ROWS]
        codes = np.append(first, rng.integers(len(values), size=ROWS - len(first)))
        columns[column.name] = [values[int(code)] for code in codes]
    return pd.DataFrame(columns)
