"""Triangles of two or three rows, in the order of operations of R's PORT library and the reference BLAS.

The order counts: R takes slopes by differences, so that a last bit in the parameters is the eighth digit
of the slopes, and flat problems are a hundred iterations long.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "cholesky", "damp", "decompose", "dot", "norm", "smallest_singular", "solve", "solve_transposed", "times",
    "times_itself", "times_symmetric", "times_transposed",
]  # fmt: skip

TINY = np.finfo(float).tiny
RESCALE = 256.0
WORST_GROWTH = 2.5


def dot(a: np.ndarray, b: np.ndarray) -> np.float64:
    """Summed from first to last."""
    return np.add.accumulate(a * b)[-1]


def norm(a: np.ndarray) -> np.float64:
    """Euclidean."""
    return np.sqrt(dot(a, a))


def times(lower: np.ndarray, x: np.ndarray) -> np.ndarray:
    """L x."""
    return np.array([dot(lower[i, : i + 1], x[: i + 1]) for i in range(len(x))])


def times_transposed(lower: np.ndarray, x: np.ndarray) -> np.ndarray:
    """L' x."""
    return np.array([dot(lower[j:, j], x[j:]) for j in range(len(x))])


def times_symmetric(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x."""
    return np.array([dot(row, x) for row in a])


def times_itself(lower: np.ndarray) -> np.ndarray:
    """The triangle times its transpose."""
    return np.array([[dot(a, b) for b in lower] for a in lower])


def solve(lower: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x of L x = y."""
    x = np.empty(len(y))
    for i in range(len(y)):
        x[i] = (y[i] - dot(lower[i, :i], x[:i])) / lower[i, i] if i else y[0] / lower[0, 0]
    return x


def solve_transposed(lower: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x of L' x = y."""
    x = y.copy()
    for i in reversed(range(len(y))):
        x[i] /= lower[i, i]
        x[:i] -= x[i] * lower[i, :i]
    return x


def cholesky(a: np.ndarray) -> tuple[np.ndarray, np.float64 | None]:
    """The lower factor; where there is none, an upper bound (not positive) of the lowest eigenvalue, too."""
    p = len(a)
    factor = np.zeros((p, p))
    for i in range(p):
        for j in range(i):
            known = dot(factor[i, :j], factor[j, :j]) if j else 0.0
            factor[i, j] = (a[i, j] - known) / factor[j, j]
        rest = a[i, i] - (dot(factor[i, :i], factor[i, :i]) if i else 0.0)
        if rest <= 0:
            factor[i, i] = 1.0
            length = norm(solve_transposed(factor[: i + 1, : i + 1], np.eye(i + 1)[i]))
            return factor, rest / length / length
        factor[i, i] = np.sqrt(rest)
    return factor, None


def smallest_singular(lower: np.ndarray) -> tuple[np.float64, np.ndarray, np.ndarray]:
    """An estimate of the smallest singular value, by Cline, Moler, Stewart and Wilkinson.

    With its left vector x, and the right one, not normalised: lower @ y = x.
    """
    p, seed = len(lower), 2
    x = np.zeros(p)
    for j in reversed(range(p)):
        seed = 3432 * seed % 9973
        b = 0.5 * (1 + seed / 9973)
        plus, minus = b - x[j], -b - x[j]
        sizes = []
        for value in (plus, minus):
            sums = np.abs(x[:j] + lower[j, :j] * (value / lower[j, j]))
            sizes.append(np.add.accumulate(np.append(abs(value), sums))[-1])
        x[j] = (minus if sizes[1] > sizes[0] else plus) / lower[j, j]
        x[:j] += x[j] * lower[j, :j]
    x = 1 / norm(x) * x
    y = solve(lower, x)
    return 1 / norm(y), x, y


def decompose(slopes, residuals) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R' of J = QR by Householder, Q'r, and the reflections; a column of zeros leaves zeros."""
    work, y = slopes.copy(), residuals.copy()
    n, p = work.shape
    lower, qtr, row = np.zeros((p, p)), np.zeros(p), 0
    for k in range(p):
        length = norm(work[row:, k])
        if length < TINY:
            continue
        if row == n - 1:
            lower[k:, k], qtr[k] = work[row, k:], y[row]
            work[row, k] = 0.0
            break
        if work[row, k] < 0:
            length = -length
        head = work[row, k] + length
        work[row, k] = head
        work[row:, k] *= 1 / np.sqrt(length * head)
        v = work[row:, k]
        y[row:] -= dot(y[row:], v) * v
        for j in range(k + 1, p):
            work[row:, j] -= dot(work[row:, j], v) * v
        lower[k, k], lower[k + 1 :, k] = -length, work[row, k + 1 :]
        qtr[k] = y[row]
        row += 1
    return lower, qtr, work


def damp(lower, qtr, damping) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add diag(damping) as rows to QR and zeros to r, by fast Givens rotations.

    R' and Q'r afterwards, whose rows are to be multiplied by the roots of the third.
    """
    p = len(qtr)
    upper = np.column_stack([lower.T, qtr])
    weights = np.ones(p)
    for i in range(p):
        row, weight = np.zeros(p + 1), np.float64(1.0)
        row[i] = damping[i]
        for k in range(i, p):
            if row[k] == 0 and k > i:
                continue
            if k > i and weights[k] < 1 / RESCALE:
                weights[k] *= RESCALE * RESCALE
                upper[k, k:] /= RESCALE
            weights[k], weight = _rotate(upper[k, k:], row[k:], weights[k], weight, k == i)
            if k > i and weight < 1 / RESCALE:
                weight *= RESCALE * RESCALE
                row[k + 1 :] /= RESCALE
    return upper[:, :p].T, upper[:, p], weights


def _rotate(first, second, weight1, weight2, ties: bool) -> tuple[np.float64, np.float64]:
    """Rows `first` and `second` so that the second begins with zero; their new weights.

    The larger of the two leads, `second` in ties if so told, unless the weights are against it.
    """
    by_second = abs(second[0]) >= abs(first[0]) if ties else abs(second[0]) > abs(first[0])
    for _ in range(2):
        if by_second:
            b = first[0] / second[0]
            a = weight1 * b / weight2
        else:
            a = second[0] / first[0]
            b = weight2 * a / weight1
        growth = a * b + 1
        if not growth > WORST_GROWTH:
            break
        by_second = not by_second
    if by_second:
        first[0] = growth * second[0]
        first[1:], second[1:] = a * first[1:] + second[1:], b * second[1:] - first[1:]
        return weight2 / growth, weight1 / growth
    first[0] = growth * first[0]
    first[1:], second[1:] = first[1:] + b * second[1:], second[1:] - a * first[1:]
    return weight1 / growth, weight2 / growth
