"""The forward pass: step by step, add the term or pair of terms that lowers the RSS most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import kernel, lean_kernel
from .kernels import (
    MIN_GRSQ,
    almost_zero,
    count_positive,
    gcv,
    is_new_form,
    rank_queue,
    span_limits,
)
from .kernels_exact import append_column, exact_pair, start_basis
from .kernels_fast import (
    DEGENERATE,
    OWN_KNOTS,
    clear_winner,
    fast_append,
    linear_states,
    prepare_parent,
    start_parent,
)
from .kernels_knots import ALIVE, knot_tolerance, score_parent
from .kernels_noise import MOST_NOISE, tie_band

# places in Progress.count
SLOTS, USED, QUEUED, BASIS, EXACT_BASIS, CONDITION, EXACT, UPDATED, TIES = range(9)
# places in Progress.value
RSS_NULL, RSS, DELTA, RSQ = range(4)
RUNNING = 0
SATURATED = 1e-7  # share of the null RSS
SETTLED = 1e-9  # the same: a gain that may be off by more is computed as earth does, to book it
TIED = (False, (-1, -1, -1, 0.0, False, False))


class Progress(NamedTuple):
    """Where a forward pass stands, so that it can stop after any step and go on."""

    count: np.ndarray
    value: np.ndarray
    column: np.ndarray  # slot of each basis column


@lean_kernel
def start_pass(settings, terms, queue, progress, y, exact):
    """Intercept only. `exact` asks for earth's order of operations in every step."""
    n_resp, n = y.shape
    null = 0.0
    for r in range(n_resp):
        total = 0.0
        for i in range(n):
            total += y[r, i]
        mean = total / n
        for i in range(n):
            null += (y[r, i] - mean) * (y[r, i] - mean)
        if null < 1e-8 * n:  # a constant response
            null = 1e-8 * n
            exact = True
    terms.bx[0, :] = 1.0
    terms.dirs[:] = 0
    terms.cuts[:] = 0.0
    terms.degree[:] = 0
    terms.used[:] = False
    terms.used[0] = True
    terms.n_uses[:] = 0
    queue.delta[:] = -1.0
    queue.delta[0] = null
    queue.when[0] = 1
    queue.ranked[0] = 0
    count, value = progress.count, progress.value
    count[SLOTS] = count[USED] = count[QUEUED] = count[BASIS] = 1
    count[EXACT_BASIS] = count[UPDATED] = count[TIES] = 0
    count[CONDITION] = RUNNING if settings.nk >= 3 else 1
    # with these two options a step depends on the order in which candidates took the lead
    special = settings.newvar_penalty != 0 or not settings.auto_linpreds
    count[EXACT] = 1 if exact or special else 0
    value[RSS_NULL] = value[RSS] = value[DELTA] = null
    value[RSQ] = 0.0
    progress.column[0] = 0


@kernel
def complete_basis(terms, basis, progress, y, y_mean):
    """Bring the basis in earth's order of operations up to the model."""
    count = progress.count
    if count[EXACT_BASIS] == 0:
        start_basis(basis, y, y_mean)
        count[EXACT_BASIS] = 1
    for k in range(count[EXACT_BASIS], count[BASIS]):
        append_column(basis, k, terms.bx[progress.column[k]], 0.0, y, y_mean)
    count[EXACT_BASIS] = count[BASIS]


