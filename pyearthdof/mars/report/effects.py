"""What each predictor does to the prediction, the others held, with bands where there is a variance model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..._utils.html import Html, escape, note
from ..components.variance import interval_width
from .controls import Controls
from .drawing import Band, Line, Points, chart, legend

__all__ = ["Predictions", "effects_html", "predicted"]

STEPS = 121
MOST_CHARTS = 40
MOST_LINES = 6


@dataclass(frozen=True)
class Predictions:
    """Predictions of a model at rows of its controls, as the page tells them: of a classifier shares."""

    controls: Controls
    classes: tuple[str, ...] | None

    @property
    def model(self):
        """The `MarsModel`."""
        return self.controls.model

    @property
    def names(self) -> tuple[str, ...]:
        """What is predicted: the responses, or the classes that have a probability of their own."""
        if self.classes is None:
            return self.model.response_names
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    @property
    def label(self) -> str:
        """What stands before a name."""
        return "predicted" if self.classes is None else "probability of"

    def at(self, rows: np.ndarray) -> np.ndarray:
        """(n, number of names) predictions."""
        basis = self.model.basis(self.controls.design(rows))
        return predicted(self.model, self.classes, basis, self.controls.offset(rows))

    def bands(self, rows: np.ndarray, level: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Ends of intervals by kind; none without a variance model, or around a generalised linear model."""
        model = self.model
        if model.varmod is None or model.glm is not None or self.classes is not None:
            return {}
        design = self.controls.design(rows)
        basis, offset = model.basis(design), self.controls.offset(rows)
        fit = basis @ model.coef
        fit = fit if offset is None else fit + offset
        sd = model.varmod.sd(fit, design)
        width = interval_width(sd, level)
        narrow = width * np.sqrt(model.varmod.leverages(basis))
        return {
            "prediction": (fit - width, fit + width),
            "confidence": (fit - narrow, fit + narrow),
        }


def predicted(model, classes, basis: np.ndarray, offset: np.ndarray | None) -> np.ndarray:
    """(n, m) predictions from the terms at rows and what a formula adds; shares of classes, if there are."""
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


def effects_html(predictions: Predictions, level: float, rugs: dict[str, np.ndarray]) -> Html:
    """A chart for each predictor and for each pair that meets in a term."""
    controls = predictions.controls
    singles = [k for k in controls.used if k != controls.inputs.offset]
    if not singles:
        return note("The model is its intercept alone: no predictor has an effect.")
    drawn: list[str] = []
    pairs = _pairs(controls)
    scales = _scales(predictions, singles, level)
    for k in singles:
        drawn += _single(predictions, k, level, scales, rugs.get(controls.controls[k].name))
    for pair in pairs:
        drawn += _pair(predictions, *pair, rugs)
    more = len(drawn) - MOST_CHARTS
    each = [controls.controls[k] for k in singles]
    held = ", ".join(f"{escape(c.name)} {escape(c.shown(c.start))}" for c in each)
    rest = note(f"{more} more charts are left out.") if more > 0 else ""
    return Html(
        _bands_legend(predictions, level)
        + f'<div class="charts">{"".join(drawn[:MOST_CHARTS])}</div>{rest}'
        + f'<p class="how">Predictors that a chart does not move are held at: {held}.</p>'
    )


def _bands_legend(predictions: Predictions, level: float) -> str:
    start = predictions.controls.start[None, :]
    if predictions.bands(start, level):
        share = f"{100 * level:g} %"
        return legend(
            [
                ("line0", "prediction"),
                ("band2 fill0", f"{share} confidence band of the mean, the terms taken for given"),
                ("band1 fill0", f"{share} prediction band of a new observation"),
            ]
        )
    if predictions.model.glm is not None or predictions.classes is not None:
        return note("There are no bands: R's earth has none for a generalised linear model.")
    return note(
        "There are no bands: the model has no variance model (fit with varmod_method, nfold and ncross)."
    )


def _moved(controls: Controls, k: int, grid: np.ndarray) -> np.ndarray:
    rows = np.tile(controls.start, (len(grid), 1))
    rows[:, k] = grid
    return rows


def _scales(
    predictions: Predictions, singles: list[int], level: float
) -> list[tuple[float, float]]:
    """Of each response one scale for all charts of a predictor alone, as plotmo has it."""
    if predictions.classes is not None:
        return [(0.0, 1.0)] * len(predictions.names)
    found = []
    for k in singles:
        rows = _moved(predictions.controls, k, predictions.controls.controls[k].grid(STEPS))
        bands = [end[:, None] for ends in predictions.bands(rows, level).values() for end in ends]
        found += [predictions.at(rows), *bands]
    values = np.vstack(found)
    values = np.where(np.isfinite(values), values, np.nan)
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    room = 0.05 * (high - low)
    return list(zip((low - room).tolist(), (high + room).tolist(), strict=True))


