"""The sums of candidate knots, and what each knot would gain.

For every (parent, predictor) pair and candidate knot k, with h_k the parent times the hinge at that knot
and the sums taken after orthogonalising to the model, we keep A_k = <h_k, y>, B_k = |h_k|^2 and
C_k = <h_k, h_min>, where h_min, the hinge at the smallest x, is the linear candidate. A new basis column q
changes them by products of <h_k, q>, and one walk over the sorted cases gives all <h_k, q> of a pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import fusing_kernel, lean_kernel, searching_kernel

ALIVE, DEAD, DOUBTFUL = 0, 1, 2  # of a linear candidate


class Knots(NamedTuple):
    """Candidate knots and their sums of all pairs, end to end; the last of a pair stands for h_min."""

    place: np.ndarray
    stop: np.ndarray  # how many of the parent's cases lie above
    x: np.ndarray
    v: np.ndarray  # |h|^2 against the intercept-only model
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


@fusing_kernel
def update_parent(design, places, first, open_pairs, offset, n_knots, knots, products, z, w, hinge):
    """Take two columns into account in all pairs of a parent.

    `products` holds the parent times each column, `z` <y, column>; `w` is 1 for a basis column. The cases
    between two knots are summed by themselves, so that no sum waits for the one before it.
    """
    stop, x = knots.stop, knots.x
    z0, z1 = z
    w0, w1 = w
    for j in range(len(open_pairs)):
        if not open_pairs[j]:
            continue
        order, sorted_x = design.order[j], design.sorted_x[j]
        start, count = offset[j], n_knots[j]
        level0 = level1 = 0.0  # sums over the cases above
        h0 = h1 = 0.0  # the same times the distance to the current knot
        above = x[start]
        i = np.uint64(first[j])
        for k in range(count + 1):
            knot = x[start + k]
            end = np.uint64(first[j] + stop[start + k])
            sum0 = sum1 = rise0 = rise1 = 0.0
            for case in range(i, end):
                place = places[case]
                distance = sorted_x[place] - knot
                value0, value1 = products[order[place], 0], products[order[place], 1]
                sum0 += value0
                sum1 += value1
                rise0 += distance * value0
                rise1 += distance * value1
            i = end
            h0 += (above - knot) * level0 + rise0
            h1 += (above - knot) * level1 + rise1
            level0 += sum0
            level1 += sum1
            above = knot
            hinge[0, k] = h0
            hinge[1, k] = h1
        stretch = slice(start, start + count + 1)
        a, b, c = knots.a[stretch], knots.b[stretch], knots.c[stretch]
        low0, low1 = w0 * h0, w1 * h1
        for k in range(count + 1):
            h0, h1 = hinge[0, k], hinge[1, k]
            a[k] -= z0 * h0 + z1 * h1
            b[k] -= w0 * h0 * h0 + w1 * h1 * h1
            c[k] -= h0 * low0 + h1 * low1


@lean_kernel
def knot_tolerance(new_column):
    """Least share of its variance that a knot's hinge must have left; columns are counted by slot."""
    return 0.01 if new_column < 15 else 1e-5


@lean_kernel
def linear_gain_of(knots, last, linear):
    """(gain, A/B, 1/B) of the linear candidate at entry `last`; zeros if it has none."""
    if not linear:
        return 0.0, 0.0, 0.0
    inverse = 1 / knots.b[last]
    slope = knots.a[last] * inverse
    return knots.a[last] * slope, slope, inverse


@searching_kernel
def best_knot_gain(knots, start, count, slope, inverse, tolerance, ceiling):
    """Largest gain below `ceiling` that a knot of the pair adds to the linear candidate's."""
    stretch = slice(start, start + count)
    v, a, b, c = knots.v[stretch], knots.a[stretch], knots.b[stretch], knots.c[stretch]
    best = 0.0
    for k in range(count):
        left = b[k] - c[k] * c[k] * inverse
        part = a[k] - c[k] * slope
        usable = left > tolerance * v[k]
        gain = part * part / (left if usable else 1.0)
        best = max(best, gain if usable and gain < ceiling else 0.0)
    return best


@lean_kernel
def score_parent(open_pairs, state, offset, n_knots, knots, linear_only, n_slots, limit, gain):
    """Best gain of each pair of a parent (an upper bound, by a hair)."""
    for j in range(len(open_pairs)):
        if not open_pairs[j]:
            continue
        if state[j] == DOUBTFUL:
            gain[j] = np.inf
            continue
        start, count = offset[j], n_knots[j]
        linear = state[j] == ALIVE
        base, slope, inverse = linear_gain_of(knots, start + count, linear)
        gain[j] = base
        if not linear_only[j]:
            tolerance = knot_tolerance(n_slots + 1 if linear else n_slots) * (1 - 1e-6)
            ceiling = limit * (1 + 1e-9) - base
            gain[j] += best_knot_gain(knots, start, count, slope, inverse, tolerance, ceiling)
