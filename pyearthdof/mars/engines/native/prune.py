"""The pruning pass of the native engine: which terms stay, by GCV."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .... import _core
from ...._utils.checks import refusal
from ...._utils.warnings import warn_user
from ....exceptions import InvalidInputError, RWarning
from ...components.gcv import gcv_of_sizes
from ...options import EarthOptions

__all__ = [
    "Pruning", "Subsets", "choose", "find_subsets", "prune",
]  # fmt: skip


@dataclass(frozen=True)
class Pruning:
    """Selected terms (0-based, in R's order) and the best subset of each size (1-based, as in R)."""

    selected: np.ndarray
    rss_per_subset: np.ndarray
    gcv_per_subset: np.ndarray
    prune_terms: np.ndarray


@dataclass(frozen=True)
class Subsets:
    """The best subset of each size: its RSS, its columns, and the method that found them."""

    rss: np.ndarray
    best: np.ndarray
    method: str
    n_samples: int
    n_terms: int


def prune(bx: np.ndarray, Y: np.ndarray, options: EarthOptions, find=None) -> Pruning:
    """Search the subsets of the columns of bx, weighted if Y is, and choose one; `find` may find them."""
    return choose((find or find_subsets)(np.ascontiguousarray(bx.T), Y, options), options)


def find_subsets(columns: np.ndarray, Y: np.ndarray, options: EarthOptions) -> Subsets:
    """The best subsets of the rows of `columns`, by the method of the options."""
    m, n = columns.shape
    method = "backward" if options.pmethod == "cv" else options.pmethod
    kept = _largest(options, m) if method == "exhaustive" else m
    if method == "exhaustive" and not _is_well_conditioned(columns.T, options.exhaustive_tol):
        method = "backward"
    if Y.shape[1] > 1 and method not in ("none", "backward"):
        raise refusal("pmethod", method, "'backward', 'none' or 'cv' with several responses")
    if m <= 2 and method != "none":
        method = "backward"
    if Y.shape[1] > 1:
        rss, best = _backward_several(columns, Y)
        rss, best = rss[:kept], best[:kept, :kept]
    else:
        rss, best = _search(columns, np.ascontiguousarray(Y[:, 0]), method, kept)
    return Subsets(rss, best, method, n, m)


def choose(found: Subsets, options: EarthOptions) -> Pruning:
    """The subset with the smallest GCV; without pruning all terms, for "cv" nprune of them."""
    gcv = gcv_of_sizes(found.rss, found.n_samples, options.penalty)
    largest = min(_largest(options, found.n_terms), len(found.rss))
    if found.method == "none":
        selected = np.arange(largest)
    else:
        by_gcv = options.pmethod != "cv" or options.nprune is None
        size = int(np.argmin(gcv[:largest])) + 1 if by_gcv else largest
        selected = found.best[size - 1, :size].copy()
    best = np.where(_lower(len(found.best)), found.best + 1, 0)
    return Pruning(selected, found.rss, gcv, best)


@lru_cache(maxsize=8)
def _lower(size: int) -> np.ndarray:
    return np.tri(size, dtype=bool)


def _largest(options: EarthOptions, n_terms: int) -> int:
    return n_terms if options.nprune is None else min(n_terms, options.nprune)


def _search(columns, y, method, kept) -> tuple[np.ndarray, np.ndarray]:
    """RSS of the best subset of each size, and its columns.

    Columns that depend on others go last and are in no subset. R then numbers the columns by their new
    places, and earth takes these for the old ones.
    """
    if method == "exhaustive" and kept < 2:
        raise InvalidInputError(
            "nprune=1 but it should be 2 or more with pmethod='exhaustive': one term leaves no choice"
        )
    found = _core.search_subsets(columns, y, "backward" if method == "none" else method, kept)
    if found["dependent"]:
        _warn_of_dependent(found["dependent"])
    if found["nearly_dependent"]:  # earth compares a square with a length, so the units of X matter
        raise InvalidInputError(
            "pmethod='exhaustive' but the terms are too nearly dependent for it: use 'backward'"
        )
    return found["rss"], found["best"]


def _warn_of_dependent(dependent: list[int]) -> None:
    terms = ", ".join(str(t + 1) for t in dependent)
    warn_user(
        f"the pruning pass leaves out terms that depend on others (term {terms} of the forward pass)",
        RWarning,
    )


def _is_well_conditioned(bx: np.ndarray, tolerance: float) -> bool:
    values = np.linalg.svd(bx, compute_uv=False)
    if values[-1] / values[0] >= tolerance:
        return True
    warn_user(
        f'forced pmethod="backward" (bx is ill conditioned, sing val ratio {values[-1] / values[0]:.2g})',
        RWarning,
    )
    return False


def _backward_several(columns, Y) -> tuple[np.ndarray, np.ndarray]:
    """Backward elimination for several responses: drop the term with the least sum of RSS increases."""
    found = _core.eliminate_backward(columns, np.ascontiguousarray(Y.T))
    if not found["is_independent"]:
        raise InvalidInputError(
            "the terms of the forward pass are nearly dependent, with which earth cannot prune several "
            "responses (R: lin dep terms in bx): leave out predictors that are almost the same"
        )
    return found["rss"], found["best"]
