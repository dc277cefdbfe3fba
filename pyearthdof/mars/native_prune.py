"""The pruning pass of the native engine: which terms stay, by GCV."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ..exceptions import InvalidInputError
from .kernels_many import independent_columns
from .kernels_prune import (
    Reduction,
    prune_backward,
    prune_exhaustive,
    prune_forward,
    prune_seqrep,
    reduce_cases,
    start_search,
)
from .options import default_penalty

__all__ = ["Pruning", "gcv_of_sizes", "prune"]

ILL_CONDITIONED = 1e-10
SEARCHES = {
    "backward": prune_backward,
    "none": prune_backward,
    "forward": prune_forward,
    "seqrep": prune_seqrep,
    "exhaustive": prune_exhaustive,
}


@dataclass(frozen=True)
class Pruning:
    """Selected terms (0-based, in R's order) and the best subset of each size (1-based, as in R)."""

    selected: np.ndarray
    rss_per_subset: np.ndarray
    gcv_per_subset: np.ndarray
    prune_terms: np.ndarray


def prune(bx: np.ndarray, Y: np.ndarray, options) -> Pruning:
    """Search the subsets of the columns of bx, weighted if Y is, and choose one."""
    n, m = bx.shape
    method = options["pmethod"]
    largest = m if options["nprune"] is None else min(m, int(options["nprune"]))
    if Y.shape[1] > 1 and method not in ("none", "backward"):
        raise InvalidInputError(
            f"pmethod={method!r} but it should be 'backward' or 'none' with several responses"
        )
    if method == "exhaustive" and not _is_well_conditioned(bx):
        method = "backward"
    if m <= 2 and method != "none":
        method = "backward"
    kept = largest if method == "exhaustive" else m
    columns = np.ascontiguousarray(bx.T)
    if Y.shape[1] > 1:
        rss, best = _backward_several(columns, Y)
    else:
        rss, best = _search(columns, np.ascontiguousarray(Y[:, 0]), method, kept)
    penalty = options["penalty"]
    penalty = default_penalty(options["degree"]) if penalty is None else float(penalty)
    gcv = gcv_of_sizes(rss, n, penalty)
    if method == "none":
        selected = np.arange(largest)
    else:
        size = int(np.argmin(gcv[:largest])) + 1
        selected = best[size - 1, :size].copy()
    return Pruning(selected, rss, gcv, np.tril(best + 1))


def gcv_of_sizes(rss: np.ndarray, n: int, penalty: float) -> np.ndarray:
    """GCV of the subsets of 1, 2, ... terms."""
    size = np.arange(1, len(rss) + 1)
    cost = np.zeros(len(rss)) if penalty < 0 else size + penalty * (size - 1) / 2
    with np.errstate(divide="ignore"):
        return np.where(cost >= n, np.inf, rss / (n * (1 - cost / n) ** 2))


def _search(columns, y, method, kept) -> tuple[np.ndarray, np.ndarray]:
    m = len(columns)
    reduction = Reduction(
        d=np.empty(m),
        u=np.zeros((m, m)),
        t=np.empty(m),
        rss=np.empty(m),
        order=np.zeros(m, dtype=np.int64),
        small=np.empty(m),
        best_rss=np.empty(kept),
        best=np.zeros((kept, kept), dtype=np.int64),
    )
    start_search(reduction, reduce_cases(reduction, columns, y))
    SEARCHES[method](reduction)
    return reduction.best_rss, reduction.best


def _is_well_conditioned(bx: np.ndarray) -> bool:
    values = np.linalg.svd(bx, compute_uv=False)
    if values[-1] / values[0] >= ILL_CONDITIONED:
        return True
    warnings.warn(
        f"forced pmethod='backward' (bx is ill conditioned, singular value ratio "
        f"{values[-1] / values[0]:.2g})",
        stacklevel=5,
    )
    return False


def _backward_several(columns, Y) -> tuple[np.ndarray, np.ndarray]:
    """Backward elimination for several responses: drop the term with the least sum of RSS increases."""
    m, n = columns.shape
    rss, best = np.empty(m), np.zeros((m, m), dtype=np.int64)
    present = list(range(m))
    for size in range(m, 0, -1):
        q, r = np.empty((size, n)), np.zeros((size, size))
        independent_columns(np.ascontiguousarray(columns[present]), q, r)
        projected = q @ Y
        rss[size - 1] = ((Y - q.T @ projected) ** 2).sum()
        best[size - 1, :size] = present
        if size == 1:
            break
        inverse = np.linalg.inv(r.T)
        coef = inverse @ projected
        increase = (coef**2).sum(axis=1) / (inverse**2).sum(axis=1)
        present.pop(1 + int(np.argmin(increase[1:])))
    return rss, best
