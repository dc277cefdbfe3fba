"""What the compiled loops of the native engine share: data layouts, spans, GCV, the queue of parents.

Columns are rows here: `x[j]` is predictor j, `bx[t]` the basis column in slot t, so that every loop over
cases walks contiguous memory. A *slot* is a place in earth's table of terms: each step of the forward
pass takes two, and leaves the second empty when it adds one column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import lean_kernel

MIN_SUM_OF_SQUARES = 0.01  # a linear candidate must leave more than this, in the raw units of X
ALMOST_ZERO = 1e-10
MIN_GRSQ = -10.0
NO_PARENT = 101  # degree of an empty slot: above every maximum degree


class Design(NamedTuple):
    """What depends on X alone, one row a predictor.

    Places in the descending order name the knots: place 0 is the largest x. Ties keep the later case
    first, the mirror image of earth's stable ascending order.
    """

    x: np.ndarray  # (p, n)
    order: np.ndarray  # (p, n) cases by descending x; unsigned, which saves a test at each access
    sorted_x: np.ndarray  # (p, n) descending
    mean_square: np.ndarray  # (p,)


class Settings(NamedTuple):
    """Options of the forward pass, all resolved to numbers."""

    degree: int
    nk: int
    penalty: float
    thresh: float
    minspan: int
    endspan: int
    newvar_penalty: float
    fast_k: int
    fast_beta: float
    adjust_endspan: float
    auto_linpreds: bool


class Terms(NamedTuple):
    """The table of terms that a forward pass fills, one row a slot."""

    bx: np.ndarray  # (nk, n)
    dirs: np.ndarray  # (nk, p)
    cuts: np.ndarray  # (nk, p)
    degree: np.ndarray  # (nk,)
    used: np.ndarray  # (nk,)
    n_uses: np.ndarray  # (p,) how many terms use each predictor
    allowed: np.ndarray  # (nk, p) may this predictor extend this term
    linear_only: np.ndarray  # (p,)


class Queue(NamedTuple):
    """Fast MARS: the gain of each parent when it was last looked at, and how long ago that was."""

    delta: np.ndarray
    when: np.ndarray
    ranked: np.ndarray
    age: np.ndarray


@lean_kernel
def span_limits(n, p, n_positive, new_degree, settings):
    """(start, minimum, end) spans of a parent with `n_positive` cases, for a term of `new_degree`.

    The constants are earth's truncations of Friedman's equations 43 and 45; they matter.
    """
    end = settings.endspan
    if end == 0:
        end = int(7.32193 + np.log(float(p)) / 0.69315)
    if new_degree >= 2:
        end += int(settings.adjust_endspan * end + 0.5)
    end = max(1, min(end, n // 2 - 1))
    if settings.minspan < 0:
        minimum = int(np.ceil(n / (1.0 - settings.minspan)))
        start = minimum
        while start < end:
            start += minimum
        return max(1, start - 1), minimum, end
    minimum = settings.minspan
    if minimum == 0:
        # a parent without a positive case has log(0): the cast gives a huge negative span, then 1
        product = float(p * n_positive)
        minimum = int((2.9702 + np.log(product)) / 1.7329) if product > 0 else 1
    minimum = max(1, minimum)
    available = max(0, n - 2 * end)
    start = available // 2
    if available > minimum:
        left = available % minimum
        start = minimum // 2 if left == 0 else left // 2
    return max(1, end + start), minimum, end


@lean_kernel
def gcv(rss, n_terms, n, penalty):
    """Generalised cross-validation; infinite once the parameters are as many as the cases."""
    cost = 0.0 if penalty == -1 else (n_terms + penalty * ((n_terms - 1.0) / 2)) / n
    return np.inf if cost >= 1 else rss / (n * (1 - cost) ** 2)


@lean_kernel
def almost_zero(value):
    return 0.0 if -ALMOST_ZERO < value < ALMOST_ZERO else value


@lean_kernel
def is_new_form(dirs, used, n_slots, parent, pred):
    """Whether parent * predictor is taken as a new form, by earth's own (odd) rule.

    Some used term lacks the predictor, or differs from the parent in another variable.
    """
    new = True
    for t in range(1, n_slots):
        if not used[t]:
            continue
        new = False
        if dirs[t, pred] == 0:
            return True
        for j in range(dirs.shape[1]):
            if j != pred and (dirs[t, j] != 0) != (dirs[parent, j] != 0):
                return True
    return new


@lean_kernel
def rank_queue(queue, n_queue, now, beta):
    """Fill `queue.ranked`: by gain, then (beta > 0) by gain rank plus age; ties by gain, then index."""
    ranked, delta = queue.ranked, queue.delta
    for e in range(n_queue):
        i = e
        while i > 0 and delta[ranked[i - 1]] < delta[e]:
            ranked[i] = ranked[i - 1]
            i -= 1
        ranked[i] = e
    if beta <= 0:
        return
    age = queue.age
    for rank in range(n_queue):
        entry = ranked[rank]
        age[entry] = rank + beta * (now - queue.when[entry])
    for e in range(n_queue):
        i = e
        while i > 0:
            other = ranked[i - 1]
            if age[other] < age[e] or (age[other] == age[e] and delta[other] >= delta[e]):
                break
            ranked[i] = other
            i -= 1
        ranked[i] = e


@lean_kernel
def count_positive(column):
    count = 0
    for value in column:
        if value > 0:
            count += 1
    return count


@lean_kernel
def add_columns(design, terms, slot, parent, pred, place, linear, new_form):
    """Write the terms of one step, with the knot at `place`, into `slot` and the slot after it."""
    mate = slot + 1
    dirs, cuts, bx, x = terms.dirs, terms.cuts, terms.bx, design.x
    p, n = x.shape
    for j in range(p):
        dirs[slot, j] = dirs[mate, j] = dirs[parent, j]
        cuts[slot, j] = cuts[mate, j] = cuts[parent, j]
    cut = design.sorted_x[pred, place]
    dirs[slot, pred] = 2 if linear else 1
    dirs[mate, pred] = -1
    cuts[slot, pred] = cuts[mate, pred] = cut
    if linear:
        for i in range(n):
            bx[slot, i] = bx[parent, i] * x[pred, i]
            bx[mate, i] = 0.0
    else:
        for i in range(n):
            distance = x[pred, i] - cut
            bx[slot, i] = bx[parent, i] * distance if distance > 0 else 0.0
            bx[mate, i] = bx[parent, i] * -distance if distance < 0 else 0.0
    terms.n_uses[pred] += 1
    terms.used[slot] = True
    terms.used[mate] = not linear and new_form
    terms.degree[slot] = terms.degree[parent] + 1
    terms.degree[mate] = terms.degree[slot] if terms.used[mate] else NO_PARENT
