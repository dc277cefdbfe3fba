"""R's bs and ns, to the bit: a knot of MARS can depend on the last digit."""

from __future__ import annotations

import math

import numpy as np

from ..data.columns import householder
from .functions import powers_of

__all__ = ["b_splines", "natural_splines"]

PIVOT = 0.25  # how far inside of the end intervals bs is expanded, as in R


def b_splines(x, knots, boundary, degree: int, intercept: bool) -> np.ndarray:
    """R's bs: B-splines, the polynomials of the end intervals going on outside of the boundary."""
    full = _clamped(knots, boundary, degree)
    basis = _basis(x, full, degree)
    for outside, end, next_knot in (
        (x < boundary[0], boundary[0], full[degree + 1]),
        (x > boundary[1], boundary[1], full[-degree - 2]),
    ):
        if outside.any():
            pivot = (1 - PIVOT) * end + PIVOT * next_knot
            basis[outside] = _continued(x[outside], pivot, full, degree)
    return basis if intercept else basis[:, 1:]


def natural_splines(x, knots, boundary, intercept: bool) -> np.ndarray:
    """R's ns: cubic splines that are straight lines outside of the boundary."""
    full = _clamped(knots, boundary, 3)
    basis = _basis(np.clip(x, *boundary), full, 3)
    for end, distance in (
        (boundary[0], np.minimum(x - boundary[0], 0)),
        (boundary[1], np.maximum(x - boundary[1], 0)),
    ):
        if distance.any():
            basis += distance[:, None] * _derivatives(end, full, 3, 1)
    curvatures = np.array([_derivatives(end, full, 3, 2) for end in boundary])
    first = 0 if intercept else 1
    # Orthogonal to both curvatures at the ends: the rest of the Householder basis that starts with them.
    return _rotated(basis[:, first:], curvatures[:, first:].T)[:, 2:]


def _clamped(knots, boundary, degree) -> np.ndarray:
    """All knots in order; those that are given may lie outside of the boundary."""
    return np.sort(np.concatenate([np.repeat(boundary, degree + 1), knots]))


def _interval(x, full, degree) -> np.ndarray:
    """Position of the first knot above x, for the right end the first of the knots on it."""
    return np.minimum(np.searchsorted(full, x, side="right"), len(full) - degree - 1)


def _basis(x, full, degree) -> np.ndarray:
    """All B-splines at x inside of the knots, from degree to degree by de Boor's differences in R's order.

    A difference of 0, where knots are equal, adds nothing.
    """
    inside = np.clip(x, full[0], full[-1])
    at = _interval(inside, full, degree)
    rising = [full[at + k] - inside for k in range(degree)]
    falling = [inside - full[at - 1 - k] for k in range(degree)]
    values = [np.ones(len(x))]
    for j in range(1, degree + 1):
        carried = np.zeros(len(x))
        for r in range(j):
            width = rising[r] + falling[j - 1 - r]
            empty = width == 0
            share = values[r] / np.where(empty, 1.0, width)
            # R leaves the first of them as it is on the right end.
            left = np.where(rising[r] == 0, values[r], carried) if r == 0 else carried
            values[r] = np.where(empty, left, carried + rising[r] * share)
            carried = np.where(empty, 0.0, falling[j - 1 - r] * share)
        values.append(carried)
    basis = np.zeros((len(x), len(full) - degree - 1))
    for k, column in enumerate(values):
        basis[np.arange(len(x)), at - degree - 1 + k] = column
    return basis


def _derivatives(end: float, full, degree: int, order: int) -> np.ndarray:
    """A derivative of all B-splines at an end, by differences of their coefficients.

    The highest one is not defined on the right end, and R takes 0.
    """
    at = int(_interval(np.array([end]), full, degree)[0])
    found = np.zeros(len(full) - degree - 1)
    if order == degree and full[at] <= end:
        return found
    for k in range(degree + 1):
        a = [float(k == j) for j in range(degree + 1)]
        rest = degree
        with np.errstate(divide="ignore", invalid="ignore"):
            for _ in range(order):
                for q in range(rest):
                    low = at - rest + q
                    a[q] = rest * (a[q + 1] - a[q]) / (full[low + rest] - full[low])
                rest -= 1
            rising = [full[at + q] - end for q in range(rest)]
            falling = [end - full[at - 1 - q] for q in range(rest)]
            for level in range(rest - 1, -1, -1):
                for q in range(level + 1):
                    up, down = falling[level - q], rising[q]
                    a[q] = (a[q + 1] * up + a[q] * down) / (down + up)
        found[at - degree - 1 + k] = a[0]
    return found


def _continued(x, pivot: float, full, degree: int) -> np.ndarray:
    """All B-splines outside of the boundary, by their Taylor polynomials at a point inside."""
    powers = powers_of(x - pivot, degree)
    basis = np.zeros((len(x), len(full) - degree - 1))
    for order in range(degree + 1):
        derivatives = _basis(np.array([pivot]), full, degree)[0]
        if order:
            derivatives = _derivatives(pivot, full, degree, order)
        basis += (derivatives / math.factorial(order)) * powers[:, order : order + 1]
    return basis


def _rotated(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Rows in the Householder basis that begins with the directions, in LINPACK's order of operations."""
    columns, heads, rank = householder(directions.copy())
    rows = rows.copy()
    width = rows.shape[1]
    for k in range(min(rank, width - 1)):
        if heads[k] == 0:
            continue
        head = columns[k:, k].copy()
        head[0] = heads[k]
        total = np.zeros(len(rows))
        for j in range(width - k):
            total = total + head[j] * rows[:, k + j]
        share = -total / head[0]
        for j in range(width - k):
            rows[:, k + j] = rows[:, k + j] + share * head[j]
    return rows