@kernel
def find_exact(design, settings, terms, queue, basis, fast, progress, y, y_mean, limit):
    """earth's search; in a pass that updates, only over the pairs that `fast.need` marks.

    Returns (place, predictor, parent, gain, new form, linear); place -1 if nothing lowers the RSS.
    """
    p, n = design.x.shape
    count = progress.count
    complete_basis(terms, basis, progress, y, y_mean)
    slots, k = count[SLOTS], count[BASIS]
    place, pred, parent, gain, pair_form, linear = -1, -1, -1, 0.0, False, False
    for entry in range(min(count[QUEUED], settings.fast_k)):
        slot = queue.ranked[entry]
        if terms.degree[slot] >= settings.degree:
            continue
        base = terms.bx[slot]
        spans = span_limits(n, p, count_positive(base), terms.degree[slot] + 1, settings)
        best_of_parent = -1.0
        updated = False
        for j in range(p):
            if terms.dirs[slot, j] != 0 or not terms.allowed[slot, j]:
                continue
            if not count[EXACT] and not fast.need[slot, j]:
                best_of_parent = max(best_of_parent, fast.gain[slot, j])
                continue
            fresh = terms.n_uses[j] == 0
            adjust = 1 / (1 + (settings.newvar_penalty if fresh else 0.0))
            form = is_new_form(terms.dirs, terms.used, slots, slot, j)
            form, straight, knot, best = exact_pair(
                design, basis, k, base, j, y, y_mean, spans, form, slots, adjust, limit,
                terms.linear_only[j],
            )  # fmt: skip
            best_of_parent = max(best_of_parent, best)
            if straight > gain:
                updated = True
                place, pred, parent, gain, linear = n - 1, j, slot, straight, True
            if best > gain:
                updated = True
                place, pred, parent, gain, linear = knot, j, slot, best, False
                pair_form = form
        if updated and settings.newvar_penalty != 0 and terms.n_uses[pred] == 0:
            gain *= 1 + settings.newvar_penalty
        queue.when[slot] = slots
        queue.delta[slot] = best_of_parent
    return place, pred, parent, gain, pair_form, linear


@lean_kernel
def mark_ties(design, settings, terms, queue, fast, progress, top, limit):
    """Mark the pairs that rounding may decide between.

    Returns (whether there are any, knot of the best pair, how far its gain may be off).

    `top` is (gain, slot, predictor, has a linear candidate) of the best pair, which is marked in any case.
    """
    p = design.x.shape[0]
    count, null = progress.count, progress.value[RSS_NULL]
    slots = count[SLOTS]
    n_parents = min(count[QUEUED], settings.fast_k)
    gain, top_slot, top_pred, linear = top
    open_pairs, upper, needs = fast.open, fast.upper, fast.need
    degree, ranked, delta, spread = terms.degree, queue.ranked, queue.delta, fast.spread
    bar = 0.0  # if no candidate is sure to gain anything, all that may are in doubt
    if top_slot >= 0:
        bar = 2 * gain - upper[top_slot, top_pred] - tie_band(gain, null)
    any_tie = False
    for entry in range(n_parents):
        slot = ranked[entry]
        if degree[slot] >= settings.degree:
            continue
        # the order of parents counts as well: the first of two equal candidates wins, and late
        # parents may be left out of the search
        parent_bar = np.inf
        best = delta[slot]
        band = spread[slot] + tie_band(max(best, 0.0), null)
        gains = best + spread[slot] > 0
        for other in range(n_parents):
            rival = ranked[other]
            usable = rival != slot and degree[rival] < settings.degree
            if usable and gains and abs(delta[rival] - best) <= band + spread[rival]:
                parent_bar = best - band
        for j in range(p):
            if not open_pairs[slot, j]:
                continue
            is_top = slot == top_slot and j == top_pred
            need = upper[slot, j] > 0 and upper[slot, j] >= min(bar, parent_bar)
            needs[slot, j] = need
            if need and not is_top:
                any_tie = True
    if any_tie or top_slot < 0:
        return any_tie, -1, 0.0
    clear, knot, error = clear_winner(
        fast, top_slot, top_pred, linear, terms.linear_only[top_pred],
        knot_tolerance(slots + 1 if linear else slots), limit, bar, null,
    )  # fmt: skip
    return not clear, knot, error


