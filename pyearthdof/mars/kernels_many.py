"""Many responses on one design: a block of fits in one compiled call, so that threads can share them."""

from __future__ import annotations

import numpy as np

from .._numba import kernel
from .kernels import add_columns, gcv
from .kernels_exact import running_mean
from .kernels_fast import fast_start
from .kernels_forward import (
    BASIS,
    CONDITION,
    DELTA,
    EXACT,
    RSS,
    RSS_NULL,
    RUNNING,
    SATURATED,
    SLOTS,
    UPDATED,
    extend_basis,
    find_exact,
    find_fast,
    finish_step,
    start_pass,
)
from .kernels_householder import RANK_TOLERANCE
from .kernels_knots import DEAD
from .kernels_prune import Reduction, prune_backward, reduce_factor, start_search
from .kernels_regress import find_independent
from .kernels_sums import dot, orthogonalise

START, RESUME, EXACTLY, UNPRUNED, PRUNED = range(5)  # tasks of `fit_block`


@kernel
def orthonormalise(bx, q, r):
    """Orthonormal basis q of the rows of bx, which are independent; row k of r makes row k of them."""
    m, n = bx.shape
    column = np.empty(n)
    for k in range(m):
        column[:] = bx[k]
        length = np.sqrt(orthogonalise(q, k, column, r))
        r[k, k] = length
        for i in range(n):
            q[k, i] = column[i] / length


@kernel
def has_full_rank(r, m):
    """Whether the basis columns are safely independent, far from the tolerance of the rank test."""
    for k in range(m):
        total = 0.0
        for t in range(k + 1):
            total += r[k, t] * r[k, t]
        if not r[k, k] * r[k, k] > 1e4 * RANK_TOLERANCE * RANK_TOLERANCE * total:
            return False
    return True


@kernel
def final_basis(terms, fast, progress):
    """Number of independent columns of the pass; their basis and factor are in `fast.q` and `fast.r`.

    Also the step of the pass that each of them came with.
    """
    m = progress.count[BASIS]
    n = fast.q.shape[1]
    step = np.empty(m, dtype=np.int64)
    n_used = 0
    for slot in range(len(terms.used)):
        if terms.used[slot]:
            step[n_used] = (slot + 1) // 2
            n_used += 1
    if not progress.count[EXACT] and has_full_rank(fast.r, n_used):
        return n_used, step
    bx = np.empty((n_used, n))
    k = 0
    for slot in range(len(terms.used)):
        if terms.used[slot]:
            bx[k] = terms.bx[slot]
            k += 1
    kept = find_independent(bx, RANK_TOLERANCE)
    k = 0
    for t in range(n_used):
        if kept[t]:
            step[k] = step[t]
            k += 1
    orthonormalise(bx[kept], fast.q, fast.r)
    return k, step


@kernel
def centre(y, out):
    """out = y less its mean; returns the mean."""
    mean = 0.0
    for value in y:
        mean += value
    mean /= len(y)
    for i in range(len(y)):
        out[i] = y[i] - mean
    return mean


@kernel
def add_projection(q, y, out):
    """out += q <q, y>"""
    z = dot(q, y)
    for i in range(len(out)):
        out[i] += z * q[i]


