"""Small charts as SVG that takes its colours from the page, so that they are at home on light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..._utils.html import Html, escape

__all__ = ["Band", "Line", "Points", "bars", "chart", "legend"]

WIDTH, HEIGHT = 340, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 10, 40
LONGEST = 34  # letters of a label that fit below a chart
N_COLOURS = 6
Numbers: TypeAlias = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Line:
    """A line through points; `colour` is a number from 0 on."""

    x: Numbers
    y: Numbers
    label: str = ""
    colour: int = 0
    is_dashed: bool = False


@dataclass(frozen=True)
class Band:
    """What lies between two lines; `strength` is 1 for the wide one, 2 for the narrow one."""

    x: Numbers
    low: Numbers
    high: Numbers
    strength: int = 1
    colour: int = 0


@dataclass(frozen=True)
class Points:
    """Dots; with sizes in pixels where they differ, and vertical errors where there are some."""

    x: Numbers
    y: Numbers
    colour: int = 0
    size: float = 2.0
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True)
class _Frame:
    x: tuple[float, float]
    y: tuple[float, float]

    def place(self, x: float, y: float) -> str:
        return f"{self.across(x):.1f},{self.up(y):.1f}"

    def across(self, x: float) -> float:
        share = (x - self.x[0]) / (self.x[1] - self.x[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(self, y: float) -> float:
        share = (y - self.y[0]) / (self.y[1] - self.y[0])
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def chart(
    parts,
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
    """Lines, bands and points in a frame.

    Parameters
    ----------
    parts : list of Line, Band and Points
    xlabel, ylabel : str
    said : str
        What the chart shows, for those who do not see it.
    x, y : pairs, optional
        Ends of the scales.
    names : list of str
        Names of the places 0, 1, ... on the x scale.
    rug : list of float
        Ticks at the bottom.
    marked : float, optional
        Where a vertical line stands.
    """
    beside = 0.03 if any(isinstance(part, Points) for part in parts) else 0.0
    frame = _Frame(
        _ends(x, _all(parts, "x"), beside), _ends(y, _all(parts, "y", "low", "high"), 0.05)
    )
    drawn = [_axes(frame, xlabel, ylabel, names)]
    if marked is not None:
        across = f"{frame.across(marked):.1f}"
        drawn.append(
            f'<line class="marked" x1="{across}" x2="{across}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        )
    drawn += [_DRAW[type(part)](frame, part) for part in parts]
    for value in rug:
        across = f"{frame.across(value):.1f}"
        ends = f'y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM - 4}"'
        drawn.append(f'<line class="rug" x1="{across}" x2="{across}" {ends}/>')
    return _svg(WIDTH, HEIGHT, said, "".join(drawn))


def bars(names: Sequence[str], values: Sequence[float], said: str, marks: Sequence[str]) -> Html:
    """Horizontal bars from 0, the largest as long as there is room; a mark stands behind each."""
    left, right, step = 130, 54, 24
    top = max([float(v) for v in values if math.isfinite(v)] + [1e-300])
    drawn = []
    for k, (name, value, mark) in enumerate(zip(names, values, marks, strict=True)):
        middle = 16 + step * k
        length = max(0.0, value / top if math.isfinite(value) else 0.0) * (WIDTH - left - right)
        drawn.append(
            f'<text class="tick" x="{left - 8}" y="{middle + 4}" text-anchor="end">'
            f"{escape(shortened(name, 18))}<title>{escape(name)}</title></text>"
            f'<rect class="fill0" x="{left}" y="{middle - 7}" width="{length:.1f}" height="14" rx="2"/>'
            f'<text class="tick" x="{left + length + 6:.1f}" y="{middle + 4}">{escape(mark)}</text>'
        )
    return _svg(WIDTH, 12 + step * max(1, len(names)), said, "".join(drawn))


def legend(entries: Sequence[tuple[str, str]]) -> Html:
    """Names of what was drawn, each with its class of the style sheet."""
    each = "".join(
        f'<li><span class="key {kind}"></span>{escape(name)}</li>' for kind, name in entries
    )
    return Html(f'<ul class="legend">{each}</ul>')


def shortened(name: str, longest: int = LONGEST) -> str:
    """A long name keeps its beginning and its end."""
    name = str(name)
    if len(name) <= longest:
        return name
    end = (longest - 1) // 3
    return name[: longest - 1 - end] + "…" + name[-end:]


def _svg(width: int, height: int, said: str, inner: str) -> Html:
    named = f'role="img" aria-label="{escape(said)}"'
    return Html(f'<svg class="chart" viewBox="0 0 {width} {height}" {named}>{inner}</svg>')


def _all(parts, *names) -> np.ndarray:
    found = [
        np.asarray(getattr(part, name), dtype=float)
        for part in parts
        for name in names
        if getattr(part, name, None) is not None
    ]
    values = np.concatenate(found) if found else np.array([0.0, 1.0])
    return values[np.isfinite(values)]


def _ends(given, values: np.ndarray, room: float = 0.0) -> tuple[float, float]:
    low, high = given or ((values.min(), values.max()) if len(values) else (0.0, 1.0))
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        size = max(abs(low), 1.0) / 2
        return float(low - size), float(high + size)
    margin = 0.0 if given else room * (high - low)
    return float(low - margin), float(high + margin)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two ends.

    >>> ticks(0.0, 10.0)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(size * s for s in (1, 2, 5, 10, 20) if (high - low) / (size * s) <= most)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _axes(frame: _Frame, xlabel: str, ylabel: str, names: Sequence[str]) -> str:
    floor = HEIGHT - BOTTOM
    drawn = [f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{floor}" y2="{floor}"/>']
    for value in ticks(*frame.y):
        height = f"{frame.up(value):.1f}"
        drawn.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height}" y2="{height}"/>'
            f'<text class="tick" x="{LEFT - 6}" y="{frame.up(value) + 4:.1f}" text-anchor="end">'
            f"{_number(value)}</text>"
        )
    places = list(enumerate(names)) if names else [(v, _number(v)) for v in ticks(*frame.x)]
    room = max(3, int(52 / max(1, len(places))))
    for place, name in places:
        drawn.append(
            f'<text class="tick" x="{frame.across(place):.1f}" y="{floor + 15}" text-anchor="middle">'
            f"{escape(shortened(name, room))}</text>"
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    up = (TOP + floor) / 2
    drawn.append(
        f'<text class="label" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{escape(shortened(xlabel))}<title>{escape(xlabel)}</title></text>"
        f'<text class="label" x="11" y="{up}" text-anchor="middle" transform="rotate(-90 11 {up})">'
        f"{escape(shortened(ylabel, 26))}<title>{escape(ylabel)}</title></text>"
    )
    return "".join(drawn)


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


def _line(frame: _Frame, part: Line) -> str:
    dashed = " dashed" if part.is_dashed else ""
    colour = part.colour % N_COLOURS
    pieces = _finite_pieces(part.x, part.y)
    return "".join(
        f'<polyline class="line{colour}{dashed}" points="{" ".join(frame.place(*p) for p in piece)}"/>'
        for piece in pieces
    )


def _finite_pieces(x, y) -> list[list[tuple[float, float]]]:
    pieces: list[list[tuple[float, float]]] = [[]]
    for point in zip(x, y, strict=True):
        if np.isfinite(point).all():
            pieces[-1].append(point)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _band(frame: _Frame, part: Band) -> str:
    edge = [*zip(part.x, part.high, strict=True)]
    edge += reversed([*zip(part.x, part.low, strict=True)])
    points = " ".join(frame.place(*p) for p in edge if np.isfinite(p).all())
    return f'<polygon class="band{part.strength} fill{part.colour % N_COLOURS}" points="{points}"/>'


def _points(frame: _Frame, part: Points) -> str:
    colour = part.colour % N_COLOURS
    drawn = []
    for k, (x, y) in enumerate(zip(part.x, part.y, strict=True)):
        if not np.isfinite([x, y]).all():
            continue
        if part.low is not None and part.high is not None:
            across = f"{frame.across(x):.1f}"
            ends = f'y1="{frame.up(part.low[k]):.1f}" y2="{frame.up(part.high[k]):.1f}"'
            drawn.append(f'<line class="line{colour}" x1="{across}" x2="{across}" {ends}/>')
        drawn.append(
            f'<circle class="dot fill{colour}" cx="{frame.across(x):.1f}" cy="{frame.up(y):.1f}" '
            f'r="{part.size}"/>'
        )
    return "".join(drawn)


_DRAW: dict[type, Callable] = {Line: _line, Band: _band, Points: _points}