@lean_kernel
def find_fast(design, settings, terms, queue, fast, progress, limit):
    """The same search by updating: (whether it is decided, what `find_exact` returns).

    Candidates too close to call are marked for `find_exact`.
    """
    p = design.x.shape[0]
    count, null = progress.count, progress.value[RSS_NULL]
    slots, k = count[SLOTS], count[BASIS]
    top, top_slot, top_pred, top_linear = 0.0, -1, -1, False
    open_pairs, gains, upper, state = fast.open, fast.gain, fast.upper, fast.state
    if fast.noise[0] > MOST_NOISE * MOST_NOISE:
        count[EXACT] = 1
        return TIED
    if fast.filled[OWN_KNOTS] == 0:  # the intercept's knots come before those of all other parents
        start_parent(design, settings, terms, fast, 0)
    for entry in range(min(count[QUEUED], settings.fast_k)):
        slot = queue.ranked[entry]
        if terms.degree[slot] >= settings.degree:
            continue
        prepare_parent(design, settings, terms, fast, slot, k)
        linear_states(design, terms, fast, slot, slots, k)
        score_parent(fast, slot, terms.linear_only, slots, limit, null)
        best_of_parent = most_of_parent = -1.0
        for j in range(p):
            if not open_pairs[slot, j]:
                continue
            gain = gains[slot, j]
            if upper[slot, j] == np.inf:
                continue
            if gain > top:
                top, top_slot, top_pred, top_linear = gain, slot, j, state[j] == ALIVE
            best_of_parent = max(best_of_parent, gain)
            most_of_parent = max(most_of_parent, upper[slot, j])
        queue.when[slot] = slots
        queue.delta[slot] = best_of_parent
        fast.spread[slot] = most_of_parent - best_of_parent
    if top_slot > 0 and fast.synced[top_slot] == 0:  # a later parent took its memory
        prepare_parent(design, settings, terms, fast, top_slot, k)
    best = (top, top_slot, top_pred, top_linear)
    tied, knot, error = mark_ties(design, settings, terms, queue, fast, progress, best, limit)
    if tied:
        count[TIES] += 1
        return TIED
    if top_slot < 0:
        return True, (-1, -1, -1, 0.0, False, False)
    if error > SETTLED * null:
        return TIED
    count[UPDATED] = 1
    if knot < 0:
        return True, (design.x.shape[1] - 1, top_pred, top_slot, top, False, True)
    place = fast.knots.place[fast.offset[top_slot, top_pred] + knot]
    return True, (place, top_pred, top_slot, top, top_linear, False)


@lean_kernel
def extend_basis(terms, fast, progress, slot):
    """Give the columns of the new slots their place in the basis."""
    count = progress.count
    for new in range(slot, slot + 2):
        if not terms.used[new]:
            continue
        k = count[BASIS]
        progress.column[k] = new
        if not count[EXACT] and fast_append(fast, k, terms.bx, new) < DEGENERATE:
            count[EXACT] = 1
        count[BASIS] = k + 1


@lean_kernel
def finish_step(
    settings, terms, queue, progress, n, gcv_null, found, gain, new_form, linear, paired
):
    """Book the step: RSS, stopping rules, queue. A step that does not pay is taken back."""
    count, value = progress.count, progress.value
    slot = count[SLOTS]
    thresh = settings.thresh
    count[USED] += 2 if paired else 1
    value[DELTA] = gain
    value[RSS] = almost_zero(value[RSS] - gain)
    score = gcv(value[RSS], count[USED], n, settings.penalty)
    before = value[RSQ]
    value[RSQ] = 1 - value[RSS] / value[RSS_NULL]
    change = almost_zero(value[RSQ] - before)
    grsq = 1 - score / gcv_null
    poor = thresh != 0 and grsq < MIN_GRSQ
    small = thresh != 0 and change < thresh
    kept = found and not small and not poor
    if kept:
        now = slot
        n_new = 2 if not linear and new_form else 1
        for e in range(count[QUEUED], count[QUEUED] + n_new):
            queue.delta[e] = np.inf
            queue.when[e] = now
        count[QUEUED] += n_new
        rank_queue(queue, count[QUEUED], now, settings.fast_beta)
        count[SLOTS] = slot + 2
    elif found:
        terms.used[slot] = terms.used[slot + 1] = False
    full = kept and value[RSQ] >= 1 - thresh
    if kept and not full and count[SLOTS] < settings.nk - 1:
        return
    if poor:
        count[CONDITION] = 2 if grsq < -1000 else 3
    elif small:
        count[CONDITION] = 4
    elif value[RSQ] >= 1 - thresh:
        count[CONDITION] = 5
    elif not found:
        count[CONDITION] = 6
    else:
        count[CONDITION] = 7
