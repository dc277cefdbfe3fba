"""Least squares by Householder reflections in R's order of operations, for the weighted forward pass.

R's QR drops a column as dependent when its norm, brought up to date after each reflection, falls below
1e-8 of what it was, and goes on with the next one. Columns that come later do not change earlier
reflections, so the model is factored once and candidates join it one at a time. Each sum runs over the
cases in their order and must not be re-associated or fused: then every RSS is R's to the last bit, and
ties fall as they do in R.

A *block* holds columns side by side, `block[case, column]`. The sums of its columns run in step, which
uses vector instructions without a change to the order in any of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import kernel, lean_kernel

RANK_TOLERANCE = 1e-8  # earth's
INACCURATE = 1e-6  # share of a squared norm below which it is summed again
BLOCK = 32  # columns of a block; measured: with 8 a fit of 330 cases takes twice the time


class Model(NamedTuple):
    """The regression of the responses on the columns so far."""

    reflections: np.ndarray  # (capacity, n): row k leaves the first k cases alone
    rotated: np.ndarray  # (n_resp, n): the responses after the reflections


class Block(NamedTuple):
    """Columns that are reflected together, and what belongs to each of them."""

    columns: np.ndarray  # (n, BLOCK)
    residuals: np.ndarray  # (n, BLOCK)
    norm: np.ndarray  # (BLOCK,) of the column as it came
    left: np.ndarray  # (BLOCK,) norm of what the model leaves of it
    pivot: np.ndarray  # (BLOCK,) diagonal element of the triangle
    sums: np.ndarray  # (BLOCK,) work
    rss: np.ndarray  # (BLOCK,)


@kernel
def make_model(capacity, n_resp, n):
    return Model(np.empty((capacity, n)), np.empty((n_resp, n)))


@kernel
def make_block(n):
    return Block(
        np.empty((n, BLOCK)), np.empty((n, BLOCK)), np.empty(BLOCK), np.empty(BLOCK),
        np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK),
    )  # fmt: skip


@lean_kernel
def reflect(reflection, k, columns, width, sums):
    """Apply the reflection, whose first k elements are zero, to each of the columns."""
    n = len(reflection)
    for c in range(width):
        sums[c] = 0.0
    for i in range(k, n):
        element = reflection[i]
        for c in range(width):
            sums[c] += element * columns[i, c]
    for c in range(width):
        sums[c] = -sums[c] / reflection[k]
    for i in range(k, n):
        element = reflection[i]
        for c in range(width):
            columns[i, c] += sums[c] * element


@lean_kernel
def norms(columns, first, width, result):
    """Norms of the columns from case `first` on."""
    for c in range(width):
        result[c] = 0.0
    for i in range(first, columns.shape[0]):
        for c in range(width):
            result[c] += columns[i, c] * columns[i, c]
    for c in range(width):
        result[c] = np.sqrt(result[c])


@lean_kernel
def norm_from(columns, first, c):
    total = 0.0
    for i in range(first, columns.shape[0]):
        total += columns[i, c] * columns[i, c]
    return np.sqrt(total)


@lean_kernel
def reduce_block(model, k, block, width):
    """Take the columns through the first k reflections, with the norms of what is left."""
    columns, left, n = block.columns, block.left, block.columns.shape[0]
    norms(columns, 0, width, block.norm)
    for c in range(width):
        left[c] = block.norm[c]
    for t in range(min(k, n - 1)):
        reflect(model.reflections[t], t, columns, width, block.sums)
        for c in range(width):
            if left[c] == 0:
                continue
            share = abs(columns[t, c]) / left[c]
            rest = max(1 - share * share, 0.0)
            if rest < INACCURATE:
                left[c] = norm_from(columns, t + 1, c)
            else:
                left[c] *= np.sqrt(rest)


@lean_kernel
def is_independent(block, c, tolerance):
    norm = block.norm[c]
    return block.left[c] >= (norm if norm != 0 else 1.0) * tolerance


@lean_kernel
def make_reflections(block, k, width):
    """Turn the reduced columns into the reflections that would follow the first k."""
    columns, sums = block.columns, block.sums
    norms(columns, k, width, sums)
    for c in range(width):
        norm = -sums[c] if columns[k, c] < 0 else sums[c]
        block.pivot[c] = -norm
        sums[c] = 1 / norm if norm != 0 else 0.0
    for i in range(k, columns.shape[0]):
        for c in range(width):
            columns[i, c] *= sums[c]
    for c in range(width):
        columns[k, c] = 1 + columns[k, c]


@lean_kernel
def reflect_each(block, k, width):
    """Apply to each column of residuals the reflection in the column of the same number."""
    columns, residuals, sums = block.columns, block.residuals, block.sums
    for c in range(width):
        sums[c] = 0.0
    for i in range(k, columns.shape[0]):
        for c in range(width):
            sums[c] += columns[i, c] * residuals[i, c]
    for c in range(width):
        if columns[k, c] != 0:
            sums[c] = -sums[c] / columns[k, c]
    for i in range(k, columns.shape[0]):
        for c in range(width):
            residuals[i, c] += sums[c] * columns[i, c]


@lean_kernel
def add_squares(model, k, block, width):
    """Turn residuals back through the first k reflections and add their squares to the RSS."""
    residuals, n = block.residuals, block.residuals.shape[0]
    for i in range(k):
        for c in range(width):
            residuals[i, c] = 0.0
    for t in range(min(k, n - 1) - 1, -1, -1):
        reflect(model.reflections[t], t, residuals, width, block.sums)
    for i in range(n):
        for c in range(width):
            block.rss[c] += residuals[i, c] * residuals[i, c]


@lean_kernel
def rss_of_model(model, k, block):
    """RSS of the responses on the first k independent columns."""
    n_resp, n = model.rotated.shape
    block.rss[0] = 0.0
    for r in range(n_resp):
        for i in range(n):
            block.residuals[i, 0] = model.rotated[r, i]
        add_squares(model, k, block, 1)
    return block.rss[0]


@lean_kernel
def rss_of_candidates(model, k, block, width, model_rss):
    """RSS of the model with each column of the block in turn, into `block.rss`.

    A dependent column changes nothing. The columns are overwritten.
    """
    n_resp, n = model.rotated.shape
    for c in range(width):
        block.rss[c] = 0.0
    if k == n:
        return
    reduce_block(model, k, block, width)
    if k < n - 1:
        make_reflections(block, k, width)
        for r in range(n_resp):
            for i in range(k, n):
                for c in range(width):
                    block.residuals[i, c] = model.rotated[r, i]
            reflect_each(block, k, width)
            for c in range(width):
                block.residuals[k, c] = 0.0
            reflect_each(block, k, width)
            add_squares(model, k, block, width)
    for c in range(width):
        if not is_independent(block, c, RANK_TOLERANCE):
            block.rss[c] = model_rss


@lean_kernel
def extend_model(model, k, block, tolerance):
    """Add the first column of the block to a model of k independent columns; return their new number."""
    n_resp, n = model.rotated.shape
    if k == n:
        return k
    reduce_block(model, k, block, 1)
    if not is_independent(block, 0, tolerance):
        return k
    block.pivot[0] = block.columns[k, 0]
    if k < n - 1:  # the last dimension needs no reflection
        make_reflections(block, k, 1)
        for i in range(k):
            model.reflections[k, i] = 0.0
        for i in range(k, n):
            model.reflections[k, i] = block.columns[i, 0]
        for r in range(n_resp):
            for i in range(k, n):
                block.residuals[i, 0] = model.rotated[r, i]
            reflect_each(block, k, 1)
            for i in range(k, n):
                model.rotated[r, i] = block.residuals[i, 0]
    return k + 1
