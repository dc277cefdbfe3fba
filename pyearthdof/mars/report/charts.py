"""SVG charts in the colours of the page, and effect plots of the predictors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import TypeAlias

import numpy as np

from ..._utils.html import Html, element, escape, note
from .contents import Controls, Predictions

WIDTH, HEIGHT = 340, 220
LEFT, RIGHT, TOP, FLOOR = 52, 16, 10, HEIGHT - 40
LONGEST = 34  # characters of a label that fit below a chart
N_COLOURS = 6
Numbers: TypeAlias = Sequence[float] | np.ndarray
STEPS = 121
MOST_CHARTS = 40
MOST_LINES = 6


@dataclass(frozen=True)
class _Frame:
    """Position of the axes and limits of the scales."""

    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, x: float) -> float:
        return LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - LEFT - RIGHT)

    def up(self, y: float) -> float:
        return FLOOR - (y - self.y[0]) / (self.y[1] - self.y[0]) * (FLOOR - TOP)

    def points(self, pairs) -> str:
        """Finite pairs as the value of an SVG attribute."""
        finite = (pair for pair in pairs if np.isfinite(pair).all())
        return " ".join(f"{self.across(x):.1f},{self.up(y):.1f}" for x, y in finite)

    def upright(self, kind: str, x: float, low: float, high: float) -> str:
        """Return a vertical line between two heights in pixels."""
        return element("line", class_=kind, x1=self.across(x), x2=self.across(x), y1=low, y2=high)


@dataclass(frozen=True)
class Line:
    """Line through points, interrupted at non-finite ones; `colour` is a 0-based index."""

    x: Numbers
    y: Numbers
    colour: int = 0
    is_dashed: bool = False

    def draw(self, frame: _Frame) -> str:
        pairs = list(zip(self.x, self.y, strict=True))
        pieces = groupby(pairs, lambda pair: bool(np.isfinite(pair).all()))
        kind = f"line{self.colour % N_COLOURS}{' dashed' if self.is_dashed else ''}"
        return "".join(
            element("polyline", class_=kind, points=frame.points(piece))
            for is_finite, piece in pieces
            if is_finite
        )


@dataclass(frozen=True)
class Band:
    """Area between two lines; `strength` is 1 for the wide band, 2 for the narrow one."""

    x: Numbers
    low: Numbers
    high: Numbers
    strength: int = 1

    def draw(self, frame: _Frame) -> str:
        edge = [*zip(self.x, self.high, strict=True)]
        edge += reversed([*zip(self.x, self.low, strict=True)])
        return element("polygon", class_=f"band{self.strength} fill0", points=frame.points(edge))


@dataclass(frozen=True)
class Points:
    """Dots of a size in pixels, optionally with vertical error bars."""

    x: Numbers
    y: Numbers
    colour: int = 0
    size: float = 2.0
    low: Numbers | None = None
    high: Numbers | None = None

    def draw(self, frame: _Frame) -> str:
        colour, drawn = self.colour % N_COLOURS, []
        for k, (x, y) in enumerate(zip(self.x, self.y, strict=True)):
            if not np.isfinite([x, y]).all():
                continue
            if self.low is not None and self.high is not None:
                ends = frame.up(self.low[k]), frame.up(self.high[k])
                drawn.append(frame.upright(f"line{colour}", x, *ends))
            place = {"cx": frame.across(x), "cy": frame.up(y)}
            drawn.append(element("circle", class_=f"dot fill{colour}", **place, r=f"{self.size}"))
        return "".join(drawn)


Part: TypeAlias = Line | Band | Points


def chart(
    parts: Sequence[Part],
    xlabel: str,
    ylabel: str,
    said: str,
    *,
    x: tuple[float, float] | None = None,
    y: tuple[float, float] | None = None,
    names: Sequence[str] = (),
    rug: Numbers = (),
    marked: float | None = None,
) -> Html:
    """Draw lines, bands and points in a frame; `said` is the description for screen readers.

    `x` and `y` are the limits of the scales, `names` the labels of 0, 1, ... on the x scale, `rug` the
    positions of ticks at the bottom, and `marked` that of a vertical line.
    """
    beside = 0.03 if any(isinstance(part, Points) for part in parts) else 0.0
    frame = _Frame(
        _ends(x, _all(parts, "x"), beside), _ends(y, _all(parts, "y", "low", "high"), 0.05)
    )
    drawn = [_axes(frame, xlabel, ylabel, names)]
    if marked is not None:
        drawn.append(frame.upright("marked", marked, TOP, FLOOR))
    drawn += [part.draw(frame) for part in parts]
    drawn += [frame.upright("rug", value, FLOOR, FLOOR - 4) for value in rug]
    return _svg(WIDTH, HEIGHT, said, "".join(drawn))


def bars(names: Sequence[str], values: Sequence[float], said: str, marks: Sequence[str]) -> Html:
    """Draw horizontal bars from 0, scaled to the available width, each followed by a mark."""
    left, right, step = 130, 54, 24
    top = max([float(v) for v in values if math.isfinite(v)] + [1e-300])
    drawn = []
    for k, (name, value, mark) in enumerate(zip(names, values, marks, strict=True)):
        middle = 16 + step * k
        length = max(0.0, value / top if math.isfinite(value) else 0.0) * (WIDTH - left - right)
        drawn += [
            _text("tick", left - 8, middle + 4, name, "end", 18, title=True),
            element("rect", class_="fill0", x=left, y=middle - 7, width=length, height=14, rx=2),
            element("text", escape(mark), class_="tick", x=left + length + 6, y=middle + 4),
        ]
    return _svg(WIDTH, 12 + step * max(1, len(names)), said, "".join(drawn))


def legend(entries: Sequence[tuple[str, str]]) -> Html:
    """Legend of a chart: pairs of a name and its CSS class."""
    each = "".join(
        f'<li><span class="key {kind}"></span>{escape(name)}</li>' for kind, name in entries
    )
    return Html(f'<ul class="legend">{each}</ul>')


def shortened(name: str, longest: int = LONGEST) -> str:
    """Shorten a long name, keeping its beginning and its end."""
    name = str(name)
    if len(name) <= longest:
        return name
    end = (longest - 1) // 3
    return name[: longest - 1 - end] + "…" + name[-end:]


def _svg(width: int, height: int, said: str, inner: str) -> Html:
    named = f'role="img" aria-label="{escape(said)}"'
    return Html(f'<svg class="chart" viewBox="0 0 {width} {height}" {named}>{inner}</svg>')


def _all(parts, *names) -> np.ndarray:
    found = [getattr(part, name, None) for part in parts for name in names]
    values = np.concatenate([np.asarray(v, dtype=float) for v in found if v is not None])
    return values[np.isfinite(values)]


def _ends(given, values: np.ndarray, room: float = 0.0) -> tuple[float, float]:
    low, high = given or ((values.min(), values.max()) if len(values) else (0.0, 1.0))
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        size = max(abs(low), 1.0) / 2
        return float(low - size), float(high + size)
    margin = 0.0 if given else room * (high - low)
    return float(low - margin), float(high + margin)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two limits.

    >>> ticks(0.0, 10.0)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(size * s for s in (1, 2, 5, 10, 20) if (high - low) / (size * s) <= most)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _axes(frame: _Frame, xlabel: str, ylabel: str, names: Sequence[str]) -> str:
    ends = {"x1": LEFT, "x2": WIDTH - RIGHT}
    drawn: list[str] = [element("line", class_="axis", **ends, y1=FLOOR, y2=FLOOR)]
    for value in ticks(*frame.y):
        up = frame.up(value)
        drawn.append(element("line", class_="grid", **ends, y1=up, y2=up))
        drawn.append(_text("tick", LEFT - 6, up + 4, _number(value), "end"))
    places = list(enumerate(names)) if names else [(v, _number(v)) for v in ticks(*frame.x)]
    room = max(3, int(52 / max(1, len(places))))
    drawn += [
        _text("tick", frame.across(v), FLOOR + 15, name, "middle", room) for v, name in places
    ]
    middle, up = (LEFT + WIDTH - RIGHT) / 2, (TOP + FLOOR) / 2
    turned = {"transform": f"rotate(-90 11 {up})"}
    drawn.append(_text("label", middle, HEIGHT - 6, xlabel, "middle", title=True))
    drawn.append(_text("label", 11, up, ylabel, "middle", 26, title=True, **turned))
    return "".join(drawn)


def _text(kind, x, y, text: str, anchor: str, longest=LONGEST, *, title=False, **more) -> str:
    """Return a text, truncated if long; the full text is then its title."""
    inner = escape(shortened(text, longest)) + (element("title", escape(text)) if title else "")
    return element("text", inner, class_=kind, x=x, y=y, text_anchor=anchor, **more)


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


def effects_html(predictions: Predictions, level: float, rugs: dict[str, np.ndarray]) -> Html:
    """Return one chart per predictor and per pair of predictors that interact."""
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
        mean = f"{100 * level:g} % confidence band of the mean, the terms taken for given"
        new = f"{100 * level:g} % prediction band of a new observation"
        return legend([("line0", "prediction"), ("band2 fill0", mean), ("band1 fill0", new)])
    why = "the model has no variance model (fit with varmod_method, nfold and ncross)"
    if predictions.model.glm is not None or predictions.classes is not None:
        why = "R's earth has none for a generalised linear model"
    return note(f"There are no bands: {why}.")


def _moved(controls: Controls, k: int, grid: np.ndarray) -> np.ndarray:
    rows = np.tile(controls.start, (len(grid), 1))
    rows[:, k] = grid
    return rows


def _scales(
    predictions: Predictions, singles: list[int], level: float
) -> list[tuple[float, float]]:
    """One scale per response for all single-predictor charts, as in plotmo."""
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


def _single(predictions: Predictions, k: int, level: float, scales, rug) -> list[Html]:
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
        parts = _band_parts(grid, bands, bool(control.levels))
        colours = group if len(group) > 1 else [0]
        for c, colour in zip(group, colours, strict=True):
            parts.append(_curve(control, grid, values[:, c], colour))
        picture = _effect_chart(parts, control, grid, ylabel, y=scales[group[0]], rug=ticks)
        keys = [(f"line{c % 6}", str(predictions.names[c])) for c in group]
        charts.append(element("figure", picture + (legend(keys) if len(group) > 1 else "")))
    return charts


def _effect_chart(parts, across, grid, ylabel: str, more: str = "", **options) -> str:
    said = f"{ylabel} against {across.name}{more}"
    x = (-0.5, len(grid) - 0.5) if across.levels else None
    return chart(parts, across.name, ylabel, said, x=x, names=across.levels, **options)


def _curve(across, grid, values, colour: int) -> Part:
    return Points(grid, values, colour, size=5) if across.levels else Line(grid, values, colour)


def _band_parts(grid, bands, is_levels: bool) -> list[Part]:
    parts: list[Part] = []
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


def _pair(predictions: Predictions, first: int, second: int, rugs) -> list[Html]:
    """Plot the first predictor at a few values of the second; a factor defines the lines.

    If the training rows are available, the values are their outer deciles and median, because the corners
    of the ranges are often far from all rows.
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
            parts.append(_curve(across, grid, predictions.at(rows)[:, c], colour))
        ylabel = f"{predictions.label} {name}"
        more = f", a line for values of {lines.name}"
        y = None if predictions.classes is None else (0.0, 1.0)
        picture = _effect_chart(parts, across, grid, ylabel, more, y=y)
        keys = [(f"line{k}", f"{lines.name} {lines.shown(v)}") for k, v in enumerate(values)]
        left = len(lines.levels) - len(values) if lines.levels else 0
        rest = note(f"{left} more levels are not drawn") if left > 0 else ""
        charts.append(element("figure", picture + legend(keys) + rest))
    return charts


def _few(values: np.ndarray, most: int = 80) -> np.ndarray:
    ordered = np.unique(values[np.isfinite(values)])
    if len(ordered) <= most:
        return ordered
    return ordered[np.linspace(0, len(ordered) - 1, most).astype(int)]
