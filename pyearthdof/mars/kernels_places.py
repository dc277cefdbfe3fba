"""Where the candidate knots of a (parent, predictor) pair are, and their sums before any term is added.

Both depend on X and the parent only. Most parents are zero in many cases: those are left out of every sum.
"""

from __future__ import annotations

import numpy as np

from .._numba import fusing_kernel, lean_kernel
from .kernels_noise import hinge_noise, variance_noise


@lean_kernel
def list_places(order, pred, base, slot, places, first):
    """Write the places at which the parent is not zero from `first` on; return how many there are.

    Places name the cases by descending x. The last one is left out: no hinge is positive there.
    """
    count = np.uint64(first)
    for place in range(order.shape[1] - 1):
        places[count] = place
        count += np.uint64(base[slot, order[pred, place]] != 0)
    return np.int64(count) - first


@lean_kernel
def mark_counted(design, pred, base, slot, square, start, stop, counted):
    """Write for the places from `start` on whether earth's running variance is above zero after them.

    Its sign decides, down to the rounding, when earth begins to count cases, so this must not be fused or
    re-ordered. Returns the place from which on it is surely above zero, whatever the cases below are:
    `square` is that of the parent over all of them.
    """
    order, sorted_x = design.order, design.sorted_x
    n = order.shape[1]
    top, low = sorted_x[pred, 0], sorted_x[pred, n - 1]
    largest = max(abs(low), abs(top))
    sure = 2e-10 * square * largest * (largest + top - low)
    variance = sum_b = sum_bb = sum_bbx = sum_bx = hinge_sum = 0.0
    for place in range(start, stop):
        p = base[slot, order[pred, place]]
        x0, x1 = sorted_x[pred, place + 1], sorted_x[pred, place]
        step, pp = x1 - x0, p * p
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
        if variance > sure:
            return place
        counted[place] = variance > 0
    return stop


@fusing_kernel
def create_pair(
    design, pred, base, slot, square, spans, knots, start, places, first, n_places, counted
):
    """Find the candidate knots of a pair and their sums of squares against the intercept-only model.

    `square` is that of the parent. A case tied with the knot before is no new candidate. Returns the number
    of knots and the square of their `variance_noise`; the entry after the last stands for h_min.
    """
    order, sorted_x = design.order, design.sorted_x
    n = order.shape[1]
    wait, minimum, end = spans
    low = sorted_x[pred, n - 1]
    last_place = n - end - 1  # of a case that may still be counted
    sure = 0
    if n_places:
        sure = mark_counted(design, pred, base, slot, square, places[first], last_place, counted)
    # sums of p and p^2 over the cases so far, and their moments about x
    n0 = n1 = m0 = m1 = m2 = 0.0
    x = sorted_x[pred, 0]
    entry = start
    previous = np.inf
    highest = (
        sorted_x[pred, places[first]] if n_places else x
    )  # of a case in which the parent is not zero
    worst = 0.0
    for i in range(n_places):
        place = places[first + i]
        p = base[slot, order[pred, place]]
        step = x - sorted_x[pred, place]
        n1 += step * n0
        m2 += step * (2 * m1 + step * m0)
        m1 += step * m0
        n0 += p
        m0 += p * p
        x = sorted_x[pred, place]
        if place >= last_place or not p > 0 or (place < sure and not counted[place]):
            continue
        wait -= 1
        if wait != 0:
            continue
        wait = minimum
        knot = sorted_x[pred, place + 1]
        if knot == previous:
            continue
        previous = knot
        step = x - knot
        slope = m1 + step * m0
        total = n1 + step * n0
        hinge_square = m2 + step * (m1 + slope)
        knots.place[entry] = place + 1
        knots.stop[entry] = i + 1
        knots.x[entry] = knot
        knots.v[entry] = hinge_square - total * total / n
        knots.b[entry] = total  # until that of h_min is known
        knots.c[entry] = hinge_square + (knot - low) * slope
        worst = max(worst, hinge_noise(m0, highest - knot, knots.v[entry]))
        entry += 1
    step = x - low
    total = n1 + step * n0
    hinge_square = m2 + step * (2 * m1 + step * m0)
    knots.a[start : entry + 1] = 0.0
    for e in range(start, entry):
        knots.c[e] -= knots.b[e] * total / n
        knots.b[e] = knots.v[e]
    knots.place[entry] = n - 1
    knots.stop[entry] = n_places
    knots.x[entry] = low
    knots.v[entry] = knots.b[entry] = knots.c[entry] = hinge_square - total * total / n
    worst = max(worst, hinge_noise(m0, highest - low, knots.v[entry]))
    return entry - start, variance_noise(n, worst, max(abs(sorted_x[pred, 0]), abs(low)))
