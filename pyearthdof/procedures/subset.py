"""Best subset regression: for every size the columns with the least residual sum of squares.

The search is a branch and bound over the tree of Gatu and Kontoghiorghes (2006). A node is an
ordered set of columns of which the first k must stay; its triangular factor gives the residual sum
of squares of every leading subset at once. Child j drops column j and keeps all before it. No
subset below a node can fit better than the node's whole set, so a node that is no better than the
best subset of the smallest size below it is left out with everything under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_X_y

from pyearthdof._numba import kernel
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures.active_set import (
    ActiveSetRegression,
    CompactDesign,
    check_many,
    least_squares_on,
)
from pyearthdof.procedures.base import Fits

__all__ = ["BestSubset", "BestSubsets", "best_subsets"]

# A column of length one counts as a combination of others if they leave less than this of it.
_DEPENDENT = 1e-10


@dataclass(frozen=True)
class BestSubsets:
    """The best subset of every size; entry s belongs to size s, from 0 on.

    Attributes
    ----------
    subsets : tuple of arrays
        Column numbers, ascending.
    rss : (sizes,) array
        Residual sum of squares.
    coef : (sizes, p) array
        Least-squares coefficients, zero outside the subset.
    intercept : (sizes,) array

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures import best_subsets
    >>> found = best_subsets(np.eye(3), [3.0, 1.0, 2.0])
    >>> found.rss.round(6).tolist(), found.coef[2].round(6).tolist()
    ([14.0, 5.0, 1.0, 0.0], [3.0, 0.0, 2.0])
    """

    subsets: tuple[np.ndarray, ...]
    rss: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray


def best_subsets(X, y, max_size=None, fit_intercept=False) -> BestSubsets:
    """The best subset of every size from 0 to `max_size` (None: the rank of X).

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.subset import best_subsets
    >>> X = np.random.default_rng(0).standard_normal((30, 5))
    >>> found = best_subsets(X, X[:, 3] - 2 * X[:, 1])
    >>> [subset.tolist() for subset in found.subsets[:3]]
    [[], [1], [1, 3]]
    """
    X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    design = CompactDesign.build(X, y[:, None], fit_intercept)
    largest = _largest_size("max_size", max_size, design)
    rss, active = _search(design, 1, largest)
    coef = np.array([design.original_units(least_squares_on(design, a)[0])[:, 0] for a in active])
    return BestSubsets(
        subsets=tuple(np.flatnonzero(a[:, 0]) for a in active),
        rss=rss[0] * design.y_norm[0] ** 2,
        coef=coef,
        intercept=design.y_mean[0] - coef @ design.x_mean,
    )


class BestSubset(ActiveSetRegression):
    """Least squares on the best subset, of a given size or under a price on each column.

    Minimises ||y - X b||^2 among all b with `size` nonzero coefficients, or
    ||y - X b||^2 + lam ||b||_0 over all b (the paper's section on best subset regression). The
    search is exact, so its time grows quickly with the number of columns: well under a second for
    30, if there are more rows than columns.

    Parameters
    ----------
    size : int or None
        Number of columns, at most the rank of X. Give either `size` or `lam`.
    lam : float or None
        Price of a column in units of the residual sum of squares.
    fit_intercept : bool
        Whether a column of ones is always in the model, beside the `size` chosen ones.

    Attributes
    ----------
    coef_, intercept_ : array and float
    active_ : array of the chosen columns
    subsets_ : tuple
        The best subset of every size from 0 to `size`, or to the rank of X under `lam`.
    rss_per_size_ : array
        Their residual sums of squares.
    fitted_values_, refitted_values_ : arrays
        The fit; it is its own least-squares refit.
    trace_, n_coef_, rank_ : floats and ints
        All three count the columns in the model.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.subset import BestSubset
    >>> X = np.random.default_rng(0).standard_normal((30, 5))
    >>> fit = BestSubset(size=2).fit(X, X[:, 3] - 2 * X[:, 1])
    >>> fit.active_.tolist(), fit.coef_.round(12).tolist(), fit.trace_
    ([1, 3], [0.0, -2.0, 0.0, 1.0, 0.0], 2.0)
    """

    def __init__(self, size=None, lam=None, fit_intercept=False):
        self.size = size
        self.lam = lam
        self.fit_intercept = fit_intercept

    def fit_many_sizes(self, X, Y) -> dict[int, Fits]:
        """Fits of every size from 1 to `size` (None: the rank of X), one search a response."""
        X, Y = check_many(X, Y)
        design = CompactDesign.build(X, Y, self.fit_intercept)
        _, active = _search(design, 1, _largest_size("size", self.size, design))
        return {
            size: self._fits(X, design, active[size], None)[0] for size in range(1, len(active))
        }

    def _select(self, design, *, single):
        self._check_penalty()
        largest = _largest_size("size", self.size, design)
        every_size = single or self.lam is not None
        rss, active = _search(design, 1 if every_size else largest, largest)
        if self.lam is None:
            chosen = np.full(len(rss), largest)
        else:
            price = self.lam / design.y_norm[:, None] ** 2 * np.arange(largest + 1)
            chosen = np.argmin(rss + price, axis=1)
        if single:
            self.subsets_ = tuple(np.flatnonzero(a[:, 0]) for a in active)
            self.rss_per_size_ = rss[0] * design.y_norm[0] ** 2
        return active[chosen, :, np.arange(len(chosen))].T, None

    def _check_penalty(self):
        if (self.size is None) == (self.lam is None):
            raise InvalidInputError(
                f"size = {self.size!r} and lam = {self.lam!r}: give exactly one of the two."
            )
        if self.lam is not None and not (isinstance(self.lam, Real) and 0 <= self.lam < np.inf):
            raise InvalidInputError(f"lam = {self.lam!r} must be a finite number, zero or more.")


def _largest_size(name: str, size, design: CompactDesign) -> int:
    """Check a size against X; None means the rank."""
    p = design.R.shape[1]
    if size is not None and not (isinstance(size, Integral) and 0 <= size <= p):
        raise InvalidInputError(
            f"{name} = {size!r} must be a whole number from 0 to {p}, for X has n_features = {p}."
        )
    rank = _triangularise(np.hstack([design.R, design.Z[:, :1]]), np.arange(p), 0, p)
    if size is not None and size > rank:
        raise InvalidInputError(
            f"{name} = {size} is more than the {rank} linearly independent columns that X has with "
            f"n_samples = {design.n_samples}."
        )
    return rank if size is None else int(size)


def _search(design: CompactDesign, smallest: int, largest: int):
    """Residual sums of squares (m, sizes) and active sets (sizes, p, m), sizes from 0 on.

    Sizes between 0 and `smallest` are not looked for and stay at infinity.
    """
    m, p = design.Z.shape[1], design.R.shape[1]
    rss = np.full((m, largest + 1), np.inf)
    rss[:, 0] = np.sum(design.Z**2, axis=0) + design.leftover
    members = np.zeros((m, largest + 1, p), dtype=np.bool_)
    if largest > 0:
        responses = np.ascontiguousarray(design.Z.T)
        _search_columns(design.R, responses, design.leftover, smallest, rss, members)
    return rss, members.transpose(1, 2, 0)


@kernel
def _root(R, z, W, names):
    """Fill W with [R z]."""
    r, p = R.shape
    for i in range(r):
        for j in range(p):
            W[i, j] = R[i, j]
        W[i, p] = z[i]
    for j in range(p):
        names[j] = j


@kernel
def _swap(W, names, top, a, b):
    """Exchange two columns from a row on."""
    for i in range(top, len(W)):
        W[i, a], W[i, b] = W[i, b], W[i, a]
    names[a], names[b] = names[b], names[a]


@kernel
def _triangularise(W, names, k, c):
    """Householder reflections on rows and columns k to c; dependent columns go last. The rank."""
    r, z = W.shape[0], W.shape[1] - 1
    row, last = k, c
    while row < last:
        squared = 0.0
        for i in range(row, r):
            squared += W[i, row] ** 2
        if squared <= _DEPENDENT**2:
            last -= 1
            _swap(W, names, 0, row, last)
            continue
        norm = -np.sqrt(squared) if W[row, row] > 0 else np.sqrt(squared)
        head = W[row, row] - norm
        for j in range(row + 1, z + 1):
            if c <= j < z:
                continue
            dot = head * W[row, j]
            for i in range(row + 1, r):
                dot += W[i, row] * W[i, j]
            dot /= norm * head
            W[row, j] += dot * head
            for i in range(row + 1, r):
                W[i, j] += dot * W[i, row]
        W[row, row] = norm
        for i in range(row + 1, r):
            W[i, row] = 0.0
        row += 1
    return row


@kernel
def _losses(W, k, c, loss):
    """What the residual sum of squares grows by if one of the columns k to c is dropped."""
    z = W.shape[1] - 1
    d = c - k
    inverse = np.zeros((d, d))
    for col in range(d):
        inverse[col, col] = 1.0 / W[k + col, k + col]
        for i in range(col - 1, -1, -1):
            total = 0.0
            for j in range(i + 1, col + 1):
                total += W[k + i, k + j] * inverse[j, col]
            inverse[i, col] = -total / W[k + i, k + i]
    for i in range(d):
        coef, variance = 0.0, 0.0
        for j in range(i, d):
            coef += inverse[i, j] * W[k + j, z]
            variance += inverse[i, j] ** 2
        loss[k + i] = coef * coef / variance


@kernel
def _put_strong_first(W, names, k, c, loss):
    """Order the columns k to c by their loss: the largest subtrees then get the best bounds."""
    _losses(W, k, c, loss)
    for j in range(k, c):
        strongest = j
        for col in range(j + 1, c):
            if loss[col] > loss[strongest]:
                strongest = col
        _swap(W, names, 0, j, strongest)
        loss[j], loss[strongest] = loss[strongest], loss[j]
    _triangularise(W, names, k, c)


@kernel
def _drop(W, names, c, rank, j, child_W, child_names):
    """The child without column j: Givens rotations restore the triangle. Its rank."""
    r, z = W.shape[0], W.shape[1] - 1
    for col in range(c - 1):
        child_names[col] = names[col] if col < j else names[col + 1]
    for i in range(j, r):
        for col in range(j, c - 1):
            child_W[i, col] = W[i, col + 1]
        child_W[i, z] = W[i, z]
    for row in range(j, rank - 1):
        length = np.hypot(child_W[row, row], child_W[row + 1, row])
        cos, sin = child_W[row, row] / length, child_W[row + 1, row] / length
        for col in range(row, z + 1):
            if c - 1 <= col < z:
                continue
            a, b = child_W[row, col], child_W[row + 1, col]
            child_W[row, col] = cos * a + sin * b
            child_W[row + 1, col] = cos * b - sin * a
    # One row has become free: a column that was dependent may stand in for the one that went.
    free = rank - 1
    stand_in = free
    for col in range(free + 1, c - 1):
        if abs(child_W[free, col]) > abs(child_W[free, stand_in]):
            stand_in = col
    if free >= c - 1 or abs(child_W[free, stand_in]) <= _DEPENDENT:
        return rank - 1
    _swap(child_W, child_names, j, free, stand_in)
    return rank


@kernel
def _record(W, names, k, rank, leftover, smallest, best, members):
    """Note each leading subset that is the best of its size so far; the RSS of the whole set."""
    r, z = W.shape[0], W.shape[1] - 1
    rss = leftover
    for i in range(r - 1, rank - 1, -1):
        rss += W[i, z] ** 2
    whole = rss
    for size in range(rank, k, -1):
        if smallest <= size < len(best) and rss < best[size]:
            best[size] = rss
            for i in range(members.shape[1]):
                members[size, i] = False
            for i in range(size):
                members[size, names[i]] = True
        rss += W[size - 1, z] ** 2
    return whole


@kernel
def _search_columns(R, responses, leftover, smallest, best, members):
    """Fill best[m, size] and members[m, size, p]: a depth-first walk for every response."""
    r, p = R.shape
    largest = best.shape[1] - 1
    # Level d of the walk holds p - d columns: all but the first p + 1 - d columns are unused there.
    W = np.empty((p, r, p + 1))
    names = np.empty((p, p), np.int64)
    bound = np.empty((p, p))
    whole = np.empty(p)
    rank = np.empty(p, np.int64)
    child = np.empty(p, np.int64)
    for m in range(len(responses)):
        _root(R, responses[m], W[0], names[0])
        rank[0] = _triangularise(W[0], names[0], 0, p)
        child[0] = 0
        level = 0
        while True:
            # A new node. Ordering it pays while it is large (measured: two thirds of p).
            columns, kept = p - level, child[level]
            for j in range(p):
                bound[level, j] = 0.0
            if rank[level] == columns and (level == 0 or 3 * (columns - kept) > 2 * p):
                _put_strong_first(W[level], names[level], kept, columns, bound[level])
            whole[level] = _record(
                W[level],
                names[level],
                kept,
                rank[level],
                leftover[m],
                smallest,
                best[m],
                members[m],
            )
            for j in range(p):
                bound[level, j] += whole[level]
            level, j = _next_child(p, largest, smallest, best[m], rank, whole, bound, child, level)
            if level < 0:
                break
            rank[level + 1] = _drop(
                W[level], names[level], p - level, rank[level], j, W[level + 1], names[level + 1]
            )
            level += 1
            child[level] = j


@kernel
def _next_child(p, largest, smallest, best, rank, whole, bound, child, level):
    """The next branch that may hold a better subset, climbing as needed; level -1 at the end."""
    while level >= 0:
        j = child[level]
        child[level] += 1
        size = max(j + 1, smallest)
        # `best` falls with the size: where the whole set is no better, neither are later children.
        if j >= rank[level] or size > min(largest, p - level - 1) or whole[level] >= best[size]:
            level -= 1
        elif bound[level, j] < best[size]:
            return level, j
    return level, 0