@kernel
def fit_block(
    design,
    settings,
    terms,
    queue,
    basis,
    fast,
    progress,
    scaled,
    y,
    task,
    max_steps,
    nprune,
    fitted,
    n_terms,
):
    """Forward passes of at most `max_steps` steps for every (responses, n) block of `scaled`.

    Tasks START and RESUME leave the pass in the workspace. UNPRUNED and PRUNED also write fitted values and
    numbers of terms, in the units of the rows of y. All of them are one function because numba would
    compile the whole pass again for another one.
    """
    n = design.x.shape[1]
    count, value = progress.count, progress.value
    for j in range(scaled.shape[0]):
        responses = scaled[j]
        y_mean = np.empty(len(responses))
        for r in range(len(responses)):
            y_mean[r] = running_mean(responses[r])
        if task != RESUME:
            start_pass(
                settings, terms, queue, progress, responses, len(responses) > 1 or task == EXACTLY
            )
            fast_start(fast, responses[0], y_mean[0])
        gcv_null = gcv(value[RSS_NULL], 1, n, settings.penalty)
        for _ in range(max_steps):
            if count[CONDITION] != RUNNING:
                break
            limit = min(1.01 * value[RSS], 10 * value[DELTA])
            decided, found = False, (-1, -1, -1, 0.0, False, False)
            if not count[EXACT]:
                decided, found = find_fast(design, settings, terms, queue, fast, progress, limit)
            if not decided:
                found = find_exact(
                    design, settings, terms, queue, basis, fast, progress, responses, y_mean, limit
                )
            place, pred, parent, gain, new_form, linear = found
            slot = count[SLOTS]
            paired = new_form and not linear
            if place >= 0:
                if not settings.auto_linpreds and not terms.linear_only[pred]:
                    linear = False
                add_columns(design, terms, slot, parent, pred, place, linear, new_form)
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
            if value[RSS] < SATURATED * value[RSS_NULL] and count[UPDATED]:
                # what is left is the rounding of all steps so far: take them again as earth does
                start_pass(settings, terms, queue, progress, responses, True)
            elif place >= 0 and terms.used[slot]:
                extend_basis(terms, fast, progress, slot)
                if terms.used[slot + 1]:  # both hinges: the line lies in the model for good
                    fast.linear[parent, pred] = DEAD
        if task >= UNPRUNED:
            m, _ = final_basis(terms, fast, progress)
            if task == PRUNED:
                n_terms[j] = fit_pruned(settings, fast, m, y[j], nprune, fitted[j])
            else:
                n_terms[j] = fit_unpruned(fast, min(m, nprune), y[j], fitted[j])


@kernel
def fit_unpruned(fast, m, y, fitted):
    """Least squares on the first m basis columns."""
    fitted[:] = centre(y, fast.y)
    for k in range(1, m):
        add_projection(fast.q[k], fast.y, fitted)
    return m


@kernel
def prefix_fits(terms, fast, progress, y, n_steps, fitted, n_terms):
    """Fitted values (n_steps + 1, n) and number of terms after 0, 1, ... steps of a finished pass."""
    m, step = final_basis(terms, fast, progress)
    fitted[0, :] = centre(y, fast.y)
    n_terms[0] = 1
    k = 1
    for s in range(1, n_steps + 1):
        fitted[s] = fitted[s - 1]
        while k < m and step[k] == s:
            add_projection(fast.q[k], fast.y, fitted[s])
            k += 1
        n_terms[s] = k


@kernel
def fit_pruned(settings, fast, m, y, nprune, fitted):
    """Backward pruning and least squares; returns the number of terms."""
    n = len(y)
    mean = centre(y, fast.y)
    z = np.empty(m)
    for k in range(m):
        z[k] = dot(fast.q[k], fast.y)
    z[0] += mean * fast.r[0, 0]
    error = 0.0
    residual = fast.y.copy()
    for k in range(1, m):
        for i in range(n):
            residual[i] -= z[k] * fast.q[k, i]
    error = dot(residual, residual)
    reduction = Reduction(
        np.empty(m), np.zeros((m, m)), np.empty(m), np.empty(m), np.zeros(m, dtype=np.int64),
        np.empty(m), np.empty(m), np.zeros((m, m), dtype=np.int64),
    )  # fmt: skip
    reduce_factor(reduction, fast.r, z)
    start_search(reduction, error)
    prune_backward(reduction)
    best, size = np.inf, 1
    for k in range(min(m, nprune)):
        score = gcv(reduction.best_rss[k], k + 1, n, settings.penalty)
        if score < best:
            best, size = score, k + 1
    # project on the chosen columns, in the coordinates of the basis
    chosen = np.zeros((size, m))
    columns = np.sort(reduction.best[size - 1, :size])
    for k in range(size):
        for t in range(columns[k] + 1):
            chosen[k, t] = fast.r[columns[k], t]
    q = np.empty((size, m))
    orthonormalise(chosen, q, np.empty((size, size)))
    weight = np.zeros(m)
    for k in range(size):
        add_projection(q[k], z, weight)
    fitted[:] = 0.0
    for k in range(m):
        for i in range(n):
            fitted[i] += weight[k] * fast.q[k, i]
    return size
