"""The forward pass with case weights: earth regresses anew for every knot, without its fast sums.

Columns of bx carry the square root of the weights. The regression is on every column in the table of terms,
also on the second hinge of a step that added only one term.
"""

from __future__ import annotations

import numpy as np

from .._numba import kernel
from .kernels import (
    ALMOST_ZERO,
    MIN_SUM_OF_SQUARES,
    NO_PARENT,
    add_columns,
    count_positive,
    gcv,
    is_new_form,
    span_limits,
)
from .kernels_exact import append_column, start_basis
from .kernels_forward import BASIS, CONDITION, QUEUED, RSS, RSS_NULL, RUNNING, SLOTS, finish_step
from .kernels_householder import (
    BLOCK,
    RANK_TOLERANCE,
    Model,
    extend_model,
    make_block,
    make_model,
    rss_of_candidates,
    rss_of_model,
)


@kernel
def best_knot(design, base, pred, spans, model, k, model_rss, best_rss, block):
    """Best knot of one (parent, predictor) pair: (its RSS, its place).

    The place is that of the smallest x if no knot beats `best_rss`.
    """
    n = len(base)
    wait, minimum, end = spans
    place = n - 1
    x = design.x[pred]
    knots = np.empty(BLOCK, dtype=np.int64)
    width = 0
    for knot in range(1, n - end):
        if base[design.order[pred, knot - 1]] > 0:
            wait -= 1
            if wait == 0:
                wait = minimum
                knots[width] = knot
                width += 1
        if width == 0 or (width < BLOCK and knot < n - end - 1):
            continue
        for i in range(n):
            for c in range(width):
                distance = x[i] - design.sorted_x[pred, knots[c]]
                block.columns[i, c] = base[i] * distance if distance > 0 else 0.0
        rss_of_candidates(model, k, block, width, model_rss)
        for c in range(width):
            if block.rss[c] < best_rss - ALMOST_ZERO:
                best_rss, place = block.rss[c], knots[c]
        width = 0
    return best_rss, place


@kernel
def find_weighted(design, settings, terms, queue, progress, model, k, block):
    """Best term by regression; the same result as the other searches.

    The model holds the k independent columns of the table of terms.
    """
    p, n = design.x.shape
    count = progress.count
    slots, before = count[SLOTS], progress.value[RSS]
    model_rss = rss_of_model(model, k, block)
    with_linear = Model(model.reflections, np.empty_like(model.rotated))
    place, pred, parent, gain, pair_form, linear = -1, -1, -1, 0.0, False, False
    for entry in range(min(count[QUEUED], settings.fast_k)):
        slot = queue.ranked[entry]
        if terms.degree[slot] >= settings.degree:
            continue
        base = terms.bx[slot]
        spans = span_limits(n, p, count_positive(base), terms.degree[slot] + 1, settings)
        best_of_parent = -1.0
        for j in range(p):
            if terms.dirs[slot, j] != 0 or not terms.allowed[slot, j]:
                continue
            form = is_new_form(terms.dirs, terms.used, slots, slot, j)
            width, straight_rss, base_rss, start = k, before, model_rss, model
            if form:
                for i in range(n):
                    block.columns[i, 0] = base[i] * design.x[j, i]
                start = with_linear
                start.rotated[:] = model.rotated
                width = extend_model(start, k, block, RANK_TOLERANCE)
                straight_rss = base_rss = rss_of_model(start, width, block)
            best_rss, best_place = straight_rss, n - 1
            if not terms.linear_only[j]:
                best_rss, best_place = best_knot(
                    design, base, j, spans, start, width, base_rss, straight_rss, block
                )
            straight = straight_rss <= best_rss
            best = before - best_rss
            best_of_parent = max(best_of_parent, best)
            if best > gain:
                place, pred, parent, gain = best_place, j, slot, best
                linear, pair_form = straight, form
        queue.when[slot] = slots
        queue.delta[slot] = best_of_parent
    return place, pred, parent, gain, pair_form, linear


@kernel
def run_weighted(design, settings, terms, queue, basis, progress, y, max_steps):
    """Up to `max_steps` steps of the weighted forward pass; y is weighted and scaled."""
    n = design.x.shape[1]
    n_resp = y.shape[0]
    count, value = progress.count, progress.value
    gcv_null = gcv(value[RSS_NULL], 1, n, settings.penalty)
    y_mean = np.zeros(n_resp)
    model, block = make_model(settings.nk + 2, n_resp, n), make_block(n)
    model.rotated[:] = y
    rank = factored = 0
    for _ in range(max_steps):
        if count[CONDITION] != RUNNING:
            break
        if count[BASIS] == 1:
            start_basis(basis, y, y_mean)
        for slot in range(factored, count[SLOTS]):
            for i in range(n):
                block.columns[i, 0] = terms.bx[slot, i]
            rank = extend_model(model, rank, block, RANK_TOLERANCE)
        factored = count[SLOTS]
        place, pred, parent, gain, new_form, linear = find_weighted(
            design, settings, terms, queue, progress, model, rank, block
        )
        slot = count[SLOTS]
        straight = linear
        if place >= 0:
            if not settings.auto_linpreds and not terms.linear_only[pred]:
                linear = False
            add_columns(design, terms, slot, parent, pred, place, linear, new_form)
            k = count[BASIS]
            append_column(basis, k, terms.bx[slot], 0.0, y, y_mean)
            k += 1
            if terms.used[slot + 1]:
                square = append_column(basis, k, terms.bx[slot + 1], 0.0, y, y_mean)
                if square > MIN_SUM_OF_SQUARES:
                    k += 1
                else:  # the second hinge adds nothing
                    new_form = False
                    terms.used[slot + 1] = False
                    terms.degree[slot + 1] = NO_PARENT
            count[BASIS] = k
        paired = new_form and not straight
        finish_step(
            settings,
            terms,
            queue,
            progress,
            n,
            gcv_null,
            place >= 0,
            gain,
            new_form,
            linear,
            paired,
        )
