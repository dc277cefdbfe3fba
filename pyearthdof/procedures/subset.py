"""Best subset regression: for every size, the columns with the smallest residual sum of squares.

The search is a branch and bound over the tree of Gatu and Kontoghiorghes (2006). A node is an
ordered set of columns of which the first k must stay; its triangular factor gives the residual sum
of squares of every leading subset at once. Child j drops column j and keeps all before it. No
subset below a node can fit better than the node's whole set, so a node that is no better than the
best subset of the smallest size below it is left out with everything under it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_array, check_X_y

from .. import _core
from .._utils.checks import by_position, check_count, check_number, check_responses
from ..contract import Fits
from ..exceptions import InvalidInputError
from .active_set import ActiveSetRegression, CompactDesign, least_squares_on

# A column of length one counts as a combination of others if they leave less than this of it.
_DEPENDENT = 1e-10


@dataclass(frozen=True)
class BestSubsets:
    """Best subsets of every size; entry s belongs to size s, starting at 0.

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
    """Find the best subset of every size, starting at 0.

    Parameters
    ----------
    X : (n, p) array
    y : (n,) array
    max_size : int or None
        Largest size; None stands for the rank of X.
    fit_intercept : bool
        Whether to fit an intercept.

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
    """Least squares on the best subset, of a given size or with a penalty per column.

    Minimises ||y - X b||^2 among all b with `size` nonzero coefficients, or
    ||y - X b||^2 + lam ||b||_0 over all b (the paper's section on best subset regression). The
    search is exact, so its time grows quickly with the number of columns: well under a second for
    30, if there are more rows than columns.

    Parameters
    ----------
    size : int or None
        Number of columns, at most the rank of X. Give either `size` or `lam`.
    lam : float or None
        Penalty per column in units of the residual sum of squares.
    fit_intercept : bool
        Whether to fit an intercept in addition to the `size` columns.

    Attributes
    ----------
    coef_, intercept_ : array and float
    active_ : array of the selected columns
    subsets_ : tuple
        Best subsets of every size from 0 to `size`, or to the rank of X with `lam`.
    rss_per_size_ : array
        Their residual sums of squares.
    fitted_values_, refitted_values_ : arrays
        The fit; it is its own least-squares refit.
    trace_, n_coef_, rank_ : floats and ints
        Number of columns in the model.

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
        """Fits of every size from 1 to `size` (None: the rank of X), one search per column of Y."""
        by_position(X, Y=Y)
        X = check_array(X, dtype=np.float64, input_name="X")
        Y = check_responses(Y, len(X))
        design = CompactDesign.build(X, Y, self.fit_intercept)
        _, active = _search(design, 1, _largest_size("size", self.size, design))
        return {
            size: self._fits(X, design, active[size], None)[0] for size in range(1, len(active))
        }

    def orthogonal_rule(self, X):
        """Number of the columns that are kept of X, if they are orthogonal: see `Procedure`."""
        return np.full(X.shape[1], np.sqrt(self.lam)) if self.size is None else self.size

    def _select(self, design, *, single):
        if (self.size is None) == (self.lam is None):
            raise InvalidInputError(
                f"size={self.size!r} and lam={self.lam!r} but exactly one of them should be given"
            )
        if self.lam is not None:
            check_number("lam", self.lam)
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


def _largest_size(name: str, size, design: CompactDesign) -> int:
    """Check a size against X; None means the rank."""
    rank = _core.rank_of(design.R)
    if size is None:
        return rank
    p = design.R.shape[1]
    check_count(name, size, 0, p, f", the number of columns of X (n_features={p})")
    because = f", the number of linearly independent columns of X (n_samples={design.n_samples})"
    return check_count(name, size, 0, rank, because)


def _search(design: CompactDesign, smallest: int, largest: int):
    """Residual sums of squares (m, sizes) and active sets (sizes, p, m), sizes from 0 on.

    Sizes between 0 and `smallest` are not looked for and stay at infinity.
    """
    m, p = design.Z.shape[1], design.R.shape[1]
    rss = np.full((m, largest + 1), np.inf)
    rss[:, 0] = np.sum(design.Z**2, axis=0) + design.leftover
    if largest == 0:
        return rss, np.zeros((1, p, m), dtype=np.bool_)
    responses = np.ascontiguousarray(design.Z.T)
    members = _core.search_best_subsets(design.R, responses, design.leftover, smallest, rss)
    return rss, members.transpose(1, 2, 0)
