"""Least squares with four entries a row, and what follows from its triangular factor, in O(n).

The normal equations of a smoothing spline with many knots have a condition number far beyond 1e16
(the penalty grows with the cube of the number of knots). So the stacked rows of design and penalty
are reduced to a triangle by Givens rotations; its condition number is only the square root of that.

A triangle or a symmetric matrix is an upper band: entry [i, d] is element (i, i + d), d = 0 to 3.
"""

from __future__ import annotations

import numpy as np

from pyearthdof._numba import kernel

__all__ = [
    "back_substitute",
    "band_cholesky",
    "band_inverse",
    "reduce_data",
    "reduce_penalised",
    "trace_of_smoother",
]


@kernel
def _rotate_in(R, Z, start, row, rhs):
    """Rotate one row into the triangle; what is left of its right-hand side stays in `rhs`.

    Rows must come in the order of `start`: then the triangle below start + 3 is still empty and
    four rotations are enough.
    """
    k = R.shape[0]
    for a in range(min(4, k - start)):
        if row[a] == 0.0:
            continue
        i = start + a
        length = np.hypot(R[i, 0], row[a])
        c = R[i, 0] / length
        s = row[a] / length
        for b in range(4 - a):
            upper = R[i, b]
            R[i, b] = c * upper + s * row[a + b]
            row[a + b] = c * row[a + b] - s * upper
        for j in range(rhs.size):
            upper = Z[i, j]
            Z[i, j] = c * upper + s * rhs[j]
            rhs[j] = c * rhs[j] - s * upper


@kernel
def reduce_data(start, values, n_columns, Y):
    """QR of the design: triangle R, Q'Y, and the sum of squares of Y outside the column space."""
    R = np.zeros((n_columns, 4))
    Z = np.zeros((n_columns, Y.shape[1]))
    outside = np.zeros(Y.shape[1])
    row = np.empty(4)
    rhs = np.empty(Y.shape[1])
    for i in range(start.size):
        for a in range(4):
            row[a] = values[i, a]
        for j in range(rhs.size):
            rhs[j] = Y[i, j]
        _rotate_in(R, Z, start[i], row, rhs)
        for j in range(rhs.size):
            outside[j] += rhs[j] * rhs[j]
    return R, Z, outside


@kernel
def reduce_penalised(R0, Z0, penalty, lam):
    """QR of a triangle with the penalty rows times sqrt(lam) below it, two of them a column."""
    k = R0.shape[0]
    R = np.zeros((k, 4))
    Z = np.zeros((k, Z0.shape[1]))
    row = np.empty(4)
    rhs = np.empty(Z0.shape[1])
    root = np.sqrt(lam)
    for i in range(k):
        for a in range(4):
            row[a] = R0[i, a]
        for j in range(rhs.size):
            rhs[j] = Z0[i, j]
        _rotate_in(R, Z, i, row, rhs)
        for q in range(2 * i, min(2 * i + 2, penalty.shape[0])):
            for a in range(4):
                row[a] = root * penalty[q, a]
            for j in range(rhs.size):
                rhs[j] = 0.0
            _rotate_in(R, Z, i, row, rhs)
    return R, Z


@kernel
def back_substitute(R, Z):
    """Solve R C = Z."""
    k = R.shape[0]
    C = np.empty((k, Z.shape[1]))
    for i in range(k - 1, -1, -1):
        for j in range(C.shape[1]):
            C[i, j] = Z[i, j]
        for d in range(1, min(4, k - i)):
            for j in range(C.shape[1]):
                C[i, j] -= R[i, d] * C[i + d, j]
        for j in range(C.shape[1]):
            C[i, j] /= R[i, 0]
    return C


@kernel
def band_inverse(R):
    """The band of (R'R)^-1, after Hutchinson and de Hoog (1985).

    R A = R'^-1 is lower triangular with diagonal 1/R_ii, which gives row i of A, within the band,
    from the rows below it.
    """
    k = R.shape[0]
    A = np.zeros((k, 4))
    for i in range(k - 1, -1, -1):
        width = min(4, k - i)
        for d in range(width - 1, 0, -1):
            total = 0.0
            for e in range(1, width):
                total += R[i, e] * A[i + min(d, e), abs(d - e)]
            A[i, d] = -total / R[i, 0]
        total = 1.0 / R[i, 0]
        for e in range(1, width):
            total -= R[i, e] * A[i, e]
        A[i, 0] = total / R[i, 0]
    return A


@kernel
def trace_of_smoother(R0, R):
    """tr(S) = tr[(R'R)^-1 R0'R0]: the sum over the rows r of R0 of r' (R'R)^-1 r.

    Also returns the sum of the sizes of its terms: where that is much larger, they cancel.
    """
    A = band_inverse(R)
    k = R0.shape[0]
    total = 0.0
    size = 0.0
    for i in range(k):
        for a in range(min(4, k - i)):
            for b in range(a, min(4, k - i)):
                term = R0[i, a] * R0[i, b] * A[i + a, b - a] * (1.0 if a == b else 2.0)
                total += term
                size += abs(term)
    return total, size


@kernel
def band_cholesky(H, R):
    """Write the upper factor of H = R'R into R; False if H is singular to rounding."""
    k = H.shape[0]
    for i in range(k):
        for d in range(min(4, k - i)):
            total = H[i, d]
            for e in range(1, min(4 - d, i + 1)):
                total -= R[i - e, e] * R[i - e, e + d]
            if d == 0:
                if total <= 1e-14 * H[i, 0]:
                    return False
                R[i, 0] = np.sqrt(total)
            else:
                R[i, d] = total / R[i, 0]
    return True
