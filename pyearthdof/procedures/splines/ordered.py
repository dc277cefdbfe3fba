"""Least squares with ordered coefficients: min g'Hg/2 - b'g under g_1 <= ... <= g_J, H banded.

Where neighbours are equal they form a block, and g is piecewise constant on blocks: g = G'v with
the paper's matrix G. The solver is the active-set method of Lawson and Hanson for the increments of
g: it starts from a single block, splits where the gradient asks for it, solves for the values of
the blocks (a banded system again, one row for each block), and joins blocks whose order would be
violated. It ends at the exact solution after finitely many steps, also where H is singular.
"""

from __future__ import annotations

import numpy as np

from ... import _core
from ...exceptions import FittingError

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
    coef, n_unique, trace, solved = _core.solve_ordered(H, gram, np.ascontiguousarray(B.T))
    if not solved.all():
        raise FittingError(
            f"the monotone spline of response {int(np.argmin(solved))} did not settle on an active "
            "set: the basis is singular for these x, so take fewer basis functions"
        )
    return coef.T, n_unique, trace
