"""Names beside points, placed so that they do not cover each other."""

from __future__ import annotations

import numpy as np

from .style import ORANGE

__all__ = ["name_points"]

FONT = 8  # points
LETTER = 0.62 * FONT  # width of a digit, a little generous
# Offsets in points and how the text is aligned there, in the order of preference.
PLACES = (
    ((5, 0), "left", "center"),
    ((-5, 0), "right", "center"),
    ((0, 4), "center", "bottom"),
    ((0, -4), "center", "top"),
    ((5, 5), "left", "bottom"),
    ((5, -5), "left", "top"),
    ((-5, 5), "right", "bottom"),
    ((-5, -5), "right", "top"),
)


def name_points(ax, x, y, rows) -> None:
    """Write the number of each of the rows beside its point, where the fewest points are covered."""
    ax.autoscale_view()  # matplotlib would put it off, and the places would be wrong
    points = ax.transData.transform(np.column_stack([x, y])) * 72 / ax.figure.dpi
    frame = ax.get_window_extent().extents * 72 / ax.figure.dpi
    taken: list[tuple[float, float, float, float]] = []
    for row in rows:
        text = str(row)
        boxes = [_box(points[row], text, *place) for place in PLACES]
        costs = [_cost(box, points, taken, frame) for box in boxes]
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        offset, across, up = PLACES[best]
        ax.annotate(
            text, (x[row], y[row]), xytext=offset, textcoords="offset points", ha=across, va=up,
            fontsize=FONT, color=ORANGE, zorder=4,
        )  # fmt: skip


def _box(point, text, offset, across, up) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of a text, in points."""
    width, height = LETTER * len(text), FONT
    left = point[0] + offset[0] - {"left": 0.0, "center": 0.5, "right": 1.0}[across] * width
    bottom = point[1] + offset[1] - {"bottom": 0.0, "center": 0.5, "top": 1.0}[up] * height
    return left, bottom, left + width, bottom + height


def _cost(box, points, taken, frame) -> float:
    """How bad a place is: out of the frame, upon another name, upon points; in this order."""
    left, bottom, right, top = box
    is_out = left < frame[0] or bottom < frame[1] or right > frame[2] or top > frame[3]
    names = sum(left < o[2] and o[0] < right and bottom < o[3] and o[1] < top for o in taken)
    x, y = points.T
    covered = ((x > left - 2) & (x < right + 2) & (y > bottom - 2) & (y < top + 2)).sum()
    return 1e9 * is_out + 1e6 * names + float(covered)
