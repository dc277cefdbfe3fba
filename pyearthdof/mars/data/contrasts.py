"""R's contr.poly, to the bit: the columns of an ordered factor.

R takes the QR decomposition of the powers of the scores by LINPACK's Householder reflections, moving nearly
dependent columns to the end. From 23 levels on that happens, so another decomposition would give other
columns, and below it would differ in the last digits, on which a knot at a zero depends.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

__all__ = ["MAX_LEVELS", "householder", "multiplied_by_q", "polynomial_contrasts"]

MAX_LEVELS = 95  # R refuses more
TOLERANCE = 1e-7  # of R's qr()
LARGE, SMALLER = 2.0**486, 2.0**-538  # what BLAS makes smaller before it squares it


@lru_cache(maxsize=64)
def polynomial_contrasts(n_levels: int) -> np.ndarray:
    """Orthonormal polynomials on equally spaced levels, (n_levels, n_levels - 1).

    >>> polynomial_contrasts(3).round(6).tolist()
    [[-0.707107, 0.408248], [-0.0, -0.816497], [0.707107, 0.408248]]
    """
    scores = [level - (n_levels + 1) / 2 for level in range(1, n_levels + 1)]
    powers = np.array([[float(s) ** k for k in range(n_levels)] for s in scores])
    columns, heads, rank = householder(powers)
    raw = np.column_stack([multiplied_by_q(columns, heads, rank, j) for j in range(n_levels)])
    squares = (raw**2).astype(np.longdouble).cumsum(axis=0)[-1]
    lengths = np.sqrt(squares.astype(float))
    contrasts = (raw / lengths)[:, 1:]
    contrasts.flags.writeable = False
    return contrasts


def householder(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Reflect the columns of x in place; return them, the heads of the reflections and the rank."""
    n, width = x.shape
    norms = np.array([_length(x[:, j]) for j in range(width)])
    original = np.where(norms == 0, 1.0, norms)
    rank = width
    for k in range(min(n, width)):
        while k < rank and norms[k] < original[k] * TOLERANCE:
            order = [*range(k), *range(k + 1, width), k]
            x[:], norms, original = x[:, order], norms[order], original[order]
            rank -= 1
        if k == n - 1:
            break
        head = x[k:, k]
        length = np.copysign(_length(head), x[k, k])
        if length == 0:
            continue
        head *= 1.0 / length
        head[0] += 1.0
        for j in range(k + 1, width):
            _reflect(head, x[k:, j])
            norms[j] = _remaining(norms[j], x[k:, j])
        norms[k] = head[0]
        x[k, k] = -length
    return x, norms, rank


def _remaining(norm: float, column: np.ndarray) -> float:
    """Length of a column without its first entry, from its length with it."""
    if norm == 0:
        return norm
    share = max(1.0 - (abs(column[0]) / norm) ** 2, 0.0)
    return _length(column[1:]) if share < 1e-6 else norm * np.sqrt(share)


def multiplied_by_q(columns, heads, rank, j) -> np.ndarray:
    """Q times the j-th diagonal entry of R."""
    n = len(columns)
    vector = np.zeros(n)
    vector[j] = columns[j, j]
    for k in range(min(rank, n - 1) - 1, -1, -1):
        if heads[k] != 0:
            head = columns[k:, k].copy()
            head[0] = heads[k]
            _reflect(head, vector[k:])
    return vector


def _reflect(head: np.ndarray, vector: np.ndarray) -> None:
    vector += -_sum(head * vector) / head[0] * head


def _length(vector: np.ndarray) -> float:
    is_large = np.abs(vector) > LARGE
    rest = _sum(vector[~is_large] ** 2)
    if not is_large.any():
        return float(np.sqrt(rest))
    return float(np.sqrt(_sum((vector[is_large] * SMALLER) ** 2) + rest * SMALLER**2) / SMALLER)


def _sum(values: np.ndarray) -> float:
    """From the first to the last, as LINPACK's loops run; numpy's own sum goes in blocks."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0
