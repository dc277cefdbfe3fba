"""Least squares with the slopes of additive effects constrained in sign; R's earth has no such fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import nnls

from ....exceptions import InvalidInputError


def slope_rows(
    dirs: np.ndarray, cuts: np.ndarray, monotone: Sequence[tuple[int, int]] | None
) -> np.ndarray | None:
    """The matrix G for which G @ coef >= 0 says that all slopes have their signs; None without constraints.

    `monotone` are pairs of a column and the sign of its slopes; no term has another column beside it. A row
    is the slope of a column between two of its neighbouring knots, or beyond the last one.
    """
    if not monotone:
        return None
    rows = []
    for column, sign in monotone:
        directions, knots = dirs[:, column], cuts[:, column]
        is_hinge = np.abs(directions) == 1
        ends = np.unique(knots[is_hinge])
        inside = np.concatenate([[-np.inf], ends])  # left end of each segment
        for left in inside:
            rising = (directions == 2) | ((directions == 1) & (knots <= left))
            falling = (directions == -1) & (knots > left)
            rows.append(sign * (rising.astype(float) - falling))
    found = np.array(rows)
    return found[found.any(axis=1)]


def constrained_coef(
    triangle: np.ndarray, target: np.ndarray, slopes: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """Coefficients b that minimise |triangle b - target|^2 with slopes b >= 0.

    Returns them, that minimum, and the constraints that hold with equality. The distance to the free
    minimum lies in the cone that the constraints span, which makes it a problem of non-negative least
    squares.
    """
    inverse = np.linalg.inv(triangle)  # small; threads of BLAS would cost more than the solution
    free = inverse @ target
    slopes = slopes[slopes.any(axis=1)]
    scale = np.abs(slopes) @ np.abs(free)
    if (slopes @ free >= -1e-12 * scale).all():
        return free, 0.0, slopes[:0]
    directions = inverse.T @ slopes.T
    lengths = np.linalg.norm(directions, axis=0)
    weights, _ = nnls(directions / lengths, -target)
    shift = (directions / lengths) @ weights
    coef = inverse @ (target + shift)
    return coef, float(shift @ shift), slopes[weights > 0]


def least_squares(
    columns: np.ndarray, y: np.ndarray, slopes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients, residuals and leverages of y on the rows of `columns`, with slopes coef >= 0.

    The leverages are those of the face of the constraints on which the coefficients lie.
    """
    q, triangle = _factor(columns)
    coef, _, active = constrained_coef(triangle, q.T @ y, slopes)
    face = q
    if len(active):
        free = null_space(active @ np.linalg.inv(triangle))
        face = q @ free
    return coef, y - columns.T @ coef, np.einsum("ij,ij->i", face, face)


def eliminate_backward(
    columns: np.ndarray, y: np.ndarray, slopes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """RSS of the best subset of each size and its columns: drop the term that costs least, one by one."""
    q, triangle = _factor(columns)
    target = q.T @ y
    outside = max(float(y @ y - target @ target), 0.0)
    kept = list(range(len(columns)))
    rss = np.empty(len(kept))
    best = np.zeros((len(kept), len(kept)), dtype=int)
    rss[-1], best[-1] = outside + _distance(triangle, target, slopes, kept), kept
    while len(kept) > 1:
        costs = [
            _distance(triangle, target, slopes, [k for k in kept if k != dropped])
            for dropped in kept[1:]
        ]
        kept.pop(1 + int(np.argmin(costs)))
        rss[len(kept) - 1] = outside + min(costs)
        best[len(kept) - 1, : len(kept)] = kept
    return rss, best


def _factor(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, triangle = np.linalg.qr(columns.T)
    diagonal = np.abs(np.diag(triangle))
    if not (diagonal > 1e-10 * np.linalg.norm(triangle, axis=0)).all():
        raise InvalidInputError(
            "the terms of the forward pass are nearly dependent, with which monotone cannot be fitted: "
            "leave out predictors that are almost the same, or use a larger thresh"
        )
    return q, triangle


def _distance(
    triangle: np.ndarray, target: np.ndarray, slopes: np.ndarray, kept: list[int]
) -> float:
    """The least |triangle b - target|^2 where only the kept columns have coefficients."""
    q, small = np.linalg.qr(triangle[:, kept])
    z = q.T @ target
    _, lost, _ = constrained_coef(small, z, slopes[:, kept])
    return max(float(target @ target - z @ z), 0.0) + lost
