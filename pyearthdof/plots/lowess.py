"""Cleveland's robust locally weighted regression, as R's `lowess` computes it."""

from __future__ import annotations

import numpy as np

__all__ = ["lowess"]


def lowess(x, y, *, fraction: float = 2 / 3, n_robust: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Smooth y against x; returns the sorted x and the smooth there.

    Each point's value comes from a line through the nearest `fraction` of the points, with tricube
    weights; `n_robust` times the fit is repeated with less weight on points far from it. Lines are
    fitted at points about a hundredth of the range apart and joined between them.

    Examples
    --------
    >>> from pyearthdof.plots.lowess import lowess
    >>> x, smooth = lowess([3.0, 1.0, 2.0, 4.0], [6.0, 2.0, 4.0, 8.0], fraction=1)
    >>> x, smooth.round(6)
    (array([1., 2., 3., 4.]), array([2., 4., 6., 8.]))
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    if len(x) < 2:
        return x, y
    n_near = min(max(int(fraction * len(x) + 1e-7), 2), len(x))
    anchors = _anchors(x, 0.01 * (x[-1] - x[0]))
    kernels = [_kernel(x, x[a], n_near) for a in anchors]
    robust = np.ones(len(x))
    for step in range(n_robust + 1):
        values = [
            _local_line(x[near], y[near], kernel * robust[near], x[a], x[-1] - x[0], y[a])
            for a, (near, kernel) in zip(anchors, kernels, strict=True)
        ]
        smooth = np.interp(x, x[anchors], values)
        if step == n_robust:
            break
        distance = np.abs(y - smooth)
        scale = 6 * np.median(distance)
        if scale <= 1e-7 * distance.mean():
            break
        robust = _bisquare(distance / scale)
    return x, smooth


def _anchors(x, spacing) -> np.ndarray:
    """Where lines are fitted: from each anchor on to the last point within `spacing` of it."""
    anchors = [0]
    while True:
        here = anchors[-1]
        after = np.searchsorted(x, x[here], side="right")  # equal x share one line
        if after >= len(x):
            return np.array(anchors)
        within = np.searchsorted(x, x[here] + spacing, side="right") - 1
        anchors.append(max(after, within))


def _kernel(x, place, n_near) -> tuple[slice, np.ndarray]:
    """The points near `place` and their tricube weights; the n_near-th nearest has weight 0."""
    distance = np.abs(x - place)
    width = np.partition(distance, n_near - 1)[n_near - 1]
    inside = np.flatnonzero(distance <= 0.999 * width if width > 0 else distance == 0)
    near = slice(inside[0], inside[-1] + 1)
    if width == 0:
        return near, np.ones(near.stop - near.start)
    ratio = distance[near] / width
    return near, np.where(ratio <= 0.001, 1.0, (1 - ratio**3) ** 3)


def _local_line(x, y, weights, place, span, otherwise) -> float:
    """Value at `place` of the weighted least-squares line; a constant where x hardly varies."""
    total = weights.sum()
    if total <= 0:
        return otherwise
    weights = weights / total
    centre = weights @ x
    spread = weights @ (x - centre) ** 2
    if span > 0 and np.sqrt(spread) > 0.001 * span:
        weights = weights * (1 + (place - centre) * (x - centre) / spread)
    return float(weights @ y)


def _bisquare(ratio) -> np.ndarray:
    weights = np.where(ratio <= 0.001, 1.0, (1 - ratio**2) ** 2)
    return np.where(ratio <= 0.999, weights, 0.0)
