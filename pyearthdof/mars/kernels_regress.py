"""Coefficients, and backward elimination for several responses, in R's order of operations.

Ill-conditioned fits (weights that differ by many powers of ten) lose digits in R's way only so, and the
rounding that is left of a perfect fit decides how many of its terms are pruned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import kernel
from .kernels_householder import (
    BLOCK,
    RANK_TOLERANCE,
    add_squares,
    extend_model,
    make_block,
    make_model,
    reflect,
)


class Regression(NamedTuple):
    """Responses regressed on columns; without numbers if a column depends on those before it."""

    is_independent: bool
    coef: np.ndarray  # (m, n_resp)
    rss: float  # of all responses
    residuals: np.ndarray  # (n_resp, n)
    triangle: np.ndarray  # (m, m): row j makes column j out of the orthonormal basis
    reflections: np.ndarray  # (m, n)


@kernel
def regress(columns, y):
    """Regress each row of y on the rows of `columns`."""
    m, n = columns.shape
    n_resp = y.shape[0]
    model, block = make_model(m, n_resp, n), make_block(n)
    model.rotated[:] = y
    triangle, coef = np.zeros((m, m)), np.zeros((m, n_resp))
    residuals = np.zeros((n_resp, n))
    for j in range(m):
        for i in range(n):
            block.columns[i, 0] = columns[j, i]
        if extend_model(model, j, block, RANK_TOLERANCE) == j:
            return Regression(False, coef, 0.0, residuals, triangle, model.reflections)
        for t in range(j):
            triangle[j, t] = block.columns[t, 0]
        triangle[j, j] = block.pivot[0]
    for r in range(n_resp):
        for j in range(m):
            coef[j, r] = model.rotated[r, j]
        solve_triangle(triangle, m, coef[:, r])
    block.rss[0] = 0.0
    for r in range(n_resp):
        for i in range(n):
            block.residuals[i, 0] = model.rotated[r, i]
        add_squares(model, m, block, 1)
        residuals[r] = block.residuals[:, 0]
    return Regression(True, coef, block.rss[0], residuals, triangle, model.reflections)


@kernel
def find_independent(columns, tolerance):
    """Which rows of `columns` do not depend on those before them, as R's QR decides it."""
    m, n = columns.shape
    model, block = make_model(m, 0, n), make_block(n)
    kept = np.zeros(m, dtype=np.bool_)
    k = 0
    for j in range(m):
        for i in range(n):
            block.columns[i, 0] = columns[j, i]
        new = extend_model(model, k, block, tolerance)
        kept[j] = new > k
        k = new
    return kept


@kernel
def hat_values(reflections):
    """Diagonal of the projection on the columns that were reflected: the squares of the basis, by case."""
    m, n = reflections.shape
    block = make_block(n)
    values = np.zeros(n)
    for first in range(0, m, BLOCK):
        width = min(BLOCK, m - first)
        block.columns[:] = 0.0
        for c in range(width):
            block.columns[first + c, c] = 1.0
        for t in range(min(m, n - 1) - 1, -1, -1):
            reflect(reflections[t], t, block.columns, width, block.sums)
        for i in range(n):
            for c in range(width):
                values[i] += block.columns[i, c] * block.columns[i, c]
    return values


@kernel
def solve_triangle(triangle, m, values):
    """Solve for the coefficients in place, from the last column to the first."""
    for j in range(m - 1, -1, -1):
        values[j] /= triangle[j, j]
        for t in range(j):
            values[t] += -values[j] * triangle[j, t]


@kernel
def inverse_diagonal(triangle):
    """Diagonal of the inverse of the cross-products."""
    m = len(triangle)
    inverse = np.zeros((m, m))  # row j: column j of the inverse triangle
    for j in range(m):
        inverse[j, j] = 1.0
        solve_triangle(triangle, j + 1, inverse[j])
    diagonal = np.zeros(m)
    for t in range(m):
        for j in range(t, m):
            diagonal[t] += inverse[j, t] * inverse[j, t]
    return diagonal


@kernel
def eliminate_backward(columns, y):
    """Drop the column that raises the RSS least, until the first is alone.

    Returns (RSS of each size, columns of each size (a row a size, padded with zeros), whether the
    columns are independent).
    """
    m = len(columns)
    rss, best = np.empty(m), np.zeros((m, m), dtype=np.int64)
    present = np.arange(m)
    for size in range(m, 0, -1):
        fit = regress(columns[present], y)
        if not fit.is_independent:
            return rss, best, False
        rss[size - 1] = fit.rss
        best[size - 1, :size] = present
        if size == 1:
            break
        diagonal = inverse_diagonal(fit.triangle)
        drop, least = -1, np.inf
        for t in range(1, size):
            increase = 0.0
            for r in range(len(y)):
                increase += fit.coef[t, r] * fit.coef[t, r] / diagonal[t]
            if increase < least:
                drop, least = t, increase
        present = np.delete(present, drop)
    return rss, best, True