def _single(predictions: Predictions, k: int, level: float, scales, rug) -> list[str]:
    control = predictions.controls.controls[k]
    grid = control.grid(STEPS)
    rows = _moved(predictions.controls, k, grid)
    values, bands = predictions.at(rows), predictions.bands(rows, level)
    ticks = np.empty(0) if rug is None or control.levels else _few(rug)
    groups = [list(range(values.shape[1]))]
    if predictions.classes is None:
        groups = [[c] for c in range(values.shape[1])]
    charts = []
    for group in groups:
        names = [predictions.names[c] for c in group]
        ylabel = f"{predictions.label} {names[0]}" if len(group) == 1 else "probability"
        parts = _bands(grid, bands, bool(control.levels))
        for c in group:
            parts.append(
                _curve(grid, values[:, c], bool(control.levels), c if len(group) > 1 else 0)
            )
        picture = _chart(parts, control, grid, ylabel, y=scales[group[0]], rug=ticks)
        keys = [(f"line{c % 6}", str(predictions.names[c])) for c in group]
        charts.append(_figure(picture, legend(keys) if len(group) > 1 else ""))
    return charts


def _chart(parts, across, grid, ylabel: str, more: str = "", **options) -> str:
    """Predictions against one predictor."""
    said = f"{ylabel} against {across.name}{more}"
    x = (-0.5, len(grid) - 0.5) if across.levels else None
    return chart(parts, across.name, ylabel, said, x=x, names=across.levels, **options)


def _curve(grid, values, is_levels: bool, colour: int):
    if is_levels:
        return Points(grid, values, colour, size=5)
    return Line(grid, values, colour=colour)


def _bands(grid, bands, is_levels: bool) -> list:
    parts: list = []
    for strength, kind in ((1, "prediction"), (2, "confidence")):
        if kind not in bands:
            continue
        low, high = bands[kind]
        if not is_levels:
            parts.append(Band(grid, low, high, strength))
            continue
        half = 0.3 / strength
        for place, a, b in zip(grid, low, high, strict=True):
            parts.append(Band([place - half, place + half], [a, a], [b, b], strength))
    return parts


def _pairs(controls: Controls) -> list[tuple[int, int]]:
    model = controls.model
    met = set()
    for row in model.dirs[model.selected]:  # type: ignore[attr-defined]
        used = sorted({controls.inputs.features[j].predictor for j in np.flatnonzero(row)})
        met |= set(combinations(used, 2))
    return sorted(met)


def _pair(predictions: Predictions, first: int, second: int, rugs) -> list[str]:
    """The first predictor at a few values of the second; the one with levels gives the lines.

    The values are the tenths of the training rows at the ends and their median, where these rows are known:
    corners of the ranges are often far from all of them.
    """
    controls = predictions.controls.controls
    if controls[first].levels and not controls[second].levels:
        first, second = second, first
    across, lines = controls[first], controls[second]
    if lines.levels:
        values = lines.grid(0)[:MOST_LINES]
    elif lines.name in rugs:
        values = np.unique(np.quantile(rugs[lines.name], [0.1, 0.5, 0.9]))
    else:
        values = np.unique([lines.low, lines.start, lines.high])
    grid = across.grid(STEPS)
    charts = []
    for c, name in enumerate(predictions.names):
        parts = []
        for colour, value in enumerate(values):
            rows = _moved(predictions.controls, first, grid)
            rows[:, second] = value
            parts.append(_curve(grid, predictions.at(rows)[:, c], bool(across.levels), colour))
        ylabel = f"{predictions.label} {name}"
        more = f", a line for values of {lines.name}"
        y = None if predictions.classes is None else (0.0, 1.0)
        picture = _chart(parts, across, grid, ylabel, more, y=y)
        keys = [(f"line{k}", f"{lines.name} {lines.shown(v)}") for k, v in enumerate(values)]
        left = len(lines.levels) - len(values) if lines.levels else 0
        rest = note(f"{left} more levels are not drawn") if left > 0 else ""
        charts.append(_figure(picture, legend(keys) + rest))
    return charts


def _figure(picture: str, below: str) -> str:
    return f"<figure>{picture}{below}</figure>"


def _few(values: np.ndarray, most: int = 80) -> np.ndarray:
    ordered = np.unique(values[np.isfinite(values)])
    if len(ordered) <= most:
        return ordered
    return ordered[np.linspace(0, len(ordered) - 1, most).astype(int)]
