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
from .kernels_noise import MOST_NOISE, TIGHT, column_noise, gain_error, tolerance_band

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
    """(gain, A/B, 1/B) of the linear candidate at entry `last`; zeros if there is none."""
    if not linear:
        return 0.0, 0.0, 0.0
    inverse = 1 / knots.b[last]
    slope = knots.a[last] * inverse
    return knots.a[last] * slope, slope, inverse


@lean_kernel
def pair_noise(fast, slot, pred, linear):
    """Noise of the model, of |h|^2 and of the pair's linear candidate if there is one."""
    square = fast.noise[0] + fast.rounding[slot, pred]
    if linear:
        last = fast.offset[slot, pred] + fast.n_knots[slot, pred]
        square += column_noise(fast.square[slot, pred], fast.knots.b[last])
    return np.sqrt(square)


@searching_kernel
def best_knot_gain(knots, start, count, slope, inverse, low, ceiling):
    """Largest gain below `ceiling` that a knot adds to the linear candidate's."""
    stretch = slice(start, start + count)
    v, a, b, c = knots.v[stretch], knots.a[stretch], knots.b[stretch], knots.c[stretch]
    best = 0.0
    for k in range(count):
        left = b[k] - c[k] * c[k] * inverse
        part = a[k] - c[k] * slope
        may = left > low * v[k]
        gain = part * part / (left if may else 1.0)
        best = max(best, gain if may and gain < ceiling else 0.0)
    return best


@searching_kernel
def bound_knot_gain(knots, start, count, slope, inverse, band, ceiling, noise, rss_null):
    """(largest gain that a knot surely adds, largest that one may add); takes twice the time."""
    stretch = slice(start, start + count)
    v, a, b, c = knots.v[stretch], knots.a[stretch], knots.b[stretch], knots.c[stretch]
    low, high = band
    best = upper = 0.0
    for k in range(count):
        left = b[k] - c[k] * c[k] * inverse
        may = left > low * v[k]
        sure = left > high * v[k]
        part = a[k] - c[k] * slope if may else 0.0
        loss = 1 / (left if may else 1.0)
        gain = part * part * loss
        error = gain_error(gain, v[k] * loss, noise, rss_null)
        best = max(best, gain if sure & (gain + error < ceiling) else 0.0)
        upper = max(upper, gain + error if may & (gain - error < ceiling) else 0.0)
    return best, upper


@lean_kernel
def score_knots(knots, start, count, slope, inverse, tolerance, ceiling, noise, rss_null):
    """Gain of the best knot, and what it may be at the most.

    A bound for all knots at once will do where it is tight.
    """
    low, high = tolerance_band(tolerance, noise)
    if noise > TIGHT * tolerance:
        return bound_knot_gain(
            knots, start, count, slope, inverse, (low, high), ceiling, noise, rss_null
        )
    best = best_knot_gain(knots, start, count, slope, inverse, low, ceiling * (1 + 1e-6))
    return best, best + gain_error(best, 1 / low, noise, rss_null) if best > 0 else 0.0


@lean_kernel
def score_parent(fast, slot, linear_only, n_slots, limit, rss_null):
    """Gain of the best candidate of each pair of a parent, and what it may be at the most."""
    open_pairs, state, knots = fast.open[slot], fast.state, fast.knots
    gain, upper = fast.gain[slot], fast.upper[slot]
    for j in range(len(open_pairs)):
        if not open_pairs[j]:
            continue
        start, count = fast.offset[slot, j], fast.n_knots[slot, j]
        linear = state[j] == ALIVE
        noise = pair_noise(fast, slot, j, linear)
        if state[j] == DOUBTFUL or noise > MOST_NOISE:
            gain[j], upper[j] = 0.0, np.inf
            continue
        base, slope, inverse = linear_gain_of(knots, start + count, linear)
        gain[j], upper[j] = base, 0.0
        if linear:
            upper[j] = base + gain_error(0.0, 1.0, noise, rss_null)
        if not linear_only[j]:
            best, most = score_knots(
                knots, start, count, slope, inverse, knot_tolerance(n_slots + 1 if linear else n_slots),
                limit - base, noise, rss_null,
            )  # fmt: skip
            gain[j] += best
            upper[j] = max(upper[j], base + most)
