"""The search for a knot with earth's own order of operations, for near-ties and degenerate data.

Where two candidates are equal on paper, rounding decides which of them earth takes. These loops therefore
sum one case after the other, from high x to low, on the same centred orthonormal basis, and must not be
re-associated or fused. They cost O(n * terms) a pair, as in earth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import kernel, lean_kernel
from .kernels import MIN_SUM_OF_SQUARES


class Basis(NamedTuple):
    """Orthonormal basis by modified Gram-Schmidt, in the order in which the terms came."""

    q: np.ndarray  # (capacity, n)
    centred: np.ndarray  # (n, capacity): q less its mean, a row a case
    yq: np.ndarray  # (n_resp, capacity): <y - mean y, q>
    covariance: np.ndarray  # (capacity,) work
    slope: np.ndarray  # (capacity,) work


@lean_kernel
def running_mean(column):
    n = len(column)
    mean = 0.0
    for value in column:
        mean += value / n
    return mean


@lean_kernel
def start_basis(basis, y, y_mean):
    """The intercept: 1/sqrt(n) everywhere."""
    n = basis.q.shape[1]
    length = 1 / np.sqrt(float(n))
    basis.q[0, :] = length
    basis.centred[:, 0] = 0.0
    _project_response(basis, 0, y, y_mean)


@lean_kernel
def append_column(basis, k, column, floor, y, y_mean):
    """Orthonormalise `column` to the first k columns and store it as number k.

    Return the residual sum of squares. At or below `floor` the stored column is zero.
    """
    q = basis.q[k]
    n = len(column)
    if k == 1:
        mean = running_mean(column)
        for i in range(n):
            q[i] = column[i] - mean
    else:
        for i in range(n):
            q[i] = column[i]
        for t in range(k):
            other = basis.q[t]
            beta = 0.0
            for i in range(n):
                beta += other[i] * q[i]
            for i in range(n):
                q[i] += -beta * other[i]
    square = 0.0
    for i in range(n):
        square += q[i] * q[i]
    mean = 0.0
    if square > floor:
        mean = running_mean(q)  # earth takes the mean before it divides by the length
        length = np.sqrt(square)
        for i in range(n):
            q[i] /= length
    else:
        q[:] = 0.0
    for i in range(n):
        basis.centred[i, k] = q[i] - mean
    _project_response(basis, k, y, y_mean)
    return square


@lean_kernel
def _project_response(basis, k, y, y_mean):
    for r in range(y.shape[0]):
        total = 0.0
        for i in range(y.shape[1]):
            total += (y[r, i] - y_mean[r]) * basis.q[k, i]
        basis.yq[r, k] = total


@lean_kernel
def linear_gain(basis, k, y):
    gain = 0.0
    for r in range(y.shape[0]):
        total = 0.0
        for i in range(y.shape[1]):
            total += y[r, i] * basis.q[k, i]
        gain += total * total
    return gain


@kernel
def exact_pair(
    design, basis, k, base, pred, y, y_mean, spans, new_form, slot, adjust, limit, linear_only
):
    """Best candidate of one (parent, predictor) pair, as earth computes it.

    Returns (new_form, adjusted linear gain, place of the best knot or -1, adjusted gain). The
    first k columns of the basis are the model; column k is overwritten.
    """
    linear = 0.0
    if new_form:
        column = design.x[pred] * base
        square = append_column(basis, k, column, MIN_SUM_OF_SQUARES, y, y_mean)
        new_form = square > MIN_SUM_OF_SQUARES
        linear = linear_gain(basis, k, y)
    best_place, best = -1, adjust * linear
    if not linear_only:
        best_place, best = _exact_knot(
            design, basis, k + 1 if new_form else k, base, pred, y, y_mean, spans,
            slot + 1 if new_form else slot, adjust, linear, limit,
        )  # fmt: skip
    return new_form, adjust * linear, best_place, best


@kernel
def _exact_knot(design, basis, k, base, pred, y, y_mean, spans, new_column, adjust, linear, limit):
    n, n_resp = base.shape[0], y.shape[0]
    tolerance = 0.01 if new_column < 15 else 1e-5
    covariance, slope = basis.covariance, basis.slope
    covariance[:k] = 0.0
    slope[:k] = 0.0
    y_slope = np.zeros(n_resp)
    y_hinge = np.zeros(n_resp)
    variance = sum_b = sum_bb = sum_bbx = sum_bx = hinge_sum = 0.0
    wait, minimum, end = spans
    best_place, best = -1, adjust * linear
    for place in range(1, n - end):
        case = design.order[pred, place - 1]
        x0, x1 = design.sorted_x[pred, place], design.sorted_x[pred, place - 1]
        b = base[case]
        bb = b * b
        step = x1 - x0
        for t in range(k):
            slope[t] += b * basis.centred[case, t]
            covariance[t] += step * slope[t]
        sum_b += b
        sum_bb += bb
        sum_bx += b * x1
        sum_bbx += bb * x1
        previous = hinge_sum
        hinge_sum = sum_bx - sum_b * x0
        variance += (
            step * (2 * sum_bbx - sum_bb * (x0 + x1))
            + (previous * previous - hinge_sum * hinge_sum) / n
        )
        for r in range(n_resp):
            y_slope[r] += (y[r, case] - y_mean[r]) * b
            y_hinge[r] += step * y_slope[r]
        if not (b > 0 and variance > 0):
            continue
        wait -= 1
        if wait != 0:
            continue
        wait = minimum
        explained = 0.0
        for t in range(k):
            explained += covariance[t] * covariance[t]
        left = variance - explained
        gain = 0.0
        if left / variance > tolerance:
            for r in range(n_resp):
                shared = 0.0
                for t in range(k):
                    shared += basis.yq[r, t] * covariance[t]
                a = y_hinge[r] - shared
                gain += a * a / left
        gain = adjust * (linear + gain)
        if best < gain < limit:
            best_place, best = place, gain
    return best_place, best
