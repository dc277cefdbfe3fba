"""Candidate knots of (parent, predictor) pairs: where they are, their sums, and what each would gain.

For every pair and candidate knot k, with h_k the parent times the hinge at that knot and the sums taken
after orthogonalising to the model, we keep A_k = <h_k, y>, B_k = |h_k|^2 and C_k = <h_k, h_min>, where
h_min, the hinge at the smallest x, is the linear candidate. A new basis column q changes them by
products of <h_k, q>, and running sums over the sorted cases give all <h_k, q> of a pair at once. Which
cases are candidate knots depends on X and the parent only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import lean_kernel

ALIVE, DEAD, DOUBTFUL = 0, 1, 2  # of a linear candidate


class Knots(NamedTuple):
    """Candidate knots and their sums of all pairs, end to end; the last of a pair stands for h_min."""

    place: np.ndarray
    v: np.ndarray
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


@lean_kernel
def create_pair(design, pred, base, slot, spans, knots, start):
    """Find the candidate knots of a pair and their sums of squares against the intercept-only model.

    A case tied with the knot before is no new candidate. Returns the number of knots; the entry after the
    last stands for h_min.
    """
    order, sorted_x = design.order, design.sorted_x
    n = order.shape[1]
    wait, minimum, end = spans
    top, low = sorted_x[pred, 0], sorted_x[pred, n - 1]
    reach = max(abs(low), abs(top)) * (max(abs(low), abs(top)) + top - low)
    # sums of p and p^2 over the cases above, and their moments about the current x
    n0 = n1 = m0 = m1 = m2 = 0.0
    # earth's running variance: its sign decides when the counter runs, down to the rounding
    variance = sum_b = sum_bb = sum_bbx = sum_bx = hinge_sum = 0.0
    sure = False
    entry = start
    last = np.inf
    for place in range(1, n):
        p = base[slot, order[pred, place - 1]]
        x0, x1 = sorted_x[pred, place], sorted_x[pred, place - 1]
        step = x1 - x0
        n0 += p
        m0 += p * p
        m2 += step * (2 * m1 + step * m0)
        m1 += step * m0
        n1 += step * n0
        if place >= n - end:
            continue
        if not sure:
            pp = p * p
            sum_b += p
            sum_bb += pp
            sum_bx += p * x1
            sum_bbx += pp * x1
            previous = hinge_sum
            hinge_sum = sum_bx - sum_b * x0
            variance += (
                step * (2 * sum_bbx - sum_bb * (x0 + x1))
                + (previous * previous - hinge_sum * hinge_sum) / n
            )
            sure = variance > 1e-10 * (sum_bb + sum_b * sum_b / n) * reach
        if p > 0 and (sure or variance > 0):
            wait -= 1
            if wait == 0:
                wait = minimum
                if x0 != last:
                    last = x0
                    knots.place[entry] = place
                    knots.v[entry] = m2 - n1 * n1 / n
                    knots.b[entry] = n1  # the sum of the hinge, until that of h_min is known
                    knots.c[entry] = m2 + (x0 - low) * m1
                    entry += 1
    for e in range(start, entry):
        knots.c[e] -= knots.b[e] * n1 / n
        knots.b[e] = knots.v[e]
    knots.place[entry] = n - 1
    knots.v[entry] = knots.b[entry] = knots.c[entry] = m2 - n1 * n1 / n
    return entry - start


@lean_kernel
def update_parent(order, sorted_x, open_pairs, offset, n_knots, knots, products, z, running, hinge):
    """Take two basis columns into account in all pairs of a parent.

    `products` holds the parent times each column, `z` <y, column>. Sums run over the upper and the lower
    half of the cases side by side: each sum waits for the one before it, and two chains fill the time.
    """
    place, a, b, c = knots.place, knots.a, knots.b, knots.c
    n = order.shape[1]
    half = n // 2
    for j in range(order.shape[0]):
        if not open_pairs[j]:
            continue
        upper0 = upper1 = lower0 = lower1 = 0.0  # sums over the cases above
        rise0 = rise1 = fall0 = fall1 = 0.0  # the same times the distance to the current case
        for i in range(half):
            case = order[j, i]
            step = sorted_x[j, i] - sorted_x[j, i + 1]
            upper0 += products[case, 0]
            upper1 += products[case, 1]
            rise0 += step * upper0
            rise1 += step * upper1
            running[i + 1, 0] = rise0
            running[i + 1, 1] = rise1
            below = half + i
            if below < n - 1:
                case = order[j, below]
                step = sorted_x[j, below] - sorted_x[j, below + 1]
                lower0 += products[case, 0]
                lower1 += products[case, 1]
                fall0 += step * lower0
                fall1 += step * lower1
                running[below + 1, 0] = fall0
                running[below + 1, 1] = fall1
        middle = sorted_x[j, half]
        start, count = offset[j], n_knots[j]
        for k in range(count + 1):
            where = place[start + k]
            h0, h1 = running[where, 0], running[where, 1]
            if where > half:
                distance = middle - sorted_x[j, where]
                h0 += rise0 + distance * upper0
                h1 += rise1 + distance * upper1
            hinge[0, k] = h0
            hinge[1, k] = h1
        low0, low1 = hinge[0, count], hinge[1, count]
        z0, z1 = z
        for k in range(count + 1):
            h0, h1 = hinge[0, k], hinge[1, k]
            a[start + k] -= z0 * h0 + z1 * h1
            b[start + k] -= h0 * h0 + h1 * h1
            c[start + k] -= h0 * low0 + h1 * low1


@lean_kernel
def set_response(order, sorted_x, open_pairs, offset, n_knots, knots, products, first_c):
    """A of all pairs of a parent from its products with the response; B and C of the intercept anew."""
    place, v, a, b, c = knots.place, knots.v, knots.a, knots.b, knots.c
    for j in range(order.shape[0]):
        if not open_pairs[j]:
            continue
        start, count = offset[j], n_knots[j]
        level = height = 0.0
        i = 0
        for k in range(count + 1):
            stop = place[start + k]
            while i < stop:
                level += products[order[j, i], 0]
                height += (sorted_x[j, i] - sorted_x[j, i + 1]) * level
                i += 1
            a[start + k] = height
        if len(first_c):
            for e in range(start, start + count + 1):
                b[e] = v[e]
                c[e] = first_c[e]


@lean_kernel
def knot_tolerance(new_column):
    """Least share of its variance that a knot's hinge must have left; columns are counted by slot."""
    return 0.01 if new_column < 15 else 1e-5


