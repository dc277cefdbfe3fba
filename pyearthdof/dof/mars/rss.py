"""Residual sums of squares of a fitted MARS, and of all sizes of one, whatever the scale of y.

earth writes 0 for an RSS below 1e-10, though y may be as small as that. Such ones are computed here, and are
0 where there is nothing but rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...mars.components.terms import evaluate_terms

__all__ = ["fits_of_sizes", "n_weighted", "rss_of_fit", "rss_of_sizes", "sum_of_squares"]

_ROUNDING = (100 * np.finfo(float).eps) ** 2  # of the sum of squares


def fits_of_sizes(long, X) -> Callable:
    """A function of y that fits it by the best terms of each size, (sizes, n).

    Parameters
    ----------
    long : Earth
        Fitted to X without nprune.
    X : the design
    """
    model, root = long.model_, _root(long)
    bx = evaluate_terms(model.design(X), model.dirs, model.cuts)
    length = np.linalg.norm(root[:, None] * bx, axis=0)
    bx = bx / np.where(length > 0, length, 1.0)
    bases = []
    for k, row in enumerate(long.prune_terms_):
        columns = bx[:, row[: k + 1].astype(int) - 1]
        bases.append((columns, np.linalg.pinv(root[:, None] * columns)))
    return lambda y: np.array([columns @ (inverse @ (root * y)) for columns, inverse in bases])


def n_weighted(model) -> int:
    """Number of rows that count in a fitted Earth: those with a weight above 0."""
    return int((_root(model) > 0).sum())


def rss_of_sizes(long, X) -> np.ndarray:
    """Residual sums of squares of the best terms of each size.

    Parameters
    ----------
    long : Earth
        Fitted to X without nprune.
    X : the design
    """
    if (long.rss_per_subset_ > 0).all():
        return long.rss_per_subset_
    y = long.fitted_values_ + long.residuals_
    return sum_of_squares(y - fits_of_sizes(long, X)(y), y, _root(long))


def rss_of_fit(model) -> float:
    """The residual sum of squares of a fitted Earth."""
    if model.rss_ > 0:
        return float(model.rss_)
    y = model.fitted_values_ + model.residuals_
    return float(sum_of_squares(model.residuals_, y, _root(model)))


def sum_of_squares(residuals, y, root=1.0) -> np.ndarray:
    """Sums of squared residuals, each of them times `root`; 0 where they are the rounding of y.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.dof.mars.rss import sum_of_squares
    >>> sum_of_squares(np.array([[1e-17, 0.0], [1.0, 2.0]]), y=np.array([3.0, 4.0]))
    array([0., 5.])
    """
    rss = ((root * residuals) ** 2).sum(axis=-1)
    return np.where(rss > _ROUNDING * ((root * y) ** 2).sum(), rss, 0.0)


def _root(model) -> np.ndarray:
    """Roots of the case weights, 1 without."""
    n = len(model.fitted_values_)
    return np.ones(n) if model.weights_ is None else np.sqrt(model.weights_)
