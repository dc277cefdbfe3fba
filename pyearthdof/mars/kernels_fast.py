"""The search for a knot by updating: O(n) a (parent, predictor) pair and step, however many terms there are.

The state of one response: the sums of all candidate knots (see `kernels_knots`), brought up to the model
parent by parent when their turn comes, and an orthonormal basis of the model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import lean_kernel
from .kernels import MIN_SUM_OF_SQUARES, count_positive, is_new_form, span_limits
from .kernels_knots import (
    ALIVE,
    DEAD,
    DOUBTFUL,
    Knots,
    linear_gain_of,
    pair_noise,
    update_parent,
)
from .kernels_noise import column_noise, gain_error, tolerance_band
from .kernels_places import create_pair, list_places
from .kernels_sums import dot, orthogonalise

# A linear candidate that lost this part of its norm is recomputed; below the second part it is left to
# the exact loops.
LOST_DIGITS = 1e-7
DEGENERATE = 1e-8

# places in Fast.filled: used lengths, and the parts of them that the intercept has
KNOTS, PLACES, OWN_KNOTS, OWN_PLACES = range(4)


class Fast(NamedTuple):
    """State of the updating search for one response."""

    knots: Knots
    open: np.ndarray  # (nk, p) whether the predictor may extend the parent
    offset: np.ndarray  # (nk, p) first entry of a pair in `knots`, -1 if there is none yet
    n_knots: np.ndarray  # (nk, p)
    linear: np.ndarray  # (nk, p) ALIVE, DEAD or DOUBTFUL
    places: np.ndarray  # of the cases in which a parent is not zero, for all pairs, end to end
    first: np.ndarray  # (nk, p) first entry of a pair in `places`
    synced: np.ndarray  # (nk,) basis columns that the sums of a parent know, 0 if there are none
    gain: np.ndarray  # (nk, p) best gain of each pair in this step
    upper: np.ndarray  # (nk, p) what it may be at the most
    square: np.ndarray  # (nk, p) upper bound of that of parent times predictor
    rounding: np.ndarray  # (nk, p) square of the noise of |h|^2
    spread: np.ndarray  # (nk,) how far the best gain of a parent may be off
    need: np.ndarray  # (nk, p) whether the pair must be computed in earth's order of operations
    filled: np.ndarray  # used lengths of `knots` and `places`
    first_c: np.ndarray  # C of the intercept's pairs at the start
    noise: np.ndarray  # (1,) square of the model's noise, see `kernels_noise`
    quality: np.ndarray  # (1,) least share of a basis column that was new when it came
    q: np.ndarray  # (capacity, n) orthonormal basis
    y: np.ndarray  # (n,) centred response
    z: np.ndarray  # (capacity,) <y, q>
    r: np.ndarray  # (capacity, capacity) triangular factor of the basis columns, a row a column
    zeros: np.ndarray  # (n,) in place of a second column
    products: np.ndarray  # (n, 2) parent times two columns
    column: np.ndarray  # (n,) work
    counted: np.ndarray  # (n,) work
    state: np.ndarray  # (p,) of the linear candidates of one parent in this step
    hinge: np.ndarray  # (2, most knots of a pair) work


@lean_kernel
def fast_append(fast, k, bx, slot):
    """Basis column number k from row `slot` of bx; return the share of its centred square that is new."""
    q, r, column = fast.q, fast.r, fast.column
    n = len(column)
    for i in range(n):
        column[i] = bx[slot, i]
    total = dot(column, column)
    square = orthogonalise(q, k, column, r)
    centred = total - r[k, 0] * r[k, 0]
    if not (square > 0 and centred > 1e-12 * total):
        fast.z[k] = r[k, k] = fast.quality[0] = 0.0
        return 0.0
    length = np.sqrt(square)
    r[k, k] = length
    for i in range(n):
        q[k, i] = column[i] / length
    fast.z[k] = dot(column, fast.y) / length
    fast.noise[0] += column_noise(total, square)
    share = min(1.0, square / centred)
    fast.quality[0] = min(fast.quality[0], share)
    return share


@lean_kernel
def fast_start(fast, y, y_mean):
    """Empty state for a new response: the intercept is the only basis column."""
    n = len(y)
    for i in range(n):
        fast.y[i] = y[i] - y_mean
    total = 0.0
    for i in range(n):
        fast.q[0, i] = 1 / np.sqrt(float(n))
        total += fast.q[0, i] * fast.y[i]
    fast.r[0, 0] = np.sqrt(float(n))
    fast.z[0] = total
    clear_parents(fast)  # the intercept's knots depend on X alone: they stay, their sums do not
    fast.synced[0] = 0
    fast.noise[0] = 0.0
    fast.quality[0] = 1.0


@lean_kernel
def clear_winner(fast, slot, pred, linear, linear_only, tolerance, limit, bar, rss_null):
    """(whether one candidate of the pair and no other may reach `bar`, with no test in doubt; its knot;
    how far its gain may be off).

    The knot is -1 for the linear candidate.
    """
    start, count = fast.offset[slot, pred], fast.n_knots[slot, pred]
    v, a, b, c = fast.knots.v, fast.knots.a, fast.knots.b, fast.knots.c
    base, slope, inverse = linear_gain_of(fast.knots, start + count, linear)
    noise = pair_noise(fast, slot, pred, linear)
    knot, doubt = -1, gain_error(0.0, 1.0, noise, rss_null)
    if linear_only:
        return True, knot, doubt
    low, high = tolerance_band(tolerance, noise)
    reached = 1 if linear and base + doubt >= bar else 0
    for e in range(start, start + count):
        left = b[e] - c[e] * c[e] * inverse
        if left <= low * v[e]:
            continue
        part = a[e] - c[e] * slope
        gain = part * part / left
        error = gain_error(gain, v[e] / left, noise, rss_null)
        margin = error + 1e-9 * limit
        if base + gain + error < bar or base + gain - margin >= limit:
            continue
        reached += 1
        knot, doubt = e - start, error
        if left < high * v[e] or base + gain + margin > limit:
            return False, knot, doubt
    return reached == 1, knot, doubt


@lean_kernel
def check_linear(design, fast, terms, slot, pred, k):
    """Recompute the square of a linear candidate that lost its digits, and say what it is worth."""
    n = design.x.shape[1]
    last = fast.offset[slot, pred] + fast.n_knots[slot, pred]
    low = design.sorted_x[pred, n - 1]
    raw = 0.0
    for i in range(n):
        base, x = terms.bx[slot, i], design.x[pred, i]
        fast.column[i] = base * (x - low)
        raw += (base * x) ** 2
    square = orthogonalise(fast.q, k, fast.column, fast.r)
    fast.knots.b[last] = square
    # what rounding leaves of a column that lies in the model, with a basis that is not quite orthogonal
    noise = 1e-29 * raw / fast.quality[0]
    if noise > 0.1 * MIN_SUM_OF_SQUARES:
        return DOUBTFUL
    if square < 0.999 * MIN_SUM_OF_SQUARES:
        return DEAD
    if square < 1.001 * MIN_SUM_OF_SQUARES or square < DEGENERATE * fast.knots.v[last]:
        return DOUBTFUL
    return ALIVE


@lean_kernel
def linear_states(design, terms, fast, slot, n_slots, k):
    """Write into `fast.state` whether the pairs of a parent have a linear candidate: ALIVE, DEAD, DOUBTFUL.

    DEAD in `fast.linear` is for good: what lies in the model stays there.
    """
    linear, state, b, v = fast.linear, fast.state, fast.knots.b, fast.knots.v
    open_pairs, offset, n_knots = fast.open, fast.offset, fast.n_knots
    dirs, used = terms.dirs, terms.used
    for j in range(open_pairs.shape[1]):
        if not open_pairs[slot, j]:
            continue
        if linear[slot, j] == DEAD or not is_new_form(dirs, used, n_slots, slot, j):
            state[j] = DEAD
            continue
        last = offset[slot, j] + n_knots[slot, j]
        if b[last] < LOST_DIGITS * v[last] or b[last] < 1.01 * MIN_SUM_OF_SQUARES:
            linear[slot, j] = check_linear(design, fast, terms, slot, j, k)
        state[j] = linear[slot, j]


@lean_kernel
def clear_parents(fast):
    """Forget all parents but the intercept."""
    fast.filled[KNOTS] = fast.filled[OWN_KNOTS]
    fast.filled[PLACES] = fast.filled[OWN_PLACES]
    fast.synced[1:] = 0


@lean_kernel
def create_parent(design, settings, terms, fast, slot):
    """Find the candidate knots of all pairs of a parent, with their sums of squares."""
    p, n = design.x.shape
    filled, knots, places = fast.filled, fast.knots, fast.places
    positive = count_positive(terms.bx[slot])
    spans = span_limits(n, p, positive, terms.degree[slot] + 1, settings)
    square = largest = 0.0
    for i in range(n):
        value = abs(terms.bx[slot, i])
        square += value * value
        largest = max(largest, value)
    full = filled[KNOTS] + p * fast.hinge.shape[1] > len(knots.v)
    if slot > 0 and (full or filled[PLACES] + p * n > len(places)):
        clear_parents(fast)  # those that come back are computed again
    for j in range(p):
        fast.open[slot, j] = terms.dirs[slot, j] == 0 and terms.allowed[slot, j]
        if not fast.open[slot, j]:
            continue
        start, first = filled[KNOTS], filled[PLACES]
        n_places = list_places(design.order, j, terms.bx, slot, places, first)
        count, fast.rounding[slot, j] = create_pair(
            design, j, terms.bx, slot, square, spans, knots, start, places, first, n_places,
            fast.counted,
        )  # fmt: skip
        fast.offset[slot, j] = start
        fast.n_knots[slot, j] = count
        fast.first[slot, j] = first
        filled[KNOTS] = start + count + 1
        if slot > 0:  # the intercept is zero nowhere: one list serves all predictors
            filled[PLACES] = first + n_places
        reach = max(abs(design.sorted_x[j, 0]), abs(design.sorted_x[j, n - 1]))
        fast.square[slot, j] = min(
            reach * reach * square, largest * largest * design.mean_square[j] * n
        )


@lean_kernel
def start_parent(design, settings, terms, fast, slot):
    """Sums of a parent's pairs against the intercept-only model, still without the response."""
    filled, knots = fast.filled, fast.knots
    if slot > 0:
        create_parent(design, settings, terms, fast, slot)
    elif filled[OWN_KNOTS] == 0:
        create_parent(design, settings, terms, fast, slot)
        filled[PLACES] = design.x.shape[1]
        filled[OWN_KNOTS], filled[OWN_PLACES] = filled[KNOTS], filled[PLACES]
        for e in range(filled[OWN_KNOTS]):
            fast.first_c[e] = knots.c[e]
    else:
        for e in range(filled[OWN_KNOTS]):
            knots.a[e] = 0.0
            knots.b[e] = knots.v[e]
            knots.c[e] = fast.first_c[e]
    for j in range(design.x.shape[0]):
        fast.linear[slot, j] = ALIVE


@lean_kernel
def prepare_parent(design, settings, terms, fast, slot, k):
    """Bring the sums of all pairs of one parent up to the response and the first k basis columns.

    Two columns at a time. The response takes the place of column 0: the sums of a new parent have the
    intercept already, and <h, y> is to be added to A where <h, q> z is to be subtracted.
    """
    if fast.synced[slot] == 0:
        start_parent(design, settings, terms, fast, slot)
    products, z = fast.products, fast.z
    base = terms.bx[slot]
    for column in range(fast.synced[slot], k, 2):
        weights, z0, z1 = (1.0, 1.0), z[column], 0.0
        first, second = fast.q[column], fast.zeros
        if column == 0:
            weights, z0, first = (0.0, 1.0), -1.0, fast.y
        if column + 1 < k:
            z1, second = z[column + 1], fast.q[column + 1]
        for i in range(len(products)):
            products[i, 0] = base[i] * first[i]
            products[i, 1] = base[i] * second[i]
        update_parent(
            design, fast.places, fast.first[slot], fast.open[slot], fast.offset[slot],
            fast.n_knots[slot], fast.knots, products, (z0, z1), weights, fast.hinge,
        )  # fmt: skip
    fast.synced[slot] = k
