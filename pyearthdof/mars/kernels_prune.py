"""The pruning pass: subsets of the basis columns, searched on a triangular reduction.

The columns are reduced once to bx = Q D^(1/2) U with U a unit upper triangle (Gentleman's rotations without
square roots, as in Miller's algorithm AS 274). The RSS of the first k columns is the error sum of squares
plus d t^2 of the rows beyond k. Moving a column to another place is a chain of rotations between
neighbours, and costs O(terms^2) whatever the number of cases. For every size the best subset met on the
way is kept, in the order of its columns at that moment: earth reports its terms in this order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import kernel

SMALL = 5e-10  # part of the absolute sum of a column below which an entry counts as zero
LARGE = 1e35  # a drop in RSS that costs more is never taken, which y beyond 1e17 may meet


class Reduction(NamedTuple):
    """Triangular reduction of the columns in their present order, and the best subsets so far."""

    d: np.ndarray  # (m,) squared row scales
    u: np.ndarray  # (m, m) unit upper triangle
    t: np.ndarray  # (m,) projected response over the row scale
    rss: np.ndarray  # (m,) RSS of the first k + 1 columns
    order: np.ndarray  # (m,) column numbers
    small: np.ndarray  # (m,) size below which an entry of a column is zero
    best_rss: np.ndarray  # (largest size,)
    best: (
        np.ndarray
    )  # (largest size, largest size) row k: the columns of the best subset of size k + 1


@kernel
def reduce_cases(reduction, bx, y):
    """Reduce all cases one after the other, as earth does; return the error sum of squares.

    `bx` holds a column a row.
    """
    m, n = bx.shape
    d, u, t = reduction.d, reduction.u, reduction.t
    d[:] = 0.0
    u[:] = 0.0
    t[:] = 0.0
    error = 0.0
    row = np.empty(m)
    for i in range(n):
        for k in range(m):
            row[k] = bx[k, i]
        error += include(reduction, 0, 1.0, row, y[i])
    return error


@kernel
def include(reduction, first, weight, row, value):
    """Rotate one case into the rows from `first` on; return what it adds to the error sum of squares."""
    d, u, t = reduction.d, reduction.u, reduction.t
    m = len(d)
    for k in range(first, m):
        if weight == 0.0:
            return 0.0
        x = row[k]
        if x == 0.0:
            continue
        wx = weight * x
        total = d[k] + wx * x
        cosine, sine = d[k] / total, wx / total
        weight = cosine * weight
        d[k] = total
        for col in range(k + 1, m):
            old = row[col]
            row[col] = old - x * u[k, col]
            u[k, col] = cosine * u[k, col] + sine * old
        old = value
        value = old - x * t[k]
        t[k] = cosine * t[k] + sine * old
    return weight * value * value


@kernel
def reduce_factor(reduction, r, z):
    """The same reduction from an orthonormal factor: row k of r holds the coefficients of column k."""
    m = len(reduction.d)
    for k in range(m):
        reduction.d[k] = r[k, k] * r[k, k]
        reduction.t[k] = z[k] / r[k, k]
        for col in range(k + 1, m):
            reduction.u[k, col] = r[col, k] / r[k, k]


@kernel
def start_search(reduction, error):
    """Set up tolerances, RSS, and the subsets that the present order contains.

    Returns which columns depend on those before them, by the rule of AS 274.
    """
    d, u, t, small = reduction.d, reduction.u, reduction.t, reduction.small
    m = len(d)
    scale = np.sqrt(d)
    for col in range(m):
        total = scale[col]
        for row in range(col):
            total += abs(u[row, col]) * scale[row]
        small[col] = SMALL * total
    sum_squares(reduction, error)
    dependent = np.zeros(m, dtype=np.bool_)
    for col in range(m):
        for row in range(col):
            if abs(u[row, col]) * scale[row] < small[col]:
                u[row, col] = 0.0
        if scale[col] <= small[col]:
            # what is left of the column goes to those below it, as one more case
            dependent[col] = True
            weight, d[col] = d[col], 0.0
            error += include(reduction, col + 1, weight, u[col].copy(), t[col])
            u[col, col + 1 :] = 0.0
            scale[col] = t[col] = 0.0
    if dependent.any():
        sum_squares(reduction, error)
    for k in range(m):
        reduction.order[k] = k
    for k in range(len(reduction.best_rss)):
        reduction.best_rss[k] = reduction.rss[k]
        for i in range(k + 1):
            reduction.best[k, i] = i
    return dependent


@kernel
def sum_squares(reduction, error):
    """RSS of the first 1, 2, ... columns."""
    d, t = reduction.d, reduction.t
    m = len(d)
    reduction.rss[m - 1] = error
    for k in range(m - 1, 0, -1):
        error += d[k] * (t[k] * t[k])
        reduction.rss[k - 1] = error


@kernel
def swap_neighbours(reduction, i):
    """Exchange columns i and i + 1."""
    d, u, t, small = reduction.d, reduction.u, reduction.t, reduction.small
    m = len(d)
    j = i + 1
    x = u[i, j]
    if abs(x) * np.sqrt(d[i]) < small[j]:
        x = 0.0
    if x == 0.0:
        d[i], d[j] = d[j], d[i]
        u[i, j] = 0.0
        for col in range(j + 1, m):
            u[i, col], u[j, col] = u[j, col], u[i, col]
        t[i], t[j] = t[j], t[i]
    else:
        total = d[j] + d[i] * (x * x)
        cosine, sine = d[j] / total, x * d[i] / total
        d[j] = d[i] * cosine
        d[i] = total
        u[i, j] = sine
        for col in range(j + 1, m):
            upper, lower = u[i, col], u[j, col]
            u[i, col] = cosine * lower + sine * upper
            u[j, col] = upper - x * lower
        upper, lower = t[i], t[j]
        t[i] = cosine * lower + sine * upper
        t[j] = upper - x * lower
    for row in range(i):
        u[row, i], u[row, j] = u[row, j], u[row, i]
    reduction.order[i], reduction.order[j] = reduction.order[j], reduction.order[i]
    small[i], small[j] = small[j], small[i]
    reduction.rss[i] = reduction.rss[j] + d[j] * (t[j] * t[j])


@kernel
def move_column(reduction, source, target):
    if source < target:
        for i in range(source, target):
            swap_neighbours(reduction, i)
    else:
        for i in range(source - 1, target - 1, -1):
            swap_neighbours(reduction, i)


@kernel
def record(reduction, size, rss):
    """Keep the first `size` columns if they beat the best subset of that size.

    A subset already on record, met again with a slightly different RSS, changes nothing.
    """
    if size > len(reduction.best_rss):
        return
    best, order = reduction.best[size - 1], reduction.order
    if rss >= reduction.best_rss[size - 1]:
        return
    if rss > 0.9999 * reduction.best_rss[size - 1]:
        known = 0
        for i in range(size):
            for k in range(size):
                if best[k] == order[i]:
                    known += 1
                    break
        if known == size:
            return
    reduction.best_rss[size - 1] = rss
    for i in range(size):
        best[i] = order[i]


@kernel
def cheapest_drop(reduction, last, work):
    """Place in 1..last whose column costs least if it leaves the first last + 1 columns."""
    d, u, t, small = reduction.d, reduction.u, reduction.t, reduction.small
    least, where = LARGE, -1
    for j in range(1, last + 1):
        left = d[j]
        if np.sqrt(left) < small[j]:
            least, where = 0.0, j
            continue
        share = t[j]
        for col in range(j + 1, last + 1):
            work[col] = u[j, col]
        # move column j behind the others: what it still holds there goes with it
        for row in range(j + 1, last + 1):
            x = work[row]
            if abs(x) * np.sqrt(left) < small[row] or d[row] == 0.0:
                continue
            left = left * d[row] / (d[row] + left * (x * x))
            for col in range(row + 1, last + 1):
                work[col] -= x * u[row, col]
            share -= x * t[row]
        cost = share * left * share
        if cost < least:
            least, where = cost, j
    return where


@kernel
def best_addition(reduction, first, last, work):
    """(place, drop in RSS) of the column in first..last that helps most behind the first `first` ones."""
    d, u, t, small = reduction.d, reduction.u, reduction.t, reduction.small
    square, product = work[0], work[1]
    square[first : last + 1] = 0.0
    product[first : last + 1] = 0.0
    for row in range(first, last + 1):
        weighted = d[row] * t[row]
        square[row] += d[row]
        product[row] += weighted
        for col in range(row + 1, last + 1):
            square[col] += d[row] * (u[row, col] * u[row, col])
            product[col] += weighted * u[row, col]
    most, where = 0.0, -1
    for j in range(first, last + 1):
        if np.sqrt(square[j]) > small[j]:
            drop = product[j] * product[j] / square[j]
            if drop > most:
                most, where = drop, j
    return where, most


@kernel
def record_addition(reduction, place, drop, where):
    """Record the first `place` columns with the one at `where` as the next."""
    if where < 0 or place >= len(reduction.best_rss):
        return
    base = reduction.rss[place - 1]
    if base - drop >= reduction.best_rss[place]:
        return
    order = reduction.order
    kept = order[place]
    order[place] = order[where]
    record(reduction, place + 1, base - drop)
    order[place] = kept


@kernel
def prune_backward(reduction):
    """Drop the cheapest column, again and again."""
    m = len(reduction.d)
    work = np.empty(m)
    for last in range(m - 1, 1, -1):
        j = cheapest_drop(reduction, last, work)
        if 0 < j < last:
            move_column(reduction, j, last)
            for i in range(j, last):
                record(reduction, i + 1, reduction.rss[i])


@kernel
def prune_forward(reduction):
    """Take the most helpful column, again and again."""
    m = len(reduction.d)
    work = np.empty((2, m))
    for place in range(1, m - 1):
        where, drop = best_addition(reduction, place, m - 1, work)
        record_addition(reduction, place, drop, where)
        if where > place:
            move_column(reduction, where, place)


@kernel
def prune_seqrep(reduction):
    """Sequential replacement: for each size, exchange columns while one exchange lowers the RSS."""
    m = len(reduction.d)
    work = np.empty((2, m))
    for last in range(1, m - 1):
        failures, start = 0, 1
        while True:
            most, best, source = 0.0, -1, -1
            for turn in range(start, last + 1):
                where, drop = best_addition(reduction, last, m - 1, work)
                if where > last:
                    record_addition(reduction, last, drop, where)
                    if drop > most:
                        most, best = drop, where
                        source = last + start - turn - 1 if turn < last else last
                if turn < last:
                    move_column(reduction, last, start)
            if best > last:
                if source < last:
                    move_column(reduction, source, last)
                move_column(reduction, best, 1)
                failures, start = 0, 2
            else:
                failures += 1
            if failures > last - start:
                break


@kernel
def prune_exhaustive(reduction):
    """Leaps and bounds over all subsets of up to len(best_rss) columns."""
    m, largest = len(reduction.d), len(reduction.best_rss) - 1
    work = np.empty((2, m))
    end = np.full(m, m - 1)
    for k in range(1, largest + 1):
        record(reduction, k + 1, reduction.rss[k])
    search, loop = True, 0
    while True:
        if search:
            where, drop = best_addition(reduction, largest, end[largest], work)
            record_addition(reduction, largest, drop, where)
            loop = largest - 1
        while loop >= 1 and loop >= end[loop]:
            loop -= 1
        if loop < 1:
            return
        target = end[loop]
        move_column(reduction, loop, target)
        for k in range(loop, min(largest, target - 1) + 1):
            record(reduction, k + 1, reduction.rss[k])
        for k in range(loop, largest + 1):
            end[k] = target - 1
        # no subset inside this loop can beat the best of a size that all its columns together miss
        bound = reduction.rss[target - 1]
        hopeless = -1
        for k in range(loop, largest + 1):
            if bound > reduction.best_rss[k]:
                hopeless = k
                break
        search = False
        if hopeless >= 0:
            loop = hopeless - 1
            if loop < 1:
                return
        elif end[largest] > largest:
            search = True
        else:
            loop = largest - 1
