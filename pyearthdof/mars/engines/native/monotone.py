"""Least squares with sign constraints on the slopes of additive effects; not available in R's earth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import nnls

from ....exceptions import InvalidInputError


def slope_rows(
    dirs: np.ndarray, cuts: np.ndarray, monotone: Sequence[tuple[int, int]] | None
) -> np.ndarray | None:
    """Return G such that G @ coef >= 0 if and only if all slopes have their signs; None without constraints.

    `monotone` contains pairs of a column and the sign of its slopes; these columns enter additively. Each
    row of G is the slope of a column between two adjacent knots, or beyond the outermost one.
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

    Returns the coefficients, the minimum, and the mask of active constraints. The difference from the
    unconstrained minimum lies in the cone spanned by the constraints, so the problem reduces to
    non-negative least squares.
    """
    inverse = np.linalg.inv(
        triangle
    )  # small: starting BLAS threads would cost more than the solution
    free = inverse @ target
    active = np.zeros(len(slopes), dtype=bool)
    binding = slopes.any(axis=1)
    if not _broken(slopes, free).any():
        return free, 0.0, active
    directions = inverse.T @ slopes[binding].T
    lengths = np.linalg.norm(directions, axis=0)
    weights, _ = nnls(directions / lengths, -target)
    shift = (directions / lengths) @ weights
    active[binding] = weights > 0
    return inverse @ (target + shift), float(shift @ shift), active


def least_squares(
    columns: np.ndarray, y: np.ndarray, slopes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients, residuals and leverages of y on the rows of `columns`, with slopes coef >= 0.

    The leverages are computed on the face defined by the active constraints.
    """
    q, triangle = _factor(columns)
    target = q.T @ y
    coef, _, active = constrained_coef(triangle, target, slopes)
    while active.any():
        # solve again on the face: active slopes are 0 up to rounding even if terms are nearly dependent
        face = null_space(slopes[active])
        inside, upper = np.linalg.qr(triangle @ face)
        coef = face @ np.linalg.solve(upper, inside.T @ target)
        broken = _broken(slopes, coef) & ~active
        if not broken.any():
            q = q @ inside
            break
        active |= broken
    coef = _lifted(coef, slopes)
    return coef, y - columns.T @ coef, np.einsum("ij,ij->i", q, q)


def _broken(slopes: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Mask of the constraints violated by more than rounding."""
    return slopes @ coef < -1e-12 * (np.abs(slopes) @ np.abs(coef))


def _lifted(coef: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Adjust coefficients so that the slopes have the required sign for any order of summation.

    All entries in a column of `slopes` have the same sign, so one term can increase the slopes of all its
    segments.
    """
    coef = coef.copy()
    for row in slopes[slopes.any(axis=1)]:
        margin = 4 * len(row) * np.finfo(float).eps * float(np.abs(row) @ np.abs(coef))
        short = margin - float(row @ coef)
        if short > 0:
            term = np.flatnonzero(row)[0]
            coef[term] += np.sign(row[term]) * short
    return coef


def eliminate_backward(
    columns: np.ndarray, y: np.ndarray, slopes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """RSS and columns of each subset: successively drop the term whose removal increases the RSS least."""
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
    """Return the minimum of |triangle b - target|^2 over coefficients of the kept columns."""
    q, small = np.linalg.qr(triangle[:, kept])
    z = q.T @ target
    _, lost, _ = constrained_coef(small, z, slopes[:, kept])
    return max(float(target @ target - z @ z), 0.0) + lost