@lean_kernel
def score_parent(
    open_pairs, state, offset, n_knots, knots, linear_only, n_slots, limit, score, gain, knot
):
    """Best gain of each pair of a parent (an upper bound, by a hair), and its knot (-1 for linear)."""
    v, a, b, c = knots.v, knots.a, knots.b, knots.c
    for j in range(len(open_pairs)):
        if not open_pairs[j]:
            continue
        if state[j] == DOUBTFUL:
            gain[j] = np.inf
            continue
        start, count = offset[j], n_knots[j]
        base = slope = inverse = 0.0
        linear = state[j] == ALIVE
        if linear:
            inverse = 1 / b[start + count]
            slope = a[start + count] * inverse
            base = a[start + count] * slope
        best, where = 0.0, -1
        if not linear_only[j]:
            tolerance = knot_tolerance(n_slots + 1 if linear else n_slots) * (1 - 1e-6)
            for k in range(count):
                e = start + k
                left = b[e] - c[e] * c[e] * inverse
                part = a[e] - c[e] * slope
                score[k] = part * part / left if left > tolerance * v[e] else 0.0
            ceiling = limit * (1 + 1e-9) - base
            for k in range(count):
                if score[k] > best and score[k] < ceiling:
                    best, where = score[k], k
        gain[j] = base + best
        knot[j] = where
