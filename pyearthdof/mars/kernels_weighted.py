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
from .kernels_many import RANK_TOLERANCE
from .kernels_sums import orthogonalise


@kernel
def drop_in_rss(q, k, column, residual, store):
    """Drop in RSS when `column` joins the first k rows of q; (drop, whether it is independent).

    With `store` the normalised column becomes row k.
    """
    n_resp, n = residual.shape
    size = 0.0
    for i in range(n):
        size += column[i] * column[i]
    square = orthogonalise(q, k, column, np.empty((k + 1, k + 1)))
    if not square > RANK_TOLERANCE * RANK_TOLERANCE * size:
        return 0.0, False
    drop = 0.0
    for r in range(n_resp):
        total = 0.0
        for i in range(n):
            total += column[i] * residual[r, i]
        drop += total * total / square
    if store:
        length = np.sqrt(square)
        for i in range(n):
            q[k, i] = column[i] / length
    return drop, True


@kernel
def regress(bx, n_slots, y, q, residual):
    """Residuals of y on the first rows of bx; returns (RSS, number of independent columns)."""
    n_resp, n = y.shape
    residual[:] = y
    k = 0
    for slot in range(n_slots):
        column = bx[slot].copy()
        if k == n:
            break
        _, independent = drop_in_rss(q, k, column, residual, True)
        if independent:
            for r in range(n_resp):
                total = 0.0
                for i in range(n):
                    total += q[k, i] * residual[r, i]
                for i in range(n):
                    residual[r, i] -= total * q[k, i]
            k += 1
    rss = 0.0
    for r in range(n_resp):
        for i in range(n):
            rss += residual[r, i] * residual[r, i]
    return rss, k


@kernel
def find_weighted(design, settings, terms, queue, progress, y, q, residual):
    """Best term by regression; the same result as the other searches."""
    p, n = design.x.shape
    count = progress.count
    slots, before = count[SLOTS], progress.value[RSS]
    model_rss, k = regress(terms.bx, slots, y, q, residual)
    place, pred, parent, gain, pair_form, linear = -1, -1, -1, 0.0, False, False
    column = np.empty(n)
    for entry in range(min(count[QUEUED], settings.fast_k)):
        slot = queue.ranked[entry]
        if terms.degree[slot] >= settings.degree:
            continue
        base = terms.bx[slot]
        start, minimum, end = span_limits(
            n, p, count_positive(base), terms.degree[slot] + 1, settings
        )
        best_of_parent = -1.0
        for j in range(p):
            if terms.dirs[slot, j] != 0 or not terms.allowed[slot, j]:
                continue
            form = is_new_form(terms.dirs, terms.used, slots, slot, j)
            width, straight_rss, base_rss = k, before, model_rss
            if form:
                for i in range(n):
                    column[i] = base[i] * design.x[j, i]
                drop, independent = drop_in_rss(q, k, column, residual, k < n)
                base_rss = straight_rss = model_rss - drop
                if independent and k < n:
                    width = k + 1
            best_rss, best_place = straight_rss, n - 1
            if not terms.linear_only[j]:
                wait = start
                for knot in range(1, n - end):
                    if not base[design.order[j, knot - 1]] > 0:
                        continue
                    wait -= 1
                    if wait != 0:
                        continue
                    wait = minimum
                    cut = design.sorted_x[j, knot]
                    for i in range(n):
                        x = design.x[j, i]
                        column[i] = base[i] * (x - cut) if x > cut else 0.0
                    rss = base_rss
                    if width < n:
                        drop, _ = drop_in_rss(q, width, column, residual, False)
                        rss -= drop
                    if rss < best_rss - ALMOST_ZERO:
                        best_rss, best_place = rss, knot
            straight = straight_rss <= best_rss
            best = before - (straight_rss if straight else best_rss)
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
    q, residual = np.empty((settings.nk + 2, n)), np.empty((n_resp, n))
    y_mean = np.zeros(n_resp)
    for _ in range(max_steps):
        if count[CONDITION] != RUNNING:
            break
        if count[BASIS] == 1:
            start_basis(basis, y, y_mean)
        place, pred, parent, gain, new_form, linear = find_weighted(
            design, settings, terms, queue, progress, y, q, residual
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
