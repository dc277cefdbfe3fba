"""Least squares with ordered coefficients: min g'Hg/2 - b'g under g_1 <= ... <= g_J, H banded.

Where neighbours are equal they form a block, and g is piecewise constant on blocks: g = G'v with
the paper's matrix G. The solver is the active-set method of Lawson and Hanson for the increments of
g: it starts from a single block, splits where the gradient asks for it, solves for the values of
the blocks (a banded system again, one row for each block), and joins blocks whose order would be
violated. It ends at the exact solution after finitely many steps, also where H is singular.
"""

from __future__ import annotations

import numpy as np

from pyearthdof._numba import kernel
from pyearthdof.exceptions import FittingError
from pyearthdof.procedures.banded import band_cholesky, band_inverse

__all__ = ["solve_ordered"]


def solve_ordered(H, gram, B):
    """Solve for each right-hand side.

    Parameters
    ----------
    H, gram : (J, 4) arrays
        Upper bands of the quadratic form and of its part without the penalty.
    B : (J, m) array
        Right-hand sides b.

    Returns
    -------
    coef : (J, m) array
    n_unique : (m,) int array
        Number of blocks.
    trace : (m,) array
        tr[(G H G')^-1 G gram G'], which is tr(S(y)).
    """
    coef, n_unique, trace, solved = _solve_all(H, gram, np.ascontiguousarray(B.T))
    if not solved.all():
        raise FittingError(
            f"the monotone spline of response {int(np.argmin(solved))} did not settle on an active "
            "set; the basis is singular for these x, so take fewer basis functions."
        )
    return coef.T, n_unique, trace


@kernel
def _solve_all(H, gram, B):
    m, J = B.shape
    coef = np.empty((m, J))
    n_unique = np.empty(m, np.int64)
    trace = np.empty(m)
    solved = np.empty(m, np.bool_)
    block = np.empty(J, np.int64)
    for j in range(m):
        is_start = np.zeros(J, np.bool_)
        solved[j] = _solve_one(H, B[j], coef[j], is_start)
        n_unique[j] = _label(is_start, block)
        trace[j] = _trace(H, gram, block, n_unique[j])
    return coef, n_unique, trace, solved


@kernel
def _solve_one(H, b, g, is_start):
    """Fill g and the first indices of its blocks; False if the steps do not end."""
    J = b.size
    new = np.empty(J)
    refused = np.zeros(J, np.bool_)
    is_start[0] = True
    _solve_blocks(H, b, is_start, g)
    for _ in range(20 * J + 100):
        split = _best_split(H, b, g, is_start, refused)
        if split < 0:
            return True
        is_start[split] = True
        if not _solve_blocks(H, b, is_start, new) or new[split] <= new[split - 1]:
            # Only rounding speaks for this split: leave the block whole and try the next best.
            is_start[split] = False
            refused[split] = True
            continue
        for i in range(J):
            refused[i] = False
        while not _step(g, new, is_start):
            _solve_blocks(H, b, is_start, new)
    return False


@kernel
def _best_split(H, b, g, is_start, refused):
    """Where raising all later coefficients lowers the criterion fastest; -1 at the solution."""
    J = b.size
    gradient = np.empty(J)
    size = 0.0
    for i in range(J):
        gradient[i] = -b[i]
        size += abs(b[i])
    for i in range(J):
        for d in range(min(4, J - i)):
            gradient[i] += H[i, d] * g[i + d]
            size += 2.0 * abs(H[i, d] * g[i + d])
            if d > 0:
                gradient[i + d] += H[i, d] * g[i]
    best = -1
    lowest = -32 * 2.220446049250313e-16 * size
    total = 0.0
    for i in range(J - 1, 0, -1):
        total += gradient[i]
        if total < lowest and not is_start[i] and not refused[i]:
            lowest = total
            best = i
    return best


@kernel
def _step(g, new, is_start):
    """Go from g towards new, as far as the order allows; True if all the way.

    Blocks that meet on the way are joined.
    """
    J = g.size
    share = 1.0
    meeting = -1
    for i in range(1, J):
        if is_start[i] and new[i] <= new[i - 1]:
            gap = g[i] - g[i - 1]
            part = gap / (gap - (new[i] - new[i - 1])) if gap > 0.0 else 0.0
            if meeting < 0 or part < share:
                share = part
                meeting = i
    if meeting < 0:
        for i in range(J):
            g[i] = new[i]
        return True
    for i in range(J):
        g[i] += share * (new[i] - g[i])
    is_start[meeting] = False
    return False


@kernel
def _label(is_start, block):
    """Number the blocks: the block of each coefficient, and how many there are."""
    last = -1
    for i in range(is_start.size):
        if is_start[i]:
            last += 1
        block[i] = last
    return last + 1


@kernel
def _reduce(H, block, k):
    """G H G' for the k blocks."""
    J = H.shape[0]
    reduced = np.zeros((k, 4))
    for i in range(J):
        for d in range(min(4, J - i)):
            gap = block[i + d] - block[i]
            reduced[block[i], gap] += H[i, d] * (2.0 if d > 0 and gap == 0 else 1.0)
    return reduced


@kernel
def _solve_blocks(H, b, is_start, g):
    """Minimise over the values of the blocks; False if the blocks' system is singular."""
    block = np.empty(b.size, np.int64)
    k = _label(is_start, block)
    reduced = _reduce(H, block, k)
    R = np.zeros((k, 4))
    if not band_cholesky(reduced, R):
        return False
    v = np.zeros(k)
    for i in range(b.size):
        v[block[i]] += b[i]
    for i in range(k):
        for d in range(1, min(4, i + 1)):
            v[i] -= R[i - d, d] * v[i - d]
        v[i] /= R[i, 0]
    for i in range(k - 1, -1, -1):
        for d in range(1, min(4, k - i)):
            v[i] -= R[i, d] * v[i + d]
        v[i] /= R[i, 0]
    for i in range(b.size):
        g[i] = v[block[i]]
    return True


@kernel
def _trace(H, gram, block, k):
    part = _reduce(gram, block, k)
    R = np.zeros((k, 4))
    band_cholesky(_reduce(H, block, k), R)
    A = band_inverse(R)
    total = 0.0
    for i in range(part.shape[0]):
        total += part[i, 0] * A[i, 0]
        for d in range(1, 4):
            total += 2.0 * part[i, d] * A[i, d]
    return total
