"""Sums whose order does not matter, and Gram-Schmidt with them."""

from __future__ import annotations

from .._numba import reordering_kernel


@reordering_kernel
def dot(u, v):
    """Inner product."""
    total = 0.0
    for i in range(len(u)):
        total += u[i] * v[i]
    return total


@reordering_kernel
def orthogonalise(q, k, column, coefficients):
    """Take rows 0..k-1 of q out of `column`, again if little is left; return what is left of its square.

    Row k of `coefficients` collects the coefficients. One loop takes a row out and multiplies what is left
    by the next: calls and loops of their own would cost as much as the work.
    """
    n = len(column)
    after = 0.0
    for i in range(n):
        after += column[i] * column[i]
    for t in range(k):
        coefficients[k, t] = 0.0
    if k == 0:
        return after
    for _ in range(3):
        before = after
        beta = after = 0.0
        for i in range(n):
            beta += q[0, i] * column[i]
        for t in range(k - 1):
            following = 0.0
            for i in range(n):
                left = column[i] - beta * q[t, i]
                column[i] = left
                following += q[t + 1, i] * left
            coefficients[k, t] += beta
            beta = following
        for i in range(n):
            left = column[i] - beta * q[k - 1, i]
            column[i] = left
            after += left * left
        coefficients[k, k - 1] += beta
        if after > 0.1 * before:
            break
    return after
