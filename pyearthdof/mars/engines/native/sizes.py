"""The pruning sequences of many responses on one design: what a model of each size leaves of them."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed

from .... import _core
from ....contract import SizeFits
from .forward import forward_pass
from .prune import find_subsets
from .settings import refuse_sizes
from .weights import effective_weights

__all__ = ["fit_sizes"]


def fit_sizes(bound, Y, Z=None, weights=None, n_threads: int = 1) -> SizeFits:
    """Forward pass and pruning sequence of every column of Y.

    The compiled loops know backward pruning without weights; other methods, an `allowed` function and
    weights take one response at a time.

    Parameters
    ----------
    bound : BoundNative
    Y : (n, m) array
    Z : (n, m) array, optional
        Directions, one for each response: the fits' products with them are wanted, too. With weights they
        are those of the responses times the roots of the weights.
    weights : (n,) array, optional
        Case weights.
    n_threads : int
        The fits do not depend on it.
    """
    refuse_sizes("Y", Y)
    options = bound.options
    weights = effective_weights(weights, len(Y), options)
    plain = options.allowed is None and weights is None
    if plain and options.pmethod == "backward":
        y, z = (np.ascontiguousarray(V.T) for V in (Y, Y[:, :0] if Z is None else Z))
        found = _core.fit_sizes(
            bound.design, bound.settings, bound.linpreds, y, z, bound.is_scaled, n_threads
        )
        return SizeFits(found["rss"], None if Z is None else found["products"], found["n_terms"])
    if options.allowed is not None:
        n_threads = 1  # the user's function is asked by one thread
    directions = [None] * Y.shape[1] if Z is None else list(Z.T)
    each = Parallel(n_threads, backend="threading")(
        delayed(_one)(bound, y, z, weights) for y, z in zip(Y.T, directions, strict=True)
    )
    width = max(len(rss) for rss, _ in each)
    return SizeFits(
        np.array([_repeated(rss, width) for rss, _ in each]),
        None if Z is None else np.array([_repeated(products, width) for _, products in each]),
        np.array([len(rss) for rss, _ in each]),
    )


def _one(bound, y, direction, weights) -> tuple[np.ndarray, np.ndarray | None]:
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    forward = forward_pass(bound.X, y[:, None], bound.options, weights, bound.names)
    weighted = root * y
    columns = np.ascontiguousarray(forward.bx.T)
    found = find_subsets(columns, weighted[:, None], bound.options)
    if direction is None:
        return found.rss, None
    products = np.empty(len(found.rss))
    for k in range(len(products)):
        q, _ = np.linalg.qr(columns[found.best[k, : k + 1]].T)
        products[k] = (q.T @ weighted) @ (q.T @ direction)
    return found.rss, products


def _repeated(values: np.ndarray, width: int) -> np.ndarray:
    """Sizes that were not reached have the longest fit."""
    return np.append(values, np.full(width - len(values), values[-1]))
