"""Contents of a report: rows, metadata of the fit, controls, and predictions at control settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from ..components.variance import ON_PREDICTORS, interval_width
from ..data.columns import Columns, dates_of_numbers
from ..export.inputs import Inputs, model_inputs
from ..options import EarthOptions

ROWS = 500  # at which a formula is evaluated to find the ranges of its columns


@dataclass(frozen=True)
class Rows:
    """Predictions and observations of a set of rows."""

    called: str  # description of the rows
    predicted: np.ndarray  # (n, m) predictions; probabilities for a classifier
    observed: np.ndarray | None = None  # (n, m); 0 and 1 for a classifier
    chosen: np.ndarray | None = None  # True for rows classified correctly
    controls: np.ndarray | None = None  # rows for the explorer
    outside: int = 0  # number of rows outside the training range


@dataclass(frozen=True)
class About:
    """Metadata of a fit in addition to its `MarsModel`; every field is optional."""

    title: str | None = None
    level: float = 0.95
    classes: tuple[str, ...] | None = None
    threshold: float = 0.5
    is_named: bool = False
    options: EarthOptions | None = None
    mda_options: Mapping[str, Any] | None = None
    seed: int | None = None
    has_weights: bool = False
    anova: pd.DataFrame | None = None
    cv: pd.DataFrame | None = None
    df: Any = None
    training: Rows | None = None
    rugs: Mapping[str, np.ndarray] = field(default_factory=dict)
    new: Rows | None = None
    frame: pd.DataFrame | None = None  # the new rows, if given as a frame
    file: str | None = None  # the estimator as JSON, if any
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Control:
    """Control for one column of the data."""

    name: str
    levels: tuple[str, ...]  # empty for a number
    low: float  # minimum of a number at the training rows
    high: float
    start: float  # initial number, or position of a level
    used: bool  # True if predictions depend on it
    known: bool = True  # True if the range is that of the training rows
    optional: bool = False  # True if a number may be missing

    def grid(self, n: int) -> np.ndarray:
        """Values at which an effect is plotted."""
        if self.levels:
            return np.arange(len(self.levels), dtype=float)
        return np.linspace(self.low, self.high, n)

    def shown(self, value: float) -> str:
        return self.levels[int(value)] if self.levels else f"{value:.4g}"


@dataclass(frozen=True)
class Controls:
    """Controls of a model; a row contains one number per control, a value or the position of a level."""

    model: object
    inputs: Inputs
    controls: tuple[Control, ...]

    @classmethod
    def of(cls, model) -> Controls:
        """Create from a `MarsModel`; InvalidInputError if its formula cannot be decomposed."""
        inputs = model_inputs(model)
        used = _used_predictors(model, inputs)
        computed = _ranges_of_formula(model, inputs)
        each = [
            _control(model, inputs, k, k in used, computed) for k in range(len(inputs.predictors))
        ]
        return cls(model, inputs, tuple(each))

    @property
    def start(self) -> np.ndarray:
        """Row shown initially."""
        return np.array([control.start for control in self.controls])

    @property
    def used(self) -> list[int]:
        """Positions of the controls on which predictions depend."""
        return [k for k, control in enumerate(self.controls) if control.used]

    def with_data(self, X: pd.DataFrame) -> Controls:
        """Use the ranges of these rows where training ranges are not available."""
        found = []
        for control in self.controls:
            if not control.known and control.name in X.columns:
                values = np.asarray(X[control.name], dtype=float)
                low, high = float(values.min()), float(values.max())
                start = _round(float(np.median(values)), low, high)
                control = replace(control, low=low, high=high, start=start)
            found.append(control)
        return replace(self, controls=tuple(found))

    def design(self, rows: np.ndarray) -> np.ndarray:
        """Return the predictors of the terms at these rows."""
        columns = []
        for entries, feature in zip(self._entries(), self.inputs.features, strict=True):
            values = rows[:, feature.predictor]
            if entries is not None:
                values = np.asarray(entries)[values.round().astype(int)]
            elif feature.kind == "missing":
                values = np.isnan(values).astype(float)
            elif isinstance(feature.level, float):
                values = np.where(np.isnan(values), feature.level, values)
            columns.append(values)
        return np.column_stack(columns)

    def offset(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.inputs.offset is None else rows[:, self.inputs.offset]

    def rows(self, X: pd.DataFrame) -> np.ndarray:
        """Rows of a frame; invalid values raise the errors of `predict`."""
        values = Columns(self.inputs.predictors).values(X)
        columns = []
        for k, control in enumerate(self.controls):
            own = values[control.name].astype(float)
            if control.levels:  # missing values come last
                own = np.where(own < 0, len(self.inputs.predictors[k].levels), own)
            columns.append(own)
        return np.column_stack(columns)

    def to_dict(self) -> dict:
        """Data for the script of the page."""
        return {
            "predictors": [asdict(control) for control in self.controls],
            "features": [
                {"predictor": feature.predictor, "entries": entries, "kind": feature.kind}
                | ({"fill": feature.level} if feature.kind == "number" else {})
                for feature, entries in zip(self.inputs.features, self._entries(), strict=True)
            ],
            "offset": self.inputs.offset,
        }

    def _entries(self) -> list[list[float] | None]:
        """Values of each predictor of the terms at all levels; None for a number."""
        return [
            f.entries(self.inputs.levels(f.predictor))
            if self.controls[f.predictor].levels
            else None
            for f in self.inputs.features
        ]


def _used_predictors(model, inputs: Inputs) -> set[int]:
    used = np.any(model.dirs[model.selected] != 0, axis=0)
    if model.varmod is not None and model.varmod.method in ON_PREDICTORS:
        used = used | np.any(model.varmod.dirs != 0, axis=0)
    if model.selection is not None and model.selection.noise is not None:
        used = used | np.any(model.selection.noise.dirs != 0, axis=0)
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
        levels = tuple("missing" if level is None else level for level in inputs.levels(k))
        return Control(predictor.name, levels, 0.0, len(levels) - 1.0, float(most), is_used)
    if predictor.name in computed:
        low, start, high = computed[predictor.name]
        start = _round(start, low, high)
        return Control(predictor.name, (), low, high, start, is_used, known=False)
    if known is not None and known.low is not None:
        start = _round(known.median, known.low, known.high)
        optional = predictor.fill is not None
        return Control(predictor.name, (), known.low, known.high, start, is_used, optional=optional)
    low, high = _around_knots(model, inputs, k)
    start = _round((low + high) / 2, low, high)
    return Control(predictor.name, (), low, high, start, is_used, known=False)


def _round(value: float, low: float, high: float) -> float:
    """Round to the digits that resolve a thousandth of the range."""
    if not high > low or not math.isfinite(high - low):
        return value
    return min(max(round(value, 3 - math.floor(math.log10(high - low))), low), high)


def _around_knots(model, inputs: Inputs, k: int) -> tuple[float, float]:
    """Range around the knots, twice their span; for files without ranges."""
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
    """Low, middle and high values of computed columns of a formula, from rows sampled in the raw ranges."""
    names = [p.name for p in inputs.predictors]
    is_computed = model.formula is not None and names == list(model.feature_names)
    if not is_computed or model.ranges is None or set(names) <= set(model.raw_names):
        return {}
    try:
        with np.errstate(all="ignore"):
            design = model.design(_rows_of_ranges(model))
    except InvalidInputError:  # the formula is undefined in part of the ranges
        return {}
    found = {}
    for name, values in zip(names, design.T, strict=True):
        finite = values[np.isfinite(values)]
        if len(finite):
            start = values[0] if np.isfinite(values[0]) else np.median(finite)
            found[name] = (float(finite.min()), float(start), float(finite.max()))
    return found


def _rows_of_ranges(model) -> pd.DataFrame:
    """Return the typical row, and rows sampled from the ranges of the raw columns."""
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


@dataclass(frozen=True)
class Predictions:
    """Predictions at rows of the controls, for classifiers as proportions."""

    controls: Controls
    classes: tuple[str, ...] | None

    @property
    def model(self):
        return self.controls.model

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the predictions: responses, or classes with their own probability."""
        if self.classes is None:
            return self.model.response_names
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    @property
    def label(self) -> str:
        return "predicted" if self.classes is None else "probability of"

    def at(self, rows: np.ndarray) -> np.ndarray:
        """Predictions at rows: (n, number of names)."""
        basis = self.model.basis(self.controls.design(rows))
        return predicted(self.model, self.classes, basis, self.controls.offset(rows))

    def bands(self, rows: np.ndarray, level: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Interval limits by kind; empty without a variance model and for generalised linear models."""
        model = self.model
        if model.glm is not None or self.classes is not None:
            return {}
        by_selection = model.selection is not None and model.selection.noise is not None
        if model.varmod is None and not by_selection:
            return {}
        design = self.controls.design(rows)
        basis, offset = model.basis(design), self.controls.offset(rows)
        fit = basis @ model.coef
        fit = fit if offset is None else fit + offset
        if by_selection:
            width, narrow = (
                interval_width(model.selection.sd(basis, design, kind), level)
                for kind in ("prediction", "confidence")
            )
        else:
            width = interval_width(model.varmod.sd(fit, design), level)
            narrow = width * np.sqrt(model.varmod.leverages(basis))
        return {
            "prediction": (fit - width, fit + width),
            "confidence": (fit - narrow, fit + narrow),
        }


def predicted(model, classes, basis: np.ndarray, offset: np.ndarray | None) -> np.ndarray:
    """(n, m) predictions from the terms and the offset of a formula; class probabilities for classifiers."""
    coef = model.coef if model.glm is None else model.glm.coef
    with np.errstate(over="ignore", invalid="ignore"):
        eta = basis @ coef.reshape(len(coef), -1)
        eta = eta if offset is None else eta + offset[:, None]
    values = eta if model.glm is None else model.glm.response(eta)
    if classes is None:
        return values
    values = np.clip(values, 0.0, 1.0)
    if values.shape[1] == 1:
        return values
    total = values.sum(axis=1, keepdims=True)
    return np.where(total > 0, values / np.where(total > 0, total, 1.0), 1 / values.shape[1])
