"""Regression tree: greedy binary splits on the sum of squares down to a given depth, no pruning."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .. import _core
from .._utils.checks import check_count
from ..contract import Bound, Fits
from .linear import BindingProcedure


class RegressionTree(BindingProcedure):
    """Greedy CART on the sum of squares, complete to a depth, without pruning.

    Every node above the depth is split at the variable and the cut that reduce the sum of squares
    most, unless it has one observation, equal rows of X, or equal y. Cuts lie midway between neighbouring
    values; x <= cut goes left. Ties are resolved by the first variable and its lowest cut, so fits do not
    depend on a random state.
    The fit at a row is the mean of its leaf: tr S(y) is the number of leaves.

    Parameters
    ----------
    depth : int
        Maximum number of splits above a leaf; 0 gives the mean of y.

    Attributes
    ----------
    feature_, threshold_ : arrays, one entry a node
        The split; feature -1 is a leaf. Nodes are numbered level by level from the root.
    left_, right_ : arrays
        The children's numbers; -1 at a leaf.
    value_ : array
        Mean of y in the node.
    n_leaves_ : int
    fitted_values_ : array
    trace_, n_coef_ : float and int
        The number of leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures.tree import RegressionTree
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> tree = RegressionTree(depth=1).fit(X, [1, 1, 1, 5, 5, 5])
    >>> tree.threshold_[0], tree.predict([[0.3], [9.0]]).tolist(), tree.trace_
    (np.float64(2.5), [1.0, 5.0], 2.0)
    """

    is_equivariant = True

    def __init__(self, depth):
        self.depth = depth

    def fit(self, X, y):
        """Grow the tree of y on X; sets its nodes and the quantities of the paper."""
        X, y = self._checked(X, y)
        y = y.astype(np.float64, copy=False)  # also from another byte order
        depth = self._checked_depth(len(X))
        columns = np.ascontiguousarray(X.T)
        *nodes, leaf = _core.grow_tree(columns, _presort(columns), _unit_free(y[:, None])[0], depth)
        self.feature_, self.threshold_, self.left_, self.right_ = nodes
        self.value_ = _node_means(y, leaf, self.left_, self.right_)
        self.n_leaves_ = int(np.sum(self.feature_ < 0))
        self.fitted_values_ = self.value_[leaf]
        self.trace_ = float(self.n_leaves_)
        self.n_coef_ = self.n_leaves_
        return self

    def apply(self, X):
        """Number of the leaf that each row of X falls into."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        rows = np.arange(len(X))
        node = np.zeros(len(X), dtype=np.int64)
        while np.any(inner := self.feature_[node] >= 0):
            at, moving = node[inner], rows[inner]
            left = X[moving, self.feature_[at]] <= self.threshold_[at]
            node[inner] = np.where(left, self.left_[at], self.right_[at])
        return node

    def predict(self, X):
        """Mean of the leaf that each row of X falls into."""
        leaf = self.apply(X)
        return self.value_[leaf]

    def bind(self, X) -> Bound:
        """This tree on a design X, whose columns are sorted once."""
        X = check_array(X, dtype=np.float64, input_name="X")
        return _BoundTree(X, self._checked_depth(len(X)))

    def split_sizes(self, X) -> np.ndarray | None:
        """Rows on the left of each possible split of X, (n, 1), where the fit is the best split of it."""
        X = check_array(X, dtype=np.float64, input_name="X")
        if X.shape[1] != 1 or self._checked_depth(len(X)) != 1:
            return None
        return np.flatnonzero(np.diff(np.sort(X[:, 0]))) + 1

    def _checked_depth(self, n: int) -> int:
        # each level of splits takes at least one row away
        return min(check_count("depth", self.depth, 0), n - 1)


class _BoundTree(Bound):
    has_threads = True

    def __init__(self, X, depth: int):
        self.depth = depth
        self.columns = np.ascontiguousarray(X.T)
        self.order = _presort(self.columns)

    def fit_many(self, Y, n_threads: int = 1) -> Fits:
        fitted, leaves = _core.fit_trees(
            self.columns,
            self.order,
            np.ascontiguousarray(Y.T),
            _unit_free(Y),
            self.depth,
            n_threads,
        )
        return Fits(fitted=fitted.T, trace=leaves.astype(float), n_coef=leaves)


def _presort(columns):
    return np.argsort(columns, axis=1, kind="stable")


def _unit_free(Y):
    """Responses as rows, centred and scaled by powers of two, so that squares are safe."""
    centred = Y - Y.mean(axis=0)
    _, exponent = np.frexp(np.max(np.abs(centred), axis=0))
    return np.ascontiguousarray(np.ldexp(centred, -exponent).T)


def _node_means(y, leaf, left, right):
    """Mean of y in every node, from the leaves up."""
    count = np.bincount(leaf, minlength=len(left)).astype(float)
    mean = _core.leaf_means(y, leaf, len(left))
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            children = [left[node], right[node]]
            count[node] = count[children].sum()
            mean[node] = mean[children] @ (count[children] / count[node])
    return mean
