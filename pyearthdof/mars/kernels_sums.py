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

    Row k of `coefficients` collects the coefficients. The loops are spelled out because a call for each
    row costs as much as its work.
    """
    n = len(column)
    after = 0.0
    for i in range(n):
        after += column[i] * column[i]
    for t in range(k):
        coefficients[k, t] = 0.0
    for _ in range(3):
        before = after
        for t in range(k):
            beta = 0.0
            for i in range(n):
                beta += q[t, i] * column[i]
            coefficients[k, t] += beta
            after = 0.0
            for i in range(n):
                left = column[i] - beta * q[t, i]
                column[i] = left
                after += left * left
        if after > 0.1 * before:
            break
    return after
